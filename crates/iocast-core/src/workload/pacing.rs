//! When I/Os are due: at once (closed loop), after think time, at equal or exponential distances or in
//! bursts, or as a trace has it (open loop).

use rand::rngs::SmallRng;

use crate::plan::Arrival;
use crate::workload::random::exponential;

/// The due times of one user, in ns since the start of the phase.
#[derive(Clone, Debug)]
pub enum Schedule {
    /// Due as soon as a slot has thought; the worker keeps these times itself.
    Closed {
        /// Pause after each completion.
        think_ns: u64,
    },
    /// The i-th arrival is due at `first + i × gap`: no error adds up.
    Constant {
        /// First due time.
        first_ns: f64,
        /// Distance.
        gap_ns: f64,
        /// Arrivals taken.
        taken: u64,
    },
    /// The distance to the next arrival is exponential.
    Poisson {
        /// Mean distance.
        gap_ns: f64,
        /// Next due time.
        next_ns: f64,
    },
    /// `ios` are due at the start of every `every_ns`.
    Bursts {
        /// I/Os of this user in a burst; a user may have none.
        ios: u64,
        /// From burst to burst.
        every_ns: u64,
        /// Arrivals taken.
        taken: u64,
    },
    /// Whenever the source says: the stream keeps this up to date.
    Recorded {
        /// Next due time.
        next_ns: u64,
    },
}

impl Schedule {
    /// The schedule of `user` of `users`, each of which gets an equal share of the rate.
    pub fn new(arrival: &Arrival, user: u32, users: u32, rng: &mut SmallRng) -> Schedule {
        match arrival {
            Arrival::Closed { think_ns } => Schedule::Closed { think_ns: *think_ns },
            Arrival::Constant { rate_per_s } => {
                // Users take turns, so that all together are as even as one.
                let all_ns = 1e9 / rate_per_s;
                Schedule::Constant {
                    first_ns: all_ns * f64::from(user),
                    gap_ns: all_ns * f64::from(users),
                    taken: 0,
                }
            }
            Arrival::Poisson { rate_per_s } => {
                let gap_ns = 1e9 / rate_per_s * f64::from(users);
                Schedule::Poisson { gap_ns, next_ns: exponential(rng) * gap_ns }
            }
            Arrival::Bursts { ios, every_ns } => {
                let (users, user) = (u64::from(users), u64::from(user));
                let ios = ios / users + u64::from(user < ios % users);
                Schedule::Bursts { ios, every_ns: *every_ns, taken: 0 }
            }
            Arrival::Recorded { .. } | Arrival::Stepped { .. } => Schedule::Recorded { next_ns: 0 },
        }
    }

    /// When the next arrival is due; `None` in a closed loop.
    #[inline]
    pub fn peek(&self) -> Option<u64> {
        match self {
            Schedule::Closed { .. } => None,
            Schedule::Constant { first_ns, gap_ns, taken } => {
                Some((first_ns + *taken as f64 * gap_ns) as u64)
            }
            Schedule::Poisson { next_ns, .. } => Some(*next_ns as u64),
            Schedule::Recorded { next_ns } => Some(*next_ns),
            Schedule::Bursts { ios: 0, .. } => Some(u64::MAX),
            Schedule::Bursts { ios, every_ns, taken } => Some((taken / ios).saturating_mul(*every_ns)),
        }
    }

    /// Leaves out the arrivals due before `end`; returns how many. Of an exponential schedule only the first of
    /// them is known: the others, never drawn, are as many as its rate says.
    pub fn skip(&mut self, end: u64) -> u64 {
        let Some(next) = self.peek().filter(|next| *next < end) else { return 0 };
        let rest_ns = (end - next) as f64;
        match self {
            Schedule::Closed { .. } | Schedule::Recorded { .. } => 0,
            Schedule::Constant { gap_ns, taken, .. } => {
                let missed = (rest_ns / *gap_ns).ceil() as u64;
                *taken += missed;
                missed
            }
            Schedule::Bursts { ios, every_ns, taken } => {
                let due = end.div_ceil(*every_ns) * *ios;
                due - std::mem::replace(taken, due)
            }
            Schedule::Poisson { gap_ns, next_ns } => {
                let missed = 1 + (rest_ns / *gap_ns) as u64;
                *next_ns = end as f64;
                missed
            }
        }
    }

    /// Takes the next arrival.
    #[inline]
    pub fn take(&mut self, rng: &mut SmallRng) {
        match self {
            Schedule::Closed { .. } | Schedule::Recorded { .. } => {}
            Schedule::Constant { taken, .. } | Schedule::Bursts { taken, .. } => *taken += 1,
            Schedule::Poisson { gap_ns, next_ns } => *next_ns += exponential(rng) * *gap_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn constant_users_interleave_without_drift() {
        let mut rng = SmallRng::seed_from_u64(1);
        let arrival = Arrival::Constant { rate_per_s: 3000.0 };
        let mut due: Vec<u64> = Vec::new();
        for user in 0..3 {
            let mut schedule = Schedule::new(&arrival, user, 3, &mut rng);
            for _ in 0..1000 {
                due.push(schedule.peek().unwrap());
                schedule.take(&mut rng);
            }
        }
        due.sort_unstable();
        for (i, at) in due.iter().enumerate() {
            assert!(at.abs_diff((i as f64 * 1e9 / 3000.0) as u64) <= 1);
        }
    }

    #[test]
    fn what_was_due_and_not_taken_is_counted_once() {
        let mut rng = SmallRng::seed_from_u64(1);
        let mut schedule = Schedule::new(&Arrival::Constant { rate_per_s: 1000.0 }, 0, 1, &mut rng);
        schedule.take(&mut rng);
        assert_eq!((schedule.skip(10_000_000), schedule.skip(10_000_000)), (9, 0));
        assert_eq!(schedule.peek(), Some(10_000_000));
        let mut schedule = Schedule::new(&Arrival::Poisson { rate_per_s: 1000.0 }, 0, 1, &mut rng);
        assert!(schedule.skip(1_000_000_000).abs_diff(1000) <= 10);
        assert_eq!(schedule.skip(1_000_000_000), 0);
        let arrival = Arrival::Bursts { ios: 10, every_ns: 1_000_000 };
        let mut schedule = Schedule::new(&arrival, 0, 1, &mut rng);
        (0..3).for_each(|_| schedule.take(&mut rng));
        assert_eq!((schedule.skip(1_000_001), schedule.skip(1_000_001)), (17, 0), "two bursts but for three");
    }

    #[test]
    fn a_burst_is_due_at_once_over_all_users() {
        let mut rng = SmallRng::seed_from_u64(1);
        let arrival = Arrival::Bursts { ios: 5, every_ns: 1000 };
        let mut due: Vec<u64> = Vec::new();
        for user in 0..3 {
            let mut schedule = Schedule::new(&arrival, user, 3, &mut rng);
            while schedule.peek().unwrap() < 2000 {
                due.push(schedule.peek().unwrap());
                schedule.take(&mut rng);
            }
        }
        due.sort_unstable();
        assert_eq!(due, [0, 0, 0, 0, 0, 1000, 1000, 1000, 1000, 1000]);
        let idle = Schedule::new(&Arrival::Bursts { ios: 1, every_ns: 1000 }, 1, 2, &mut rng);
        assert_eq!(idle.peek(), Some(u64::MAX), "a user without a share of the burst never comes");
    }

    #[test]
    fn poisson_has_the_mean_and_spread_of_the_law() {
        let mut rng = SmallRng::seed_from_u64(2);
        let mut schedule = Schedule::new(&Arrival::Poisson { rate_per_s: 1000.0 }, 0, 1, &mut rng);
        let (mut last, mut gaps) = (0.0, Vec::new());
        for _ in 0..100_000 {
            let now = schedule.peek().unwrap() as f64;
            gaps.push(now - last);
            last = now;
            schedule.take(&mut rng);
        }
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean / 1e6 - 1.0).abs() < 0.02, "{mean}");
        assert!((variance / (mean * mean) - 1.0).abs() < 0.05);
    }
}
