//! A row of a series: what one operation of one size did in one interval.

use super::histogram::Histogram;
use crate::plan::Op;

/// One op × size in one interval of the series.
#[derive(Clone, Debug)]
pub struct IntervalRow {
    /// Which interval, from 0.
    pub interval: u32,
    /// Operation.
    pub op: Op,
    /// Size asked for.
    pub size_bytes: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Failures.
    pub errors: u64,
    /// From the due time.
    pub response: Histogram,
    /// From submission.
    pub service: Histogram,
}

impl IntervalRow {
    /// About how much memory it takes.
    pub fn memory_bytes(&self) -> usize {
        let buckets = self.response.index.capacity() + self.service.index.capacity();
        size_of::<IntervalRow>() + buckets * (size_of::<u32>() + size_of::<u64>())
    }

    /// Adds what another user did in the same interval, with the same operation and size.
    pub fn add(&mut self, other: &IntervalRow) {
        self.bytes += other.bytes;
        self.errors += other.errors;
        self.response.merge(&other.response);
        self.service.merge(&other.service);
    }
}
