//! How fast this machine copies memory: the ceiling above which no storage figure can be true.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Bytes a second that one core copies between two buffers larger than its caches; the best of many parts copied
/// within about `budget`.
///
/// In small parts, because other programs may take the processor in the midst of a large one; then the ceiling would
/// be too low, and sound figures would be called impossible.
pub fn copy_bytes_per_s(budget: Duration) -> f64 {
    const BYTES: usize = 64 << 20;
    const PART: usize = 2 << 20;
    let source = vec![1u8; BYTES];
    let mut target = vec![0u8; BYTES];
    let begun = Instant::now();
    let (mut parts, mut passes) = (Vec::new(), 0);
    while passes < 2 || (begun.elapsed() < budget && passes < 20) {
        for (to, from) in target.chunks_exact_mut(PART).zip(source.chunks_exact(PART)) {
            let part = Instant::now();
            to.copy_from_slice(black_box(from));
            black_box(to);
            parts.push(part.elapsed());
        }
        passes += 1;
    }
    PART as f64 / best(&parts).max(1e-9)
}

/// Seconds of the quickest: what nobody disturbed.
fn best(parts: &[Duration]) -> f64 {
    parts.iter().map(Duration::as_secs_f64).fold(f64::MAX, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_were_interrupted_do_not_count() {
        let [quiet, hindered] = [200, 30_000].map(Duration::from_micros);
        assert_eq!(best(&[hindered, quiet, hindered, hindered]), 200e-6);
    }

    #[test]
    fn a_budget_of_nothing_still_measures() {
        let seen = copy_bytes_per_s(Duration::ZERO);
        assert!(seen.is_finite() && seen > 0.0);
    }
}
