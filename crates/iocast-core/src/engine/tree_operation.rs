//! `Operator`: one operation on a name of a tree: what it needs is opened first, it is made, what it opened is closed.
//!
//! What is opened before (the file of a close, an fsync or an attribute) is no part of the operation's time, and neither is
//! what is closed after it.

use std::ffi::CStr;
use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;

use super::Request;
use crate::error::Result;
use crate::plan::{Op, PhasePlan, SyncMode};
use crate::tree::directories::Directory;
use crate::tree::look::{each_name, reopened};
use crate::tree::name_watch::ASKED_EVERY_NS;
use crate::tree::ours::{
    BESIDE, DIRECTORY_MODE, FILE_MODE, KINDS, LINK_TARGET, LINKED, Name, RENAMED, SYMLINK, is_our_link,
    status_at, status_of,
};
use crate::tree::shape::Spot;
use crate::tree::work::TreeWork;
use crate::workload::buffers::Buffers;
use crate::workload::payload::PayloadMaker;

/// Names are read in such pieces.
const LIST_BYTES: usize = 64 << 10;
/// What new files contain is written in such pieces.
const PIECE_BYTES: usize = 256 << 10;
pub(super) const ATTRIBUTE: &CStr = c"user.iocast";
pub(super) const ATTRIBUTE_BYTES: usize = 16;
const LOOKING: i32 = libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
pub(super) const CREATING: i32 =
    libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW | libc::O_CLOEXEC;

/// An operation that is ready to be made.
pub struct Prepared {
    /// What.
    pub op: Op,
    /// Where.
    pub spot: Spot,
    /// The directory of its name.
    pub directory: RawFd,
    /// The name.
    pub name: Name,
    /// The other name, of what has two.
    pub other: Name,
    /// The file that it goes to, where that is opened before it; -1.
    pub file: RawFd,
    /// It cannot be made: -errno.
    pub refused: i64,
}

/// What a slot keeps open.
#[derive(Default)]
struct Kept {
    directory: Option<Directory>,
    file: Option<RawFd>,
}

/// See the module.
pub struct Operator {
    work: Arc<TreeWork>,
    kept: Vec<Kept>,
    list: Vec<u8>,
    content: Vec<u8>,
    maker: Option<PayloadMaker>,
    buffers: Buffers,
    file_flags: i32,
    /// When the kernel was last asked for names that came.
    asked_ns: Option<u64>,
    abandoned: bool,
}

fn errno(why: &io::Error) -> i64 {
    -i64::from(why.raw_os_error().unwrap_or(libc::EIO))
}

fn outcome(result: impl Into<i64>) -> i64 {
    match result.into() {
        -1 => errno(&io::Error::last_os_error()),
        result => result,
    }
}

impl Operator {
    /// With so many slots.
    pub fn new(plan: &PhasePlan, work: &Arc<TreeWork>, slots: usize) -> Result<Operator> {
        let creates = plan.mix.iter().any(|item| item.op == Op::Create);
        let largest = if creates { work.shape.largest_bytes() } else { 0 };
        let mut content = vec![0u8; PIECE_BYTES.min(largest as usize)];
        let maker = (largest > 0).then(|| {
            let stamp = plan.seed ^ plan.payload_seed ^ content.as_ptr() as u64;
            let mut maker = PayloadMaker::new(plan.payload.clone(), false, stamp, 0);
            maker.prepare(&mut content);
            maker
        });
        let sync = match plan.sync {
            SyncMode::None | SyncMode::RwfDsync => 0,
            SyncMode::Sync => libc::O_SYNC,
            SyncMode::Dsync => libc::O_DSYNC,
        };
        Ok(Operator {
            work: Arc::clone(work),
            kept: (0..slots).map(|_| Kept::default()).collect(),
            list: vec![0; LIST_BYTES],
            content,
            maker,
            buffers: Buffers::new(slots, plan.largest_moved_bytes() as usize)?,
            file_flags: sync | if plan.direct { libc::O_DIRECT } else { 0 },
            asked_ns: None,
            abandoned: false,
        })
    }

    /// The buffer of a slot.
    pub fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.buffers.slice(slot, len)
    }

    /// How buffers are described.
    pub fn buffers(&self) -> String {
        self.buffers.described(false)
    }

    /// Nothing of it is given back: the kernel may still use it.
    pub fn abandon(&mut self) {
        self.abandoned = true;
        self.buffers.leak();
    }

    /// Opens what an operation needs, and closes what the slot's last one left open.
    pub fn prepare(&mut self, request: &Request) -> Prepared {
        self.close_file(request.slot);
        let spot = self.work.shape.spot(request.offset);
        let number = match request.op.of_directories() {
            true => spot.number,
            false => self.work.shape.directory_of(spot.number),
        };
        let (name, other) = names(request.op, spot);
        let mut prepared =
            Prepared { op: request.op, spot, directory: -1, name, other, file: -1, refused: 0 };
        match self.work.held().get(number) {
            Ok(directory) => {
                prepared.directory = directory.descriptor();
                self.kept[request.slot as usize].directory = Some(directory);
            }
            Err(why) => prepared.refused = errno(&why),
        }
        if prepared.refused == 0 {
            match self.open_first(&prepared) {
                Ok(Some(file)) => {
                    prepared.file = file;
                    self.keep(request.slot, file);
                }
                Ok(None) => {}
                Err(why) => prepared.refused = errno(&why),
            }
        }
        prepared
    }

    /// A descriptor that is closed before the slot's next operation.
    pub fn keep(&mut self, slot: u32, file: RawFd) {
        self.kept[slot as usize].file = Some(file);
    }

    /// The slot's file has been closed by its operation.
    pub fn let_go(&mut self, slot: u32) {
        self.kept[slot as usize].file = None;
    }

    fn close_file(&mut self, slot: u32) {
        if let Some(file) = self.kept[slot as usize].file.take() {
            // SAFETY: opened for this slot, and closed once.
            unsafe { libc::close(file) };
        }
    }

    /// The file that the operation goes to.
    fn open_first(&self, prepared: &Prepared) -> io::Result<Option<RawFd>> {
        let flags = match prepared.op {
            Op::Close | Op::Fsync | Op::Fdatasync | Op::Setattr | Op::Setxattr | Op::Getxattr => LOOKING,
            Op::Read => LOOKING | self.file_flags,
            Op::Write => (LOOKING & !libc::O_ACCMODE) | libc::O_WRONLY | self.file_flags,
            Op::Readdir | Op::Readdirplus => return reopened(prepared.directory).map(Some),
            _ => return Ok(None),
        };
        // SAFETY: the name ends with a zero byte.
        let file = unsafe { libc::openat(prepared.directory, prepared.name.pointer(), flags) };
        if file == -1 {
            return Err(io::Error::last_os_error());
        }
        let ours = status_of(file).map(|status| self.work.held().home().has_file(&status));
        match ours {
            Ok(true) => Ok(Some(file)),
            ours => {
                // SAFETY: opened above.
                unsafe { libc::close(file) };
                Err(ours.err().unwrap_or_else(|| io::Error::from_raw_os_error(libc::EPERM)))
            }
        }
    }

    /// Refuses to change a name that is not one of ours: 0, or -errno.
    pub fn refusal(&self, prepared: &Prepared) -> i64 {
        let home = self.work.held().home();
        let name = prepared.name.text();
        let ours = |is: &dyn Fn(&libc::stat) -> bool| match status_at(prepared.directory, name) {
            Ok(status) if is(&status) => 0,
            Ok(_) => -i64::from(libc::EPERM),
            Err(why) => errno(&why),
        };
        match prepared.op {
            Op::Unlink if KINDS[usize::from(prepared.spot.kind)] == SYMLINK => {
                match is_our_link(prepared.directory, name) {
                    true => 0,
                    false => -i64::from(libc::EPERM),
                }
            }
            Op::Unlink | Op::Rename | Op::Link => ours(&|status| home.has_file(status)),
            Op::Rmdir => ours(&|status| home.has_directory(status)),
            _ => 0,
        }
    }

    /// True when what is to be removed was ours when the phase began, and nobody has put anything else in its place: as
    /// of `now_ns`, or a moment before.
    #[inline]
    fn is_known(&mut self, prepared: &Prepared, now_ns: u64) -> bool {
        let Some(watch) = &self.work.watch else { return false };
        if prepared.op != Op::Unlink {
            return false;
        }
        if self.asked_ns.is_none_or(|asked| now_ns >= asked + ASKED_EVERY_NS) {
            self.asked_ns = Some(now_ns);
            return watch.nothing_came();
        }
        watch.nothing_told()
    }

    /// Makes an operation by system calls: what it returned, or -errno. `now_ns` is when the clock was last read.
    pub fn perform(&mut self, request: &Request, prepared: &Prepared, now_ns: u64) -> i64 {
        if prepared.refused != 0 {
            return prepared.refused;
        }
        if !self.is_known(prepared, now_ns) {
            let refused = self.refusal(prepared);
            if refused != 0 {
                return refused;
            }
        }
        let (directory, name, file) = (prepared.directory, prepared.name.pointer(), prepared.file);
        // SAFETY: names end with zero bytes, buffers have the lengths that are told, descriptors are this slot's own.
        unsafe {
            match prepared.op {
                Op::Create => self.create(request, prepared),
                Op::Mkdir => outcome(libc::mkdirat(directory, name, DIRECTORY_MODE)),
                Op::Rmdir => outcome(libc::unlinkat(directory, name, libc::AT_REMOVEDIR)),
                Op::Open => {
                    let opened = outcome(libc::openat(directory, name, LOOKING));
                    if opened >= 0 {
                        self.keep(request.slot, opened as RawFd);
                    }
                    opened.min(0)
                }
                Op::Close => {
                    self.let_go(request.slot);
                    outcome(libc::close(file))
                }
                Op::Stat => {
                    let mut status: libc::stat = std::mem::zeroed();
                    outcome(libc::fstatat(directory, name, &mut status, libc::AT_SYMLINK_NOFOLLOW))
                }
                Op::Statx => statx(directory, name),
                Op::Access => outcome(libc::faccessat(directory, name, libc::R_OK, 0)),
                Op::Readdir => listed(each_name(file, &mut self.list, |_| Ok(()))),
                Op::Readdirplus => listed(each_name(file, &mut self.list, |name| {
                    match statx(file, name.as_ptr()) {
                        0 => Ok(()),
                        // Removed by somebody else since it was read.
                        result if result == -i64::from(libc::ENOENT) => Ok(()),
                        result => Err(io::Error::from_raw_os_error(-result as i32)),
                    }
                })),
                Op::Rename => {
                    let other = prepared.other.pointer();
                    outcome(libc::renameat2(directory, name, directory, other, libc::RENAME_NOREPLACE))
                }
                Op::Link => outcome(libc::linkat(directory, name, directory, prepared.other.pointer(), 0)),
                Op::Symlink => outcome(libc::symlinkat(LINK_TARGET.as_ptr(), directory, name)),
                Op::Unlink => outcome(libc::unlinkat(directory, name, 0)),
                Op::Fsyncdir => outcome(libc::fsync(directory)),
                Op::Fsync => outcome(libc::fsync(file)),
                Op::Fdatasync => outcome(libc::fdatasync(file)),
                Op::Setattr | Op::Setxattr | Op::Getxattr => attribute(prepared.op, file),
                Op::Statfs => {
                    let mut status: libc::statfs64 = std::mem::zeroed();
                    outcome(libc::fstatfs64(directory, &mut status))
                }
                Op::Read | Op::Write => self.transfer(request, prepared),
                Op::Trim => -i64::from(libc::EOPNOTSUPP),
            }
        }
    }

    fn transfer(&self, request: &Request, prepared: &Prepared) -> i64 {
        let (done, left) = (request.done as usize, (request.len - request.done) as usize);
        let at = self.buffers.pointer(request.slot, done, done + left).cast::<libc::c_void>();
        let offset = (prepared.spot.position + u64::from(request.done)) as libc::off_t;
        // SAFETY: `at` points to `left` bytes of this slot's buffer, which nothing else uses.
        let result = unsafe {
            match prepared.op {
                Op::Read => libc::pread(prepared.file, at, left, offset),
                _ => libc::pwrite(prepared.file, at, left, offset),
            }
        };
        outcome(result as i64)
    }

    /// A new file with all that it is to contain; one that cannot be written whole is removed again.
    fn create(&mut self, request: &Request, prepared: &Prepared) -> i64 {
        let (directory, name) = (prepared.directory, prepared.name.pointer());
        // SAFETY: the name ends with a zero byte.
        let file = unsafe { libc::openat(directory, name, CREATING, FILE_MODE) };
        if file == -1 {
            return errno(&io::Error::last_os_error());
        }
        self.keep(request.slot, file);
        let mut left = self.work.shape.size_bytes(prepared.spot.number);
        while left > 0 {
            let piece = left.min(self.content.len() as u64) as usize;
            if let Some(maker) = &mut self.maker {
                maker.stamp(&mut self.content[..piece]);
            }
            // SAFETY: the buffer has so many bytes.
            let written = unsafe { libc::write(file, self.content.as_ptr().cast(), piece) };
            match written {
                written if written > 0 => left -= written as u64,
                _ => {
                    let why = io::Error::last_os_error();
                    if why.raw_os_error() == Some(libc::EINTR) {
                        continue;
                    }
                    // SAFETY: the name ends with a zero byte; it is the file that was made above.
                    unsafe { libc::unlinkat(directory, name, 0) };
                    return errno(&why);
                }
            }
        }
        0
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        if !self.abandoned {
            (0..self.kept.len() as u32).for_each(|slot| self.close_file(slot));
        }
    }
}

/// Sets the times of an open file, or sets or reads its attribute.
fn attribute(op: Op, file: RawFd) -> i64 {
    let mut value = [b'i'; ATTRIBUTE_BYTES];
    // SAFETY: the name ends with a zero byte, the value has the length that is told.
    unsafe {
        match op {
            Op::Setattr => {
                let now = libc::timespec { tv_sec: 0, tv_nsec: libc::UTIME_NOW };
                outcome(libc::futimens(file, [now, now].as_ptr()))
            }
            Op::Setxattr => {
                outcome(libc::fsetxattr(file, ATTRIBUTE.as_ptr(), value.as_ptr().cast(), value.len(), 0))
            }
            _ => {
                let at = value.as_mut_ptr().cast();
                attribute_read(outcome(libc::fgetxattr(file, ATTRIBUTE.as_ptr(), at, value.len()) as i64))
            }
        }
    }
}

/// A file without the attribute has been asked for it all the same.
pub(super) fn attribute_read(result: i64) -> i64 {
    if result == -i64::from(libc::ENODATA) { 0 } else { result.min(0) }
}

fn listed(read: io::Result<()>) -> i64 {
    read.map_or_else(|why| errno(&why), |()| 0)
}

fn statx(directory: RawFd, name: *const libc::c_char) -> i64 {
    // SAFETY: an all-zero statx is one, and the call writes it; the name ends with a zero byte.
    unsafe {
        let mut status: libc::statx = std::mem::zeroed();
        outcome(libc::statx(directory, name, libc::AT_SYMLINK_NOFOLLOW, libc::STATX_BASIC_STATS, &mut status))
    }
}

/// The name that an operation goes to, and the other one that it makes.
fn names(op: Op, spot: Spot) -> (Name, Name) {
    let kind = KINDS[usize::from(spot.kind)];
    let of = |kind| Name::new(kind, spot.number);
    match op {
        Op::Mkdir | Op::Rmdir => (of(BESIDE), of(BESIDE)),
        Op::Rename => (of(kind), of(if kind == RENAMED { KINDS[0] } else { RENAMED })),
        Op::Link => (of(kind), of(LINKED)),
        _ => (of(kind), of(kind)),
    }
}
