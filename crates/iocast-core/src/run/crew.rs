//! The threads of the phases that run at once: hired, started together, watched, woken, dismissed.

use std::num::NonZeroU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::thread::set_current_timer_slack;

use super::attendance::Attendance;
use super::control::{Answer, Control, Tick};
use super::handoff::Handoff;
use super::merge::Outcome;
use super::part::Part;
use super::worker::{Work, Worker};
use crate::engine::{Clock, Engine};
use crate::error::{Error, Result};
use crate::plan::{Arrival, PhasePlan};
use crate::record::generator::Absence;
use crate::record::interval_log::IntervalLog;
use crate::record::result::EngineReport;
use crate::record::spool::Spool;
use crate::run::signals;

const TICK: Duration = Duration::from_millis(100);
/// How long in-flight I/Os are waited for after someone asked to stop.
const DRAIN_INTERRUPTED: Duration = Duration::from_millis(1000);
/// How long they are waited for at the normal end of a phase.
const DRAIN_FINISHED: Duration = Duration::from_secs(30);
/// How long a worker that was told to leave its I/Os behind may take to say so.
const GIVE_UP: Duration = Duration::from_millis(300);

/// Workers wait here until all are set up, and again until all have ended.
#[derive(Default)]
struct Gates {
    /// Opened with the common clock, or with `None` to go home.
    start: Gate<Option<Clock>>,
    end: Gate<()>,
}

struct Gate<T> {
    opened: Mutex<Option<T>>,
    changed: Condvar,
}

impl<T> Default for Gate<T> {
    fn default() -> Self {
        Gate { opened: Mutex::new(None), changed: Condvar::new() }
    }
}

impl<T: Copy> Gate<T> {
    fn open(&self, with: T) {
        *self.opened.lock().expect("the gate") = Some(with);
        self.changed.notify_all();
    }

    fn wait(&self) -> T {
        let mut opened = self.opened.lock().expect("the gate");
        loop {
            match *opened {
                Some(with) => return with,
                None => opened = self.changed.wait(opened).expect("the gate"),
            }
        }
    }
}

enum Message {
    /// Set up and waiting; the first worker of each phase says what its engine is.
    Ready(Vec<(usize, EngineReport)>),
    Done(usize, Result<Vec<Outcome>>),
}

struct Hand {
    /// Kept, not joined: a thread's id stays valid as long as its handle, even when the thread is gone.
    thread: JoinHandle<()>,
    /// Of its first part.
    phase: usize,
    done: bool,
    /// What it counted, while it waits in the kernel.
    handoff: Arc<Handoff<Work>>,
}

/// See the module.
pub(crate) struct Crew {
    pub(crate) plans: Vec<Arc<PhasePlan>>,
    pub(crate) control: Arc<Control>,
    gates: Arc<Gates>,
    sender: Sender<Message>,
    receiver: Receiver<Message>,
    hands: Vec<Hand>,
    /// The series of each phase.
    pub(crate) logs: Vec<IntervalLog>,
    virtual_time: bool,
    spin: bool,
}

/// What came of the watch.
pub(crate) struct Watched {
    pub(crate) outcomes: Vec<Outcome>,
    /// Someone stopped it.
    pub(crate) interrupted: bool,
    /// Workers of each phase that never came back.
    pub(crate) missing: Vec<usize>,
    /// When the process did not run.
    pub(crate) absences: Vec<Absence>,
}

/// What happened when, for who watches.
#[derive(Default)]
struct Times {
    /// Someone asked to stop.
    stop_at: Option<Instant>,
    /// All phases that others may follow had stopped issuing.
    followed_at: Option<Instant>,
    /// Workers still there then are left to themselves.
    leave_at: Option<Instant>,
    /// How many I/Os had ended when that number last changed, and when that was.
    ended: Option<u64>,
    moved_at: Option<Instant>,
}

/// For how long a phase may well have nothing in flight: the pause of its users, or the distance of arrivals when
/// only one user is left; as Poisson has it, longer than thirty times the mean once in 10^13 times.
fn longest_idle(plan: &PhasePlan) -> Duration {
    let arrivals = |rate_per_s: f64, times: f64| {
        let idle_s = times * f64::from(plan.users) / rate_per_s;
        Duration::try_from_secs_f64(idle_s).unwrap_or(Duration::MAX)
    };
    if !plan.steps.is_empty() {
        return Duration::from_nanos(plan.longest_pause_ns());
    }
    match plan.arrival {
        Arrival::Closed { think_ns } => Duration::from_nanos(think_ns),
        Arrival::Bursts { every_ns, .. } => Duration::from_nanos(every_ns),
        Arrival::Recorded { longest_gap_ns, .. } => Duration::from_nanos(longest_gap_ns),
        Arrival::Constant { rate_per_s } => arrivals(rate_per_s, 2.0),
        Arrival::Poisson { rate_per_s } | Arrival::Stepped { rate_per_s } => arrivals(rate_per_s, 30.0),
    }
}

impl Crew {
    /// Nobody yet. `spin` is false where spinning would take the processors from others.
    pub(crate) fn new(plans: Vec<Arc<PhasePlan>>, virtual_time: bool, spin: bool) -> Crew {
        let (sender, receiver) = channel();
        let control = Arc::new(Control::new(plans.len()));
        let spool = |plan: &Arc<PhasePlan>| Spool::new(plan.spool.clone(), plan.interval_ns);
        let logs = plans.iter().map(|plan| IntervalLog::new(spool(plan))).collect();
        Crew {
            plans,
            control,
            gates: Arc::default(),
            sender,
            receiver,
            hands: Vec::new(),
            logs,
            virtual_time,
            spin,
        }
    }

    /// Starts one worker. Its engine is built on its own thread, because a ring has a single issuer.
    pub(crate) fn start<E: Engine>(
        &mut self,
        parts: Vec<Part>,
        build: impl FnOnce() -> Result<E> + Send + 'static,
    ) -> Result<()> {
        let (control, gates) = (Arc::clone(&self.control), Arc::clone(&self.gates));
        let (sender, spin, index) = (self.sender.clone(), self.spin, self.hands.len());
        let phase = parts.first().map_or(0, Part::phase);
        let speaks = self.hands.iter().all(|hand| hand.phase != phase);
        let leading = parts.iter().filter(|part| !self.plans[part.phase()].length.follows).count();
        self.control.leading.fetch_add(leading, Relaxed);
        parts.iter().for_each(|part| self.logs[part.phase()].add(part.outlet()));
        let handoff = Arc::<Handoff<Work>>::default();
        let left = Arc::clone(&handoff);
        let body = move || {
            signals::only_waker();
            match build().map(|engine| Worker::new(control, engine, parts, index as u32, spin, left)) {
                Ok(mut worker) => {
                    let reports = if speaks { worker.reports() } else { Vec::new() };
                    let _ = sender.send(Message::Ready(reports));
                    let Some(clock) = gates.start.wait() else { return };
                    // Timers of this thread as exact as the kernel can; by default they may be 50 µs late.
                    let _ = set_current_timer_slack(NonZeroU64::new(1));
                    worker.engine_mut().start(clock);
                    let (outcomes, engine) = worker.run();
                    // `None`: whoever has the counts has long gone on without it.
                    if let Some(outcomes) = outcomes {
                        let _ = sender.send(Message::Done(index, outcomes));
                    }
                    gates.end.wait();
                    drop(engine);
                }
                Err(why) => {
                    let _ = sender.send(Message::Done(index, Err(why)));
                }
            }
        };
        let builder = std::thread::Builder::new().name(format!("iocast-{index}")).stack_size(512 << 10);
        let thread = builder.spawn(body).map_err(Error::Thread)?;
        self.hands.push(Hand { thread, phase, done: false, handoff });
        Ok(())
    }

    /// What the engines of the phases say of themselves, once all workers are set up.
    pub(crate) fn wait_until_ready(&self) -> Result<Vec<EngineReport>> {
        let mut reports = vec![EngineReport::default(); self.plans.len()];
        let mut ready = 0;
        while ready < self.hands.len() {
            match self.receiver.recv().expect("the crew holds a sender too") {
                Message::Ready(said) => {
                    ready += 1;
                    said.into_iter().for_each(|(phase, report)| reports[phase] = report);
                }
                Message::Done(_, Err(why)) => return Err(why),
                Message::Done(_, Ok(_)) => {}
            }
        }
        Ok(reports)
    }

    /// Everybody starts, on this clock.
    pub(crate) fn begin(&self, clock: Clock) {
        self.gates.start.open(Some(clock));
    }

    /// Nobody starts.
    pub(crate) fn send_home(&self) {
        self.gates.start.open(None);
    }

    /// Lets the workers take their engines down, and waits for it, so that the next phase is not
    /// disturbed. Workers that hang are left to themselves.
    pub(crate) fn dismiss(&mut self) {
        self.gates.end.open(());
        let patience = Instant::now() + GIVE_UP;
        for hand in self.hands.drain(..) {
            while !hand.thread.is_finished() && Instant::now() < patience {
                std::thread::sleep(Duration::from_millis(1));
            }
            if hand.thread.is_finished() {
                let _ = hand.thread.join();
            }
        }
    }

    /// Waits for all workers; ticks; wakes those that block when it is time to go.
    pub(crate) fn watch(
        &mut self,
        (begun, clock): (Instant, Clock),
        begin: bool,
        on_tick: &mut impl FnMut(Tick) -> Answer,
    ) -> Result<Watched> {
        let (mut outcomes, mut failure) = (Vec::new(), None);
        let mut times = Times { stop_at: (!begin).then(Instant::now), ..Times::default() };
        let mut next_tick = begun + TICK;
        self.control.stop.store(!begin, Relaxed);
        let mut attendance = Attendance::begin(self.virtual_time);
        while self.hands.iter().any(|hand| !hand.done) {
            let now = Instant::now();
            let message = self.receiver.recv_timeout(next_tick.saturating_duration_since(now));
            // Late is late, whatever it is that was waited for: workers may be quicker to be done than this thread to wake.
            let since = |at: Instant| (at - begun).as_nanos() as u64;
            attendance.woken(since(next_tick.max(now)), since(Instant::now()));
            match message {
                Ok(Message::Done(index, outcome)) => {
                    self.hands[index].done = true;
                    match outcome {
                        Ok(more) => outcomes.extend(more),
                        Err(why) => {
                            self.control.stop.store(true, Relaxed);
                            failure = Some(why);
                        }
                    }
                    self.wake(begun);
                    continue;
                }
                Ok(Message::Ready(_)) => continue,
                Err(RecvTimeoutError::Timeout) => {
                    next_tick = Instant::now() + TICK;
                    if self.hands.iter().any(|hand| !hand.done && hand.thread.is_finished()) {
                        // It panicked: whoever is done waits at the gate.
                        failure = Some(Error::Panicked);
                        self.control.stop.store(true, Relaxed);
                        break;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.logs.iter_mut().for_each(IntervalLog::collect);
            let tick = Tick { elapsed_ns: begun.elapsed().as_nanos() as u64, counts: self.control.counts() };
            if times.stop_at.is_none() {
                self.heed(on_tick(tick), begun.elapsed(), &mut times);
            }
            if self.given_up(begun, &mut times) {
                break;
            }
        }
        outcomes.extend(self.take_over(clock));
        let (interrupted, missing) = (times.stop_at.is_some(), self.missing());
        match failure {
            Some(why) => Err(why),
            None => Ok(Watched { outcomes, interrupted, missing, absences: attendance.noticed() }),
        }
    }

    /// Does what whoever watches wants.
    fn heed(&self, answer: Answer, elapsed: Duration, times: &mut Times) {
        match answer {
            Answer::GoOn => {}
            Answer::Stop => {
                times.stop_at = Some(Instant::now());
                self.control.stop.store(true, Relaxed);
            }
            // Virtual time has no moment that this one is.
            Answer::Enough if self.virtual_time => {}
            Answer::Enough if self.control.ended_early_ns().is_some() => {}
            Answer::Enough => self.control.end_ns.store(elapsed.as_nanos() as u64, Relaxed),
        }
    }

    /// Wakes whose time has come; tells those that do not come back in time to leave their I/Os behind. True
    /// when even that was waited for long enough.
    fn given_up(&self, begun: Instant, times: &mut Times) -> bool {
        if self.control.leading.load(Relaxed) == 0 {
            times.followed_at = times.followed_at.or(Some(Instant::now()));
        }
        let finished_at = times.followed_at.or_else(|| self.planned().map(|length| begun + length));
        let finished_at = finished_at.or_else(|| self.last_moved(times));
        let drained_at =
            times.stop_at.map(|at| at + DRAIN_INTERRUPTED).or(finished_at.map(|at| at + DRAIN_FINISHED));
        if drained_at.is_some_and(|at| Instant::now() > at) && times.leave_at.is_none() {
            self.control.stop.store(true, Relaxed);
            self.control.abandon.store(true, Relaxed);
            times.leave_at = Some(Instant::now() + GIVE_UP);
        }
        self.wake(begun);
        times.leave_at.is_some_and(|at| Instant::now() > at)
    }

    /// Until when an I/O must have ended after the last one that did: phases that end by their I/Os or bytes
    /// have no other end when the storage does not answer any more. Those that follow end with the others.
    fn last_moved(&self, times: &mut Times) -> Option<Instant> {
        let counts = self.control.counts();
        let ended = counts.ios + counts.errors;
        if times.ended != Some(ended) {
            (times.ended, times.moved_at) = (Some(ended), Some(Instant::now()));
        }
        let leaders = self.plans.iter().filter(|plan| !plan.length.follows);
        let idle = leaders.map(|plan| longest_idle(plan)).max().unwrap_or_default();
        times.moved_at.filter(|_| !self.virtual_time).and_then(|at| at.checked_add(idle))
    }

    /// When the last phase that does not follow is to end; `None` where that is not a matter of real time.
    fn planned(&self) -> Option<Duration> {
        if let Some(end_ns) = self.control.ended_early_ns() {
            return Some(Duration::from_nanos(end_ns));
        }
        let real = |plan: &PhasePlan| plan.length.seconds.filter(|_| !self.virtual_time);
        let leaders = self.plans.iter().filter(|plan| !plan.length.follows);
        let seconds: Option<Vec<f64>> = leaders.map(|plan| real(plan)).collect();
        seconds.map(|all| Duration::from_secs_f64(all.into_iter().fold(0.0, f64::max)))
    }

    /// What those counted that the kernel holds: it lies in their handoffs. Virtual time is not the clock's, and there
    /// nothing holds anybody.
    fn take_over(&mut self, clock: Clock) -> Vec<Outcome> {
        let held = self.hands.iter_mut().filter(|hand| !hand.done && !self.virtual_time);
        let work = held.filter_map(|hand| {
            let work = hand.handoff.take()?;
            hand.done = true;
            Some(work.taken_over(&self.control, clock.now()))
        });
        work.flatten().collect()
    }

    fn missing(&self) -> Vec<usize> {
        let of = |phase: usize| self.hands.iter().filter(|hand| !hand.done && hand.phase == phase).count();
        (0..self.plans.len()).map(of).collect()
    }

    /// Ends the system calls in which workers block whose time has come, so that they look at the clock and
    /// at `Control`. Others are left alone: it would disturb what they measure.
    fn wake(&self, begun: Instant) {
        let stop = self.control.stop.load(Relaxed);
        let alone = self.control.leading.load(Relaxed) == 0;
        for hand in self.hands.iter().filter(|hand| !hand.done) {
            let length = &self.plans[hand.phase].length;
            let over = length.seconds.is_some_and(|s| begun.elapsed() > Duration::from_secs_f64(s))
                || self.control.ended_early_ns().is_some();
            if stop || over || (length.follows && alone) {
                signals::wake(&hand.thread);
            }
        }
    }
}

#[cfg(test)]
#[path = "crew_tests.rs"]
mod tests;
