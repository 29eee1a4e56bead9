//! `Control`: how the workers of phases that run at once and whoever watches them talk while the load runs.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};

use crate::record::tally::Counts;

/// Progress, at most ten times a second; of all phases that run at once together.
#[derive(Clone, Copy, Debug)]
pub struct Tick {
    /// Real time since the start.
    pub elapsed_ns: u64,
    /// What was done so far.
    pub counts: Counts,
}

/// What whoever watches answers to a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Go on.
    GoOn,
    /// Someone wants it to stop: the phase is interrupted.
    Stop,
    /// It has run for long enough: the phase is finished.
    Enough,
}

impl From<bool> for Answer {
    fn from(go_on: bool) -> Answer {
        if go_on { Answer::GoOn } else { Answer::Stop }
    }
}

/// What the workers and whoever watches them share.
pub struct Control {
    /// Stop issuing, drain, return.
    pub stop: AtomicBool,
    /// Do not wait for what is in flight either.
    pub abandon: AtomicBool,
    /// No I/O is issued from then on, whatever the plans say; `u64::MAX` while nobody has had enough.
    pub end_ns: AtomicU64,
    /// Workers' parts that still issue and that others may follow: at 0 the followers end.
    pub leading: AtomicUsize,
    phases: Vec<Shared>,
}

/// What the workers of one phase have added up.
#[derive(Default)]
struct Shared {
    ios: AtomicU64,
    bytes: AtomicU64,
    errors: AtomicU64,
    response_ns: AtomicU64,
}

impl Control {
    /// For so many phases.
    pub fn new(phases: usize) -> Control {
        Control {
            stop: AtomicBool::default(),
            abandon: AtomicBool::default(),
            end_ns: AtomicU64::new(u64::MAX),
            leading: AtomicUsize::default(),
            phases: (0..phases).map(|_| Shared::default()).collect(),
        }
    }

    /// A worker adds to a phase what is new since it last did; too many errors stop all.
    pub fn add(&self, phase: usize, before: &Counts, now: &Counts, error_limit: u64) {
        let shared = &self.phases[phase];
        shared.ios.fetch_add(now.ios - before.ios, Relaxed);
        shared.bytes.fetch_add(now.bytes - before.bytes, Relaxed);
        shared.response_ns.fetch_add(now.response_ns - before.response_ns, Relaxed);
        let more = now.errors - before.errors;
        if more > 0 && shared.errors.fetch_add(more, Relaxed) + more >= error_limit {
            self.stop.store(true, Relaxed);
        }
    }

    /// Failures of one phase.
    pub fn errors(&self, phase: usize) -> u64 {
        self.phases[phase].errors.load(Relaxed)
    }

    /// What all workers of all phases have added.
    pub fn counts(&self) -> Counts {
        self.phases.iter().fold(Counts::default(), |sum, one| Counts {
            ios: sum.ios + one.ios.load(Relaxed),
            bytes: sum.bytes + one.bytes.load(Relaxed),
            errors: sum.errors + one.errors.load(Relaxed),
            response_ns: sum.response_ns + one.response_ns.load(Relaxed),
        })
    }

    /// When someone had enough, in ns since the start.
    pub fn ended_early_ns(&self) -> Option<u64> {
        Some(self.end_ns.load(Relaxed)).filter(|end| *end != u64::MAX)
    }
}
