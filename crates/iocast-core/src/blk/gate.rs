//! Opens a watch for a part of the time only, so that what it costs stays below a budget of requests a second.
//!
//! A device that does no more than the budget is watched all of the time. Above it a window opens in every
//! second, or more rarely, until as many requests as the budget allows were seen; then what is on its way is
//! followed to its end, so that slow requests are not cut off, and the tracepoints are off until the next one.

use std::time::Duration;

const SECOND_NS: u64 = 1_000_000_000;
/// How often to look while a window may have to be closed soon, and otherwise. At a million requests a second 25 ms
/// fill a tenth of the rings.
const SOON: Duration = Duration::from_millis(5);
const USUAL: Duration = Duration::from_millis(25);
/// What has not come back by then is given up: it keeps the completions of all others being recorded.
const PATIENCE_NS: u64 = 2_000_000_000;

/// Which tracepoints are to be on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listen {
    /// Insertions, so that what is issued a moment later is known to have queued.
    Arrivals,
    /// All.
    Everything,
    /// What follows requests that are on their way to their end.
    Departures,
    /// None, but for the rare ones that cost nothing while they do not happen.
    Nothing,
}

/// When to listen to what.
pub struct Gate {
    budget: Option<f64>, // of a period
    period_ns: u64,
    state: Listen,
    since_ns: u64,
    done_before: u64,
    reopen_ns: u64,
    watched_ns: u64,
    told_ns: u64,
    calm: bool, // a whole period stayed within the budget
}

impl Gate {
    /// Without a budget it is always open; with one it opens about once a second.
    pub fn new(budget_per_s: Option<f64>, now_ns: u64) -> Gate {
        Gate::every(SECOND_NS, budget_per_s, now_ns)
    }

    /// The same with another time between windows.
    pub fn every(period_ns: u64, budget_per_s: Option<f64>, now_ns: u64) -> Gate {
        let share = period_ns as f64 / SECOND_NS as f64;
        Gate {
            budget: budget_per_s.map(|of_second| of_second * share),
            period_ns,
            state: Listen::Arrivals,
            since_ns: now_ns,
            done_before: 0,
            reopen_ns: 0,
            watched_ns: 0,
            told_ns: now_ns,
            calm: false,
        }
    }

    /// What it listens to now: switching a tracepoint takes the kernel about 0.2 ms, so windows are few and long.
    pub fn state(&self) -> Listen {
        self.state
    }

    /// Since when: while everything is listened to, from the beginning of the period.
    pub fn since_ns(&self) -> u64 {
        self.since_ns
    }

    /// What to listen to from now on. `done`: requests seen since the beginning; `on_their_way`: not done yet.
    pub fn next(&mut self, now_ns: u64, done: u64, on_their_way: u64) -> Listen {
        let passed_ns = now_ns - self.since_ns;
        match self.state {
            Listen::Arrivals => {
                self.done_before = done;
                self.enter(Listen::Everything, now_ns);
            }
            Listen::Everything => self.judge(now_ns, passed_ns, done),
            Listen::Departures if on_their_way == 0 || passed_ns > PATIENCE_NS => {
                self.enter(Listen::Nothing, now_ns);
            }
            Listen::Nothing if now_ns >= self.reopen_ns => self.enter(Listen::Arrivals, now_ns),
            Listen::Departures | Listen::Nothing => {}
        }
        self.state
    }

    fn judge(&mut self, now_ns: u64, passed_ns: u64, done: u64) {
        let Some(allowed) = self.budget else { return };
        let used = (done - self.done_before) as f64 / allowed;
        if used >= 1.0 {
            self.calm = false;
            self.reopen_ns = self.since_ns + (used * self.period_ns as f64) as u64;
            self.enter(Listen::Departures, now_ns);
        } else if passed_ns >= self.period_ns {
            self.calm = true;
            self.done_before = done;
            self.enter(Listen::Everything, now_ns);
        }
    }

    /// How long to wait until the next look.
    pub fn pause(&self, now_ns: u64) -> Duration {
        match self.state {
            Listen::Nothing => Duration::from_nanos(self.reopen_ns.saturating_sub(now_ns)).max(SOON),
            Listen::Everything if self.calm || self.budget.is_none() => USUAL,
            _ => SOON,
        }
    }

    fn enter(&mut self, state: Listen, now_ns: u64) {
        self.count(now_ns);
        (self.state, self.since_ns) = (state, now_ns);
    }

    fn count(&mut self, now_ns: u64) {
        if self.state == Listen::Everything {
            self.watched_ns += now_ns - self.since_ns.max(self.told_ns);
        }
        self.told_ns = now_ns;
    }

    /// For how long everything was listened to, since this was asked last.
    pub fn take_watched_ns(&mut self, now_ns: u64) -> u64 {
        self.count(now_ns);
        std::mem::take(&mut self.watched_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Runs a gate on a device of that rate, answering in `latency_ns`; (requests seen, ns watched) in 10 s.
    fn ten_seconds(budget: Option<f64>, rate_per_s: u64, latency_ns: u64) -> (u64, u64) {
        let (mut gate, mut done, mut watched) = (Gate::new(budget, 0), 0, 0);
        let mut closed = 0;
        for step in 1..=1000 {
            let now = step * 10 * MS;
            if gate.state() == Listen::Everything {
                done += rate_per_s / 100;
                closed = now;
            }
            let left = u64::from(gate.state() == Listen::Departures && now < closed + latency_ns);
            gate.next(now, done, left);
            if step % 7 == 0 {
                watched += gate.take_watched_ns(now);
            }
        }
        (done, watched + gate.take_watched_ns(10_000 * MS))
    }

    #[test]
    fn without_a_budget_it_never_closes() {
        let (done, watched) = ten_seconds(None, 1_000_000, MS);
        assert_eq!((done, watched), (9_990_000, 9_990 * MS));
    }

    #[test]
    fn below_the_budget_it_never_closes() {
        assert_eq!(ten_seconds(Some(10_000.0), 9_000, MS).1, 9_990 * MS);
    }

    #[test]
    fn above_it_no_more_is_seen_than_the_budget() {
        for rate in [20_000, 100_000, 1_000_000, 5_000_000] {
            let (done, watched) = ten_seconds(Some(10_000.0), rate, MS);
            assert!((50_000..=200_000).contains(&done), "{rate}: {done}");
            assert_eq!(watched, done * 1_000 * MS / rate, "{rate}");
        }
    }

    #[test]
    fn it_waits_for_what_is_on_its_way_but_not_for_ever() {
        let mut gate = Gate::new(Some(100.0), 0);
        assert_eq!(gate.next(0, 0, 0), Listen::Everything);
        assert_eq!(gate.next(30 * MS, 1000, 5), Listen::Departures);
        assert_eq!(gate.next(1000 * MS, 1000, 5), Listen::Departures);
        assert_eq!(gate.next(3000 * MS, 1000, 5), Listen::Nothing);
        assert_eq!(gate.next(9000 * MS, 1000, 0), Listen::Nothing);
        assert_eq!(gate.next(10_000 * MS, 1000, 0), Listen::Arrivals);
    }
}
