//! Distances of a sample of blocks that stand for all (SHARDS of fixed size; Waldspurger and others, FAST 2015).
//!
//! A block is in the sample when its hash is below a threshold, so that all of its references are. When there are too
//! many blocks, the one with the highest hash leaves and the threshold falls to it. A distance within the sample is a
//! distance among all, divided by the share that is sampled.

use std::collections::BinaryHeap;

use crate::profile::miss_curve::Distances;
use crate::profile::reuse_times::ReuseTimes;
use crate::profile::stack_distance::{Block, Kept, StackDistance};

/// Hashes lie below this.
const SPACE: u64 = 1 << 32;

/// One sample, by its own hash.
pub struct Sample {
    salt: u64,
    threshold: u64,
    most: usize,
    stack: StackDistance,
    members: BinaryHeap<(u64, Block)>,
    /// Distances of all references, reads, and writes since the write before.
    pub curves: [Distances; 3],
    /// Times until blocks come again.
    pub times: ReuseTimes,
}

impl Sample {
    /// A sample of at most so many blocks.
    pub fn new(seed: u64, most: usize, sizes: &[u64]) -> Sample {
        Sample {
            salt: Block { target: 0, number: seed as i64 }.mixed() | 1,
            threshold: SPACE,
            most,
            stack: StackDistance::default(),
            members: BinaryHeap::new(),
            curves: [Distances::new(sizes), Distances::new(sizes), Distances::new(sizes)],
            times: ReuseTimes::default(),
        }
    }

    /// A block is used; `mixed` are its mixed bits.
    #[inline]
    pub fn reference(&mut self, sizes: &[u64], block: Block, mixed: u64, write: bool, ts_ns: i64) {
        let hash = mixed.wrapping_mul(self.salt) >> 32;
        if hash < self.threshold {
            self.sampled(sizes, block, hash, write, ts_ns);
        }
    }

    fn sampled(&mut self, sizes: &[u64], block: Block, hash: u64, write: bool, ts_ns: i64) {
        let scale = self.scale();
        let found = self.stack.reference(block, |kept, distance| use_now(kept, distance, write, ts_ns));
        let far = |distance: u64| (distance as f64 * scale).round().max(1.0) as u64;
        count(&mut self.curves, &mut self.times, sizes, found, (write, ts_ns), scale, far);
        if found.is_none() {
            self.members.push((hash, block));
            if self.members.len() > self.most {
                self.shrink();
            }
        }
    }

    fn shrink(&mut self) {
        let Some((highest, _)) = self.members.peek() else { return };
        self.threshold = *highest;
        while let Some((hash, block)) = self.members.peek()
            && *hash >= self.threshold
        {
            self.stack.forget(block);
            self.members.pop();
        }
    }

    /// How many blocks one of the sample stands for.
    pub fn scale(&self) -> f64 {
        SPACE as f64 / self.threshold as f64
    }

    /// Different blocks, of all.
    pub fn blocks(&self) -> f64 {
        self.stack.blocks() as f64 * self.scale()
    }

    /// The times from the last use of each block to the end of the trace.
    pub fn close(&mut self, end_ns: i64) {
        let scale = self.scale();
        for kept in self.stack.kept() {
            self.times.stays(end_ns - kept.last_ns, scale);
        }
    }
}

/// What is kept of a block that is used now.
#[inline]
pub fn use_now(kept: &mut Kept, distance: Option<u64>, write: bool, ts_ns: i64) {
    kept.farthest = if write { 0 } else { kept.farthest.max(distance.unwrap_or(0)) };
    kept.written |= write;
    kept.last_ns = ts_ns;
    kept.last_write = write;
}

/// Counts a reference in the curves of all, of reads, and of writes that a cache writes once.
#[inline]
pub fn count(
    curves: &mut [Distances; 3],
    times: &mut ReuseTimes,
    sizes: &[u64],
    found: Option<(u64, Kept)>,
    (write, ts_ns): (bool, i64),
    weight: f64,
    far: impl Fn(u64) -> u64,
) {
    let distance = found.map(|(distance, _)| far(distance));
    curves[0].add(sizes, distance, weight);
    if write {
        // It stayed in the cache since the last write when it was never farther away.
        let since = found.filter(|(_, kept)| kept.written).map(|(now, kept)| far(now.max(kept.farthest)));
        curves[2].add(sizes, since, weight);
    } else {
        curves[1].add(sizes, distance, weight);
    }
    if let Some((_, before)) = found {
        times.again(ts_ns - before.last_ns, before.last_write, write, weight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{RngExt, SeedableRng};

    use crate::profile::miss_curve::cache_sizes;

    #[test]
    fn a_sample_of_a_hundredth_tells_the_curve_of_all() {
        let sizes = cache_sizes(&[]);
        let (mut random, mut sample) = (SmallRng::seed_from_u64(3), Sample::new(1, 4096, &sizes));
        let (mut stack, mut exact) = (StackDistance::default(), Distances::new(&sizes));
        for at in 0..600_000 {
            let number = (random.random::<f64>().powi(3) * 200_000.0) as i64;
            let block = Block { target: 0, number };
            sample.reference(&sizes, block, block.mixed(), false, at);
            exact.add(&sizes, stack.reference(block, |_, _| {}).map(|(distance, _)| distance), 1.0);
        }
        sample.curves[0].expect(600_000.0);
        let (one, other) = (sample.curves[0].miss_ratios().unwrap(), exact.miss_ratios().unwrap());
        let error = one.iter().zip(&other).map(|(a, b)| (a - b).abs()).sum::<f64>() / one.len() as f64;
        assert!(error < 0.01, "{error}");
        assert!(sample.scale() > 20.0);
        assert!((sample.blocks() / stack.blocks() as f64 - 1.0).abs() < 0.05);
    }
}
