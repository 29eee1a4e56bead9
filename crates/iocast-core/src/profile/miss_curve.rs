//! Hits of caches of many sizes at once, from the distances of references.

use serde::Serialize;

/// Sizes of an octave.
const AN_OCTAVE: u32 = 4;
const OCTAVES: u32 = 40;

/// The sizes of caches, in references, for which hits are counted.
pub fn cache_sizes(asked: &[u64]) -> Vec<u64> {
    let grid =
        (0..=OCTAVES * AN_OCTAVE).map(|at| (f64::from(at) / f64::from(AN_OCTAVE)).exp2().round() as u64);
    let mut sizes: Vec<u64> = grid.chain(asked.iter().copied().filter(|size| *size > 0)).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// References by distance; a weight says how many one stands for.
#[derive(Clone, Debug)]
pub struct Distances {
    upto: Vec<f64>,
    /// All of them.
    pub references: f64,
    /// Those that were not seen before.
    pub first: f64,
}

impl Distances {
    /// None so far.
    pub fn new(sizes: &[u64]) -> Distances {
        Distances { upto: vec![0.0; sizes.len()], references: 0.0, first: 0.0 }
    }

    /// One more; None is new, or out of reach of any cache.
    #[inline]
    pub fn add(&mut self, sizes: &[u64], distance: Option<u64>, weight: f64) {
        self.references += weight;
        match distance {
            None => self.first += weight,
            Some(distance) => {
                let at = sizes.partition_point(|size| *size < distance);
                if let Some(count) = self.upto.get_mut(at) {
                    *count += weight;
                }
            }
        }
    }

    /// References that should have been counted and were not are taken as hits of the smallest cache: those that sampling
    /// leaves out are the most frequent blocks (SHARDS-adj).
    pub fn expect(&mut self, references: f64) {
        self.upto[0] += references - self.references;
        self.references = references;
    }

    /// The share of references that miss in a cache of each size; None without a reference.
    pub fn miss_ratios(&self) -> Option<Vec<f64>> {
        if self.references <= 0.0 {
            return None;
        }
        let mut hits = 0.0;
        let ratio = |count: &f64| {
            hits += count;
            (1.0 - hits / self.references).clamp(0.0, 1.0)
        };
        Some(self.upto.iter().map(ratio).collect())
    }
}

/// Miss ratios of caches that drop the least recently used block.
#[derive(Clone, Debug, Serialize)]
pub struct MissCurve {
    /// References that were counted.
    pub references: u64,
    /// Different blocks.
    pub blocks: f64,
    /// Sizes of caches, in blocks.
    pub cache_blocks: Vec<u64>,
    /// The share that misses in each.
    pub ratios: Vec<f64>,
    /// The lower end of its 95 % interval; the same where nothing was sampled.
    pub low: Vec<f64>,
    /// The upper end.
    pub high: Vec<f64>,
    /// The share of first references: what no cache avoids.
    pub first_share: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distance_hits_in_caches_that_are_as_large() {
        let sizes = cache_sizes(&[5]);
        let mut found = Distances::new(&sizes);
        for distance in [Some(1), Some(5), Some(6), None] {
            found.add(&sizes, distance, 1.0);
        }
        let ratios = found.miss_ratios().unwrap();
        let at = |size: u64| ratios[sizes.binary_search(&size).unwrap()];
        assert_eq!((at(1), at(4), at(5), at(6)), (0.75, 0.75, 0.5, 0.25));
        assert_eq!(*ratios.last().unwrap(), 0.25);
    }
}
