//! `ReplayFacts`: what of a trace is replayed, and what the trace says of it: what a result is held against.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::selection::Selected;
use crate::plan::Op;
use crate::record::histogram::{Histogram, Recorder};

/// Intervals whose I/Os are counted, at most: eleven days of seconds.
const INTERVALS_MOST: usize = 1_000_000;

/// The service times that a trace has of one operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedLatency {
    /// Which.
    pub op: Op,
    /// Of those I/Os that have one.
    pub service: Histogram,
    /// Of these, system calls that are not known to be direct: the page cache may have answered them.
    pub may_be_cached: u64,
}

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplayFacts {
    /// Rows of the trace.
    pub events: u64,
    /// Of those, I/Os that the replay has.
    pub replayed: u64,
    /// The others, by reason (selection.rs).
    pub left_out: BTreeMap<String, u64>,
    /// I/Os whose offset or size was rounded to blocks.
    pub rounded: u64,
    /// I/Os that go to another place than in the trace, rounding and the place of each target apart.
    pub moved: u64,
    /// From the first issue to the last one in the trace, at its own speed.
    pub recorded_ns: u64,
    /// By operation.
    pub latency: Vec<RecordedLatency>,
    /// I/Os that the trace issues in each interval of the phase, at the speed of the replay.
    pub due_ios: Vec<u64>,
    /// Of a dependent replay: I/Os that wait for no other, and are issued at their time.
    pub independent: u64,
}

impl ReplayFacts {
    /// Of the I/Os that were selected; `interval_ns` and `speed` are those of the replay.
    pub fn of(selected: &Selected, interval_ns: u64, speed: f64) -> ReplayFacts {
        ReplayFacts {
            events: selected.events,
            replayed: selected.ios.len() as u64,
            left_out: selected.left_out.iter().map(|(why, n)| ((*why).to_string(), *n)).collect(),
            rounded: selected.rounded,
            moved: 0,
            recorded_ns: selected.span_ns(),
            latency: latencies(selected),
            due_ios: due_ios(selected, interval_ns, speed),
            independent: 0,
        }
    }
}

fn latencies(selected: &Selected) -> Vec<RecordedLatency> {
    let mut found: BTreeMap<Op, (Recorder, u64)> = BTreeMap::new();
    for io in &selected.ios {
        if let Some(lat_ns) = io.lat_ns {
            let (times, may_be_cached) = found.entry(io.op).or_default();
            times.record(lat_ns);
            *may_be_cached += u64::from(io.may_be_cached);
        }
    }
    let latency = |(op, (mut times, may_be_cached)): (Op, (Recorder, u64))| RecordedLatency {
        op,
        service: times.drain(),
        may_be_cached,
    };
    found.into_iter().map(latency).collect()
}

fn due_ios(selected: &Selected, interval_ns: u64, speed: f64) -> Vec<u64> {
    let mut counts: Vec<u64> = Vec::new();
    for io in &selected.ios {
        let interval = ((io.at_ns as f64 / speed) as u64 / interval_ns.max(1)) as usize;
        if interval < INTERVALS_MOST {
            if counts.len() <= interval {
                counts.resize(interval + 1, 0);
            }
            counts[interval] += 1;
        }
    }
    counts
}
