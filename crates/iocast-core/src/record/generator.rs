//! What the threads of the load generator did with their time, and when they did not run.

use serde::{Deserialize, Serialize};

/// So many absences are kept, the longest.
pub(crate) const KEPT: usize = 64;

/// Why a thread did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cause {
    /// It was ready, and all processors were taken by others.
    Queued,
    /// It was stopped, or the whole machine was: it was not even ready.
    Stopped,
    /// Something between two system calls took it that long.
    Busy,
}

/// A time in which a thread of the generator did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Absence {
    /// Since the start of the phase.
    pub start_ns: u64,
    /// How long.
    pub duration_ns: u64,
    /// Why.
    pub cause: Cause,
}

/// What the threads of the generator did with their time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Generator {
    /// Workers.
    pub threads: u32,
    /// User CPU time of the workers; that of the process also has the kernel's own workers of the ring.
    pub user_ns: u64,
    /// System CPU time of the workers.
    pub system_ns: u64,
    /// How long they were ready to run and had no processor, all together.
    pub queued_ns: u64,
    /// How often a worker lost its processor to another thread.
    pub involuntary_switches: u64,
    /// When a thread did not run for 10 ms or more: the longest, in order of time.
    pub absences: Vec<Absence>,
}

impl Generator {
    /// Adds what another thread did.
    pub fn add(&mut self, other: Generator) {
        self.threads += other.threads;
        self.user_ns += other.user_ns;
        self.system_ns += other.system_ns;
        self.queued_ns += other.queued_ns;
        self.involuntary_switches += other.involuntary_switches;
        self.absences.extend(other.absences);
        keep_longest(&mut self.absences);
        self.absences.sort_by_key(|a| a.start_ns);
    }
}

/// Only the longest are kept.
pub(crate) fn keep_longest(absences: &mut Vec<Absence>) {
    if absences.len() > KEPT {
        absences.sort_by_key(|a| std::cmp::Reverse(a.duration_ns));
        absences.truncate(KEPT);
    }
}
