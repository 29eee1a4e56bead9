//! One phase from plan to result: threads, a common start, progress, the end, and merging.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::absence::{Absence, Attendance, Generator};
use crate::control::{Answer, Control, Counts};
use crate::engine::sim::SimEngine;
use crate::engine::sync::SyncEngine;
use crate::engine::uring::UringEngine;
use crate::engine::{Clock, Engine, open_files};
use crate::error::{Error, Result};
use crate::merge::merge;
use crate::plan::{Arrival, EngineName, PhasePlan};
use crate::result::{EngineReport, PhaseResult};
use crate::signals;
use crate::stream::Stream;
use crate::trim;
use crate::worker::{Lane, Outcome, SPIN_NS, Worker};

const TICK: Duration = Duration::from_millis(100);
/// How long in-flight I/Os are waited for after someone asked to stop.
const DRAIN_INTERRUPTED: Duration = Duration::from_millis(1000);
/// How long they are waited for at the normal end of a phase.
const DRAIN_FINISHED: Duration = Duration::from_secs(30);
/// How long a worker that was told to leave its I/Os behind may take to say so.
const GIVE_UP: Duration = Duration::from_millis(300);

/// Progress, at most ten times a second.
#[derive(Clone, Copy, Debug)]
pub struct Tick {
    /// Real time since the start.
    pub elapsed_ns: u64,
    /// What was done so far.
    pub counts: Counts,
}

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
    /// Set up and waiting; the first worker says what its engine is.
    Ready(Option<EngineReport>),
    Done(usize, Result<Box<Outcome>>),
}

struct Crew {
    plan: Arc<PhasePlan>,
    control: Arc<Control>,
    gates: Arc<Gates>,
    sender: Sender<Message>,
    receiver: Receiver<Message>,
    /// Kept, not joined: a thread's id stays valid as long as its handle, even when the thread is gone.
    threads: Vec<JoinHandle<()>>,
    spin: bool,
}

/// Runs a phase. `on_tick` is called at the start and then about ten times a second, from this thread; its
/// answer (or false, for `Stop`) may end the phase.
pub fn run_phase<A: Into<Answer>>(
    plan: &PhasePlan,
    mut on_tick: impl FnMut(Tick) -> A,
) -> Result<PhaseResult> {
    plan.check()?;
    signals::install_waker();
    let (engine, notes) = choose_engine(plan);
    let (sender, receiver) = channel();
    let threads = match engine {
        EngineName::Sim => 1,
        EngineName::Uring => plan.users as usize,
        EngineName::Sync => (plan.users * plan.depth) as usize,
    };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut crew = Crew {
        plan: Arc::new(plan.clone()),
        control: Arc::default(),
        gates: Arc::default(),
        sender,
        receiver,
        threads: Vec::new(),
        spin: may_spin(plan, threads, processors),
    };
    let report = match hire(&mut crew, engine, &notes).and_then(|()| crew.wait_until_ready()) {
        Ok(report) => report,
        Err(why) => {
            crew.gates.start.open(None);
            return Err(why);
        }
    };
    let cpu_before = cpu_ns();
    let started_unix_ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
    let (begun, clock) = (Instant::now(), Clock::start());
    crew.gates.start.open(Some(clock));
    let mut on_tick = |tick| on_tick(tick).into();
    let begin = on_tick(Tick { elapsed_ns: 0, counts: Counts::default() }) != Answer::Stop;
    let watched = crew.watch(begun, begin, &mut on_tick);
    let cpu_after = cpu_ns();
    crew.dismiss();
    let (outcomes, interrupted, missing, absences) = watched?;
    let mut result = merge(plan, outcomes, missing, interrupted, &crew.control, clock);
    result.generator.add(Generator { absences, ..Generator::default() });
    result.engine = report;
    result.started_unix_ns = started_unix_ns;
    result.cpu_user_ns = cpu_after.0 - cpu_before.0;
    result.cpu_system_ns = cpu_after.1 - cpu_before.1;
    Ok(result)
}

/// Whether workers may spin through the last moments before an I/O is due: not where that would take
/// more than a quarter of the processors away from the kernel and from each other.
fn may_spin(plan: &PhasePlan, threads: usize, processors: usize) -> bool {
    let waits_per_s = match plan.arrival {
        Arrival::Closed { think_ns: 0 } => 0.0,
        Arrival::Closed { think_ns } => f64::from(plan.users * plan.depth) * 1e9 / think_ns as f64,
        Arrival::Constant { rate_per_s } | Arrival::Poisson { rate_per_s } => rate_per_s,
    };
    threads < processors || waits_per_s * SPIN_NS as f64 / 1e9 <= 0.25 * processors as f64
}

/// io_uring unless it is forbidden here.
fn choose_engine(plan: &PhasePlan) -> (EngineName, Vec<String>) {
    if plan.engine != EngineName::Uring {
        return (plan.engine, Vec::new());
    }
    match io_uring::IoUring::new(4) {
        Ok(_) => match trim::ring_refuses(plan) {
            Some(why) => {
                (EngineName::Sync, vec![format!("{why}: sync engine instead, one thread an outstanding I/O")])
            }
            None => (EngineName::Uring, Vec::new()),
        },
        Err(why) => (
            EngineName::Sync,
            vec![format!(
                "io_uring is not to be had here ({why}): sync engine instead, one thread an outstanding I/O"
            )],
        ),
    }
}

fn hire(crew: &mut Crew, engine: EngineName, notes: &[String]) -> Result<()> {
    let plan = Arc::clone(&crew.plan);
    let stream = |user: u32| Arc::new(Mutex::new(Stream::new(&plan, user)));
    match engine {
        EngineName::Sim => {
            let lane = |user: u32| {
                Lane::new(user as usize, stream(user), user * plan.depth..(user + 1) * plan.depth)
            };
            let device =
                plan.simulated.clone().ok_or_else(|| Error::Plan("the sim engine needs a device".into()))?;
            crew.start((0..plan.users).map(lane).collect(), move |plan| Ok(SimEngine::new(plan, &device)))
        }
        EngineName::Uring => (0..plan.users).try_for_each(|user| {
            let files = open_files(&plan)?;
            let lane = Lane::new(user as usize, stream(user), 0..plan.depth);
            crew.start(vec![lane], move |plan| UringEngine::new(plan, files))
        }),
        EngineName::Sync => (0..plan.users).try_for_each(|user| {
            let stream = stream(user);
            (0..plan.depth).try_for_each(|_| {
                let files = open_files(&plan)?;
                let lane = Lane::new(user as usize, Arc::clone(&stream), 0..1);
                let notes = notes.to_vec();
                crew.start(vec![lane], move |plan| SyncEngine::new(plan, files, notes))
            })
        }),
    }
}

impl Crew {
    /// Starts one worker. Its engine is built on its own thread, because a ring has a single issuer.
    fn start<E: Engine>(
        &mut self,
        lanes: Vec<Lane>,
        build: impl FnOnce(&PhasePlan) -> Result<E> + Send + 'static,
    ) -> Result<()> {
        let (plan, control, gates) =
            (Arc::clone(&self.plan), Arc::clone(&self.control), Arc::clone(&self.gates));
        let (sender, spin, index) = (self.sender.clone(), self.spin, self.threads.len());
        let body = move || {
            signals::only_waker();
            let built =
                build(&plan).map(|engine| Worker::new(plan, control, engine, lanes, index as u32, spin));
            match built {
                Ok(mut worker) => {
                    let _ = sender.send(Message::Ready((index == 0).then(|| worker.report())));
                    let Some(clock) = gates.start.wait() else { return };
                    // Timers of this thread as exact as the kernel can; by default they may be 50 µs late.
                    // SAFETY: a plain number for this thread alone.
                    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
                    worker.engine_mut().start(clock);
                    let (outcome, engine) = worker.run();
                    let _ = sender.send(Message::Done(index, outcome.map(Box::new)));
                    gates.end.wait();
                    drop(engine);
                }
                Err(why) => {
                    let _ = sender.send(Message::Done(index, Err(why)));
                }
            }
        };
        let builder = std::thread::Builder::new().name(format!("iocast-{index}")).stack_size(512 << 10);
        self.threads.push(builder.spawn(body).map_err(Error::Thread)?);
        Ok(())
    }

    /// Lets the workers take their engines down, and waits for it, so that the next phase is not
    /// disturbed. Workers that hang are left to themselves.
    fn dismiss(&mut self) {
        self.gates.end.open(());
        let patience = Instant::now() + GIVE_UP;
        for thread in self.threads.drain(..) {
            while !thread.is_finished() && Instant::now() < patience {
                std::thread::sleep(Duration::from_millis(1));
            }
            if thread.is_finished() {
                let _ = thread.join();
            }
        }
    }

    fn wait_until_ready(&self) -> Result<EngineReport> {
        let (mut ready, mut report) = (0, EngineReport::default());
        while ready < self.threads.len() {
            match self.receiver.recv().expect("the crew holds a sender too") {
                Message::Ready(said) => {
                    ready += 1;
                    report = said.unwrap_or(report);
                }
                Message::Done(_, Err(why)) => return Err(why),
                Message::Done(_, Ok(_)) => {}
            }
        }
        Ok(report)
    }

    /// Waits for all workers; ticks; wakes those that block when it is time to go. Returns the outcomes,
    /// whether someone stopped it, how many workers never came back, and when the process did not run.
    fn watch(
        &self,
        begun: Instant,
        begin: bool,
        on_tick: &mut impl FnMut(Tick) -> Answer,
    ) -> Result<(Vec<Outcome>, bool, usize, Vec<Absence>)> {
        let control = &self.control;
        let mut planned = self
            .plan
            .length
            .seconds
            .filter(|_| self.plan.engine != EngineName::Sim)
            .map(Duration::from_secs_f64);
        let (mut outcomes, mut done, mut failure) = (Vec::new(), vec![false; self.threads.len()], None);
        let (mut stop_at, mut next_tick) = ((!begin).then(Instant::now), begun + TICK);
        if !begin {
            control.stop.store(true, Relaxed);
        }
        let mut leave_at: Option<Instant> = None;
        let mut attendance = Attendance::begin(self.plan.engine == EngineName::Sim);
        while done.contains(&false) {
            let now = Instant::now();
            match self.receiver.recv_timeout(next_tick.saturating_duration_since(now)) {
                Ok(Message::Done(index, outcome)) => {
                    done[index] = true;
                    match outcome {
                        Ok(outcome) => outcomes.push(*outcome),
                        Err(why) => {
                            control.stop.store(true, Relaxed);
                            failure = Some(why);
                        }
                    }
                    continue;
                }
                Ok(Message::Ready(_)) => continue,
                Err(RecvTimeoutError::Timeout) => {
                    let since = |at: Instant| (at - begun).as_nanos() as u64;
                    attendance.woken(since(next_tick.max(now)), since(Instant::now()));
                    next_tick = Instant::now() + TICK;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let tick = Tick { elapsed_ns: begun.elapsed().as_nanos() as u64, counts: control.counts() };
            if stop_at.is_none() {
                self.heed(on_tick(tick), begun.elapsed(), &mut planned, &mut stop_at);
            }
            let drain_from = stop_at
                .map(|at| at + DRAIN_INTERRUPTED)
                .or(planned.map(|length| begun + length + DRAIN_FINISHED));
            if control.stop.load(Relaxed) || planned.is_some_and(|length| begun.elapsed() > length) {
                wake(&self.threads, &done);
            }
            if drain_from.is_some_and(|at| Instant::now() > at) && leave_at.is_none() {
                control.stop.store(true, Relaxed);
                control.abandon.store(true, Relaxed);
                wake(&self.threads, &done);
                leave_at = Some(Instant::now() + GIVE_UP);
            }
            if leave_at.is_some_and(|at| Instant::now() > at) {
                break;
            }
        }
        match failure {
            Some(why) => Err(why),
            None => {
                let missing = done.iter().filter(|d| !**d).count();
                Ok((outcomes, stop_at.is_some(), missing, attendance.noticed()))
            }
        }
    }

    /// Does what whoever watches wants.
    fn heed(
        &self,
        answer: Answer,
        elapsed: Duration,
        planned: &mut Option<Duration>,
        stop_at: &mut Option<Instant>,
    ) {
        match answer {
            Answer::GoOn => {}
            Answer::Stop => {
                *stop_at = Some(Instant::now());
                self.control.stop.store(true, Relaxed);
            }
            // Virtual time has no moment that this one is.
            Answer::Enough if self.plan.engine == EngineName::Sim => {}
            Answer::Enough if self.control.ended_early_ns().is_some() => {}
            Answer::Enough => {
                *planned = Some(planned.map_or(elapsed, |planned| planned.min(elapsed)));
                self.control.end_ns.store(elapsed.as_nanos() as u64, Relaxed);
            }
        }
    }
}

/// Ends the system call that a worker is blocked in, so that it looks at the clock and at `Control`.
fn wake(threads: &[JoinHandle<()>], done: &[bool]) {
    for (thread, _) in threads.iter().zip(done).filter(|(_, done)| !**done) {
        signals::wake(thread);
    }
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
