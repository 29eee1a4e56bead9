//! The device as FUSE sees it: one file, direct, with parallel reads and writes; the times come from `Schedule`.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, INodeNo, InitFlags,
    IoctlFlags, KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyEmpty, ReplyIoctl, ReplyOpen,
    ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};

use crate::answers::{Answer, Answers};
use crate::lies::Lies;
use crate::memory::Memory;
use crate::options::Options;
use crate::schedule::Schedule;
use crate::service::Io;

/// The kernel hands on so many requests at once: more than any depth that a test asks for.
const BACKGROUND: u16 = 60_000;
const LARGEST_REQUEST: u32 = 1 << 20;
const FOREVER: Duration = Duration::from_secs(1 << 30);

/// What the device and whoever measures its transport share.
pub struct Device {
    memory: Memory,
    lies: Lies,
    answers: Arc<Answers>,
    schedule: Mutex<Schedule>,
    open_files: AtomicU64,
    /// Taken off every answer.
    transport_ns: AtomicU64,
    /// Of its inode: another device that is served later at the same path has another one.
    generation: u32,
    /// Whether writes of nothing but zeros are looked for.
    knows_zeros: bool,
    /// While its transport is measured all reads take just that; 0 is not now.
    probe_ns: AtomicU64,
}

impl Device {
    /// A device that is not served yet.
    pub fn new(options: Arc<Options>) -> io::Result<Device> {
        Ok(Device {
            memory: Memory::new(options.size_bytes)?,
            lies: Lies::new(&options),
            answers: Answers::start()?,
            open_files: AtomicU64::new(0),
            transport_ns: AtomicU64::new(options.transport_ns.unwrap_or(0)),
            generation: generation(),
            knows_zeros: options.zero_write_ns.is_some(),
            probe_ns: AtomicU64::new(0),
            schedule: Mutex::new(Schedule::new(options)),
        })
    }

    /// Every read takes `probe_ns` from now on, and nothing is counted; 0: the device is as told again.
    pub fn probe(&self, probe_ns: u64) {
        self.probe_ns.store(probe_ns, SeqCst);
    }

    /// What is taken off every answer from now on.
    pub fn set_transport_ns(&self, transport_ns: u64) {
        self.transport_ns.store(transport_ns, SeqCst);
    }

    fn schedule(&self) -> MutexGuard<'_, Schedule> {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers when the I/O ends, and says how it fails.
    fn serve(&self, io: Io, answer: impl FnOnce(Option<i32>) + Send + 'static) {
        let now_ns = self.answers.now_ns();
        let probe_ns = self.probe_ns.load(SeqCst);
        let (end_ns, errno) =
            if probe_ns > 0 { (now_ns + probe_ns, None) } else { self.schedule().end(&io, now_ns) };
        self.answer_at(end_ns, Box::new(move || answer(errno)));
    }

    fn answer_at(&self, end_ns: u64, answer: Answer) {
        self.answers.at(end_ns.saturating_sub(self.transport_ns.load(SeqCst)), answer);
    }

    fn holds(&self, offset: u64, len: u64) -> bool {
        offset.checked_add(len).is_some_and(|end| end <= self.memory.size_bytes())
    }

    fn attributes(&self) -> FileAttr {
        FileAttr {
            ino: INodeNo::ROOT,
            size: self.memory.size_bytes(),
            blocks: self.memory.size_bytes() / 512,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind: FileType::RegularFile,
            perm: 0o600,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        }
    }
}

/// Another number each time, and not 0.
fn generation() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (now.as_secs() as u32 ^ now.subsec_nanos() ^ std::process::id().rotate_left(16)) | 1
}

/// The device, served.
pub struct Served(pub Arc<Device>);

impl Filesystem for Served {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // Without it the kernel would send the reads of an io_uring or libaio client one after the other.
        config.add_capabilities(InitFlags::FUSE_ASYNC_DIO).map_err(|_| io::ErrorKind::Unsupported)?;
        let _ = config.set_max_background(BACKGROUND);
        let _ = config.set_congestion_threshold(BACKGROUND);
        let _ = config.set_max_write(LARGEST_REQUEST);
        Ok(())
    }

    fn getattr(&self, _: &Request, _: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&FOREVER, &self.0.attributes());
    }

    /// A device keeps its size and its times whatever it is told (O_TRUNC, touch).
    fn setattr(
        &self,
        _: &Request,
        _: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<std::time::SystemTime>,
        _: Option<FileHandle>,
        _: Option<std::time::SystemTime>,
        _: Option<std::time::SystemTime>,
        _: Option<std::time::SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        reply.attr(&FOREVER, &self.0.attributes());
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        if self.0.open_files.fetch_add(1, SeqCst) == 0 {
            self.0.schedule().restart();
        }
        let flags = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
        reply.opened(FileHandle(0), flags);
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.0.open_files.fetch_sub(1, SeqCst);
        reply.ok();
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        // The kernel then asks no more: like a disk, a device that hangs holds up nobody's close.
        reply.error(Errno::ENOSYS);
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let device = Arc::clone(&self.0);
        let len = device.memory.slice(offset, size as usize).len();
        if len == 0 {
            return reply.data(&[]);
        }
        self.0.serve(Io { write: false, offset, len: len as u64, zeros: false }, move |errno| match errno {
            Some(errno) => reply.error(Errno::from_i32(errno)),
            None => reply.data(device.memory.slice(offset, len)),
        });
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        if !self.0.holds(offset, data.len() as u64) {
            return reply.error(Errno::ENOSPC);
        }
        let (device, data, number) = (Arc::clone(&self.0), data.to_vec(), self.0.lies.number());
        let zeros = self.0.knows_zeros && data.iter().all(|byte| *byte == 0);
        self.0.serve(Io { write: true, offset, len: data.len() as u64, zeros }, move |errno| match errno {
            Some(errno) => reply.error(Errno::from_i32(errno)),
            None => {
                device.lies.keep(number, &device.memory, offset, &data);
                reply.written(data.len() as u32);
            }
        });
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let end_ns = self.0.schedule().end_of_sync(self.0.answers.now_ns());
        self.0.answer_at(end_ns, Box::new(move || reply.ok()));
    }

    /// Space is always there; a hole that is punched is a trim, which takes as long as a write and leaves zeros.
    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        if !self.0.holds(offset, length) {
            return reply.error(Errno::ENOSPC);
        }
        if mode & !libc::FALLOC_FL_KEEP_SIZE == 0 {
            return reply.ok();
        }
        if mode & libc::FALLOC_FL_PUNCH_HOLE == 0 {
            return reply.error(Errno::EOPNOTSUPP);
        }
        let device = Arc::clone(&self.0);
        self.0.serve(Io { write: true, offset, len: length, zeros: false }, move |errno| match errno {
            Some(errno) => reply.error(Errno::from_i32(errno)),
            None => {
                device.memory.zero(offset, length);
                reply.ok();
            }
        });
    }

    /// Of all requests only that for the generation of the inode is known.
    fn ioctl(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        _: IoctlFlags,
        command: u32,
        _: &[u8],
        out_size: u32,
        reply: ReplyIoctl,
    ) {
        let answer = u64::from(self.0.generation).to_le_bytes();
        if command == libc::FS_IOC_GETVERSION as u32 && out_size as usize >= answer.len() {
            reply.ioctl(0, &answer);
        } else {
            reply.error(Errno::ENOTTY);
        }
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        reply.statfs(self.0.memory.size_bytes() / 4096, 0, 0, 1, 0, 4096, 255, 4096);
    }
}
