//! How long until a block comes again, by what was done to it before and what is done now.

use serde::Serialize;

/// Steps of an octave.
const AN_OCTAVE: f64 = 8.0;
const STEPS: usize = 64 * 8;
/// The names of the pairs, in the order of [`pair`]: read after read, write after read, ...
const PAIRS: [&str; 4] = ["read_after_read", "write_after_read", "read_after_write", "write_after_write"];
/// Windows of time for which a working set is told.
pub const WINDOWS_NS: [i64; 6] =
    [1_000_000_000, 10_000_000_000, 60_000_000_000, 600_000_000_000, 3_600_000_000_000, 86_400_000_000_000];

/// Intervals of one pair of operations on a block, one directly after the other.
#[derive(Clone, Debug, Serialize)]
pub struct PairTimes {
    /// What came after what.
    pub pair: &'static str,
    /// How many.
    pub references: f64,
    /// Upper ends of intervals that hold some, ascending.
    pub upto_ns: Vec<u64>,
    /// How many each holds.
    pub counts: Vec<f64>,
}

/// The mean number of different blocks used within a window of time (Denning).
#[derive(Clone, Debug, Serialize)]
pub struct WorkingSet {
    /// The window.
    pub window_ns: i64,
    /// Blocks.
    pub blocks: f64,
}

/// Counts intervals.
#[derive(Clone, Debug)]
pub struct ReuseTimes {
    counts: Vec<[f64; 4]>,
    resident: [f64; WINDOWS_NS.len()],
}

impl Default for ReuseTimes {
    fn default() -> ReuseTimes {
        ReuseTimes { counts: vec![[0.0; 4]; STEPS], resident: [0.0; WINDOWS_NS.len()] }
    }
}

impl ReuseTimes {
    /// A block comes again after `gap_ns`.
    #[inline]
    pub fn again(&mut self, gap_ns: i64, write_before: bool, write_now: bool, weight: f64) {
        let gap = gap_ns.max(0);
        let pair = usize::from(write_before) * 2 + usize::from(write_now);
        self.counts[step(gap as u64)][pair] += weight;
        self.stays(gap, weight);
    }

    /// A block that does not come again until the end of the trace.
    pub fn stays(&mut self, gap_ns: i64, weight: f64) {
        for (total, window) in self.resident.iter_mut().zip(WINDOWS_NS) {
            *total += weight * gap_ns.min(window) as f64;
        }
    }

    /// The pairs that occurred.
    pub fn pairs(&self) -> Vec<PairTimes> {
        let of = |pair: usize| {
            let held: Vec<usize> = (0..STEPS).filter(|at| self.counts[*at][pair] > 0.0).collect();
            PairTimes {
                pair: PAIRS[pair],
                references: held.iter().map(|at| self.counts[*at][pair]).sum(),
                upto_ns: held.iter().map(|at| upper(*at)).collect(),
                counts: held.iter().map(|at| self.counts[*at][pair]).collect(),
            }
        };
        (0..PAIRS.len()).map(of).filter(|times| times.references > 0.0).collect()
    }

    /// Working sets of all windows shorter than the trace.
    pub fn working_sets(&self, length_ns: i64) -> Vec<WorkingSet> {
        let known = WINDOWS_NS.iter().zip(self.resident).filter(|(window, _)| **window < length_ns);
        known
            .map(|(window, total)| WorkingSet { window_ns: *window, blocks: total / length_ns as f64 })
            .collect()
    }
}

fn step(value: u64) -> usize {
    if value == 0 {
        return 0;
    }
    (1 + ((value as f64).log2() * AN_OCTAVE).floor() as usize).min(STEPS - 1)
}

fn upper(step: usize) -> u64 {
    (step as f64 / AN_OCTAVE).exp2() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_used_every_second_is_always_in_a_window_of_ten() {
        let mut times = ReuseTimes::default();
        (0..99).for_each(|_| times.again(1_000_000_000, true, false, 1.0));
        let sets = times.working_sets(99_000_000_000);
        assert_eq!(sets.len(), 3);
        assert!(sets.iter().all(|set| (set.blocks - 1.0).abs() < 1e-9));
        let pairs = times.pairs();
        assert_eq!((pairs[0].pair, pairs[0].references), ("read_after_write", 99.0));
        assert!((0.9..1.1).contains(&(pairs[0].upto_ns[0] as f64 / 1e9)));
    }
}
