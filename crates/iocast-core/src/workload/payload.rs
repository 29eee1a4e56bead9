//! What is written: fills buffers before a phase, and makes each ready for its next write.

use rand::rngs::SmallRng;
use rand::{Rng, RngExt, SeedableRng};

use crate::plan::Payload;
use crate::workload::random::mix64;

/// The unit that payloads keep unique: no storage dedupes smaller blocks than 4 KiB.
const BLOCK_BYTES: usize = 4096;

/// Repeated blocks of a dedupable payload are drawn from so many.
const DEDUPE_SET: u64 = 16;

/// See the module.
pub struct PayloadMaker {
    kind: Payload,
    fresh: bool,
    rng: SmallRng,
    stamp: u64,
}

impl PayloadMaker {
    /// `fresh` draws every byte anew at each write (files are laid out so); otherwise each slot keeps its
    /// random bytes and only the first 8 of each 4 KiB block change, which costs a hundredth of it.
    pub fn new(kind: Payload, fresh: bool, seed: u64, worker: u32) -> PayloadMaker {
        let seed = mix64(seed);
        // A million million blocks for each worker before two stamps of a phase could be the same.
        let stamp = seed.wrapping_add(u64::from(worker) << 44);
        PayloadMaker { kind, fresh, rng: SmallRng::seed_from_u64(seed ^ u64::from(worker)), stamp }
    }

    /// Fills a slot's buffer before the phase begins.
    pub fn prepare(&mut self, buffer: &mut [u8]) {
        match self.kind {
            Payload::Zeros {} => buffer.fill(0),
            Payload::Repeated {} => SmallRng::seed_from_u64(0x0010_ca57).fill_bytes(buffer),
            Payload::Unique {} | Payload::Dedupable { .. } => self.rng.fill_bytes(buffer),
            Payload::Compressible { percent } => {
                for page in buffer.chunks_mut(BLOCK_BYTES) {
                    let random = random_bytes(percent, page.len());
                    self.rng.fill_bytes(&mut page[..random]);
                    page[random..].fill(0);
                }
            }
        }
    }

    /// Makes a buffer ready for its next write.
    #[inline]
    pub fn stamp(&mut self, buffer: &mut [u8]) {
        match self.kind {
            Payload::Zeros {} | Payload::Repeated {} => {}
            Payload::Unique {} => {
                if self.fresh {
                    self.rng.fill_bytes(buffer);
                }
                self.stamp_blocks(buffer);
            }
            Payload::Dedupable { percent } => {
                for block in buffer.chunks_mut(BLOCK_BYTES) {
                    if self.rng.random::<f64>() * 100.0 < percent {
                        let which = self.rng.random_range(0..DEDUPE_SET);
                        SmallRng::seed_from_u64(which).fill_bytes(block);
                    } else {
                        self.rng.fill_bytes(block);
                        self.stamp_blocks(block);
                    }
                }
            }
            Payload::Compressible { percent } => {
                for page in buffer.chunks_mut(BLOCK_BYTES) {
                    let random = random_bytes(percent, page.len()).max(8);
                    self.stamp_blocks(&mut page[..random]);
                }
            }
        }
    }

    #[inline]
    fn stamp_blocks(&mut self, buffer: &mut [u8]) {
        for block in buffer.chunks_mut(BLOCK_BYTES) {
            if block.len() >= 8 {
                self.stamp = self.stamp.wrapping_add(1);
                block[..8].copy_from_slice(&mix64(self.stamp).to_le_bytes());
            }
        }
    }
}

fn random_bytes(percent: f64, len: usize) -> usize {
    (len as f64 * (1.0 - percent / 100.0)).round().clamp(0.0, len as f64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_unique_blocks_are_the_same() {
        let mut seen = HashSet::new();
        for worker in 0..3 {
            let mut maker = PayloadMaker::new(Payload::Unique {}, false, 9, worker);
            let mut buffer = vec![0u8; 8192];
            maker.prepare(&mut buffer);
            for _ in 0..100 {
                maker.stamp(&mut buffer);
                for block in buffer.chunks(BLOCK_BYTES) {
                    assert!(seen.insert(block.to_vec()));
                }
            }
        }
    }

    #[test]
    fn compressible_is_zero_in_the_share_it_was_told() {
        let mut maker = PayloadMaker::new(Payload::Compressible { percent: 50.0 }, false, 9, 0);
        let mut buffer = vec![1u8; 65536];
        maker.prepare(&mut buffer);
        maker.stamp(&mut buffer);
        let zeros = buffer.iter().filter(|b| **b == 0).count() as f64 / 65536.0;
        assert!((zeros - 0.5).abs() < 0.01, "{zeros}");
    }

    #[test]
    fn dedupable_repeats_the_share_it_was_told() {
        let mut maker = PayloadMaker::new(Payload::Dedupable { percent: 40.0 }, false, 9, 0);
        let mut seen = HashSet::new();
        let mut buffer = vec![0u8; 1 << 20];
        maker.prepare(&mut buffer);
        for _ in 0..8 {
            maker.stamp(&mut buffer);
            seen.extend(buffer.chunks(BLOCK_BYTES).map(<[u8]>::to_vec));
        }
        let saved = 1.0 - seen.len() as f64 / 2048.0;
        assert!((saved - 0.4).abs() < 0.05, "{saved}");
    }

    #[test]
    fn repeated_is_the_same_everywhere() {
        let (mut a, mut b) = (vec![0u8; 8192], vec![1u8; 8192]);
        PayloadMaker::new(Payload::Repeated {}, false, 1, 0).prepare(&mut a);
        PayloadMaker::new(Payload::Repeated {}, false, 2, 5).prepare(&mut b);
        assert_eq!(a, b);
    }
}
