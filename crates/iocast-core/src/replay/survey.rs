//! What a replay would be: how many I/Os of which sizes, how far they reach, how many were under way, and for how long.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use serde::Serialize;

use super::facts::ReplayFacts;
use super::placing::line_of;
use super::selection::{Selected, select};
use crate::error::{Error, Result};
use crate::plan::Op;
use crate::plan::replay_plan::ReplayPlan;

/// So many of one operation and size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// Operation.
    pub op: Op,
    /// After rounding.
    pub size_bytes: u64,
    /// How many.
    pub ios: u64,
}

/// One target of the trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reached {
    /// As the trace has it.
    pub name: String,
    /// I/Os that are replayed.
    pub ios: u64,
    /// Where the last of them ends.
    pub end_bytes: u64,
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Survey {
    /// By number, most first.
    pub classes: Vec<Counted>,
    /// Those that have I/Os, most first.
    pub targets: Vec<Reached>,
    /// All targets, one after the other.
    pub end_bytes: u64,
    /// Outstanding, at most; None where the trace has no service times.
    pub outstanding_most: Option<u64>,
    /// The longest time without an issue.
    pub longest_gap_ns: u64,
    /// All else.
    pub facts: ReplayFacts,
}

/// Reads the trace of a plan and tells; `interval_ns` is that of the phase.
pub fn survey(plan: &ReplayPlan, interval_ns: u64) -> Result<Survey> {
    if let Some(why) = plan.fault() {
        return Err(Error::Plan(why.to_string()));
    }
    let selected = select(plan)?;
    let mut classes: BTreeMap<(Op, u64), u64> = BTreeMap::new();
    let mut of_targets = vec![0u64; selected.ends.len()];
    for io in &selected.ios {
        *classes.entry((io.op, io.size)).or_default() += 1;
        of_targets[io.target as usize] += 1;
    }
    let counted = |((op, size_bytes), ios)| Counted { op, size_bytes, ios };
    let mut classes: Vec<Counted> = classes.into_iter().map(counted).collect();
    classes.sort_by_key(|class| Reverse(class.ios));
    let name = |number: usize| selected.targets.get(number).cloned().unwrap_or_else(|| "unknown".into());
    let reached = of_targets.iter().zip(&selected.ends).enumerate();
    let mut targets: Vec<Reached> = reached
        .filter(|(_, (ios, _))| **ios > 0)
        .map(|(number, (ios, end))| Reached { name: name(number), ios: *ios, end_bytes: *end })
        .collect();
    targets.sort_by_key(|target| Reverse(target.ios));
    Ok(Survey {
        classes,
        targets,
        end_bytes: line_of(&selected.ends).1,
        outstanding_most: outstanding_most(&selected),
        longest_gap_ns: selected.ios.windows(2).map(|two| two[1].at_ns - two[0].at_ns).max().unwrap_or(0),
        facts: ReplayFacts::of(&selected, interval_ns, plan.speed),
    })
}

fn outstanding_most(selected: &Selected) -> Option<u64> {
    if !selected.has_latency() {
        return None;
    }
    let (mut ends, mut most): (BinaryHeap<Reverse<u64>>, usize) = (BinaryHeap::new(), 0);
    for io in &selected.ios {
        while ends.peek().is_some_and(|Reverse(end_ns)| *end_ns <= io.at_ns) {
            ends.pop();
        }
        if let Some(lat_ns) = io.lat_ns {
            ends.push(Reverse(io.at_ns.saturating_add(lat_ns)));
            most = most.max(ends.len());
        }
    }
    Some(most as u64)
}
