//! Threads against a ring, where the kernel gives I/Os to workers: short trials of both, just before the phase.

use super::probe::sample;
use crate::engine::setup::Choice;
use crate::engine::sim::world::SimWorld;
use crate::plan::{Length, PhasePlan};
use crate::run::control::Answer;
use crate::run::phase::run_chosen;

/// A trial of an engine ends after so long, or after so many I/Os in each slot: enough that the start of as many
/// threads is lost in them.
const TRIAL_S: f64 = 0.05;
const TRIAL_IOS: u64 = 512;
/// Trials of each engine.
const TRIALS: usize = 3;

/// How much better threads are than the ring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gain {
    /// I/Os per CPU-second, as a ratio.
    pub per_cpu: f64,
    /// I/Os per second, as a ratio.
    pub rate: f64,
}

/// The median of short trials in turn; `None` when one of them moved nothing.
pub(super) fn threads_against_ring(plan: &PhasePlan) -> Option<Gain> {
    let mut ratios = (Vec::new(), Vec::new());
    for _ in 0..TRIALS {
        let (ring, threads) = (trial(plan, "uring")?, trial(plan, "sync")?);
        ratios.0.push(threads.0 / ring.0);
        ratios.1.push(threads.1 / ring.1);
    }
    Some(Gain { per_cpu: middle(ratios.0), rate: middle(ratios.1) })
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn trial(plan: &PhasePlan, engine: &'static str) -> Option<(f64, f64)> {
    let mut plan = sample(plan);
    plan.engine = engine.into();
    let ios = TRIAL_IOS * u64::from(plan.users * plan.depth);
    plan.length = Length { seconds: Some(TRIAL_S), ios: Some(ios), ..Length::default() };
    let chosen = [Choice::of(engine, &plan)];
    let mut done = run_chosen(&[plan], &chosen, &SimWorld::default(), &mut |_| Answer::GoOn).ok()?;
    let done = done.pop()?;
    let cpu_ns = (done.cpu_user_ns + done.cpu_system_ns).max(1);
    (done.ios > 0).then(|| {
        (done.ios as f64 * 1e9 / cpu_ns as f64, done.ios as f64 * 1e9 / done.elapsed_ns.max(1) as f64)
    })
}
