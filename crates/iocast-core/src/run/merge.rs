//! Merging what the workers of a phase counted into one result.

use std::collections::BTreeMap;

use super::control::Control;
use crate::engine::Clock;
use crate::plan::PhasePlan;
use crate::record::generator::Generator;
use crate::record::histogram::Histogram;
use crate::record::interval_log::IntervalLog;
use crate::record::interval_row::IntervalRow;
use crate::record::lateness::Lateness;
use crate::record::result::{ClassResult, ErrorCount, PhaseResult, SlowIo, Stopped, UserResult};
use crate::record::tally::Tallied;

/// What a worker hands back of a phase.
pub struct Outcome {
    /// Which of the phases that ran at once.
    pub phase: usize,
    /// All that was counted.
    pub tallied: Tallied,
    /// By user index.
    pub users: Vec<(usize, UserResult)>,
    /// Integral of I/Os in flight over time, in ns: while issuing, and over all.
    pub depth_areas: (f64, f64),
    /// When it issued its last I/O, and when the last one ended.
    pub left_ns: (u64, u64),
    /// Told to stop before its own end.
    pub cut: bool,
    /// I/Os left behind.
    pub abandoned: u64,
    /// Which, as far as its thread came back.
    pub left_behind: Vec<SlowIo>,
    /// Arrivals that were due and not sent.
    pub unsent: u64,
    /// What its thread did with its time.
    pub generator: Generator,
}

/// What all workers of a phase did, as one result: what they hand back, and what of its series was taken before.
/// `missing` workers never came back.
pub(crate) fn merge(
    plan: &PhasePlan,
    (outcomes, log): (Vec<Outcome>, IntervalLog),
    missing: usize,
    interrupted: bool,
    (control, phase): (&Control, usize),
    clock: Clock,
) -> PhaseResult {
    let abandoned = outcomes.iter().map(|o| o.abandoned).sum::<u64>() + missing as u64;
    let stopped = why_stopped(plan, &outcomes, abandoned, interrupted, control.errors(phase));
    let left = outcomes.iter().map(|o| o.left_ns.1).max().unwrap_or_else(|| clock.now());
    let issuing_ns = outcomes.iter().map(|o| o.left_ns.0).max().unwrap_or(left).max(1);
    // A phase of a given time lasts that long even if nothing was due at its very end.
    let counted = plan.length.ios.is_some() || plan.length.bytes.is_some();
    let timed = (stopped == Stopped::Finished && !counted).then(|| planned_ns(plan, control)).flatten();
    let elapsed_ns = left.max(timed.unwrap_or(0)).max(1);
    let mut result = PhaseResult {
        engine: Default::default(),
        started_unix_ns: 0,
        elapsed_ns,
        asked_depth: plan.users * plan.depth,
        asked_rate_per_s: asked_rate_per_s(plan),
        issuing_ns,
        depth_mean: outcomes.iter().map(|o| o.depth_areas.0).sum::<f64>() / issuing_ns as f64,
        in_flight_ns: outcomes.iter().map(|o| o.depth_areas.1).sum(),
        ios: 0,
        bytes: 0,
        stopped,
        abandoned_ios: abandoned,
        left_behind: Vec::new(),
        classes: Vec::new(),
        lag: Histogram::default(),
        commit: Histogram::default(),
        issue_error: Histogram::default(),
        lateness: Lateness::default(),
        replay: None,
        errors: Vec::new(),
        slow: Vec::new(),
        users: vec![UserResult::default(); plan.users as usize],
        cpu_user_ns: 0,
        cpu_system_ns: 0,
        cpu_phases: 1,
        unsent_arrivals: 0,
        generator: Generator::default(),
        spooled: None,
        intervals: Vec::new(),
    };
    let mut intervals = Vec::new();
    for outcome in outcomes {
        intervals.extend(add(&mut result, plan, outcome));
    }
    (result.spooled, result.intervals) = log.finish(intervals);
    result
}

/// Adds what one worker counted; returns its rows of the series.
fn add(result: &mut PhaseResult, plan: &PhasePlan, outcome: Outcome) -> Vec<IntervalRow> {
    for (user, done) in outcome.users {
        let sum = &mut result.users[user];
        sum.ios += done.ios;
        sum.last_ns = sum.last_ns.max(done.last_ns);
    }
    result.unsent_arrivals += outcome.unsent;
    result.generator.add(outcome.generator);
    let tallied = outcome.tallied;
    (result.ios, result.bytes) = (result.ios + tallied.ios, result.bytes + tallied.bytes);
    result.lag.merge(&tallied.lag);
    result.commit.merge(&tallied.commit);
    result.issue_error.merge(&tallied.issue_error);
    result.lateness.merge(tallied.lateness);
    merge_classes(&mut result.classes, tallied.classes);
    merge_errors(&mut result.errors, tallied.errors);
    merge_slow(&mut result.slow, tallied.slow, plan.slow_limit);
    merge_slow(&mut result.left_behind, outcome.left_behind, plan.slow_limit);
    tallied.intervals
}

/// The rate of an open loop; one that waits for its own I/Os has none, whatever that of the trace was.
fn asked_rate_per_s(plan: &PhasePlan) -> Option<f64> {
    let depends = plan.replay.as_ref().is_some_and(|replay| replay.depends());
    plan.arrival.rate_per_s().filter(|_| !depends)
}

/// When a phase of a given time was to end.
fn planned_ns(plan: &PhasePlan, control: &Control) -> Option<u64> {
    let planned = plan.length.seconds.filter(|_| !plan.length.follows).map(|s| (s * 1e9) as u64);
    let early = control.ended_early_ns().filter(|early| planned.is_none_or(|planned| *early < planned));
    early.or(planned)
}

fn why_stopped(
    plan: &PhasePlan,
    outcomes: &[Outcome],
    abandoned: u64,
    interrupted: bool,
    errors: u64,
) -> Stopped {
    // A phase that had ended before others that run at once were stopped is whole.
    let cut = abandoned > 0 || outcomes.iter().any(|o| o.cut);
    match () {
        () if errors >= plan.error_limit => Stopped::Errors,
        () if interrupted && cut => Stopped::Interrupted,
        () if abandoned > 0 => Stopped::Hung,
        () if cut => Stopped::Errors,
        () => Stopped::Finished,
    }
}

fn merge_classes(all: &mut Vec<ClassResult>, more: Vec<crate::record::tally::ClassSum>) {
    if all.is_empty() {
        *all = more
            .iter()
            .map(|c| ClassResult {
                op: c.class.op,
                size_bytes: c.class.size_bytes,
                ios: 0,
                bytes: 0,
                short_ios: 0,
                response: Histogram::default(),
                service: Histogram::default(),
            })
            .collect();
    }
    for (sum, one) in all.iter_mut().zip(more) {
        sum.ios += one.service.total();
        sum.bytes += one.bytes;
        sum.short_ios += one.short_ios;
        sum.response.merge(&one.response);
        sum.service.merge(&one.service);
    }
}

fn merge_errors(all: &mut Vec<ErrorCount>, more: Vec<ErrorCount>) {
    let mut by_key: BTreeMap<(crate::plan::Op, i32), ErrorCount> =
        all.drain(..).map(|e| ((e.op, e.errno), e)).collect();
    for error in more {
        match by_key.entry((error.op, error.errno)) {
            std::collections::btree_map::Entry::Vacant(place) => {
                place.insert(error);
            }
            std::collections::btree_map::Entry::Occupied(mut place) => {
                let sum = place.get_mut();
                sum.count += error.count;
                sum.first.extend(error.first);
                sum.first.sort_by_key(|p| p.time_ns);
                sum.first.truncate(8);
            }
        }
    }
    all.extend(by_key.into_values());
}

fn merge_slow(all: &mut Vec<SlowIo>, more: Vec<SlowIo>, limit: usize) {
    all.extend(more);
    all.sort_by_key(|io| std::cmp::Reverse(io.response_ns));
    all.truncate(limit);
}
