//! For how many I/Os each one stands that a window counted: by what devices and processes did in all, as the kernel counts
//! it, else by the time.

use super::device_counters::Done;
use super::process_calls::Made;
use crate::blk::BlkOp;
use crate::capture::call_table::{Call, NAMED, call_of};
use crate::trace::event::Op;

/// Of fewer the time says more than their number.
const LEAST: u64 = 100;
/// By how much the devices may correct the time for what is no request of theirs.
const MOST: f64 = 2.0;

/// See the module. None of it falls while a window stands for a longer time: counts made of it only grow.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    by_time: f64,
    by_device: Vec<((u32, BlkOp), f64)>,
    of_rings: f64,
    of_reads: f64,
    of_writes: f64,
    of_calls: f64,
}

impl Standing {
    /// Everything was counted.
    pub fn for_itself() -> Standing {
        Standing::alike(1.0, Vec::new(), 1.0)
    }

    /// `by_time`: the time over that of the window; `counted` requests in the window, `before` and `now` what the
    /// devices had done when it opened and have done by now. A load is slower while it is traced, so the time alone
    /// would tell too few; its calls are slower by as much as its requests.
    pub fn new(by_time: f64, counted: &Done, before: &Done, now: &Done) -> Standing {
        let (mut in_all, mut in_window, mut by_device) = (0, 0, Vec::new());
        for (key, &count) in counted {
            let (Some(before), Some(now)) = (before.get(key), now.get(key)) else { continue };
            let done = now.saturating_sub(*before);
            (in_all, in_window) = (in_all + done, in_window + count);
            if count >= LEAST {
                by_device.push((*key, (done as f64 / count as f64).max(1.0)));
            }
        }
        let of_calls = match in_window {
            LEAST.. => (in_all as f64 / in_window as f64).clamp(by_time / MOST, by_time * MOST).max(1.0),
            _ => by_time,
        };
        Standing::alike(by_time, by_device, of_calls)
    }

    fn alike(by_time: f64, by_device: Vec<((u32, BlkOp), f64)>, of_calls: f64) -> Standing {
        let (of_reads, of_writes) = (of_calls, of_calls);
        Standing { by_time, by_device, of_rings: of_calls, of_reads, of_writes, of_calls }
    }

    /// Calls by what the processes did `in_window` and `in_all`: those that the page cache answers, or that come in bursts,
    /// follow neither devices nor the time.
    pub fn with_calls(mut self, in_window: Made, in_all: Made) -> Standing {
        let factor = |window: u64, all: u64| (window >= LEAST).then(|| (all as f64 / window as f64).max(1.0));
        let both = factor(in_window.reads + in_window.writes, in_all.reads + in_all.writes);
        self.of_calls = both.unwrap_or(self.of_calls);
        self.of_reads = factor(in_window.reads, in_all.reads).unwrap_or(self.of_calls);
        self.of_writes = factor(in_window.writes, in_all.writes).unwrap_or(self.of_calls);
        self
    }

    /// One request or bio of a device.
    pub fn of_device(&self, device: u32, op: BlkOp) -> f64 {
        let known = self.by_device.iter().find(|(key, _)| *key == (device, op));
        known.map_or(self.by_time, |(_, factor)| *factor)
    }

    /// One system call of this name; a sync comes with writes.
    pub fn of_call(&self, name: &str) -> f64 {
        let number = NAMED.iter().find(|(_, known)| *known == name).map(|(number, _)| *number);
        match number.and_then(call_of) {
            Some(Call::Data { op: Op::Read, .. }) => self.of_reads,
            _ => self.of_writes,
        }
    }

    /// One wait for a processor.
    pub fn of_waits(&self) -> f64 {
        self.of_calls
    }

    /// One I/O of io_uring, which no process's counter has.
    pub fn of_rings(&self) -> f64 {
        self.of_rings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(reads: u64, writes: u64) -> Done {
        [((1, BlkOp::Read), reads), ((1, BlkOp::Write), writes)].into_iter().collect()
    }

    #[test]
    fn requests_stand_for_what_the_device_did_and_calls_follow() {
        // A tenth of the time was traced, in which the load was half as quick.
        let standing = Standing::new(10.0, &done(500, 20), &done(7_000, 50), &done(17_000, 90));
        assert_eq!(standing.of_device(1, BlkOp::Read), 20.0);
        assert_eq!(standing.of_device(1, BlkOp::Write), 10.0, "too few: by the time");
        assert_eq!(standing.of_device(2, BlkOp::Read), 10.0, "not known");
        assert!((standing.of_waits() - 10_040.0 / 520.0).abs() < 1e-9);
    }

    #[test]
    fn what_others_do_between_windows_moves_calls_by_a_bounded_factor() {
        let standing = Standing::new(10.0, &done(500, 0), &done(0, 0), &done(1_000_000, 0));
        assert_eq!((standing.of_device(1, BlkOp::Read), standing.of_waits()), (2000.0, 20.0));
        let idle = Standing::new(10.0, &done(500, 0), &done(0, 0), &done(500, 0));
        assert_eq!((idle.of_device(1, BlkOp::Read), idle.of_waits()), (1.0, 5.0));
        assert_eq!(Standing::new(10.0, &done(9, 0), &done(0, 0), &done(9, 0)).of_waits(), 10.0);
    }

    #[test]
    fn a_window_that_is_open_stands_for_itself() {
        let standing = Standing::for_itself();
        assert_eq!((standing.of_device(1, BlkOp::Read), standing.of_waits()), (1.0, 1.0));
    }

    #[test]
    fn calls_stand_for_what_their_processes_did() {
        // A tenth of the time, in which a burst fell: of 1,000 reads 900; too few writes to tell.
        let of = |reads: u64, writes: u64| Made { reads, writes };
        let standing = Standing::new(10.0, &done(500, 0), &done(0, 0), &done(5_000, 0));
        let standing = standing.with_calls(of(900, 20), of(1_000, 104));
        assert!((standing.of_call("pread64") - 1_000.0 / 900.0).abs() < 1e-9);
        assert!((standing.of_call("fdatasync") - 1_104.0 / 920.0).abs() < 1e-9);
        assert_eq!((standing.of_rings(), standing.of_device(1, BlkOp::Read)), (10.0, 10.0));
        let unknown =
            Standing::new(10.0, &done(9, 0), &done(0, 0), &done(9, 0)).with_calls(of(9, 0), of(900, 0));
        assert_eq!(unknown.of_call("read"), 10.0, "too few");
    }
}
