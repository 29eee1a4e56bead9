//! Which engine a phase gets, and why (decision 14).
//!
//! A lone I/O that ends while it is submitted, or is made durable, is a system call of its own; a target whose
//! I/Os the kernel gives to workers gets whichever of threads and ring is measured to be better; all else is
//! the ring's.

use std::fmt::Display;
use std::sync::Mutex;

use self::probe::{Ends, how_ios_end};
use self::trial::{Gain, threads_against_ring};
use crate::engine::setup::Choice;
use crate::engine::table::{Row, asked};
use crate::engine::tree_ring;
use crate::engine::trim;
use crate::engine::uring::ring;
use crate::error::Result;
use crate::plan::{Arrival, Op, PhasePlan};

mod probe;
mod trial;

/// More threads than that are never tried in place of a ring.
const THREADS_MOST: u32 = 256;
/// Threads must be better by so much, and may be worse by so little, in rate and in cost.
const BETTER: f64 = 1.1;
const WORSE: f64 = 0.9;

const INSTEAD: &str = "this target punts requests to kernel workers (no NOWAIT): sync engine instead";

/// Threads, because a ring could not be had.
pub fn without_ring(plan: &PhasePlan, why: &dyn Display) -> Choice {
    let threads = if plan.tree.is_some() { "tree_calls" } else { "sync" };
    Choice::of(threads, plan).note(&format!(
        "io_uring is not available ({why}): sync engine instead, one thread per outstanding I/O"
    ))
}

/// The engine that the plan asks for, or one for a plan that leaves it open. A target that cannot even be opened
/// gets the ring, whose set-up says what is wrong.
pub fn choose(plan: &PhasePlan) -> Result<Choice> {
    if plan.tree.is_some() {
        return Ok(for_tree(plan, asked(&plan.engine)?));
    }
    Ok(match heeded(plan, asked(&plan.engine)?) {
        Some(row) if !row.needs_ring => Choice::of(row.name, plan),
        Some(row) => falls_back(plan).unwrap_or_else(|| Choice::of(row.name, plan)),
        None => falls_back(plan).unwrap_or_else(|| suited(plan)),
    })
}

/// Operations on names are system calls each; a ring is taken where it is asked for and has them (decision 37).
fn for_tree(plan: &PhasePlan, asked: Option<&Row>) -> Choice {
    match asked {
        Some(row) if row.virtual_time() => Choice::of(row.name, plan),
        Some(row) if row.needs_ring => match tree_ring::missing(plan) {
            None => Choice { inline: false, ..Choice::of("tree_ring", plan) },
            Some(why) => Choice::of("tree_calls", plan).note(&format!("{why}: one system call each instead")),
        },
        _ => Choice { inline: true, ..Choice::of("tree_calls", plan) },
    }
}

/// The engine that was asked for; but files are filled by one that stores what it writes.
fn heeded<'a>(plan: &PhasePlan, asked: Option<&'a Row>) -> Option<&'a Row> {
    asked.filter(|row| plan.role != "fill" || row.stores || row.virtual_time())
}

/// What a plan gets whose ring cannot be had, or cannot do what it asks for; `None` when it can.
fn falls_back(plan: &PhasePlan) -> Option<Choice> {
    if let Some(why) = ring::missing(plan) {
        // What was asked to poll says itself that it cannot.
        return (!plan.polls()).then(|| without_ring(plan, &why));
    }
    let why = trim::ring_refuses(plan)?;
    let note = format!("{why}: sync engine instead, one thread per outstanding I/O");
    Some(Choice::of("sync", plan).note(&note))
}

/// The engine that suits a plan, found by a short probe before the phase.
fn suited(plan: &PhasePlan) -> Choice {
    let (ring, threads) = (Choice::of("uring", plan), Choice::of("sync", plan));
    if plan.polls() || plan.role == "fill" {
        return ring;
    }
    if plan.depth == 1 && plan.is_durable() {
        return threads.flag("durable I/Os at queue depth 1: one system call each");
    }
    let reads_and_writes = |op: Op| matches!(op, Op::Read | Op::Write | Op::Fsync | Op::Fdatasync);
    // What a probe writes would be found wrong by whoever verifies.
    if plan.verify.is_some() || !plan.mix.iter().all(|m| reads_and_writes(m.op)) {
        return ring;
    }
    match how_ios_end(plan) {
        Ok(Ends::Inline) if plan.depth == 1 => {
            threads.flag("I/Os complete during submission: one system call each")
        }
        Ok(Ends::Inline) => Choice { inline: true, ..ring }.flag("I/Os complete during submission"),
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
        return ring.note(
            "this target punts requests to kernel workers (no NOWAIT): service times include the delay",
        );
    }
    if plan.users * plan.depth > THREADS_MOST {
        return ring.note(
            "this target punts requests to kernel workers (no NOWAIT); too many threads for the sync engine",
        );
    }
    match remembered(plan) {
        Some(gain) if worth(gain) => {
            let said = format!(
                "in a trial {:.1}x the I/Os per CPU-second of a ring, {:.1}x the IOPS",
                gain.per_cpu, gain.rate
            );
            threads.flag(&said).note(INSTEAD)
        }
        Some(gain) => ring.flag(&format!(
            "some requests go to kernel workers; in a trial threads had {:.1}x the I/Os per CPU-second",
            gain.per_cpu
        )),
        None => ring.flag("some requests go to kernel workers; the trial of threads failed"),
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
    use crate::engine::table::{Threads, row};
    use crate::testing::plan;

    #[test]
    fn an_engine_is_run_as_it_was_asked_for_but_one_that_stores_nothing_fills_no_files() {
        let null = Row { name: "null", threads: Threads::PerUser, needs_ring: false, stores: false };
        for (role, of_null) in [("measure", Some(&null)), ("warm", Some(&null)), ("fill", None)] {
            let plan = plan(serde_json::json!({"role": role}));
            assert_eq!(heeded(&plan, Some(&null)), of_null, "{role}");
            for name in ["uring", "sync", "sim"] {
                let other = row(name).unwrap();
                assert_eq!(heeded(&plan, Some(other)), Some(other), "{role} {name}");
            }
        }
    }

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
