//! Times counted by powers of two of a microsecond, with their number, sum and bytes; they only grow.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::blk::device_times::size_class;

const UNIT_NS: u64 = 1000;
/// Below 1, 2, 4 µs ... 67 s, and all above.
const BUCKETS: usize = 28;
const LARGEST_CLASS: u64 = 1 << 20;

/// The class of a size: the power of two that it does not exceed, from 4 KiB to 1 MiB; 0 for no data, None above.
pub fn class_of(size_bytes: u64) -> Option<u64> {
    let class = size_class(size_bytes);
    (class <= LARGEST_CLASS).then_some(class)
}

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PowerCounts {
    buckets: [u64; BUCKETS],
    /// How many.
    pub count: u64,
    /// Their times together.
    pub sum_ns: u64,
    /// What they moved.
    pub bytes: u64,
    /// Those of them that failed.
    pub failed: u64,
}

impl PowerCounts {
    /// Counts one.
    pub fn record(&mut self, time_ns: u64, bytes: u64, failed: bool) {
        let units = time_ns / UNIT_NS;
        let power = (u64::BITS - units.leading_zeros()) as usize; // 0 is below one unit, 1 below two
        self.buckets[power.min(BUCKETS - 1)] += 1;
        self.count += 1;
        self.sum_ns += time_ns;
        self.bytes += bytes;
        self.failed += u64::from(failed);
    }

    /// (bound that is not reached, count) of the buckets that have any; the last bucket has no bound.
    pub fn buckets(&self) -> Vec<(Option<u64>, u64)> {
        let bound = |power: usize| (power + 1 < BUCKETS).then(|| UNIT_NS << power);
        let all = self.buckets.iter().enumerate();
        all.filter(|(_, count)| **count > 0).map(|(power, count)| (bound(power), *count)).collect()
    }
}

/// Counts that were multiplied: whole numbers only when they are shown.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    buckets: [f64; BUCKETS],
    sum_ns: f64,
    bytes: f64,
    failed: f64,
}

impl Sums {
    /// Adds what was counted, so many times.
    pub fn add(&mut self, counts: &PowerCounts, factor: f64) {
        self.buckets.iter_mut().zip(counts.buckets).for_each(|(sum, count)| *sum += count as f64 * factor);
        self.sum_ns += counts.sum_ns as f64 * factor;
        self.bytes += counts.bytes as f64 * factor;
        self.failed += counts.failed as f64 * factor;
    }

    /// As counts again: the buckets add up to their number.
    pub fn rounded(&self) -> PowerCounts {
        let buckets = self.buckets.map(|count| count.round() as u64);
        let [sum_ns, bytes, failed] = [self.sum_ns, self.bytes, self.failed].map(|sum| sum.round() as u64);
        PowerCounts { buckets, count: buckets.iter().sum(), sum_ns, bytes, failed }
    }
}

impl Serialize for PowerCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("PowerCounts", 5)?;
        fields.serialize_field("count", &self.count)?;
        fields.serialize_field("sum_ns", &self.sum_ns)?;
        fields.serialize_field("bytes", &self.bytes)?;
        fields.serialize_field("failed", &self.failed)?;
        fields.serialize_field("buckets", &self.buckets())?;
        fields.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_never_reached_by_what_is_below_it() {
        let mut counts = PowerCounts::default();
        for time_ns in [0, 999, 1000, 1999, 2000, 3999, 4000, (1000 << 26) - 1, 1000 << 26, u64::MAX / 8] {
            counts.record(time_ns, 10, time_ns == 0);
        }
        let expected = [
            (Some(1000), 2),
            (Some(2000), 2),
            (Some(4000), 2),
            (Some(8000), 1),
            (Some(1000 << 26), 1),
            (None, 2),
        ];
        assert_eq!(counts.buckets(), expected);
        assert_eq!((counts.count, counts.bytes, counts.failed), (10, 100, 1));
    }

    #[test]
    fn classes_end_at_a_mebibyte() {
        let sizes = [0, 1, 4096, 4097, 1 << 20, (1 << 20) + 1];
        assert_eq!(sizes.map(class_of), [Some(0), Some(4096), Some(4096), Some(8192), Some(1 << 20), None]);
    }
}
