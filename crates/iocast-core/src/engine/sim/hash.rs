//! Hashing of block numbers: quick, and the same in every process.

use std::hash::{BuildHasher, Hasher};

use crate::workload::random::mix64;

/// Builds hashers for numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mixed;

/// Mixes one number.
#[derive(Clone, Copy, Debug, Default)]
pub struct MixedHasher(u64);

impl BuildHasher for Mixed {
    type Hasher = MixedHasher;

    fn build_hasher(&self) -> MixedHasher {
        MixedHasher(0)
    }
}

impl Hasher for MixedHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = mix64(self.0 ^ number);
    }
}
