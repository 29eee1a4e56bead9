//! For how many I/Os each one stands that a window counted: by what the devices did in all, else by the time.

use super::device_counters::Done;
use crate::blk::BlkOp;

/// Of fewer the time says more than their number.
const LEAST: u64 = 100;
/// By how much the devices may correct the time for what is no request of theirs.
const MOST: f64 = 2.0;

/// See the module. None of it falls while a window stands for a longer time: counts made of it only grow.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    by_time: f64,
    by_device: Vec<((u32, BlkOp), f64)>,
    of_calls: f64,
}

impl Standing {
    /// Everything was counted.
    pub fn for_itself() -> Standing {
        Standing { by_time: 1.0, by_device: Vec::new(), of_calls: 1.0 }
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
        Standing { by_time, by_device, of_calls }
    }

    /// One request or bio of a device.
    pub fn of_device(&self, device: u32, op: BlkOp) -> f64 {
        let known = self.by_device.iter().find(|(key, _)| *key == (device, op));
        known.map_or(self.by_time, |(_, factor)| *factor)
    }

    /// One system call, or wait for a processor.
    pub fn of_calls(&self) -> f64 {
        self.of_calls
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
        assert!((standing.of_calls() - 10_040.0 / 520.0).abs() < 1e-9);
    }

    #[test]
    fn what_others_do_between_windows_moves_calls_by_a_bounded_factor() {
        let standing = Standing::new(10.0, &done(500, 0), &done(0, 0), &done(1_000_000, 0));
        assert_eq!((standing.of_device(1, BlkOp::Read), standing.of_calls()), (2000.0, 20.0));
        let idle = Standing::new(10.0, &done(500, 0), &done(0, 0), &done(500, 0));
        assert_eq!((idle.of_device(1, BlkOp::Read), idle.of_calls()), (1.0, 5.0));
        assert_eq!(Standing::new(10.0, &done(9, 0), &done(0, 0), &done(9, 0)).of_calls(), 10.0);
    }

    #[test]
    fn a_window_that_is_open_stands_for_itself() {
        let standing = Standing::for_itself();
        assert_eq!((standing.of_device(1, BlkOp::Read), standing.of_calls()), (1.0, 1.0));
    }
}
