//! The contract of an engine: requests are pushed, submitted in a batch, and reaped when complete.
//!
//! An engine sees requests and its own files and buffers, nothing else of the plan's purpose. Adding one is
//! one file here, one arm in `phase.rs`, one test, one line in docs/reference/engines.md.

use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;

use crate::error::{Error, Result};
use crate::plan::{Op, PhasePlan, SyncMode};
use crate::result::EngineReport;

pub mod auto;
pub mod sim;
pub mod sync;
pub mod uring;

/// One I/O to be made. `slot` names it until it is reaped.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Which of the worker's slots, and so which buffer.
    pub slot: u32,
    /// What.
    pub op: Op,
    /// Index into the plan's files.
    pub file: u32,
    /// Byte offset in that file.
    pub offset: u64,
    /// Bytes, at most the buffer's size.
    pub len: u32,
    /// Bytes of the buffer already done by an earlier, short completion.
    pub done: u32,
    /// The plan asks for durable writes: the engines that open files have said so when they did.
    pub durable: bool,
}

/// One I/O that ended: bytes moved, or a negative errno.
#[derive(Clone, Copy, Debug)]
pub struct Completion {
    /// The slot of the request.
    pub slot: u32,
    /// Bytes, or -errno.
    pub result: i64,
}

/// Makes I/O.
pub trait Engine {
    /// The phase starts: the clock that all workers share. Called once, before the first push.
    fn start(&mut self, clock: Clock);
    /// ns since the start of the phase, on this engine's clock.
    fn now(&self) -> u64;
    /// Adds a request to the next batch. The worker never has more in flight than the engine has slots.
    fn push(&mut self, request: Request);
    /// Sends the batch and waits until `wait` I/Os have completed or, if given, until `until` ns.
    fn submit(&mut self, wait: u32, until: Option<u64>) -> Result<()>;
    /// Hands over all completions that have arrived.
    fn reap(&mut self, out: &mut Vec<Completion>);
    /// The buffer of a slot with nothing in flight; empty when the engine moves no data.
    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8];
    /// True when waiting on the clock costs nothing.
    fn virtual_time(&self) -> bool {
        false
    }
    /// I/Os are still in flight and will not be waited for: their memory must outlive them.
    fn abandon(&mut self);
    /// What it is and how it was set up.
    fn report(&self) -> EngineReport;
}

/// The clock of the engines that make real I/O.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start_ns: u64,
}

impl Clock {
    /// A clock that reads 0 now.
    pub fn start() -> Clock {
        Clock { start_ns: monotonic_ns() }
    }

    /// ns since the start.
    #[inline(always)]
    pub fn now(&self) -> u64 {
        monotonic_ns() - self.start_ns
    }
}

/// Read itself, without what `Instant` does to stay right on clocks that go backwards: this one does not.
#[inline(always)]
fn monotonic_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes `now`; Linux always has this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// The plan's files, opened as the plan wants them.
pub fn open_files(plan: &PhasePlan) -> Result<Vec<File>> {
    let writes = plan.mix.iter().any(|m| m.op != Op::Read) || plan.fsync_every > 0;
    let mut flags = 0;
    let mut how = String::from(if writes { "read and write" } else { "read" });
    if plan.direct {
        flags |= libc::O_DIRECT;
        how.push_str(", O_DIRECT");
    }
    match plan.sync {
        SyncMode::None | SyncMode::RwfDsync => {}
        SyncMode::Sync => flags |= libc::O_SYNC,
        SyncMode::Dsync => flags |= libc::O_DSYNC,
    }
    let open =
        |path: &str, flags: i32| OpenOptions::new().read(true).write(writes).custom_flags(flags).open(path);
    plan.files
        .iter()
        .map(|region| {
            // Without O_NOATIME a read can cost the device a write; only a file's owner may ask for it.
            open(&region.path, flags | libc::O_NOATIME)
                .or_else(|_| open(&region.path, flags))
                .map_err(|source| Error::Open { path: region.path.clone(), how: how.clone(), source })
        })
        .collect()
}

/// The raw descriptors of open files.
pub fn descriptors(files: &[File]) -> Vec<RawFd> {
    files.iter().map(AsRawFd::as_raw_fd).collect()
}
