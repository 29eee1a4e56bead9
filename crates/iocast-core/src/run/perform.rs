//! From plans to results: what they must be, which engine each gets, the run.

use crate::choose::{choose, without_ring};
use crate::engine::setup::Choice;
use crate::engine::sim::world::SimWorld;
use crate::engine::uring::ring::SET_UP;
use crate::error::{Error, Result};
use crate::plan::PhasePlan;
use crate::plan::checks::check_together;
use crate::record::result::PhaseResult;
use crate::run::control::{Answer, Tick};
use crate::run::memory_needs::afford;
use crate::run::phase::run_chosen;

/// Runs one phase: `run_together` with nobody beside it.
pub fn run_phase<A: Into<Answer>>(plan: &PhasePlan, on_tick: impl FnMut(Tick) -> A) -> Result<PhaseResult> {
    let mut results = run_together(std::slice::from_ref(plan), on_tick)?;
    Ok(results.pop().expect("a result for each plan"))
}

/// Runs phases at once, from one start and on one clock; the results are in the order of the plans. A phase
/// that ends before the others ends alone; one that reaches its `error_limit` ends them all, as what the
/// others measured afterwards would not be what was asked. On `sim` all of them share one device.
///
/// `on_tick` is called right before the start and then about ten times a second, from this thread; its answer (or false,
/// for `Stop`) may end them.
pub fn run_together<A: Into<Answer>>(
    plans: &[PhasePlan],
    on_tick: impl FnMut(Tick) -> A,
) -> Result<Vec<PhaseResult>> {
    run_together_in(plans, &SimWorld::default(), on_tick)
}

/// The same on the simulated device, if there is one, that earlier phases left in `world`.
pub fn run_together_in<A: Into<Answer>>(
    plans: &[PhasePlan],
    world: &SimWorld,
    mut on_tick: impl FnMut(Tick) -> A,
) -> Result<Vec<PhaseResult>> {
    check_together(plans)?;
    afford(plans)?;
    let chosen = plans.iter().map(choose).collect::<Result<Vec<Choice>>>()?;
    let mut on_tick = |tick| on_tick(tick).into();
    match run_chosen(plans, &chosen, world, &mut on_tick) {
        // One ring was to be had, one for each user is not: nothing has been measured yet.
        Err(Error::Ring { doing: SET_UP, source }) if !plans.iter().any(PhasePlan::polls) => {
            let chosen: Vec<Choice> = plans.iter().map(|plan| without_ring(plan, &source)).collect();
            run_chosen(plans, &chosen, world, &mut on_tick)
        }
        outcome => outcome,
    }
}
