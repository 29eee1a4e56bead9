//! Little's law as a check of units: I/Os under way on average are their rate times the mean of their latencies.

use crate::trace::event::Event;
use crate::trace::report::FileReport;

/// More than any queue of a real trace: a unit is wrong.
const UNDER_WAY_AT_MOST: f64 = 4_096.0;
/// Storage answers in no less.
const LATENCY_AT_LEAST_NS: f64 = 200.0;
/// A process that waits for each I/O has one under way at most; its clock may differ a little from its stamps.
const OF_ONE_PROCESS: f64 = 1.05;

/// What the law needs of the events of a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Little {
    ios: i64,
    latencies_ns: i128,
    span: Option<(i64, i64)>,
}

impl Little {
    /// One more I/O, if both its times are known.
    pub fn add(&mut self, event: &Event) {
        let (Some(from), Some(took)) = (event.ts_ns, event.lat_ns) else { return };
        let to = from.saturating_add(took);
        self.ios += 1;
        self.latencies_ns += i128::from(took);
        self.span = Some(match self.span {
            Some((first, last)) => (first.min(from), last.max(to)),
            None => (from, to),
        });
    }

    /// The I/Os of another part of the file.
    pub fn join(&mut self, other: &Little) {
        self.ios += other.ios;
        self.latencies_ns += other.latencies_ns;
        self.span = match (self.span, other.span) {
            (Some((first, last)), Some((from, to))) => Some((first.min(from), last.max(to))),
            (one, other) => one.or(other),
        };
    }

    /// I/Os under way on average; None without a span of time.
    pub fn under_way(&self) -> Option<f64> {
        let (first, last) = self.span?;
        let span = i128::from(last) - i128::from(first);
        (span > 0 && self.ios > 1).then(|| self.latencies_ns as f64 / span as f64)
    }

    /// The figure, and a note where it cannot be. `alone`: the file is of one process that waits for each I/O.
    pub fn tell(&self, report: &mut FileReport, alone: bool) {
        let Some(under_way) = self.under_way() else { return };
        report.figures.insert("ios_under_way_thousandths".into(), (under_way * 1_000.0).round() as i64);
        let mean_ns = self.latencies_ns as f64 / self.ios as f64;
        if under_way > UNDER_WAY_AT_MOST || (mean_ns < LATENCY_AT_LEAST_NS && !alone) {
            report.notes.push(format!(
                "check the units: {under_way:.1} I/Os under way on average, {mean_ns:.0} ns each, cannot be"
            ));
        } else if alone && under_way > OF_ONE_PROCESS {
            report.notes.push(format!(
                "check the unit of ela: one process waits for one I/O at a time, here for {under_way:.2}"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::event::{Layer, Op};

    fn told(unit_ns: i64, alone: bool) -> FileReport {
        let (mut little, mut report) = (Little::default(), FileReport::default());
        for line in 0..1_000 {
            let mut event = Event::new(Op::Read, Layer::Array, 1);
            (event.ts_ns, event.lat_ns) = (Some(line * 1_000_000), Some(900 * unit_ns));
            little.add(&event);
        }
        little.tell(&mut report, alone);
        report
    }

    #[test]
    fn a_right_unit_is_silent_and_a_wrong_one_is_not() {
        let right = told(1_000, true);
        assert_eq!((right.figures["ios_under_way_thousandths"], right.notes.len()), (900, 0));
        assert!(told(1_000_000_000, false).notes.is_empty(), "the span grows with the latencies");
        assert!(told(1_000_000, true).notes[0].contains("waits for one I/O at a time"));
        assert!(told(0, false).notes[0].contains("check the units"));
    }

    #[test]
    fn a_flood_cannot_be() {
        let mut little = Little::default();
        for line in 0..10_000 {
            let mut event = Event::new(Op::Read, Layer::Array, 1);
            (event.ts_ns, event.lat_ns) = (Some(line), Some(1_000_000_000));
            little.add(&event);
        }
        let mut report = FileReport::default();
        little.tell(&mut report, false);
        assert!(report.notes[0].contains("cannot be"));
    }
}
