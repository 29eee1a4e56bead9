//! Requests as references to blocks, and what follows from blocks that come again: exact, or of several samples.

use serde::{Deserialize, Serialize};

use crate::profile::event_rows::{EventRow, WRITE};
use crate::profile::miss_curve::{Distances, MissCurve, cache_sizes};
use crate::profile::reuse_times::{PairTimes, ReuseTimes, WorkingSet};
use crate::profile::sampled_references::{Sample, count, use_now};
use crate::profile::stack_distance::{Block, StackDistance};

/// Samples whose scatter states the error.
const SAMPLES: u64 = 5;
/// Blocks of each.
const SAMPLE_BLOCKS: usize = 8192;
/// Student's t of 95 % for five values, over the root of five.
const HALF_WIDTH: f64 = 2.776_445 / 2.236_068;

/// How requests are cut.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceOptions {
    /// Bytes of a block; None: each request is one reference to the place where it begins.
    pub block_bytes: Option<i64>,
    /// All blocks are followed; otherwise samples of them.
    pub exact: bool,
    /// Sizes of caches, in blocks, that are told besides those of the grid.
    pub cache_blocks: Vec<u64>,
}

/// What is told of blocks that come again.
#[derive(Debug, Serialize)]
pub struct ReferenceFacts {
    /// Whether all blocks were followed.
    pub exact: bool,
    /// Blocks of a sample.
    pub sample_blocks: Option<usize>,
    /// All references, reads only, and writes that reach the storage behind a cache that writes late.
    pub all: Option<MissCurve>,
    /// A cache of both; misses of reads.
    pub reads: Option<MissCurve>,
    /// Writes that reach the storage; those still in the cache at the end count.
    pub write_back: Option<MissCurve>,
    /// Intervals of pairs.
    pub pairs: Vec<PairTimes>,
    /// Working sets.
    pub working_sets: Vec<WorkingSet>,
}

enum Followed {
    Exact { stack: Box<StackDistance>, curves: [Distances; 3], times: ReuseTimes },
    Samples(Vec<Sample>),
}

/// Follows the blocks of all requests.
pub struct References {
    block_bytes: Option<i64>,
    sizes: Vec<u64>,
    followed: Followed,
    counts: [u64; 3],
}

impl References {
    /// Nothing so far.
    pub fn new(options: &ReferenceOptions) -> References {
        let sizes = cache_sizes(&options.cache_blocks);
        let none = || Distances::new(&sizes);
        let followed = if options.exact {
            let stack = Box::new(StackDistance::default());
            Followed::Exact { stack, curves: [none(), none(), none()], times: ReuseTimes::default() }
        } else {
            Followed::Samples((1..=SAMPLES).map(|seed| Sample::new(seed, SAMPLE_BLOCKS, &sizes)).collect())
        };
        References { block_bytes: options.block_bytes, sizes, followed, counts: [0; 3] }
    }

    /// One more request.
    pub fn event(&mut self, row: &EventRow) {
        let Some((offset, size)) = row.extent() else { return };
        let ts_ns = row.ts_ns.unwrap_or(0);
        let (first, last) = match self.block_bytes {
            None => (offset, offset),
            Some(bytes) => (offset / bytes, offset.saturating_add(size - 1) / bytes),
        };
        let write = row.op == WRITE;
        for number in first..=last {
            let block = Block { target: row.target, number };
            self.counts[0] += 1;
            self.counts[if write { 2 } else { 1 }] += 1;
            match &mut self.followed {
                Followed::Exact { stack, curves, times } => {
                    let found = stack.reference(block, |kept, far| use_now(kept, far, write, ts_ns));
                    count(curves, times, &self.sizes, found, (write, ts_ns), 1.0, |distance| distance);
                }
                Followed::Samples(samples) => {
                    let mixed = block.mixed();
                    for sample in samples {
                        sample.reference(&self.sizes, block, mixed, write, ts_ns);
                    }
                }
            }
        }
    }

    /// What is told of them.
    pub fn finish(self, start_ns: i64, end_ns: i64) -> ReferenceFacts {
        let (sizes, counts, length) = (self.sizes, self.counts, end_ns - start_ns);
        match self.followed {
            Followed::Exact { stack, curves, mut times } => {
                stack.kept().for_each(|kept| times.stays(end_ns - kept.last_ns, 1.0));
                let blocks = stack.blocks() as f64;
                let curve = |at: usize| curve_of(&sizes, counts[at], blocks, &[&curves[at]]);
                ReferenceFacts {
                    exact: true,
                    sample_blocks: None,
                    all: curve(0),
                    reads: curve(1),
                    write_back: curve(2),
                    pairs: times.pairs(),
                    working_sets: times.working_sets(length),
                }
            }
            Followed::Samples(mut samples) => {
                for sample in &mut samples {
                    sample.close(end_ns);
                    for (curve, references) in sample.curves.iter_mut().zip(counts) {
                        if references > 0 {
                            curve.expect(references as f64);
                        }
                    }
                }
                let blocks = samples.iter().map(Sample::blocks).sum::<f64>() / SAMPLES as f64;
                let curve = |at: usize| {
                    let of: Vec<&Distances> = samples.iter().map(|sample| &sample.curves[at]).collect();
                    curve_of(&sizes, counts[at], blocks, &of)
                };
                ReferenceFacts {
                    exact: false,
                    sample_blocks: Some(SAMPLE_BLOCKS),
                    all: curve(0),
                    reads: curve(1),
                    write_back: curve(2),
                    pairs: samples[0].times.pairs(),
                    working_sets: samples[0].times.working_sets(length),
                }
            }
        }
    }
}

/// The mean of several curves with its interval, up to the size that holds everything.
fn curve_of(sizes: &[u64], references: u64, blocks: f64, of: &[&Distances]) -> Option<MissCurve> {
    let ratios: Vec<Vec<f64>> = of.iter().map(|each| each.miss_ratios()).collect::<Option<_>>()?;
    let shown = (sizes.partition_point(|size| (*size as f64) < blocks) + 1).min(sizes.len());
    let number = ratios.len() as f64;
    let mean = |at: usize| ratios.iter().map(|each| each[at]).sum::<f64>() / number;
    let half = |at: usize| {
        let spread = ratios.iter().map(|each| (each[at] - mean(at)).powi(2)).sum::<f64>();
        if ratios.len() > 1 { HALF_WIDTH * (spread / (number - 1.0)).sqrt() } else { 0.0 }
    };
    Some(MissCurve {
        references,
        blocks,
        cache_blocks: sizes[..shown].to_vec(),
        ratios: (0..shown).map(mean).collect(),
        low: (0..shown).map(|at| (mean(at) - half(at)).max(0.0)).collect(),
        high: (0..shown).map(|at| (mean(at) + half(at)).min(1.0)).collect(),
        first_share: of.iter().map(|each| each.first / each.references).sum::<f64>() / number,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::event_rows::tests::row;

    fn facts(rows: &[EventRow], block_bytes: Option<i64>, exact: bool) -> ReferenceFacts {
        let options = ReferenceOptions { block_bytes, exact, cache_blocks: vec![3] };
        let mut references = References::new(&options);
        rows.iter().for_each(|row| references.event(row));
        references.finish(0, 1_000_000_000)
    }

    #[test]
    fn a_request_is_a_reference_to_each_of_its_blocks() {
        let found = facts(&[row(0, 0, 4096, 8192), row(1, 0, 8191, 2)], Some(4096), true);
        let all = found.all.unwrap();
        assert_eq!((all.references, all.blocks), (4, 2.0));
        assert_eq!(facts(&[row(0, 0, 4096, 8192)], None, true).all.unwrap().references, 1);
    }

    #[test]
    fn a_cache_that_writes_late_writes_a_block_once_while_it_stays() {
        // Block 0 is written, three others are read, block 0 is read and written again.
        let rows = [(1, 0), (0, 1), (0, 2), (0, 3), (0, 0), (1, 0)];
        let rows: Vec<EventRow> = rows
            .iter()
            .enumerate()
            .map(|(at, (op, block))| row(at as i64, *op, block * 4096, 4096))
            .collect();
        let found = facts(&rows, Some(4096), true).write_back.unwrap();
        let at = |size| found.ratios[found.cache_blocks.binary_search(&size).unwrap()];
        assert_eq!((at(3), at(4)), (1.0, 0.5));
    }

    #[test]
    fn few_blocks_are_sampled_whole_and_then_exact() {
        let rows: Vec<EventRow> = (0..5000).map(|at| row(at, 0, (at * at % 97) * 4096, 4096)).collect();
        let (one, other) = (facts(&rows, Some(4096), true), facts(&rows, Some(4096), false));
        let (one, other) = (one.all.unwrap(), other.all.unwrap());
        assert_eq!(one.cache_blocks, other.cache_blocks);
        assert!(one.ratios.iter().zip(&other.ratios).all(|(a, b)| (a - b).abs() < 1e-12));
        assert!(other.low.iter().zip(&other.high).all(|(low, high)| high - low < 1e-12));
    }
}
