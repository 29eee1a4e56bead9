//! `PhasePlan`: everything the core is told about one phase. Unknown fields are refused.
//!
//! The JSON form is the contract with the Python side (`src/iocast/model/plan.py`) and is what the run
//! folder keeps, so that a bug report is a folder that `cargo test` can run. What a plan must be to be run is
//! in [`checks`], the device of a simulated phase in [`simulated`], the trace of a replayed one in [`replay`].

use std::borrow::Cow;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use self::replay_plan::ReplayPlan;
use self::simulated::SimDevice;
use self::step::Step;
use self::tree_plan::TreePlan;

pub mod checks;
pub mod operations;
pub mod replay_plan;
pub mod simulated;
pub mod step;
pub mod step_checks;
mod tree_checks;
pub mod tree_plan;

pub use self::operations::{Class, Locality, MixItem, Op, Start};

/// The `engine` of a plan whose engine is to be chosen for it.
pub const AUTO: &str = "auto";

fn fsync() -> Op {
    Op::Fsync
}

/// When I/Os are due. Rates are over all users together.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Arrival {
    /// Each of users × depth I/Os is followed by the next one after `think_ns`.
    Closed {
        /// Pause between completion and the next I/O.
        #[serde(default)]
        think_ns: u64,
    },
    /// Open loop at equal distances.
    Constant {
        /// I/Os per second.
        rate_per_s: f64,
    },
    /// Open loop at exponential distances.
    Poisson {
        /// I/Os per second.
        rate_per_s: f64,
    },
    /// Open loop: `ios` are due at once, at the start and then every `every_ns`.
    Bursts {
        /// I/Os of a burst, over all users together.
        ios: u64,
        /// From the start of one burst to the start of the next.
        every_ns: u64,
    },
    /// Open loop: when the rows of a trace say (`replay`).
    Recorded {
        /// I/Os per second, on average.
        rate_per_s: f64,
        /// For so long no I/O may be due.
        longest_gap_ns: u64,
    },
    /// Open loop: the pauses of `steps` count from when an I/O was due.
    Stepped {
        /// I/Os per second, on average.
        rate_per_s: f64,
    },
}

impl Arrival {
    /// The rate of an open loop.
    pub fn rate_per_s(&self) -> Option<f64> {
        match self {
            Arrival::Closed { .. } => None,
            Arrival::Constant { rate_per_s }
            | Arrival::Poisson { rate_per_s }
            | Arrival::Stepped { rate_per_s }
            | Arrival::Recorded { rate_per_s, .. } => Some(*rate_per_s),
            Arrival::Bursts { ios, every_ns } => Some(*ios as f64 * 1e9 / *every_ns as f64),
        }
    }
}

/// How writes are made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SyncMode {
    /// Not at all.
    None,
    /// O_SYNC.
    Sync,
    /// O_DSYNC.
    Dsync,
    /// RWF_DSYNC on each write: the file is opened without, as databases do that choose for each write.
    #[serde(rename = "rwf_dsync")]
    RwfDsync,
}

/// What writes contain.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Payload {
    /// Incompressible, no two 4 KiB blocks the same.
    Unique {},
    /// All zero.
    Zeros {},
    /// One incompressible block again and again.
    Repeated {},
    /// `percent` of the 4 KiB blocks are one of sixteen, the others unique: storage that dedupes saves them.
    Dedupable {
        /// Share of repeated blocks.
        percent: f64,
    },
    /// Unique blocks with `percent` of their bytes zero.
    Compressible {
        /// Share of zero bytes.
        percent: f64,
    },
}

/// When the phase ends: whichever limit is reached first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Length {
    /// Seconds of (real or virtual) time.
    #[serde(default)]
    pub seconds: Option<f64>,
    /// I/Os over all users.
    #[serde(default)]
    pub ios: Option<u64>,
    /// Bytes over all users.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// It ends when all phases that run at once with it and do not follow have ended.
    #[serde(default)]
    pub follows: bool,
}

/// How several files or devices are one line of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Layout {
    /// One after the other.
    #[default]
    Concatenated,
    /// The first `stripe_bytes` on the first, the next ones on the second, and round again.
    Striped {
        /// A multiple of every I/O's size: no I/O is on two of them.
        stripe_bytes: u64,
    },
}

/// A file or device and the part of it that I/O may touch.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRegion {
    /// Path; not opened by `sim`.
    pub path: String,
    /// First byte.
    pub start_bytes: u64,
    /// Length in bytes.
    pub size_bytes: u64,
    /// A descriptor of it that the caller holds open: whatever took its path meanwhile is not touched. No part of
    /// a plan that is kept.
    #[serde(skip)]
    pub opened: Option<i32>,
}

impl FileRegion {
    /// What to open: the very file of the held descriptor, without one whatever is at the path.
    pub fn place(&self) -> Cow<'_, str> {
        place_of(self.opened, &self.path)
    }
}

/// The path of the file that a descriptor holds open; without one `path`.
pub(crate) fn place_of(opened: Option<i32>, path: &str) -> Cow<'_, str> {
    match opened {
        Some(descriptor) => format!("/proc/self/fd/{descriptor}").into(),
        None => path.into(),
    }
}

/// Who looks for completions; only on request, because polling burns a processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Polling {
    /// Nobody: the kernel tells.
    #[default]
    None,
    /// A kernel thread polls the ring for submissions.
    Sqpoll,
    /// The worker polls the device's own queue; only O_DIRECT, and only devices that have polling queues.
    Iopoll,
}

/// How the writes of a phase are recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerifyPlan {
    /// The journal.
    pub journal: String,
    /// Of this run.
    pub run_id: u64,
    /// What is expected to be written whole or not at all.
    pub block_bytes: u64,
    /// For each file of the plan, the entry of its first block (of byte 0, not of its region).
    pub first_blocks: Vec<u64>,
    /// A descriptor of the journal that the caller holds open, as a [`FileRegion`] has one.
    #[serde(skip)]
    pub opened: Option<i32>,
}

/// What is to be read back.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadBack {
    /// The journal, and where each file begins in it.
    pub verify: VerifyPlan,
    /// The files, in that order: path and bytes.
    pub files: Vec<(String, u64)>,
    /// Only what was made durable must be there (after a loss of power); else all that was acknowledged.
    pub durable_only: bool,
}

/// One phase, complete.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhasePlan {
    /// Name, for messages.
    pub name: String,
    /// "fill", "warm", "measure" or "probe"; the engine treats all alike.
    pub role: String,
    /// Engine asked for: one of the table (engine/table.rs), or `AUTO`.
    pub engine: String,
    /// Polling modes of the ring.
    #[serde(default)]
    pub polling: Polling,
    /// What is touched.
    pub files: Vec<FileRegion>,
    /// How they are one line of bytes.
    #[serde(default)]
    pub layout: Layout,
    /// Op × size.
    pub mix: Vec<MixItem>,
    /// Where.
    pub locality: Locality,
    /// When.
    pub arrival: Arrival,
    /// Threads.
    pub users: u32,
    /// Outstanding I/Os of each user.
    pub depth: u32,
    /// O_DIRECT.
    pub direct: bool,
    /// O_SYNC, O_DSYNC.
    pub sync: SyncMode,
    /// An fsync after every so many writes of a user; 0 is never.
    #[serde(default)]
    pub fsync_every: u32,
    /// With which call: `fsync` or `fdatasync`.
    #[serde(default = "fsync")]
    pub fsync_op: Op,
    /// What is written.
    pub payload: Payload,
    /// When it ends.
    pub length: Length,
    /// Length of an interval of the series.
    pub interval_ns: u64,
    /// Same seed, same offsets.
    pub seed: u64,
    /// What is written differs from run to run all the same: two runs must not write the same blocks.
    #[serde(default)]
    pub payload_seed: u64,
    /// How many of the slowest I/Os are kept.
    pub slow_limit: usize,
    /// After so many errors the phase ends with `stopped: errors`.
    pub error_limit: u64,
    /// How what is written is recorded, to be verified.
    #[serde(default)]
    pub verify: Option<VerifyPlan>,
    /// The device of the `sim` engine.
    #[serde(default)]
    pub simulated: Option<SimDevice>,
    /// The trace whose rows are its I/Os.
    #[serde(default)]
    pub replay: Option<ReplayPlan>,
    /// What a session does one after the other; empty: all I/Os are drawn from the mix.
    #[serde(default)]
    pub steps: Vec<Step>,
    /// The tree of files in the one directory of `files` that its operations go to.
    #[serde(default)]
    pub tree: Option<TreePlan>,
    /// Directory for what of the series is too much for memory. No part of a plan that is kept.
    #[serde(skip)]
    pub spool: Option<PathBuf>,
}

impl PhasePlan {
    /// The largest I/O of the mix.
    pub fn largest_bytes(&self) -> u64 {
        self.mix.iter().map(|m| m.size_bytes).max().unwrap_or(0)
    }

    /// The largest I/O of the mix that needs a buffer.
    pub fn largest_moved_bytes(&self) -> u64 {
        self.mix.iter().filter(|m| m.op.moves_data()).map(|m| m.size_bytes).max().unwrap_or(0)
    }

    /// Outstanding I/Os of all users.
    pub fn outstanding(&self) -> u64 {
        u64::from(self.users) * u64::from(self.depth)
    }

    /// True when anything is written.
    pub fn writes(&self) -> bool {
        self.mix.iter().any(|m| m.op == Op::Write)
    }

    /// True when a closed loop without think time makes response and service the same by definition.
    pub fn response_is_service(&self) -> bool {
        matches!(self.arrival, Arrival::Closed { think_ns: 0 }) && self.steps.is_empty()
    }

    /// True when each user's writes and the sync after them make commits, one after the other.
    pub fn commits(&self) -> bool {
        self.fsync_every > 0 && self.depth == 1
    }

    /// True when writes are made durable: each by itself, or by fsync.
    pub fn is_durable(&self) -> bool {
        let flushes = |op| matches!(op, Op::Fsync | Op::Fdatasync);
        (self.sync != SyncMode::None && self.writes())
            || self.fsync_every > 0
            || self.mix.iter().any(|m| flushes(m.op))
    }

    /// True when a polling mode is asked for.
    pub fn polls(&self) -> bool {
        self.polling != Polling::None
    }

    /// The op × size classes: those of the mix without repeats, and the sync of `fsync_every`.
    pub fn classes(&self) -> Vec<Class> {
        let mut classes: Vec<Class> = Vec::new();
        let every = (self.fsync_every > 0).then_some(Class { op: self.fsync_op, size_bytes: 0 });
        let mix = self.mix.iter().map(|m| Class { op: m.op, size_bytes: m.size_bytes });
        for class in mix.chain(every) {
            if !classes.contains(&class) {
                classes.push(class);
            }
        }
        classes
    }

    /// True when a write's own flags make it durable.
    pub fn dsync_each(&self) -> bool {
        self.sync == SyncMode::RwfDsync
    }
}
