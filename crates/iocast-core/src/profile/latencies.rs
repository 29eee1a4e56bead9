//! Latencies as histograms: by operation and size, and by operation and target.

use serde::Serialize;

use crate::profile::event_rows::EventRow;
use crate::profile::stack_distance::MixingMap;
use crate::record::histogram::{Histogram, Recorder};

/// Pairs of operation and size that have a histogram of their own; later ones share one for each operation.
const SIZES_AT_MOST: usize = 96;
/// Targets that have histograms of their own.
const TARGETS_AT_MOST: usize = 64;

/// Rows of one operation and size, or one operation and target.
#[derive(Debug, Serialize)]
pub struct LatencyCell {
    /// The number of the operation.
    pub op: u8,
    /// Bytes of a request; None: unknown, or all other sizes.
    pub size: Option<i64>,
    /// A number of a target; None for all.
    pub target: Option<u32>,
    /// Sizes, or targets, that have no cell of their own.
    pub others: bool,
    /// Rows.
    pub events: u64,
    /// Latencies of those that have one.
    pub latency: Histogram,
}

#[derive(Default)]
struct Cell {
    events: u64,
    latency: Option<Box<Recorder>>,
}

impl Cell {
    fn add(&mut self, lat_ns: Option<i64>) {
        self.events += 1;
        if let Some(lat) = lat_ns {
            self.latency.get_or_insert_default().record(lat as u64);
        }
    }

    fn told(mut self, op: u8, size: Option<i64>, target: Option<u32>, others: bool) -> LatencyCell {
        let latency = self.latency.as_mut().map(|recorder| recorder.drain()).unwrap_or_default();
        LatencyCell { op, size, target, others, events: self.events, latency }
    }
}

/// A size that stands for all others.
const OTHERS: i64 = i64::MIN;
/// A size that is unknown.
const UNKNOWN: i64 = -1;

/// Counts latencies.
#[derive(Default)]
pub struct Latencies {
    sizes: MixingMap<(u32, i64), Cell>,
    targets: MixingMap<(u32, u32), Cell>,
}

impl Latencies {
    /// One more row.
    pub fn event(&mut self, row: &EventRow) {
        let op = u32::from(row.op);
        let size = row.size.unwrap_or(UNKNOWN);
        let full = self.sizes.len() >= SIZES_AT_MOST && !self.sizes.contains_key(&(op, size));
        self.sizes.entry((op, if full { OTHERS } else { size })).or_default().add(row.lat_ns);
        let full = self.targets.len() >= TARGETS_AT_MOST && !self.targets.contains_key(&(op, row.target));
        if !full {
            self.targets.entry((op, row.target)).or_default().add(row.lat_ns);
        }
    }

    /// Cells by size, and by target, in order.
    pub fn finish(self) -> (Vec<LatencyCell>, Vec<LatencyCell>) {
        let told = |((op, size), cell): ((u32, i64), Cell)| {
            cell.told(op as u8, (size >= 0).then_some(size), None, size == OTHERS)
        };
        let mut sizes: Vec<LatencyCell> = self.sizes.into_iter().map(told).collect();
        sizes.sort_by_key(|cell| (cell.op, cell.others, cell.size));
        let told = |((op, target), cell): ((u32, u32), Cell)| cell.told(op as u8, None, Some(target), false);
        let mut targets: Vec<LatencyCell> = self.targets.into_iter().map(told).collect();
        targets.sort_by_key(|cell| (cell.target, cell.op));
        (sizes, targets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::event_rows::tests::row;

    #[test]
    fn what_is_unknown_is_no_latency_of_zero() {
        let mut latencies = Latencies::default();
        latencies.event(&row(0, 0, 0, 8192));
        latencies.event(&EventRow { lat_ns: Some(0), ..row(0, 0, 0, 8192) });
        latencies.event(&EventRow { size: None, lat_ns: Some(7), ..row(0, 0, 0, 0) });
        let (sizes, targets) = latencies.finish();
        assert_eq!(
            sizes.iter().map(|cell| (cell.size, cell.events)).collect::<Vec<_>>(),
            [(None, 1), (Some(8192), 2)]
        );
        assert_eq!((sizes[1].latency.total(), sizes[1].latency.max_ns), (1, 0));
        assert_eq!((targets.len(), targets[0].events), (1, 3));
    }

    #[test]
    fn many_sizes_share_one_histogram() {
        let mut latencies = Latencies::default();
        (1..=500).for_each(|size| latencies.event(&row(0, 1, 0, size * 512)));
        let (sizes, _) = latencies.finish();
        assert_eq!(sizes.len(), SIZES_AT_MOST + 1);
        assert_eq!(sizes.iter().map(|cell| cell.events).sum::<u64>(), 500);
        assert!(sizes.last().unwrap().others);
    }
}
