//! Random numbers that several rooms need: stirred integers, exponential variates.

use rand::RngExt;
use rand::rngs::SmallRng;

/// splitmix64's finaliser: a bijection, so that different stamps stay different.
pub fn mix64(value: u64) -> u64 {
    let mut x = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// An exponential variate of mean 1.
pub fn exponential(rng: &mut SmallRng) -> f64 {
    -(1.0 - rng.random::<f64>()).ln()
}
