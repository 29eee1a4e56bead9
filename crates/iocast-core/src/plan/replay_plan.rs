//! `ReplayPlan`: the trace that a phase gives back, and how.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// When the I/Os of a trace are issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReplayMode {
    /// As fast as the storage answers, in the order of the trace, whatever its times.
    Fast,
    /// At the times of the trace, whether earlier I/Os have ended or not.
    Timed,
    /// Each a pause after the end of the I/O that the same actor waited for: the pause is that of the trace.
    Dependent,
}

/// What becomes of places that the target does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Remap {
    /// The replay is refused.
    Refuse,
    /// They go on from the beginning of the target.
    Wrap,
    /// All places are stretched or shrunk to the size of the target.
    Scale,
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayPlan {
    /// The event table (Parquet).
    pub events: String,
    /// When.
    pub mode: ReplayMode,
    /// Twice as fast: 2; pauses and distances are divided by it.
    pub speed: f64,
    /// Where.
    pub remap: Remap,
    /// Offsets and sizes are rounded outwards to multiples of it; 1: not at all.
    pub block_bytes: u64,
    /// Leave out whatever is not a read.
    pub reads_only: bool,
    /// Replay the I/Os of these targets of the trace only; all when empty.
    pub targets: Vec<String>,
    /// Which file of the plan each target of the trace goes to; all on one line of bytes when empty.
    #[serde(default)]
    pub files: BTreeMap<String, u32>,
}

impl ReplayPlan {
    /// True when who issues an I/O has to know which ones have ended.
    pub fn depends(&self) -> bool {
        self.mode == ReplayMode::Dependent
    }

    /// Why it cannot be done, naming the field; `None` when it can.
    pub fn fault(&self) -> Option<&'static str> {
        let speed = self.speed.is_finite() && (1e-6..=1e6).contains(&self.speed);
        let block = self.block_bytes.is_power_of_two() && self.block_bytes <= 1 << 20;
        match (speed, block) {
            (false, _) => Some("replay: speed is from 0.000001 to 1000000"),
            (_, false) => Some("replay: block_bytes is a power of two, at most 1 MiB"),
            _ => None,
        }
    }
}
