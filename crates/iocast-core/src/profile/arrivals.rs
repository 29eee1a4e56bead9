//! When events come: the busiest windows, dispersion over scales, and the gaps between one and the next.

use serde::Serialize;

use crate::profile::windows::{Width, Windows};
use crate::record::histogram::{Histogram, Recorder};

const MS: u64 = 1_000_000;
/// Windows in which peaks are told.
const PEAKS_NS: [u64; 6] = [MS, 10 * MS, 100 * MS, 1_000 * MS, 10_000 * MS, 60_000 * MS];
/// Doublings of a millisecond: up to more than a day.
const SCALES: u32 = 27;
/// Windows from which a dispersion is told: fewer say nothing of a variance.
const WINDOWS_AT_LEAST: u64 = 16;

/// The busiest windows of one width.
#[derive(Debug, Serialize)]
pub struct Peak {
    /// Of a window.
    pub width_ns: u64,
    /// Windows that lie wholly in the trace.
    pub windows: u64,
    /// Those without an event.
    pub empty: u64,
    /// The most events in one.
    pub most_events: u64,
    /// When it began, from the first event on.
    pub most_at_ns: u64,
    /// The most bytes in one.
    pub most_bytes: u64,
    /// Events that half of all windows do not exceed.
    pub p50_events: Option<u64>,
    /// Those that 99 % do not exceed.
    pub p99_events: Option<u64>,
    /// Those that 99.9 % do not exceed.
    pub p999_events: Option<u64>,
}

/// Variance over mean of the events in windows of one width.
#[derive(Debug, Serialize)]
pub struct Dispersion {
    /// Of a window.
    pub width_ns: u64,
    /// How many there are.
    pub windows: u64,
    /// 1 for random arrivals, more for bursts, 0 for equal distances.
    pub index: f64,
}

/// What is told of arrivals.
#[derive(Debug, Serialize)]
pub struct ArrivalFacts {
    /// Events with a time.
    pub events: u64,
    /// From the first to the last of them.
    pub length_ns: u64,
    /// By width of the window.
    pub peaks: Vec<Peak>,
    /// By width of the window, each twice the one before.
    pub dispersion: Vec<Dispersion>,
    /// Times between one event and the next.
    pub gaps: Histogram,
    /// Their squared coefficient of variation.
    pub gap_cv2: Option<f64>,
    /// The correlation of a gap with the next one.
    pub gap_lag1: Option<f64>,
}

/// Arrivals of one kind of event.
pub struct Arrivals {
    start_ns: i64,
    length_ns: u64,
    peaks: Windows,
    scales: Windows,
    gaps: Recorder,
    last_ns: Option<i64>,
    last_gap: Option<f64>,
    sums: [f64; 3], // gaps, their squares, products of neighbours
    events: u64,
    neighbours: u64,
}

impl Arrivals {
    /// Arrivals of a trace from its first to its last event.
    pub fn new(start_ns: i64, end_ns: i64) -> Arrivals {
        let length_ns = (end_ns - start_ns).max(0) as u64;
        let scales: Vec<u64> = (0..SCALES).map(|at| MS << at).collect();
        Arrivals {
            start_ns,
            length_ns,
            peaks: Windows::new(&PEAKS_NS, length_ns),
            scales: Windows::new(&scales, length_ns),
            gaps: Recorder::default(),
            last_ns: None,
            last_gap: None,
            sums: [0.0; 3],
            events: 0,
            neighbours: 0,
        }
    }

    /// One more, not earlier than the one before.
    pub fn event(&mut self, ts_ns: i64, bytes: u64) {
        let at = (ts_ns - self.start_ns).max(0) as u64;
        self.events += 1;
        self.peaks.event(at, bytes);
        self.scales.event(at, bytes);
        if let Some(last) = self.last_ns.replace(ts_ns) {
            let gap = (ts_ns - last).max(0) as u64;
            self.gaps.record(gap);
            let gap = gap as f64;
            self.sums[0] += gap;
            self.sums[1] += gap * gap;
            if let Some(before) = self.last_gap.replace(gap) {
                self.sums[2] += before * gap;
                self.neighbours += 1;
            }
        }
    }

    /// What is told of them; None without one.
    pub fn finish(mut self) -> Option<ArrivalFacts> {
        if self.events == 0 {
            return None;
        }
        let gaps = self.events.saturating_sub(1) as f64;
        let (mean, square) = (self.sums[0] / gaps, self.sums[1] / gaps);
        let variance = square - mean * mean;
        let known = self.events > 2 && mean > 0.0;
        let lag = (self.sums[2] / self.neighbours as f64 - mean * mean) / variance;
        Some(ArrivalFacts {
            events: self.events,
            length_ns: self.length_ns,
            peaks: self.peaks.finish().iter().filter(|width| width.whole() > 0).map(peak).collect(),
            dispersion: self.scales.finish().iter().filter_map(dispersion).collect(),
            gaps: self.gaps.drain(),
            gap_cv2: known.then(|| variance / (mean * mean)),
            gap_lag1: (known && variance > 0.0 && self.neighbours > 0).then_some(lag),
        })
    }
}

fn peak(width: &Width) -> Peak {
    Peak {
        width_ns: width.width_ns,
        windows: width.whole(),
        empty: width.whole().saturating_sub(width.filled),
        most_events: width.most_events,
        most_at_ns: width.most_at_ns,
        most_bytes: width.most_bytes,
        p50_events: width.quantile(0.5),
        p99_events: width.quantile(0.99),
        p999_events: width.quantile(0.999),
    }
}

fn dispersion(width: &Width) -> Option<Dispersion> {
    if width.whole() < WINDOWS_AT_LEAST {
        return None;
    }
    Some(Dispersion { width_ns: width.width_ns, windows: width.whole(), index: width.dispersion()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand::rngs::SmallRng;

    use crate::workload::random::exponential;

    #[test]
    fn random_arrivals_have_a_dispersion_of_one_at_every_scale() {
        let mut random = SmallRng::seed_from_u64(7);
        let (mut at, mut times) = (0.0_f64, Vec::new());
        for _ in 0..200_000 {
            at += exponential(&mut random) * 1e6;
            times.push(at as i64);
        }
        let mut arrivals = Arrivals::new(times[0], *times.last().unwrap());
        times.iter().for_each(|&ts| arrivals.event(ts, 8192));
        let found = arrivals.finish().unwrap();
        assert!((found.gap_cv2.unwrap() - 1.0).abs() < 0.03);
        assert!(found.gap_lag1.unwrap().abs() < 0.02);
        for each in found.dispersion.iter().filter(|each| each.windows > 500) {
            let error = 4.0 * (2.0 / each.windows as f64).sqrt();
            assert!((each.index - 1.0).abs() < error, "{each:?}");
        }
        let second = &found.peaks[3];
        assert!((second.p50_events.unwrap() as f64 - 1000.0).abs() < 20.0);
        assert!(second.most_events > 1000 && second.empty == 0);
    }
}
