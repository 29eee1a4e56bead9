//! Counts of a watch that looks in windows: those of each window stand for all of the time until the next one.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash};

use super::power_counts::{PowerCounts, Sums};
use crate::blk::pairing::Quick;

type Table<K, V> = HashMap<K, V, BuildHasherDefault<Quick>>;

/// By key: what the windows before came to, and what is counted in this one. Without windows all is exact.
pub struct Extrapolated<K> {
    before: Table<K, Sums>,
    window: Table<K, PowerCounts>,
}

impl<K> Default for Extrapolated<K> {
    fn default() -> Self {
        Extrapolated { before: HashMap::default(), window: HashMap::default() }
    }
}

impl<K: Copy + Eq + Hash + Ord> Extrapolated<K> {
    /// Counts one.
    pub fn record(&mut self, key: K, time_ns: u64, bytes: u64, failed: bool) {
        self.window.entry(key).or_default().record(time_ns, bytes, failed);
    }

    /// The window is over: what it counted of a key stands for `factor` times as much.
    pub fn settle(&mut self, factor: impl Fn(&K) -> f64) {
        for (key, counts) in self.window.drain() {
            self.before.entry(key).or_default().add(&counts, factor(&key));
        }
    }

    /// What this window has counted, as it stands.
    pub fn of_window(&self) -> impl Iterator<Item = (&K, u64)> {
        self.window.iter().map(|(key, counts)| (key, counts.count))
    }

    /// Everything so far, in order; what the last window counted stands for `factor` times as much.
    pub fn all(&self, factor: impl Fn(&K) -> f64) -> Vec<(K, PowerCounts)> {
        let mut sums: Table<K, Sums> = self.before.clone();
        for (key, counts) in &self.window {
            sums.entry(*key).or_default().add(counts, factor(key));
        }
        let mut all: Vec<_> = sums.into_iter().map(|(key, sums)| (key, sums.rounded())).collect();
        all.sort_by_key(|(key, _)| *key);
        all
    }

    /// Keeps those of some keys.
    pub fn retain(&mut self, keep: impl Fn(&K) -> bool) {
        self.before.retain(|key, _| keep(key));
        self.window.retain(|key, _| keep(key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_stands_for_the_time_until_the_next() {
        let mut counts: Extrapolated<u32> = Extrapolated::default();
        let often = |counts: &mut Extrapolated<u32>, times| {
            (0..times).for_each(|_| counts.record(7, 3_000, 10, false))
        };
        often(&mut counts, 3);
        let seen = |counts: &Extrapolated<u32>, factor: f64| {
            counts.all(|_| factor).into_iter().map(|(_, one)| one.count).collect::<Vec<_>>()
        };
        assert_eq!(seen(&counts, 1.0), [3]);
        assert_eq!(seen(&counts, 2.5), [8], "7.5 of them");
        counts.settle(|_| 4.3);
        counts.settle(|_| 9.0); // nothing was counted meanwhile
        often(&mut counts, 1);
        assert_eq!(seen(&counts, 1.0), [14]);
        let (_, all) = &counts.all(|_| 1.0)[0];
        assert_eq!((all.sum_ns, all.bytes, all.buckets()), (41_700, 139, vec![(Some(4000), 14)]));
    }
}
