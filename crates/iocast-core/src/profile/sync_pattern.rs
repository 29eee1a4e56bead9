//! How many writes come between two flushes of a target, and how much they write.

use serde::Serialize;

use crate::profile::event_rows::{EventRow, WRITE};
use crate::profile::stack_distance::MixingMap;
use crate::record::histogram::{Histogram, Recorder};
use crate::trace::event::{Op, flags};

/// What is told of it.
#[derive(Debug, Serialize)]
pub struct SyncFacts {
    /// Flushes and data syncs.
    pub flushes: u64,
    /// Those before which nothing was written since the last one.
    pub idle_flushes: u64,
    /// Writes before each of the others.
    pub writes_between: Histogram,
    /// Writes that are durable when they return, or that the caller waits for.
    pub sync_writes: u64,
    /// All writes.
    pub writes: u64,
}

/// Counts writes and flushes.
#[derive(Default)]
pub struct SyncPattern {
    since: MixingMap<u32, u64>,
    between: Recorder,
    flushes: u64,
    idle: u64,
    sync_writes: u64,
    writes: u64,
}

impl SyncPattern {
    /// One more row.
    pub fn event(&mut self, row: &EventRow) {
        if row.op == WRITE {
            *self.since.entry(row.target).or_default() += 1;
            self.writes += 1;
            self.sync_writes += u64::from(row.flags & (flags::SYNC | flags::FUA) != 0);
        } else if row.op == Op::Flush as u8 || row.op == Op::Datasync as u8 {
            self.flushes += 1;
            match self.since.insert(row.target, 0).unwrap_or(0) {
                0 => self.idle += 1,
                writes => self.between.record(writes),
            }
        }
    }

    /// What is told of it.
    pub fn finish(mut self) -> SyncFacts {
        SyncFacts {
            flushes: self.flushes,
            idle_flushes: self.idle,
            writes_between: self.between.drain(),
            sync_writes: self.sync_writes,
            writes: self.writes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::event_rows::tests::row;

    #[test]
    fn a_flush_counts_the_writes_of_its_own_target() {
        let mut pattern = SyncPattern::default();
        let flush = EventRow { offset: None, size: None, ..row(9, Op::Datasync as u8, 0, 0) };
        for row in
            [row(0, 1, 0, 1), EventRow { target: 1, flags: flags::SYNC, ..row(1, 1, 0, 1) }, flush, flush]
        {
            pattern.event(&row);
        }
        let found = pattern.finish();
        assert_eq!((found.flushes, found.idle_flushes, found.writes, found.sync_writes), (2, 1, 2, 1));
        assert_eq!((found.writes_between.total(), found.writes_between.max_ns), (1, 1));
    }
}
