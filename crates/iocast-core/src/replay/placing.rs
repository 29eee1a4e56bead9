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

/// Targets of a trace on one line of bytes, which is a file of the plan or all of them.
struct Line {
    recorded: u64,
    bytes: u64,
    /// The file, and where it begins; None: all files.
    file: Option<(u32, u64)>,
}

/// See the module.
pub struct Placing {
    begins: Vec<u64>,
    lines: Vec<Line>,
    /// Which line each target is on.
    on: Vec<usize>,
    block: u64,
    remap: Remap,
    span: Span,
}

impl Placing {
    /// Of a trace on the files of a plan. Refuses a trace that does not fit, unless it may be remapped.
    pub fn new(plan: &PhasePlan, replay: &ReplayPlan, selected: &Selected) -> Result<Placing> {
        let span = Span::new(&plan.files, plan.largest_bytes().max(1), plan.layout);
        let whole = |bytes: u64| bytes / replay.block_bytes * replay.block_bytes;
        let file = |number: usize| Line {
            recorded: 0,
            bytes: whole(plan.files[number].size_bytes),
            file: Some((number as u32, plan.files[number].start_bytes)),
        };
        let (mut lines, on): (Vec<Line>, Vec<usize>) = if replay.files.is_empty() {
            let line = match plan.files[..] {
                [_] => file(0),
                _ => Line { recorded: 0, bytes: span.bytes(), file: None },
            };
            (vec![line], vec![0; selected.ends.len()])
        } else {
            ((0..plan.files.len()).map(file).collect(), files_of(plan, replay, selected)?)
        };
        let mut begins = vec![0; selected.ends.len()];
        for (number, line) in lines.iter_mut().enumerate() {
            let of = |target: usize| if on[target] == number { selected.ends[target] } else { 0 };
            let ends: Vec<u64> = (0..selected.ends.len()).map(of).collect();
            let (own, recorded) = line_of(&ends);
            line.recorded = recorded;
            (0..ends.len())
                .filter(|target| on[*target] == number)
                .for_each(|target| begins[target] = own[target]);
            if recorded > line.bytes && replay.remap == Remap::Refuse {
                return Err(Error::Trace {
                    why: format!(
                        "the trace goes to {recorded} bytes, the target of the replay has {}",
                        line.bytes
                    ),
                    hint: "give a larger target, or remap what lies outside (wrap, scale)",
                });
            }
        }
        Ok(Placing { begins, lines, on, block: replay.block_bytes, remap: replay.remap, span })
    }

    /// The place of an I/O, and whether it is another than that of the trace.
    pub fn place(&self, target: u32, offset: u64, size: u64) -> (Place, bool) {
        let line = &self.lines[self.on[target as usize]];
        let at = self.begins[target as usize] + offset;
        let to = match self.remap {
            Remap::Refuse => at,
            Remap::Wrap => at % line.bytes,
            Remap::Scale => {
                let scaled = u128::from(at) * u128::from(line.bytes) / u128::from(line.recorded.max(1));
                scaled as u64 / self.block * self.block
            }
        };
        let to = to.min(line.bytes.saturating_sub(size)) / self.block * self.block;
        let place = match line.file {
            Some((file, start)) => Place { file, offset: start + to },
            None => self.span.settle(to, size),
        };
        (place, to != at)
    }
}

/// The file of each target, those unknown last; a target without I/Os may have none, and is given the first.
fn files_of(plan: &PhasePlan, replay: &ReplayPlan, selected: &Selected) -> Result<Vec<usize>> {
    let of = |target: usize| {
        let name = selected.targets.get(target).map_or("unknown", String::as_str);
        match replay.files.get(name).map(|file| *file as usize) {
            Some(file) if file < plan.files.len() => Ok(file),
            Some(file) => Err(Error::Plan(format!(
                "replay: files: {name} goes to file {file}, which the plan does not have"
            ))),
            None if selected.ends[target] == 0 => Ok(0),
            None => Err(Error::Plan(format!("replay: files: no file for the target {name}"))),
        }
    };
    (0..selected.ends.len()).map(of).collect()
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
