//! What the steps of a plan must be, how long they pause at most, and in which file each goes.

use super::simulated::ServiceLaw;
use super::step::Step;
use super::{Arrival, Layout, Locality, MixItem, PhasePlan};
use crate::error::{Error, Result};

const MOST_STEPS: usize = 64;
/// Times the mean, which a pause of a law without an end does not exceed.
const RARELY: u64 = 100;

fn refuse(ok: bool, why: &str) -> Result<()> {
    if ok { Ok(()) } else { Err(Error::Plan(format!("steps: {why}"))) }
}

impl PhasePlan {
    /// Refuses steps that cannot be taken, and what belongs to steps without them.
    pub(super) fn check_steps(&self) -> Result<()> {
        let stepped = matches!(self.arrival, Arrival::Stepped { .. });
        let appends = matches!(self.locality, Locality::Append { .. });
        if self.steps.is_empty() {
            refuse(!stepped, "a stepped arrival needs them")?;
            return refuse(!appends, "only a step has the locality append");
        }
        refuse(self.steps.len() <= MOST_STEPS, "at most 64")?;
        let timed = stepped || matches!(self.arrival, Arrival::Closed { .. });
        refuse(timed, "they bring their own pauses: the arrival is closed or stepped")?;
        refuse(self.depth == 1, "a session waits for each of its I/Os: depth 1")?;
        refuse(self.layout == Layout::Concatenated, "not on striped files")?;
        let alone = self.fsync_every == 0 && self.verify.is_none() && self.replay.is_none();
        refuse(alone, "not with fsync_every, verify or replay")?;
        self.steps.iter().try_for_each(|step| self.check_step(step))
    }

    fn check_step(&self, step: &Step) -> Result<()> {
        refuse(step.next.len() == self.steps.len(), "next has a weight for each step")?;
        let weights = step.next.iter().chain(step.sizes.iter().map(|each| &each.weight));
        refuse(weights.into_iter().all(|w| w.is_finite() && *w >= 0.0), "weights are 0 or more")?;
        refuse(step.next.iter().sum::<f64>() > 0.0, "something comes next: one weight above 0")?;
        refuse(step.joins < self.steps.len(), "joins is the number of a step")?;
        refuse(
            step.op.has_place() != step.sizes.is_empty(),
            "reads, writes and trims have sizes, syncs none",
        )?;
        let whole: f64 = step.sizes.iter().map(|each| each.weight).sum();
        refuse(step.sizes.is_empty() || whole > 0.0, "one weight of the sizes is above 0")?;
        let known =
            |item: MixItem| self.mix.iter().any(|m| (m.op, m.size_bytes) == (item.op, item.size_bytes));
        refuse(step.mix().into_iter().all(known), "the mix has every operation and size of theirs")?;
        let largest = step.sizes.iter().map(|each| each.size_bytes).max().unwrap_or(1);
        refuse(step.size_bytes >= largest, "a region holds the largest I/O of its step")?;
        refuse(self.file_of(step).is_some(), "a region lies in one file")?;
        refuse(!matches!(step.locality, Locality::Recorded {}), "nothing is recorded")?;
        if let Locality::Append { again_bytes, again_percent } = step.locality {
            refuse((0.0..=100.0).contains(&again_percent), "again_percent is from 0 to 100")?;
            refuse(again_percent == 0.0 || again_bytes > 0, "again_bytes is above 0")?;
        }
        let arm = matches!(step.pause, ServiceLaw::Disk { .. });
        refuse(!arm && step.pause.fault().is_none(), "a pause has a law, but not that of a disk")
    }

    /// No pause between steps is longer but by a rare chance.
    pub fn longest_pause_ns(&self) -> u64 {
        let longest = |step: &Step| match &step.pause {
            ServiceLaw::Table { points } => points.last().map_or(0, |p| p.ns),
            ServiceLaw::Constant { mean_ns } => *mean_ns,
            ServiceLaw::Uniform { high_ns, .. } => *high_ns,
            ServiceLaw::Exponential { mean_ns }
            | ServiceLaw::Lognormal { mean_ns, .. }
            | ServiceLaw::Gamma { mean_ns, .. } => mean_ns.saturating_mul(RARELY),
            ServiceLaw::Bimodal { slow_ns, .. } => slow_ns.saturating_mul(RARELY),
            ServiceLaw::Disk { .. } => 0,
        };
        self.steps.iter().map(longest).max().unwrap_or(0)
    }

    /// The file in which the region of a step lies, and the region's first byte in it.
    pub fn file_of(&self, step: &Step) -> Option<(usize, u64)> {
        let mut begin = 0u64;
        for (index, file) in self.files.iter().enumerate() {
            let within = step.start_bytes.checked_sub(begin)?;
            if within < file.size_bytes {
                let fits = step.size_bytes <= file.size_bytes - within;
                return fits.then_some((index, file.start_bytes + within));
            }
            begin += file.size_bytes;
        }
        None
    }
}
