//! Which engine a phase gets, and why (decision 14).
//!
//! A lone I/O that ends while it is submitted, or is made durable, is a system call of its own; a target whose
//! I/Os the kernel gives to workers gets whichever of threads and ring is measured to be better; all else is
//! the ring's.

use std::sync::Mutex;

use self::probe::{Ends, Gain, how_ios_end, threads_against_ring};
use super::uring::ring;
use crate::plan::{Arrival, EngineName, Op, PhasePlan};
use crate::trim;

mod probe;

/// More threads than that are never tried in place of a ring.
const THREADS_MOST: u32 = 256;
/// Threads must be better by so much, and may be worse by so little, in rate and in cost.
const BETTER: f64 = 1.1;
const WORSE: f64 = 0.9;

const INSTEAD: &str = "requests are punted to kernel workers here (no NOWAIT): threads with pread instead";

/// The engine of a phase and how it is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// `Uring`, `Sync` or `Sim`.
    pub engine: EngineName,
    /// I/Os end while they are submitted.
    pub inline: bool,
    /// What the report says of the set-up.
    pub flags: Vec<String>,
    /// What the report says was refused, or is to be kept in mind.
    pub notes: Vec<String>,
}

impl Choice {
    /// The engine that was asked for, without a look at the target.
    pub fn asked(engine: EngineName, plan: &PhasePlan) -> Choice {
        Choice { engine, inline: !plan.direct, flags: Vec::new(), notes: Vec::new() }
    }

    /// Threads, because a ring could not be had.
    pub fn without_ring(plan: &PhasePlan, why: &dyn std::fmt::Display) -> Choice {
        Choice::asked(EngineName::Sync, plan).note(&format!(
            "io_uring is not to be had here ({why}): sync engine instead, one thread an outstanding I/O"
        ))
    }

    fn flag(mut self, said: &str) -> Choice {
        self.flags.push(said.into());
        self
    }

    fn note(mut self, said: &str) -> Choice {
        self.notes.push(said.into());
        self
    }
}

/// Chooses. A target that cannot even be opened gets the ring, whose set-up says what is wrong.
pub fn choose(plan: &PhasePlan) -> Choice {
    let ring = Choice::asked(EngineName::Uring, plan);
    let threads = Choice::asked(EngineName::Sync, plan);
    if matches!(plan.engine, EngineName::Sim | EngineName::Sync) {
        return Choice::asked(plan.engine, plan);
    }
    if let Some(why) = ring::missing(plan) {
        // What was asked to poll says itself that it cannot.
        return if plan.polls() { ring } else { Choice::without_ring(plan, &why) };
    }
    if let Some(why) = trim::ring_refuses(plan) {
        return threads.note(&format!("{why}: sync engine instead, one thread an outstanding I/O"));
    }
    if plan.engine == EngineName::Uring || plan.polls() || plan.role == "fill" {
        return ring;
    }
    if plan.depth == 1 && plan.is_durable() {
        return threads.flag("durable I/Os one at a time are system calls");
    }
    let reads_and_writes = |op: Op| matches!(op, Op::Read | Op::Write | Op::Fsync | Op::Fdatasync);
    // What a probe writes would be found wrong by whoever verifies.
    if plan.verify.is_some() || !plan.mix.iter().all(|m| reads_and_writes(m.op)) {
        return ring;
    }
    match how_ios_end(plan) {
        Ok(Ends::Inline) if plan.depth == 1 => {
            threads.flag("I/Os end while they are submitted: a system call each")
        }
        Ok(Ends::Inline) => Choice { inline: true, ..ring }.flag("I/Os end while they are submitted"),
        Ok(Ends::Later) => Choice { inline: false, ..ring },
        Ok(Ends::Punted) => punted(plan, Choice { inline: false, ..ring }, threads),
        Err(_) => ring,
    }
}

fn punted(plan: &PhasePlan, ring: Choice, threads: Choice) -> Choice {
    if plan.depth == 1 {
        return threads.note(INSTEAD);
    }
    if !matches!(plan.arrival, Arrival::Closed { think_ns: 0 }) {
        // Threads that share one schedule wake each other at every arrival.
        return ring.note("requests are punted to kernel workers here (no NOWAIT): service times include it");
    }
    if plan.users * plan.depth > THREADS_MOST {
        return ring
            .note("requests are punted to kernel workers here (no NOWAIT), and threads would be too many");
    }
    match remembered(plan) {
        Some(gain) if worth(gain) => {
            let said = format!(
                "in a trial {:.1} times the I/Os per CPU-second of a ring, {:.1} times the rate",
                gain.per_cpu, gain.rate
            );
            threads.flag(&said).note(INSTEAD)
        }
        Some(gain) => ring.flag(&format!(
            "some requests go to kernel workers; in a trial threads had {:.1} times its I/Os per CPU-second",
            gain.per_cpu
        )),
        None => ring.flag("some requests go to kernel workers; a trial of threads came to nothing"),
    }
}

/// Better in cost or in rate, and hardly worse in the other.
fn worth(gain: Gain) -> bool {
    let (least, most) = (gain.per_cpu.min(gain.rate), gain.per_cpu.max(gain.rate));
    most >= BETTER && least >= WORSE
}

/// The outcome of the trials: one for each shape as long as the process lives, so that the phases of a run
/// agree.
fn remembered(plan: &PhasePlan) -> Option<Gain> {
    static KNOWN: Mutex<Vec<(String, Option<Gain>)>> = Mutex::new(Vec::new());
    let paths: Vec<&str> = plan.files.iter().map(|file| file.path.as_str()).collect();
    let mix: Vec<(Op, u64)> = plan.mix.iter().map(|m| (m.op, m.size_bytes)).collect();
    let shape = format!("{paths:?} {mix:?} {} {} {} {:?}", plan.users, plan.depth, plan.direct, plan.sync);
    let mut known = KNOWN.lock().expect("nobody panics while choosing");
    if let Some((_, outcome)) = known.iter().find(|(of, _)| *of == shape) {
        return *outcome;
    }
    let outcome = threads_against_ring(plan);
    known.push((shape, outcome));
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_take_over_only_where_they_win_and_hardly_lose() {
        for (per_cpu, rate, wins) in
            [(1.8, 2.7, true), (1.05, 1.6, true), (1.3, 0.95, true), (0.5, 2.0, false), (1.4, 0.7, false)]
        {
            assert_eq!(worth(Gain { per_cpu, rate }), wins, "{per_cpu} {rate}");
        }
        assert!(!worth(Gain { per_cpu: 1.0, rate: 1.0 }), "a tie is the ring's");
    }
}
