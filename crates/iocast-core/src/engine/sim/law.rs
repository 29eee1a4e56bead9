//! Draws service times from the laws of the simulated device.

use rand::RngExt;
use rand::rngs::SmallRng;

use crate::plan::simulated::ServiceLaw;
use crate::workload::random::exponential;

/// A service time in ns. `seek` is the distance from the arm to the I/O as a share of the disk, `None` when
/// it goes on in order; only disks ask for it.
pub fn draw(law: &ServiceLaw, rng: &mut SmallRng, seek: Option<f64>) -> f64 {
    let ns = match *law {
        ServiceLaw::Constant { mean_ns } => mean_ns as f64,
        ServiceLaw::Exponential { mean_ns } => mean_ns as f64 * exponential(rng),
        ServiceLaw::Lognormal { mean_ns, cv } => {
            let variance = (1.0 + cv * cv).ln();
            ((mean_ns as f64).ln() + variance.sqrt() * normal(rng) - variance / 2.0).exp()
        }
        ServiceLaw::Uniform { low_ns, high_ns } => {
            low_ns as f64 + rng.random::<f64>() * (high_ns.saturating_sub(low_ns)) as f64
        }
        ServiceLaw::Gamma { mean_ns, cv } => mean_ns as f64 * cv * cv * gamma(1.0 / (cv * cv), rng),
        ServiceLaw::Bimodal { fast_percent, fast_ns, slow_ns, exponential: spread } => {
            let mean = if rng.random::<f64>() * 100.0 < fast_percent { fast_ns } else { slow_ns };
            mean as f64 * if spread { exponential(rng) } else { 1.0 }
        }
        ServiceLaw::Table { ref points } => {
            let percent = rng.random::<f64>() * 100.0;
            let at = points.partition_point(|p| p.percent < percent).min(points.len() - 1);
            let (from, from_ns) = match at.checked_sub(1) {
                Some(before) => (points[before].percent, points[before].ns),
                None => (0.0, points[0].ns),
            };
            let part = (percent - from) / (points[at].percent - from).max(f64::MIN_POSITIVE);
            from_ns as f64 + part.min(1.0) * (points[at].ns - from_ns) as f64
        }
        ServiceLaw::Disk { rpm, seek_base_ns, seek_span_ns } => match seek {
            None => 0.0,
            Some(share) => {
                seek_base_ns as f64
                    + seek_span_ns as f64 * share.min(1.0).sqrt()
                    + rng.random::<f64>() * 60e9 / rpm
            }
        },
    };
    ns.max(0.0)
}

fn normal(rng: &mut SmallRng) -> f64 {
    let (a, b) = (1.0 - rng.random::<f64>(), rng.random::<f64>());
    (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

/// Gamma with scale 1, after Marsaglia and Tsang (2000).
fn gamma(shape: f64, rng: &mut SmallRng) -> f64 {
    if shape < 1.0 {
        let power = (1.0 - rng.random::<f64>()).powf(1.0 / shape);
        return gamma(shape + 1.0, rng) * power;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(rng);
        let v = (1.0 + c * x).powi(3);
        let u = 1.0 - rng.random::<f64>();
        if v > 0.0 && u.ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}
