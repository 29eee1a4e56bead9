//! Who works in the phases that run at once: the workers, the parts each has in them, and their engines.

use std::sync::{Arc, Mutex};

use super::crew::Crew;
use super::lane::Lane;
use super::part::Part;
use super::worker::SPIN_NS;
use crate::engine::Engine;
use crate::engine::setup::{Choice, Setup};
use crate::engine::sim::world::SimWorld;
use crate::engine::table::{self, Employer, Row, Threads, row};
use crate::error::{Error, Result};
use crate::plan::{Arrival, PhasePlan};
use crate::replay::replay_schedule::Schedule;
use crate::tree::work::TreeWork;
use crate::verify::journal::Journal;
use crate::verify::signed::Signed;
use crate::workload::stream::Stream;

/// The engines that were chosen, as the table describes them. Phases on virtual time share one engine.
pub(crate) fn engines(chosen: &[Choice]) -> Result<Vec<&'static Row>> {
    let rows = chosen.iter().map(|choice| row(choice.engine)).collect::<Result<Vec<&Row>>>()?;
    match rows.iter().any(|row| row.virtual_time() && *row != rows[0]) {
        true => Err(Error::Plan("engine: phases that run together are all simulated, or none is".into())),
        false => Ok(rows),
    }
}

/// How many threads the users of a phase are.
pub(crate) fn threads_of(plan: &PhasePlan, engine: &Row) -> usize {
    match engine.threads {
        Threads::Virtual => 1,
        Threads::PerUser => plan.users as usize,
        Threads::PerIo => (plan.users * plan.depth) as usize,
    }
}

/// Whether workers may spin through the last moments before an I/O is due: not where that would take
/// more than a quarter of the processors away from the kernel and from each other.
pub(crate) fn may_spin(plans: &[Arc<PhasePlan>], threads: usize, processors: usize) -> bool {
    let waits_per_s = |plan: &Arc<PhasePlan>| match plan.arrival {
        Arrival::Closed { think_ns: 0 } => 0.0,
        Arrival::Closed { think_ns } => f64::from(plan.users * plan.depth) * 1e9 / think_ns as f64,
        Arrival::Bursts { every_ns, .. } => f64::from(plan.users) * 1e9 / every_ns as f64,
        Arrival::Constant { rate_per_s }
        | Arrival::Poisson { rate_per_s }
        | Arrival::Stepped { rate_per_s }
        | Arrival::Recorded { rate_per_s, .. } => rate_per_s,
    };
    let all: f64 = plans.iter().map(waits_per_s).sum();
    threads < processors || all * SPIN_NS as f64 / 1e9 <= 0.25 * processors as f64
}

/// A worker to be started, with all that it needs but its engine.
struct Vacancy<'a> {
    crew: &'a mut Crew,
    parts: Vec<Part>,
    setup: Setup,
    journal: Option<Arc<Journal>>,
}

impl Employer for Vacancy<'_> {
    fn employ<E: Engine + 'static>(self, build: fn(&Setup) -> Result<E>) -> Result<()> {
        let Vacancy { crew, parts, setup, journal } = self;
        crew.start(parts, move || Ok(Signed::new(build(&setup)?, journal)))
    }
}

/// For each phase its trace and its tree.
type Given<'a> = (&'a [Option<Schedule>], &'a [Option<Arc<TreeWork>>]);

/// What a user makes: what it draws, in a tree or elsewhere, or the rows of a trace.
fn stream_of(plan: &PhasePlan, user: u32, (replays, trees): Given, phase: usize) -> Arc<Mutex<Stream>> {
    let stream = match (&replays[phase], &trees[phase]) {
        (Some(replay), _) => Stream::replaying(plan, user, &replay.users[user as usize]),
        (None, Some(tree)) => Stream::in_tree(plan, user, tree),
        (None, None) => Stream::new(plan, user),
    };
    Arc::new(Mutex::new(stream))
}

/// Starts all workers.
pub(crate) fn hire(
    crew: &mut Crew,
    plans: &[Arc<PhasePlan>],
    chosen: &[Choice],
    given: Given,
    world: &SimWorld,
) -> Result<()> {
    let engines = engines(chosen)?;
    if engines[0].virtual_time() {
        return hire_one(crew, plans, &chosen[0], given, world);
    }
    let journals = Journal::for_plans(plans)?;
    for (phase, (plan, choice)) in plans.iter().zip(chosen).enumerate() {
        // Of each user: so many workers, with so many slots each.
        let (workers, slots) = match engines[phase].threads {
            Threads::PerIo => (plan.depth, 1),
            Threads::PerUser | Threads::Virtual => (1, plan.depth),
        };
        for user in 0..plan.users {
            let stream = stream_of(plan, user, given, phase);
            for _ in 0..workers {
                let lane = Lane::new(user as usize, Arc::clone(&stream), 0..slots);
                let part = Part::new(phase, Arc::clone(plan), vec![lane], 0).ending(choice.inline);
                let plans = vec![Arc::clone(plan)];
                let (world, tree) = (world.clone(), given.1[phase].clone());
                let setup = Setup { plans, choice: choice.clone(), world, tree };
                let journal = journals[phase].clone();
                table::employ(choice.engine, Vacancy { crew, parts: vec![part], setup, journal })?;
            }
        }
    }
    Ok(())
}

/// One worker for all users of all phases: they contend for one device on one virtual clock.
fn hire_one(
    crew: &mut Crew,
    plans: &[Arc<PhasePlan>],
    choice: &Choice,
    given: Given,
    world: &SimWorld,
) -> Result<()> {
    let mut numbered: Vec<(usize, &Arc<PhasePlan>)> = plans.iter().enumerate().collect();
    // Those who follow come last: they end at the instant at which the last of the others has.
    numbered.sort_by_key(|(_, plan)| plan.length.follows);
    let mut slot = 0;
    let (mut parts, mut in_order) = (Vec::new(), Vec::new());
    for (phase, plan) in numbered {
        in_order.push(Arc::clone(plan));
        let first = slot;
        let lane = |user: u32| {
            let stream = stream_of(plan, user, given, phase);
            Lane::new(user as usize, stream, first + user * plan.depth..first + (user + 1) * plan.depth)
        };
        slot += plan.users * plan.depth;
        parts.push(Part::new(phase, Arc::clone(plan), (0..plan.users).map(lane).collect(), first));
    }
    let setup = Setup { plans: in_order, choice: choice.clone(), world: world.clone(), tree: None };
    table::employ(choice.engine, Vacancy { crew, parts, setup, journal: None })
}
