//! How fast this machine copies memory: the ceiling above which no storage figure can be true.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Bytes a second that one core copies between two buffers larger than its caches; the best of several
/// passes within about `budget`.
pub fn copy_bytes_per_s(budget: Duration) -> f64 {
    const BYTES: usize = 64 << 20;
    let source = vec![1u8; BYTES];
    let mut target = vec![0u8; BYTES];
    let (begun, mut best) = (Instant::now(), f64::MAX);
    let mut passes = 0;
    while passes < 2 || (begun.elapsed() < budget && passes < 20) {
        let pass = Instant::now();
        target.copy_from_slice(black_box(&source));
        black_box(&target);
        best = best.min(pass.elapsed().as_secs_f64());
        passes += 1;
    }
    BYTES as f64 / best.max(1e-9)
}
