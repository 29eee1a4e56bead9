//! `PhaseResult`: what happened in one phase; the JSON form is `src/iocast/model/measurement.py`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::generator::Generator;
use super::histogram::Histogram;
use super::lateness::Lateness;
use crate::plan::Op;
use crate::replay::facts::ReplayFacts;

/// Which engine really ran, how it was set up, and what it had to do without and why.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct EngineReport {
    /// "uring", "sync" or "sim".
    pub name: String,
    /// Set-up that was obtained.
    pub flags: Vec<String>,
    /// The I/O memory.
    pub buffers: String,
    /// What was refused, and fallbacks.
    pub notes: Vec<String>,
}

/// One op × size over the whole phase.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClassResult {
    /// Operation.
    pub op: Op,
    /// Size asked for.
    pub size_bytes: u64,
    /// Completed without error.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Of those, I/Os that came in more than one piece.
    pub short_ios: u64,
    /// From the due time.
    pub response: Histogram,
    /// From submission.
    pub service: Histogram,
}

/// Where and when an I/O failed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ErrorPlace {
    /// Since the start of the phase.
    pub time_ns: u64,
    /// Index into the plan's files.
    pub file: u32,
    /// Byte offset in it.
    pub offset_bytes: u64,
}

/// Failures of one op with one errno (0: an unexpected end of file).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ErrorCount {
    /// Operation.
    pub op: Op,
    /// errno.
    pub errno: i32,
    /// Its name.
    pub name: String,
    /// How many.
    pub count: u64,
    /// The first few places.
    pub first: Vec<ErrorPlace>,
}

/// One of the slowest I/Os.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowIo {
    /// Submission, since the start of the phase.
    pub time_ns: u64,
    /// Operation.
    pub op: Op,
    /// Index into the plan's files.
    pub file: u32,
    /// Byte offset in it.
    pub offset_bytes: u64,
    /// Size asked for.
    pub size_bytes: u64,
    /// From the due time.
    pub response_ns: u64,
    /// From submission.
    pub service_ns: u64,
}

/// What one user did.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct UserResult {
    /// Completed without error.
    pub ios: u64,
    /// Its last completion.
    pub last_ns: u64,
}

/// One op × size in one interval of the series.
#[derive(Clone, Debug)]
pub struct IntervalRow {
    /// Which interval, from 0.
    pub interval: u32,
    /// Operation.
    pub op: Op,
    /// Size asked for.
    pub size_bytes: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Failures.
    pub errors: u64,
    /// From the due time.
    pub response: Histogram,
    /// From submission.
    pub service: Histogram,
}

/// Why a phase ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stopped {
    /// Its length was reached.
    Finished,
    /// Someone asked it to stop.
    Interrupted,
    /// `error_limit` was reached, by this phase or by one that ran at once with it.
    Errors,
    /// I/Os did not come back in time and were left behind.
    Hung,
}

/// The outcome of one phase; the interval series is handed over apart, in columns.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PhaseResult {
    /// Engine.
    pub engine: EngineReport,
    /// Wall-clock start.
    pub started_unix_ns: u64,
    /// To the last completion.
    pub elapsed_ns: u64,
    /// users × depth.
    pub asked_depth: u32,
    /// Of an open loop.
    pub asked_rate_per_s: Option<f64>,
    /// Until then I/Os were issued; what was in flight then is waited for and counted too.
    pub issuing_ns: u64,
    /// Time-weighted I/Os in flight while I/Os were issued.
    pub depth_mean: f64,
    /// Integral of I/Os in flight over the whole phase: by Little's law the sum of all service times.
    pub in_flight_ns: f64,
    /// Completed without error.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Why it ended.
    pub stopped: Stopped,
    /// I/Os left behind.
    pub abandoned_ios: u64,
    /// The longest outstanding of them, as they were when they were given up.
    #[serde(default)]
    pub left_behind: Vec<SlowIo>,
    /// Arrivals of an open loop that were due before its end and never sent.
    pub unsent_arrivals: u64,
    /// Per op × size.
    pub classes: Vec<ClassResult>,
    /// How late the generator itself was.
    pub lag: Histogram,
    /// From when the first write of a user was due to the end of the sync after it (depth 1, `fsync_every`).
    #[serde(default)]
    pub commit: Histogram,
    /// Of a replay: submission less the time of the trace (or the end that was waited for, and the pause).
    #[serde(default)]
    pub issue_error: Histogram,
    /// The same over its course.
    #[serde(default)]
    pub lateness: Lateness,
    /// What of a trace was replayed, and what the trace says of it.
    #[serde(default)]
    pub replay: Option<ReplayFacts>,
    /// Failures.
    pub errors: Vec<ErrorCount>,
    /// Slowest first.
    pub slow: Vec<SlowIo>,
    /// Per user.
    pub users: Vec<UserResult>,
    /// User CPU time of the process during the phase, that of all phases that ran at once with it included.
    pub cpu_user_ns: u64,
    /// System CPU time, kernel workers of the ring included.
    pub cpu_system_ns: u64,
    /// What the threads that made the load did with their time.
    pub generator: Generator,
    /// How many phases ran at once, whose CPU time it is.
    pub cpu_phases: u32,
    /// The series.
    #[serde(skip)]
    pub intervals: Vec<IntervalRow>,
}

/// Adds rows of several workers that are of the same interval, op and size.
pub fn merge_intervals(rows: Vec<IntervalRow>) -> Vec<IntervalRow> {
    let mut merged: BTreeMap<(u32, Op, u64), IntervalRow> = BTreeMap::new();
    for row in rows {
        match merged.entry((row.interval, row.op, row.size_bytes)) {
            std::collections::btree_map::Entry::Vacant(place) => {
                place.insert(row);
            }
            std::collections::btree_map::Entry::Occupied(mut place) => {
                let sum = place.get_mut();
                sum.bytes += row.bytes;
                sum.errors += row.errors;
                sum.response.merge(&row.response);
                sum.service.merge(&row.service);
            }
        }
    }
    merged.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::histogram::Recorder;

    fn row(interval: u32, op: Op, value_ns: u64) -> IntervalRow {
        let of = |value_ns| {
            let mut live = Recorder::default();
            live.record(value_ns);
            live.drain()
        };
        IntervalRow {
            interval,
            op,
            size_bytes: 512,
            bytes: value_ns,
            errors: 2 * value_ns,
            response: of(value_ns),
            service: of(value_ns + 1),
        }
    }

    #[test]
    fn rows_of_one_interval_operation_and_size_are_added_in_order() {
        let rows = vec![row(1, Op::Read, 7), row(0, Op::Write, 1), row(1, Op::Read, 4), row(0, Op::Read, 2)];
        let merged = merge_intervals(rows);
        let seen: Vec<_> = merged.iter().map(|r| (r.interval, r.op, r.bytes, r.errors)).collect();
        assert_eq!(seen, [(0, Op::Read, 2, 4), (0, Op::Write, 1, 2), (1, Op::Read, 11, 22)]);
        assert_eq!((merged[2].response.total(), merged[2].response.sum_ns), (2, 11));
        assert_eq!((merged[2].service.total(), merged[2].service.sum_ns), (2, 13));
    }
}
