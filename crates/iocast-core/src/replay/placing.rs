//! Where the I/Os of a trace go on the target of a replay: its targets lie one after the other on one line of bytes,
//! which is the target's own or is wrapped around it or scaled to it.

use super::selection::Selected;
use crate::error::{Error, Result};
use crate::plan::PhasePlan;
use crate::plan::replay_plan::{Remap, ReplayPlan};
use crate::workload::span::{Place, Span};

/// Targets begin at multiples of this.
const APART: u64 = 1 << 20;

/// Where each target of a trace begins on one line of bytes, and how long that is. The last one ends where its last
/// I/O ends.
pub fn line_of(ends: &[u64]) -> (Vec<u64>, u64) {
    let (mut begins, mut at, mut end) = (Vec::with_capacity(ends.len()), 0u64, 0);
    for bytes in ends {
        begins.push(at);
        if *bytes > 0 {
            end = at + bytes;
            at = end.div_ceil(APART) * APART;
        }
    }
    (begins, end)
}

/// See the module.
pub struct Placing {
    begins: Vec<u64>,
    recorded: u64,
    bytes: u64,
    block: u64,
    remap: Remap,
    /// Where the only file begins, or how several are one line.
    only: Option<u64>,
    span: Span,
}

impl Placing {
    /// Of a trace on the files of a plan. Refuses a trace that does not fit, unless it may be remapped.
    pub fn new(plan: &PhasePlan, replay: &ReplayPlan, selected: &Selected) -> Result<Placing> {
        let (begins, recorded) = line_of(&selected.ends);
        let span = Span::new(&plan.files, plan.largest_bytes().max(1), plan.layout);
        let (only, bytes) = match &plan.files[..] {
            [file] => (Some(file.start_bytes), file.size_bytes / replay.block_bytes * replay.block_bytes),
            _ => (None, span.bytes()),
        };
        if recorded > bytes && replay.remap == Remap::Refuse {
            return Err(Error::Trace {
                why: format!("the trace goes to {recorded} bytes, the target of the replay has {bytes}"),
                hint: "give a larger target, or remap what lies outside (wrap, scale)",
            });
        }
        Ok(Placing { begins, recorded, bytes, block: replay.block_bytes, remap: replay.remap, only, span })
    }

    /// The place of an I/O, and whether it is another than that of the trace.
    pub fn place(&self, target: u32, offset: u64, size: u64) -> (Place, bool) {
        let at = self.begins[target as usize] + offset;
        let to = match self.remap {
            Remap::Refuse => at,
            Remap::Wrap => at % self.bytes,
            Remap::Scale => {
                let scaled = u128::from(at) * u128::from(self.bytes) / u128::from(self.recorded.max(1));
                scaled as u64 / self.block * self.block
            }
        };
        let to = to.min(self.bytes.saturating_sub(size)) / self.block * self.block;
        let place = match self.only {
            Some(start) => Place { file: 0, offset: start + to },
            None => self.span.settle(to, size),
        };
        (place, to != at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_lie_one_after_the_other() {
        let mib = 1 << 20;
        assert_eq!(line_of(&[mib + 1, 0, 4096]), (vec![0, 2 * mib, 2 * mib], 2 * mib + 4096));
        assert_eq!(line_of(&[0]), (vec![0], 0));
    }
}
