//! `Lateness`: how late the I/Os of a replay were issued over its course, in octaves; what a heat map is drawn of.

use serde::{Deserialize, Serialize};

use super::histogram::{Histogram, bucket_bounds_ns};

/// Rows at most: of longer replays neighbours are one.
const ROWS_MOST: usize = 1024;
/// The first octave is all below this many bits of ns: 1.024 us.
const FIRST_BITS: u32 = 10;

/// Rows of `width` intervals each. A row counts I/Os by lateness: below 1.024 us, below twice that, and so on; one without
/// I/Os is empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lateness {
    /// Intervals in a row: a power of two.
    pub width: u64,
    /// Counts by octave.
    pub rows: Vec<Vec<u64>>,
}

impl Default for Lateness {
    fn default() -> Lateness {
        Lateness { width: 1, rows: Vec::new() }
    }
}

impl Lateness {
    /// What was counted in one interval.
    pub fn add(&mut self, interval: u64, late: &Histogram) {
        if late.index.is_empty() {
            return;
        }
        while interval / self.width >= ROWS_MOST as u64 {
            self.widen();
        }
        let row = (interval / self.width) as usize;
        self.make(row);
        for (index, count) in late.index.iter().zip(&late.count) {
            count_in(&mut self.rows[row], octave(bucket_bounds_ns(*index as usize).0), *count);
        }
    }

    /// Those of other threads.
    pub fn merge(&mut self, mut other: Lateness) {
        while self.width < other.width {
            self.widen();
        }
        while other.width < self.width {
            other.widen();
        }
        for (row, counts) in other.rows.into_iter().enumerate() {
            self.make(row);
            counts.into_iter().enumerate().for_each(|(at, count)| count_in(&mut self.rows[row], at, count));
        }
    }

    fn make(&mut self, row: usize) {
        if self.rows.len() <= row {
            self.rows.resize(row + 1, Vec::new());
        }
    }

    fn widen(&mut self) {
        self.width *= 2;
        let mut rows: Vec<Vec<u64>> = Vec::with_capacity(self.rows.len() / 2 + 1);
        for pair in self.rows.chunks(2) {
            let mut row = pair[0].clone();
            for (at, count) in pair[1..].iter().flatten().enumerate() {
                count_in(&mut row, at, *count);
            }
            rows.push(row);
        }
        self.rows = rows;
    }
}

fn octave(late_ns: u64) -> usize {
    (u64::BITS - (late_ns >> FIRST_BITS).leading_zeros()) as usize
}

fn count_in(row: &mut Vec<u64>, at: usize, count: u64) {
    if count == 0 {
        return;
    }
    if row.len() <= at {
        row.resize(at + 1, 0);
    }
    row[at] += count;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::histogram::Recorder;

    fn late(all: &[u64]) -> Histogram {
        let mut recorder = Recorder::default();
        all.iter().for_each(|ns| recorder.record(*ns));
        recorder.drain()
    }

    #[test]
    fn counts_are_by_interval_and_octave() {
        let mut found = Lateness::default();
        found.add(0, &late(&[0, 1023, 1024, 2047, 2048]));
        found.add(2, &late(&[5_000_000]));
        found.add(3, &late(&[]));
        assert_eq!(
            found.rows,
            [vec![2, 2, 1], vec![], {
                let mut row = vec![0; 13];
                row.push(1);
                row
            }]
        );
        assert_eq!(octave(5_000_000), 13); // 4.19 to 8.39 ms
    }

    #[test]
    fn rows_stay_few_and_lose_nothing() {
        let mut found = Lateness::default();
        let mut other = Lateness::default();
        for interval in 0..5_000 {
            found.add(interval, &late(&[100]));
        }
        other.add(1, &late(&[100, 3_000]));
        other.merge(found.clone());
        assert_eq!((found.width, found.rows.len()), (8, 625));
        assert_eq!((other.width, &other.rows[0]), (8, &vec![9, 0, 1]));
        assert_eq!(other.rows.iter().flatten().sum::<u64>(), 5_002);
    }
}
