//! Orders of blocks: Zipf ranks scattered over a region, and permutations without a table.

use rand::RngExt;
use rand::rngs::SmallRng;

use crate::workload::random::mix64;

/// Zipf ranks by rejection-inversion (W. Hörmann, G. Derflinger 1996): constant time for any n.
#[derive(Clone, Debug)]
pub struct ZipfRanks {
    theta: f64,
    n: u64,
    h_first: f64,
    h_last: f64,
    shortcut: f64,
    scatter: u64,
}

impl ZipfRanks {
    /// Ranks of `n` blocks.
    pub fn new(n: u64, theta: f64) -> ZipfRanks {
        let mut z =
            ZipfRanks { theta, n, h_first: 0.0, h_last: 0.0, shortcut: 0.0, scatter: scatter_step(n) };
        z.h_first = z.integral(1.5) - 1.0;
        z.h_last = z.integral(n as f64 + 0.5);
        z.shortcut = 2.0 - z.inverse(z.integral(2.5) - 2f64.powf(-theta));
        z
    }

    fn integral(&self, x: f64) -> f64 {
        let log_x = x.ln();
        let power = (1.0 - self.theta) * log_x;
        if power.abs() < 1e-9 { log_x } else { power.exp_m1() / (1.0 - self.theta) }
    }

    fn inverse(&self, y: f64) -> f64 {
        let scaled = y * (1.0 - self.theta);
        if scaled.abs() < 1e-9 { y.exp() } else { (scaled.max(-1.0).ln_1p() / (1.0 - self.theta)).exp() }
    }

    /// A rank from 0 (the hottest) to n - 1.
    fn rank(&self, rng: &mut SmallRng) -> u64 {
        loop {
            let u = self.h_last + rng.random::<f64>() * (self.h_first - self.h_last);
            let x = self.inverse(u);
            let k = (x + 0.5).floor().clamp(1.0, self.n as f64);
            if k - x <= self.shortcut || u >= self.integral(k + 0.5) - k.powf(-self.theta) {
                return k as u64 - 1;
            }
        }
    }

    /// A block, hot ones scattered: multiplying by a number coprime to n is a bijection of 0..n.
    pub fn block(&self, rng: &mut SmallRng) -> u64 {
        ((u128::from(self.rank(rng)) * u128::from(self.scatter) + u128::from(self.n / 3))
            % u128::from(self.n)) as u64
    }
}

/// A step near n/φ that has no factor in common with n.
fn scatter_step(n: u64) -> u64 {
    fn gcd(a: u64, b: u64) -> u64 {
        if b == 0 { a } else { gcd(b, a % b) }
    }
    let mut step = ((n as f64 * 0.618_033_988_749_895) as u64).max(1);
    while gcd(step, n) != 1 {
        step += 1;
    }
    step
}

/// A bijection of 0..n chosen by `key`: four Feistel rounds over the next power of four, walked until inside.
pub fn permute(index: u64, n: u64, key: u64) -> u64 {
    let half = (64 - (n.max(2) - 1).leading_zeros()).div_ceil(2);
    let mask = (1u64 << half) - 1;
    let mut value = index;
    loop {
        let (mut left, mut right) = (value >> half, value & mask);
        for round in 0..4u64 {
            (left, right) = (right, left ^ (mix64(right ^ key.rotate_left(16 * round as u32)) & mask));
        }
        value = left << half | right;
        if value < n {
            return value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_permutation_has_every_number_once(n in 1u64..3000, key in any::<u64>()) {
            let mut seen: Vec<u64> = (0..n).map(|i| permute(i, n, key)).collect();
            seen.sort_unstable();
            prop_assert!(seen.iter().copied().eq(0..n));
        }

        #[test]
        fn scattering_is_a_bijection(n in 1u64..3000) {
            let step = scatter_step(n);
            let mut seen: Vec<u64> = (0..n).map(|rank| rank * step % n).collect();
            seen.sort_unstable();
            prop_assert!(seen.iter().copied().eq(0..n));
        }
    }
}
