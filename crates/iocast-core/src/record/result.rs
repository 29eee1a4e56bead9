//! `PhaseResult`: what happened in one phase; the JSON form is `src/iocast/model/measurement.py`.

use serde::{Deserialize, Serialize};

use super::generator::Generator;
use super::histogram::Histogram;
use super::interval_row::IntervalRow;
use super::lateness::Lateness;
use super::spool::Spooled;
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
    /// The beginning of the series, where it was too much for memory.
    #[serde(skip)]
    pub spooled: Option<Spooled>,
    /// The series, or the rest of it.
    #[serde(skip)]
    pub intervals: Vec<IntervalRow>,
}
