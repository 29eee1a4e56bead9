//! What is known of the requests of one device: histograms for each operation and size class, and exact counts.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{BlkOp, Device};
use crate::record::histogram::{Histogram, Recorder};

const SECTOR_BYTES: u64 = 512;
const SMALLEST_CLASS: u64 = 4096;
const LARGEST_CLASS: u64 = 16 << 20;
/// How many slow requests are kept by name; the others are only counted.
const SLOW_KEPT: usize = 1000;
const POWERS: usize = 48;

/// One request that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// Its completion, on CLOCK_MONOTONIC.
    pub at_ns: u64,
    /// What it asked.
    pub op: BlkOp,
    /// Where it began.
    pub sector: u64,
    /// How long it was.
    pub sectors: u32,
    /// From insert to issue; None when it never was in a queue.
    pub queue_ns: Option<u64>,
    /// From issue to completion.
    pub device_ns: u64,
    /// It failed.
    pub failed: bool,
}

impl Done {
    /// Its length.
    pub fn size_bytes(&self) -> u64 {
        u64::from(self.sectors) * SECTOR_BYTES
    }

    /// From its arrival in the queue, if it was in one, to its completion.
    pub fn total_ns(&self) -> u64 {
        self.queue_ns.unwrap_or(0) + self.device_ns
    }
}

/// The class of a size: the power of two that it does not exceed, from 4 KiB to 16 MiB; 0 for no data.
pub fn size_class(size_bytes: u64) -> u64 {
    if size_bytes == 0 { 0 } else { size_bytes.clamp(SMALLEST_CLASS, LARGEST_CLASS).next_power_of_two() }
}

#[derive(Default)]
struct Class {
    ios: u64,
    bytes: u64,
    failed: u64,
    queue: Recorder,
    device: Recorder,
    total: Recorder,
}

/// One operation x size class.
#[derive(Clone, Debug, Serialize)]
pub struct ClassTimes {
    /// What was asked.
    pub op: BlkOp,
    /// The largest size in the class: see [`size_class`].
    pub size_bytes: u64,
    /// Requests that are done.
    pub ios: u64,
    /// What they moved.
    pub bytes: u64,
    /// Those that failed, which are in `ios` too.
    pub failed: u64,
    /// From insert to issue, of those that were in a queue.
    pub queue: Histogram,
    /// From issue to completion.
    pub device: Histogram,
    /// From insert, or issue where there was none, to completion.
    pub total: Histogram,
}

/// One request that took long.
#[derive(Clone, Debug, Serialize)]
pub struct Slow {
    /// Completion, on CLOCK_MONOTONIC.
    pub at_ns: u64,
    /// What was asked.
    pub op: BlkOp,
    /// Where, in 512 bytes.
    pub sector: u64,
    /// How much.
    pub size_bytes: u64,
    /// In the queue; 0 when it never was in one.
    pub queue_ns: u64,
    /// In the device.
    pub device_ns: u64,
}

/// What one device did.
#[derive(Clone, Debug, Serialize)]
pub struct DeviceTimes {
    /// Which.
    pub device: Device,
    /// By operation and size.
    pub classes: Vec<ClassTimes>,
    /// Device times up to 1 µs, 2 µs, 4 µs ...: exact at the edges, which belong to the lower bucket.
    pub device_us_powers: Vec<u64>,
    /// The same in milliseconds.
    pub device_ms_powers: Vec<u64>,
    /// Queue and device time together, in milliseconds.
    pub total_ms_powers: Vec<u64>,
    /// The same in microseconds.
    pub total_us_powers: Vec<u64>,
    /// Requests that took longer than what was asked for, in order of completion, up to a thousand.
    pub slow: Vec<Slow>,
    /// How many there were.
    pub slow_count: u64,
    /// Issued, and not done yet.
    pub in_flight: u64,
}

/// The live form of [`DeviceTimes`].
#[derive(Default)]
pub struct Tally {
    classes: BTreeMap<(BlkOp, u64), Class>,
    powers: [Powers; 4],
    slow: Vec<Slow>,
    slow_count: u64,
}

/// Counts of times up to 1, 2, 4, 8 ... units.
struct Powers([u64; POWERS]);

impl Default for Powers {
    fn default() -> Self {
        Powers([0; POWERS])
    }
}

impl Powers {
    fn count(&mut self, time_ns: u64, unit_ns: u64) {
        self.0[power(time_ns, unit_ns).min(POWERS - 1)] += 1;
    }

    fn drain(&mut self) -> Vec<u64> {
        let used = self.0.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
        std::mem::replace(&mut self.0, [0; POWERS])[..used].to_vec()
    }
}

/// Which of up to 1, up to 2, up to 4 ... units a time is in; exactly 1 unit is in the first.
pub fn power(time_ns: u64, unit_ns: u64) -> usize {
    time_ns.div_ceil(unit_ns).max(1).next_power_of_two().trailing_zeros() as usize
}

impl Tally {
    /// Counts one request; `slow_ns` is from when on one is kept by name.
    pub fn record(&mut self, done: &Done, slow_ns: Option<u64>) {
        let class = self.classes.entry((done.op, size_class(done.size_bytes()))).or_default();
        class.ios += 1;
        class.bytes += done.size_bytes();
        class.failed += u64::from(done.failed);
        if let Some(queue_ns) = done.queue_ns {
            class.queue.record(queue_ns);
        }
        class.device.record(done.device_ns);
        class.total.record(done.total_ns());
        for (powers, (time_ns, unit_ns)) in self.powers.iter_mut().zip([
            (done.device_ns, 1_000),
            (done.device_ns, 1_000_000),
            (done.total_ns(), 1_000_000),
            (done.total_ns(), 1_000),
        ]) {
            powers.count(time_ns, unit_ns);
        }
        if slow_ns.is_some_and(|limit| done.total_ns() > limit) {
            self.note_slow(done);
        }
    }

    fn note_slow(&mut self, done: &Done) {
        self.slow_count += 1;
        if self.slow.len() < SLOW_KEPT {
            self.slow.push(Slow {
                at_ns: done.at_ns,
                op: done.op,
                sector: done.sector,
                size_bytes: done.size_bytes(),
                queue_ns: done.queue_ns.unwrap_or(0),
                device_ns: done.device_ns,
            });
        }
    }

    /// Everything since the last drain; the counts begin again.
    pub fn drain(&mut self, device: Device, in_flight: u64) -> DeviceTimes {
        let mut classes = Vec::new();
        for (&(op, size_bytes), class) in self.classes.iter_mut().filter(|(_, class)| class.ios > 0) {
            classes.push(ClassTimes {
                op,
                size_bytes,
                ios: std::mem::take(&mut class.ios),
                bytes: std::mem::take(&mut class.bytes),
                failed: std::mem::take(&mut class.failed),
                queue: class.queue.drain(),
                device: class.device.drain(),
                total: class.total.drain(),
            });
        }
        let [device_us_powers, device_ms_powers, total_ms_powers, total_us_powers] =
            self.powers.each_mut().map(Powers::drain);
        DeviceTimes {
            device,
            classes,
            device_us_powers,
            device_ms_powers,
            total_ms_powers,
            total_us_powers,
            slow: std::mem::take(&mut self.slow),
            slow_count: std::mem::take(&mut self.slow_count),
            in_flight,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_belongs_to_the_lower_bucket() {
        let ms = 1_000_000;
        let in_ms = [0, 1, ms, ms + 1, 2 * ms, 2 * ms + 1, 4 * ms, 1024 * ms, 1024 * ms + 1];
        assert_eq!(in_ms.map(|time| power(time, ms)), [0, 0, 0, 1, 1, 2, 2, 10, 11]);
        assert_eq!(power(u64::MAX, 1_000_000), 45);
    }

    #[test]
    fn classes_are_named_by_their_largest_size() {
        let sizes = [0, 512, 4096, 4608, 8192, 1 << 20, (1 << 20) + 512, 1 << 30];
        assert_eq!(sizes.map(size_class), [0, 4096, 4096, 8192, 8192, 1 << 20, 2 << 20, 16 << 20]);
    }

    #[test]
    fn draining_leaves_nothing() {
        let mut tally = Tally::default();
        let done = Done {
            at_ns: 9,
            op: BlkOp::Read,
            sector: 8,
            sectors: 16,
            queue_ns: Some(2_000),
            device_ns: 1_000_000,
            failed: false,
        };
        tally.record(&done, Some(1_002_000));
        tally.record(&Done { queue_ns: None, ..done }, None);
        tally.record(&Done { device_ns: 1_000_001, ..done }, Some(1_002_000));
        let device = Device { major: 8, minor: 0 };
        let seen = tally.drain(device, 3);
        assert_eq!(
            (seen.classes[0].ios, seen.classes[0].queue.total(), seen.classes[0].size_bytes),
            (3, 2, 8192)
        );
        assert_eq!((seen.device_ms_powers, seen.total_ms_powers), (vec![2, 1], vec![1, 2]));
        assert_eq!((seen.slow.len(), seen.slow_count, seen.in_flight), (1, 1, 3));
        let again = tally.drain(device, 0);
        assert!(again.classes.is_empty() && again.device_us_powers.is_empty() && again.slow.is_empty());
    }
}
