//! One phase, or several at once, from plan to result: who works, a common start, the end, and merging.

use std::sync::{Arc, Mutex};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::absence::Generator;
use crate::checks::check_together;
use crate::control::{Answer, Counts};
use crate::crew::{Crew, Watched};
use crate::engine::auto::{Choice, choose};
use crate::engine::sim::{SimEngine, SimWorld};
use crate::engine::sync::SyncEngine;
use crate::engine::uring::{SET_UP, UringEngine};
use crate::engine::{Clock, open_files};
use crate::error::{Error, Result};
use crate::journal::Journal;
use crate::lane::Lane;
use crate::merge::merge;
use crate::part::Part;
use crate::plan::{Arrival, EngineName, PhasePlan};
use crate::result::{EngineReport, PhaseResult};
use crate::signals;
use crate::signed::Signed;
use crate::stream::Stream;
use crate::worker::SPIN_NS;

/// Progress, at most ten times a second; of all phases that run at once together.
#[derive(Clone, Copy, Debug)]
pub struct Tick {
    /// Real time since the start.
    pub elapsed_ns: u64,
    /// What was done so far.
    pub counts: Counts,
}

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
    signals::install_waker();
    let chosen: Vec<Choice> = plans.iter().map(choose).collect();
    let mut on_tick = |tick| on_tick(tick).into();
    match run_with(plans, &chosen, world, &mut on_tick) {
        // One ring was to be had, one for each user is not: nothing has been measured yet.
        Err(Error::Ring { doing: SET_UP, source }) if !plans.iter().any(PhasePlan::polls) => {
            let chosen: Vec<Choice> = plans.iter().map(|plan| Choice::without_ring(plan, &source)).collect();
            run_with(plans, &chosen, world, &mut on_tick)
        }
        outcome => outcome,
    }
}

fn run_with(
    plans: &[PhasePlan],
    chosen: &[Choice],
    world: &SimWorld,
    on_tick: &mut impl FnMut(Tick) -> Answer,
) -> Result<Vec<PhaseResult>> {
    let plans: Vec<Arc<PhasePlan>> = plans.iter().map(|plan| Arc::new(plan.clone())).collect();
    let threads = plans.iter().zip(chosen).map(|(plan, choice)| threads_of(plan, choice.engine)).sum();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut crew = Crew::new(plans.clone(), may_spin(&plans, threads, processors));
    let reports = match hire(&mut crew, &plans, chosen, world).and_then(|()| crew.wait_until_ready()) {
        Ok(reports) => reports,
        Err(why) => {
            crew.send_home();
            return Err(why);
        }
    };
    // Before anything of the phase, and after all that engines tried: whoever watches counts from here.
    let begin = on_tick(Tick { elapsed_ns: 0, counts: Counts::default() }) != Answer::Stop;
    let cpu_before = cpu_ns();
    let started_unix_ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
    let (begun, clock) = (Instant::now(), Clock::start());
    crew.begin(clock);
    let watched = crew.watch(begun, begin, on_tick);
    let cpu_after = cpu_ns();
    crew.dismiss();
    let shared = Shared {
        started_unix_ns,
        cpu_user_ns: cpu_after.0 - cpu_before.0,
        cpu_system_ns: cpu_after.1 - cpu_before.1,
    };
    Ok(results(&crew, watched?, reports, clock, &shared))
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
    reports: Vec<EngineReport>,
    clock: Clock,
    shared: &Shared,
) -> Vec<PhaseResult> {
    let Watched { outcomes, interrupted, missing, absences } = watched;
    let mut of_phase: Vec<Vec<_>> = crew.plans.iter().map(|_| Vec::new()).collect();
    for outcome in outcomes {
        of_phase[outcome.phase].push(outcome);
    }
    let finished = crew.plans.iter().zip(of_phase).zip(reports).zip(missing).enumerate();
    finished
        .map(|(phase, (((plan, outcomes), report), missing))| {
            let mut result = merge(plan, outcomes, missing, interrupted, (&crew.control, phase), clock);
            result.generator.add(Generator { absences: absences.clone(), ..Generator::default() });
            result.engine = report;
            result.started_unix_ns = shared.started_unix_ns;
            (result.cpu_user_ns, result.cpu_system_ns) = (shared.cpu_user_ns, shared.cpu_system_ns);
            result.cpu_phases = crew.plans.len() as u32;
            result
        })
        .collect()
}

fn threads_of(plan: &PhasePlan, engine: EngineName) -> usize {
    match engine {
        EngineName::Sim => 1,
        EngineName::Uring | EngineName::Auto => plan.users as usize,
        EngineName::Sync => (plan.users * plan.depth) as usize,
    }
}

/// Whether workers may spin through the last moments before an I/O is due: not where that would take
/// more than a quarter of the processors away from the kernel and from each other.
fn may_spin(plans: &[Arc<PhasePlan>], threads: usize, processors: usize) -> bool {
    let waits_per_s = |plan: &Arc<PhasePlan>| match plan.arrival {
        Arrival::Closed { think_ns: 0 } => 0.0,
        Arrival::Closed { think_ns } => f64::from(plan.users * plan.depth) * 1e9 / think_ns as f64,
        Arrival::Bursts { every_ns, .. } => f64::from(plan.users) * 1e9 / every_ns as f64,
        Arrival::Constant { rate_per_s } | Arrival::Poisson { rate_per_s } => rate_per_s,
    };
    let all: f64 = plans.iter().map(waits_per_s).sum();
    threads < processors || all * SPIN_NS as f64 / 1e9 <= 0.25 * processors as f64
}

fn hire(crew: &mut Crew, plans: &[Arc<PhasePlan>], chosen: &[Choice], world: &SimWorld) -> Result<()> {
    if plans[0].engine == EngineName::Sim {
        return hire_for_sim(crew, plans, world);
    }
    let journals = Journal::for_plans(plans)?;
    for (phase, (plan, choice)) in plans.iter().zip(chosen).enumerate() {
        for user in 0..plan.users {
            let stream = Arc::new(Mutex::new(Stream::new(plan, user)));
            let part = |slots: u32| {
                let lane = Lane::new(user as usize, Arc::clone(&stream), 0..slots);
                vec![Part::new(phase, Arc::clone(plan), vec![lane], 0)]
            };
            let depth = plan.depth;
            if choice.engine != EngineName::Sync {
                let (files, plan, choice) = (open_files(plan)?, Arc::clone(plan), choice.clone());
                let journal = journals[phase].clone();
                let build = move || Ok(Signed::new(UringEngine::new(&plan, files, &choice)?, journal));
                crew.start(part(depth), build)?;
                continue;
            }
            for _ in 0..depth {
                let (files, plan, choice) = (open_files(plan)?, Arc::clone(plan), choice.clone());
                let journal = journals[phase].clone();
                let build = move || Ok(Signed::new(SyncEngine::new(&plan, files, &choice)?, journal));
                crew.start(part(1), build)?;
            }
        }
    }
    Ok(())
}

/// One worker for all users of all phases: they contend for one device on one virtual clock.
fn hire_for_sim(crew: &mut Crew, plans: &[Arc<PhasePlan>], world: &SimWorld) -> Result<()> {
    let mut numbered: Vec<(usize, &Arc<PhasePlan>)> = plans.iter().enumerate().collect();
    // Those who follow come last: they end at the instant at which the last of the others has.
    numbered.sort_by_key(|(_, plan)| plan.length.follows);
    let mut slot = 0;
    let (mut parts, mut in_order) = (Vec::new(), Vec::new());
    for (phase, plan) in numbered {
        in_order.push(Arc::clone(plan));
        let first = slot;
        let lane = |user: u32| {
            let stream = Arc::new(Mutex::new(Stream::new(plan, user)));
            Lane::new(user as usize, stream, first + user * plan.depth..first + (user + 1) * plan.depth)
        };
        slot += plan.users * plan.depth;
        parts.push(Part::new(phase, Arc::clone(plan), (0..plan.users).map(lane).collect(), first));
    }
    let world = world.clone();
    let device =
        plans[0].simulated.clone().ok_or_else(|| Error::Plan("the sim engine needs a device".into()))?;
    crew.start(parts, move || Ok(SimEngine::new(&in_order, &device, &world)))
}

fn cpu_ns() -> (u64, u64) {
    // SAFETY: rusage is plain data and getrusage fills it.
    let usage = unsafe {
        let mut usage = std::mem::zeroed::<libc::rusage>();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let ns = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1000;
    (ns(usage.ru_utime), ns(usage.ru_stime))
}
