//! Phases that run at once, from their engines to their results: a common start, the end, and merging.

use std::sync::Arc;
use std::time::Instant;

use super::control::{Answer, Tick};
use super::cpu_usage::CpuUsage;
use super::crew::{Crew, Watched};
use super::hire::{engines, hire, may_spin, threads_of};
use super::merge::merge;
use crate::engine::Clock;
use crate::engine::setup::Choice;
use crate::engine::sim::world::SimWorld;
use crate::engine::table::asked;
use crate::error::Result;
use crate::host::clocks::unix_ns;
use crate::plan::PhasePlan;
use crate::record::generator::Generator;
use crate::record::interval_log::IntervalLog;
use crate::record::result::{EngineReport, PhaseResult};
use crate::record::tally::Counts;
use crate::replay::facts::ReplayFacts;
use crate::replay::replay_schedule::Schedule;
use crate::run::signals;
use crate::tree::work::TreeWork;

/// Runs phases at once, each on the engine that was chosen for it, from one start and on one clock.
pub fn run_chosen(
    plans: &[PhasePlan],
    chosen: &[Choice],
    world: &SimWorld,
    on_tick: &mut impl FnMut(Tick) -> Answer,
) -> Result<Vec<PhaseResult>> {
    signals::install_waker();
    let engines = engines(chosen)?;
    let plans: Vec<Arc<PhasePlan>> = plans.iter().map(|plan| Arc::new(plan.clone())).collect();
    let (replays, trees) = (Schedule::for_plans(&plans)?, trees_of(&plans)?);
    let threads = plans.iter().zip(&engines).map(|(plan, engine)| threads_of(plan, engine)).sum();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut crew = Crew::new(plans.clone(), engines[0].virtual_time(), may_spin(&plans, threads, processors));
    let reports = match hire(&mut crew, &plans, chosen, (&replays, &trees), world)
        .and_then(|()| crew.wait_until_ready())
    {
        Ok(reports) => reports,
        Err(why) => {
            crew.send_home();
            return Err(why);
        }
    };
    let replays: Vec<_> = replays.into_iter().map(|replay| replay.map(|replay| replay.facts)).collect();
    // Before anything of the phase, and after all that engines tried: whoever watches counts from here.
    let begin = on_tick(Tick { elapsed_ns: 0, counts: Counts::default() }) != Answer::Stop;
    let cpu_before = CpuUsage::of_process();
    let started_unix_ns = unix_ns().max(0) as u64;
    let (begun, clock) = (Instant::now(), Clock::start());
    crew.begin(clock);
    let watched = crew.watch((begun, clock), begin, on_tick);
    let cpu_after = CpuUsage::of_process();
    crew.dismiss();
    let logs = std::mem::take(&mut crew.logs);
    let shared = Shared {
        started_unix_ns,
        cpu_user_ns: cpu_after.user_ns - cpu_before.user_ns,
        cpu_system_ns: cpu_after.system_ns - cpu_before.system_ns,
    };
    Ok(results(&crew, watched?, logs, (reports, replays), clock, &shared))
}

/// What is measured of all phases together.
struct Shared {
    started_unix_ns: u64,
    cpu_user_ns: u64,
    cpu_system_ns: u64,
}

fn results(
    crew: &Crew,
    watched: Watched,
    logs: Vec<IntervalLog>,
    (reports, replays): (Vec<EngineReport>, Vec<Option<ReplayFacts>>),
    clock: Clock,
    shared: &Shared,
) -> Vec<PhaseResult> {
    let Watched { outcomes, interrupted, missing, absences } = watched;
    let mut of_phase: Vec<Vec<_>> = crew.plans.iter().map(|_| Vec::new()).collect();
    for outcome in outcomes {
        of_phase[outcome.phase].push(outcome);
    }
    let counted = of_phase.into_iter().zip(logs);
    let finished = crew.plans.iter().zip(counted).zip(reports).zip(missing).zip(replays).enumerate();
    finished
        .map(|(phase, ((((plan, counted), report), missing), replay))| {
            let mut result = merge(plan, counted, missing, interrupted, (&crew.control, phase), clock);
            result.generator.add(Generator { absences: absences.clone(), ..Generator::default() });
            (result.engine, result.replay) = (report, replay);
            result.started_unix_ns = shared.started_unix_ns;
            (result.cpu_user_ns, result.cpu_system_ns) = (shared.cpu_user_ns, shared.cpu_system_ns);
            result.cpu_phases = crew.plans.len() as u32;
            result
        })
        .collect()
}

/// The tree of each plan that has one.
fn trees_of(plans: &[Arc<PhasePlan>]) -> Result<Vec<Option<Arc<TreeWork>>>> {
    let simulated = |plan: &PhasePlan| Ok(asked(&plan.engine)?.is_some_and(|row| row.virtual_time()));
    plans.iter().map(|plan| Ok(TreeWork::of(plan, simulated(plan)?)?.map(Arc::new))).collect()
}
