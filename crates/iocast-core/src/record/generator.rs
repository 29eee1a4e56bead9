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

#[cfg(test)]
mod tests {
    use super::*;

    fn absent(start_ns: u64, duration_ns: u64) -> Absence {
        Absence { start_ns, duration_ns, cause: Cause::Queued }
    }

    #[test]
    fn what_several_threads_did_is_summed() {
        let each = |scale: u64| Generator {
            threads: scale as u32,
            user_ns: 2 * scale,
            system_ns: 3 * scale,
            queued_ns: 5 * scale,
            involuntary_switches: 7 * scale,
            absences: vec![absent(100 / scale, scale)],
        };
        let mut sum = each(1);
        sum.add(each(10));
        assert_eq!((sum.threads, sum.user_ns, sum.system_ns), (11, 22, 33));
        assert_eq!((sum.queued_ns, sum.involuntary_switches), (55, 77));
        assert_eq!(sum.absences, [absent(10, 10), absent(100, 1)]);
    }

    #[test]
    fn only_the_longest_absences_are_kept_and_in_order_of_time() {
        let (short, long) = (absent(500, 1), |at: u64| absent(at, 10 + at));
        let mut sum = Generator { absences: vec![short], ..Generator::default() };
        sum.add(Generator { absences: (1..=KEPT as u64).rev().map(long).collect(), ..Generator::default() });
        assert_eq!(sum.absences, (1..=KEPT as u64).map(long).collect::<Vec<_>>());
    }

    #[test]
    fn as_many_as_may_be_kept_stay_as_they_are() {
        let few: Vec<Absence> = (0..KEPT as u64).map(|at| absent(at, at)).collect();
        let mut kept = few.clone();
        keep_longest(&mut kept);
        assert_eq!(kept, few);
    }
}
