//! `Step`: one kind of I/O of a session, where it goes, how long the session pauses after it, and what comes next.
//!
//! A session (a user of a phase with steps) is at one step at a time: reads a header, reads pages, writes a log, syncs
//! it. What follows a step is drawn by weight, its pause from a law.

use serde::{Deserialize, Serialize};

use super::operations::{Locality, MixItem, Op};
use super::simulated::ServiceLaw;

/// A size and its weight among those of a step.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeWeight {
    /// Bytes an I/O.
    pub size_bytes: u64,
    /// Relative weight.
    pub weight: f64,
}

/// See the module.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// What it does.
    pub op: Op,
    /// How large its I/Os are; none of a sync.
    #[serde(default)]
    pub sizes: Vec<SizeWeight>,
    /// First byte of its region on the line of all files.
    pub start_bytes: u64,
    /// Length of its region; it lies in one file.
    pub size_bytes: u64,
    /// Where in its region.
    pub locality: Locality,
    /// The step with which it shares its end: where the last I/O of both ended, an `append` goes on.
    pub joins: usize,
    /// From the end of its I/O (closed loop) or from when it was due (`stepped`) to the next one.
    pub pause: ServiceLaw,
    /// For each step, the weight with which it comes next.
    pub next: Vec<f64>,
}

impl Step {
    /// The mix of a phase that does nothing else.
    pub fn mix(&self) -> Vec<MixItem> {
        if !self.op.has_place() {
            return vec![MixItem { op: self.op, size_bytes: 0, weight: 1.0 }];
        }
        let item =
            |each: &SizeWeight| MixItem { op: self.op, size_bytes: each.size_bytes, weight: each.weight };
        self.sizes.iter().map(item).collect()
    }
}
