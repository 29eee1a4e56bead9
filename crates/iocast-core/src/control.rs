//! `Control`: how the workers of a phase and whoever watches them talk while the load runs.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// What was done so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Completed without error.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Failed.
    pub errors: u64,
    /// Sum of the response times of those completed.
    pub response_ns: u64,
}

/// What whoever watches a phase answers to a tick.
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
    /// No I/O is issued from then on, whatever the plan says; `u64::MAX` while nobody has had enough.
    pub end_ns: AtomicU64,
    ios: AtomicU64,
    bytes: AtomicU64,
    errors: AtomicU64,
    response_ns: AtomicU64,
}

impl Default for Control {
    fn default() -> Self {
        Control {
            stop: AtomicBool::default(),
            abandon: AtomicBool::default(),
            end_ns: AtomicU64::new(u64::MAX),
            ios: AtomicU64::default(),
            bytes: AtomicU64::default(),
            errors: AtomicU64::default(),
            response_ns: AtomicU64::default(),
        }
    }
}

impl Control {
    /// A worker adds what is new since it last did; too many errors stop the phase.
    pub fn add(&self, before: &Counts, now: &Counts, error_limit: u64) {
        self.ios.fetch_add(now.ios - before.ios, Relaxed);
        self.bytes.fetch_add(now.bytes - before.bytes, Relaxed);
        self.response_ns.fetch_add(now.response_ns - before.response_ns, Relaxed);
        let more = now.errors - before.errors;
        if more > 0 && self.errors.fetch_add(more, Relaxed) + more >= error_limit {
            self.stop.store(true, Relaxed);
        }
    }

    /// What all workers have added.
    pub fn counts(&self) -> Counts {
        Counts {
            ios: self.ios.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
            errors: self.errors.load(Relaxed),
            response_ns: self.response_ns.load(Relaxed),
        }
    }

    /// When someone had enough, in ns since the start.
    pub fn ended_early_ns(&self) -> Option<u64> {
        Some(self.end_ns.load(Relaxed)).filter(|end| *end != u64::MAX)
    }
}
