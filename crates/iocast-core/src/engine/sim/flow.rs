//! What flows at a rate: transfers that share a pipe, caps and credits, a write buffer that empties.

use std::collections::VecDeque;

use crate::plan::simulated::{Counts, SimLimit};

/// A transfer rate that I/Os share: each takes the pipe's free time from the moment it is ready, so that one
/// that is ready late does not hold up those that are ready before it.
#[derive(Clone, Debug, Default)]
pub struct Pipe {
    ns_per_byte: f64,
    /// Taken, in order and apart from each other.
    busy: VecDeque<(u64, u64)>,
    /// What rounding to ns left over: it is owed to the next transfer.
    owed: f64,
}

impl Pipe {
    /// A pipe of `bytes_per_s`; 0 is without limit.
    pub fn new(bytes_per_s: u64) -> Pipe {
        let ns_per_byte = if bytes_per_s == 0 { 0.0 } else { 1e9 / bytes_per_s as f64 };
        Pipe { ns_per_byte, busy: VecDeque::new(), owed: 0.0 }
    }

    /// When `len` bytes that are ready at `ready` have passed. Nothing will be ready before `now` any more.
    pub fn pass(&mut self, now: u64, ready: u64, len: f64) -> u64 {
        if self.ns_per_byte == 0.0 {
            return ready;
        }
        self.owed += len * self.ns_per_byte;
        let mut left = self.owed as u64;
        self.owed -= left as f64;
        while self.busy.front().is_some_and(|taken| taken.1 <= now) {
            self.busy.pop_front();
        }
        let first = self.busy.partition_point(|taken| taken.1 < ready);
        let (mut from, mut at, mut last) = (ready, ready, first);
        while let Some(&(begin, end)) = self.busy.get(last) {
            let free = begin.saturating_sub(at);
            if left <= free {
                break;
            }
            left -= free;
            from = from.min(begin);
            at = end;
            last += 1;
        }
        let end = at + left;
        self.busy.drain(first..last);
        self.busy.insert(first, (from, end));
        end
    }
}

/// A cap, or a bucket of credits: an I/O starts as soon as nothing is owed, and is paid for then.
#[derive(Clone, Debug)]
pub struct Bucket {
    limit: SimLimit,
    level: f64,
    at: u64,
}

impl Bucket {
    /// A full bucket.
    pub fn new(limit: &SimLimit) -> Bucket {
        Bucket { limit: limit.clone(), level: limit.bucket, at: 0 }
    }

    /// When an I/O of `len` bytes that comes at `now` may start. I/Os come in order.
    pub fn start(&mut self, now: u64, len: u64) -> u64 {
        let per_ns = self.limit.rate_per_s / 1e9;
        if now > self.at {
            self.level = (self.level + (now - self.at) as f64 * per_ns).min(self.limit.bucket);
            self.at = now;
        }
        if self.level < 0.0 {
            let wait = (-self.level / per_ns).ceil();
            self.level += wait * per_ns;
            self.at += wait as u64;
        }
        self.level -= match (self.limit.counts, self.limit.unit_bytes) {
            (Counts::Bytes, _) => len as f64,
            (Counts::Ios, 0) => 1.0,
            (Counts::Ios, unit) => len.div_ceil(unit).max(1) as f64,
        };
        self.at
    }
}

/// A buffer of so many bytes that empties at a rate.
#[derive(Clone, Debug)]
pub struct Buffer {
    size: f64,
    per_ns: f64,
    level: f64,
    at: u64,
}

impl Buffer {
    /// An empty buffer.
    pub fn new(size_bytes: u64, bytes_per_s: u64) -> Buffer {
        Buffer { size: size_bytes as f64, per_ns: bytes_per_s as f64 / 1e9, level: 0.0, at: 0 }
    }

    /// When there is room for `len` bytes that come at `now`; they are put in then.
    pub fn take(&mut self, now: u64, len: u64) -> u64 {
        if now > self.at {
            self.level = (self.level - (now - self.at) as f64 * self.per_ns).max(0.0);
            self.at = now;
        }
        self.level += len as f64;
        if self.level > self.size {
            let wait = ((self.level - self.size) / self.per_ns).ceil();
            self.level -= wait * self.per_ns;
            self.at += wait as u64;
        }
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_transfer_does_not_hold_up_an_early_one_and_the_rate_is_kept() {
        let mut pipe = Pipe::new(1_000_000_000);
        assert_eq!(pipe.pass(0, 1000, 100.0), 1100);
        assert_eq!(pipe.pass(0, 10, 100.0), 110, "it is ready long before");
        assert_eq!(pipe.pass(0, 50, 100.0), 210);
        assert_eq!(pipe.pass(0, 900, 150.0), 1150, "100 ns before the first transfer, 50 ns after it");
    }
}
