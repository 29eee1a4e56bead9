//! The course of a trace in equal stretches of time: counts, latencies and places in each.

use serde::{Deserialize, Serialize};

use crate::profile::event_rows::{EventRow, READ, WRITE};

/// Steps of a decade of latency.
pub const A_DECADE: f64 = 16.0;
/// Steps of latency: from 1 ns to 1 hour and beyond.
const LATENCY_STEPS: usize = 13 * 16;
/// Stretches of the line of all targets.
pub const SEGMENTS: usize = 64;

/// One target's part of the line of all targets.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// Its number.
    pub target: u32,
    /// The first byte that is used.
    pub first: i64,
    /// The byte after the last.
    pub end: i64,
    /// Where the target begins on the line.
    pub base: i64,
}

/// What happened in one stretch of time.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Moment {
    /// All rows.
    pub events: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Rows with a latency.
    pub timed: u64,
    /// The sum of their latencies.
    pub latency_sum_ns: f64,
    /// Steps of latency that hold some: a step is floor(16 log10(ns)).
    pub latency_steps: Vec<u32>,
    /// Rows at each.
    pub latency_counts: Vec<u32>,
    /// Reads and writes in each part of the line of all targets.
    pub places: Vec<u32>,
}

/// Counts in stretches of equal length.
pub struct HeatMaps {
    start_ns: i64,
    width_ns: i64,
    spans: Vec<Span>,
    line: i64,
    moments: Vec<Moment>,
    latencies: Vec<[u32; LATENCY_STEPS]>,
}

impl HeatMaps {
    /// So many stretches from the first to the last row.
    pub fn new(start_ns: i64, end_ns: i64, columns: usize, spans: &[Span]) -> HeatMaps {
        let columns = columns.clamp(1, 4096);
        let line = spans.iter().map(|span| span.base + span.end - span.first).max().unwrap_or(0);
        let places = if line > 0 { SEGMENTS } else { 0 };
        HeatMaps {
            start_ns,
            width_ns: ((end_ns - start_ns) / columns as i64 + 1).max(1),
            spans: spans.to_vec(),
            line,
            moments: vec![Moment { places: vec![0; places], ..Moment::default() }; columns],
            latencies: vec![[0; LATENCY_STEPS]; columns],
        }
    }

    /// One more row.
    pub fn event(&mut self, row: &EventRow) {
        let Some(ts) = row.ts_ns else { return };
        let at = (((ts - self.start_ns) / self.width_ns).max(0) as usize).min(self.moments.len() - 1);
        let place = self.place(row);
        let moment = &mut self.moments[at];
        let bytes = row.size.unwrap_or(0).max(0) as u64;
        moment.events += 1;
        match row.op {
            READ => (moment.reads, moment.read_bytes) = (moment.reads + 1, moment.read_bytes + bytes),
            WRITE => (moment.writes, moment.write_bytes) = (moment.writes + 1, moment.write_bytes + bytes),
            _ => {}
        }
        if let Some(lat) = row.lat_ns {
            moment.timed += 1;
            moment.latency_sum_ns += lat as f64;
            let step = ((lat.max(1) as f64).log10() * A_DECADE).floor() as usize;
            self.latencies[at][step.min(LATENCY_STEPS - 1)] += 1;
        }
        if let Some(place) = place {
            moment.places[place] += 1;
        }
    }

    fn place(&self, row: &EventRow) -> Option<usize> {
        let (offset, _) = row.extent()?;
        let span = self.spans.iter().find(|span| span.target == row.target)?;
        let on_line = i128::from(span.base + offset - span.first);
        Some(((on_line * SEGMENTS as i128 / i128::from(self.line.max(1))).max(0) as usize).min(SEGMENTS - 1))
    }

    /// The stretches and how long each is.
    pub fn finish(mut self) -> (i64, Vec<Moment>) {
        for (moment, counts) in self.moments.iter_mut().zip(&self.latencies) {
            for (step, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                moment.latency_steps.push(step as u32);
                moment.latency_counts.push(*count);
            }
        }
        (self.width_ns, self.moments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::event_rows::tests::row;

    #[test]
    fn rows_fall_into_their_stretch_of_time_and_place() {
        let span = |target, base| Span { target, first: 0, end: 6400, base };
        let mut maps = HeatMaps::new(0, 99, 10, &[span(0, 0), span(1, 6400)]);
        maps.event(&EventRow { lat_ns: Some(1000), ..row(0, 0, 0, 100) });
        maps.event(&EventRow { target: 1, ..row(99, 1, 6399, 1) });
        let (width, moments) = maps.finish();
        assert_eq!((width, moments.len()), (10, 10));
        assert_eq!((moments[0].reads, moments[0].latency_steps[0], moments[0].places[0]), (1, 48, 1));
        assert_eq!((moments[9].write_bytes, moments[9].places[SEGMENTS - 1], moments[9].timed), (1, 1, 0));
    }
}
