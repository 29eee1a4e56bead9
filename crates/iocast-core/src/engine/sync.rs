//! The `sync` engine: one system call an I/O (pread, pwrite, pwritev2, fsync, fdatasync, fallocate,
//! BLKDISCARD), done when it returns.
//!
//! It has one slot; a user of depth d is d threads that share the user's stream of I/Os (run/hire.rs).

use std::fs::File;
use std::io;
use std::os::fd::RawFd;

use super::Request;
use super::one_call::{Calls, OneCall};
use super::setup::{Setup, descriptors};
use super::trim::{block_devices, trim};
use crate::error::Result;
use crate::plan::Op;
use crate::workload::buffers::Buffers;

/// See the module.
pub type SyncEngine = OneCall<FileCalls>;

/// The calls of the `sync` engine.
pub struct FileCalls {
    descriptors: Vec<RawFd>,
    block_devices: Vec<bool>,
    files: Vec<File>,
    buffers: Buffers,
    dsync_each: bool,
}

impl SyncEngine {
    /// One slot with its buffer.
    pub fn new(setup: &Setup) -> Result<SyncEngine> {
        let (plan, files) = (setup.plan(), setup.open_files()?);
        let buffers = Buffers::new(1, plan.largest_moved_bytes() as usize)?;
        let calls = FileCalls {
            descriptors: descriptors(&files),
            block_devices: block_devices(&files),
            files,
            buffers,
            dsync_each: plan.dsync_each(),
        };
        Ok(OneCall::of(calls, &setup.choice))
    }
}

impl Calls for FileCalls {
    const NAME: &'static str = "sync";
    const FLAG: Option<&'static str> = Some("pread/pwrite, one thread per outstanding I/O");

    #[inline]
    fn make(&mut self, request: &Request, _now_ns: u64) -> i64 {
        let fd = self.descriptors[request.file as usize];
        let (done, len) =
            (request.done as usize, if request.op.moves_data() { request.len as usize } else { 0 });
        let left = len.saturating_sub(done);
        let offset = (request.offset + u64::from(request.done)) as libc::off_t;
        let at = self.buffers.pointer(request.slot, done, done + left).cast::<libc::c_void>();
        // SAFETY: `at` points to `left` bytes of this slot's buffer, which nothing else uses.
        let result = unsafe {
            match request.op {
                Op::Read => libc::pread(fd, at, left, offset),
                Op::Write if self.dsync_each => {
                    let vector = libc::iovec { iov_base: at, iov_len: left };
                    libc::pwritev2(fd, &vector, 1, offset, libc::RWF_DSYNC)
                }
                Op::Write => libc::pwrite(fd, at, left, offset),
                Op::Fsync => libc::fsync(fd) as isize,
                Op::Fdatasync => libc::fdatasync(fd) as isize,
                Op::Trim => {
                    let block_device = self.block_devices[request.file as usize];
                    trim(fd, block_device, request.offset, u64::from(request.len)) as isize
                }
                _ => return -i64::from(libc::EOPNOTSUPP), // of trees: never handed to this engine
            }
        };
        if result >= 0 {
            result as i64
        } else {
            -i64::from(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
        }
    }

    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.buffers.slice(slot, len)
    }

    fn buffers(&self) -> String {
        self.buffers.described(false)
    }

    fn abandon(&mut self) {
        self.buffers.leak();
        // To close a file of storage that does not answer can hang as well (NFS and FUSE flush it).
        std::mem::forget(std::mem::take(&mut self.files));
    }
}
