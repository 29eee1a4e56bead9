//! How a trim reaches the storage: a hole punched in a file, BLKDISCARD on a block device.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::FileTypeExt;

use io_uring::types::Fd;
use io_uring::{IoUring, opcode};

use crate::plan::{Op, PhasePlan};

/// The range stays part of the file, its blocks are given back.
pub const PUNCH: i32 = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
/// `BLKDISCARD` of linux/fs.h.
const BLKDISCARD: libc::c_ulong = 0x1277;
/// `BLOCK_URING_CMD_DISCARD` of linux/blkdev.h (Linux 6.12).
pub const RING_DISCARD: u32 = 0x1200;

/// For each file, whether it is a block device.
pub fn block_devices(files: &[File]) -> Vec<bool> {
    files.iter().map(|file| file.metadata().is_ok_and(|m| m.file_type().is_block_device())).collect()
}

/// Trims a range by a system call; 0 or -1 with errno, as the call returns it.
pub fn trim(fd: RawFd, block_device: bool, offset: u64, len: u64) -> libc::c_int {
    // SAFETY: both calls take plain numbers; the range lives across the ioctl.
    unsafe {
        if block_device {
            let range = [offset, len];
            libc::ioctl(fd, BLKDISCARD, &range)
        } else {
            libc::fallocate(fd, PUNCH, offset as libc::off_t, len as libc::off_t)
        }
    }
}

/// Why the ring cannot do the trims of this plan, `None` when it can: a block device needs Linux 6.12.
pub fn ring_refuses(plan: &PhasePlan) -> Option<String> {
    if !plan.mix.iter().any(|item| item.op == Op::Trim) {
        return None;
    }
    let device = plan.files.iter().find(|region| {
        std::fs::metadata(&*region.place()).is_ok_and(|found| found.file_type().is_block_device())
    })?;
    match ring_knows_discard(&device.place()) {
        Ok(true) => None,
        Ok(false) => {
            Some("io_uring of this kernel cannot discard on block devices (needs Linux 6.12)".into())
        }
        // Opening it again, with its own message, is left to the engine.
        Err(_) => None,
    }
}

/// Asks for a discard of no bytes: a kernel that knows the command calls that invalid, others do not know it.
fn ring_knows_discard(path: &str) -> io::Result<bool> {
    let file = File::options().read(true).write(true).open(path)?;
    let mut ring = IoUring::new(4)?;
    let entry = opcode::UringCmd16::new(Fd(file.as_raw_fd()), RING_DISCARD).addr(Some(0)).build();
    // SAFETY: the file is open until the completion has been waited for, and no memory is handed over.
    unsafe { ring.submission().push(&entry) }.map_err(|_| io::ErrorKind::OutOfMemory)?;
    ring.submit_and_wait(1)?;
    let result = ring.completion().next().map_or(0, |done| done.result());
    Ok(result == -libc::EINVAL)
}

/// The ring's trims in the words of a report, "" without any.
pub fn described(plan: &PhasePlan, block_devices: &[bool]) -> &'static str {
    match () {
        () if !plan.mix.iter().any(|item| item.op == Op::Trim) => "",
        () if block_devices.contains(&true) => "trims by BLOCK_URING_CMD_DISCARD",
        () => "trims by fallocate, on the ring's own threads",
    }
}
