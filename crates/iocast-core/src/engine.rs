//! The contract of an engine: requests are pushed, submitted in a batch, and reaped when complete.
//!
//! An engine sees requests and its own files and buffers, nothing else of the plan's purpose. All that there
//! are stand in the [`table`]; CONTRIBUTING.md says how to add one.

use rustix::thread::{Timespec, nanosleep};

use crate::error::Result;
use crate::plan::Op;
use crate::record::result::EngineReport;

pub mod one_call;
pub mod setup;
pub mod sim;
pub mod sync;
pub mod table;
pub mod tree_calls;
pub mod tree_operation;
pub mod tree_ring;
pub mod trim;
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

    /// Sleeps until `until` ns since the start, to be woken early by a signal only.
    pub fn sleep_until(&self, until: u64) {
        let now = self.now();
        if until > now {
            let left = until - now;
            // Not thread::sleep, which goes on sleeping when a signal came.
            let (tv_sec, tv_nsec) = ((left / 1_000_000_000) as i64, (left % 1_000_000_000) as i64);
            let _ = nanosleep(&Timespec { tv_sec, tv_nsec });
        }
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
