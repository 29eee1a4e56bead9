//! The loop: due → offset → submit → reap → record, for one engine.
//!
//! Time is read once at each edge of a system call, not once an I/O: I/Os of one batch enter the kernel
//! together and are noticed together, so their stamps would say nothing more (decision 0007).
//!
//! A worker has one part for each phase that uses its engine. Only the simulated device, on which all users
//! of all phases that run at once contend, has more than one.
//!
//! While it is in the engine its work lies on its [`Handoff`]: a kernel that holds the thread for ever (a system call
//! to storage that does not answer) takes no count with it.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::attendance::Attendance;
use super::control::Control;
use super::handoff::Handoff;
use super::merge::Outcome;
use super::part::Part;
use crate::engine::{Completion, Engine};
use crate::error::Result;
use crate::record::generator::Generator;
use crate::record::result::EngineReport;

/// Below this distance to the next due time the worker spins: timers are no more exact than that.
pub const SPIN_NS: u64 = 60_000;

/// The parts of a worker, and where they stand.
pub struct Work {
    parts: Vec<Part>,
    /// All parts together.
    in_flight: u32,
    /// When the engine was last entered.
    submitted: u64,
}

impl Work {
    /// What was counted, when the thread that did it is held by the kernel and `now` is as late as anybody waits.
    pub(crate) fn taken_over(mut self, control: &Control, now: u64) -> Vec<Outcome> {
        for part in &mut self.parts {
            part.left_in_the_kernel(control, self.submitted, now);
        }
        let thread = Generator { threads: 1, ..Generator::default() };
        self.parts.into_iter().map(|part| part.outcome(control, now, thread.clone())).collect()
    }
}

/// See the module.
pub struct Worker<E: Engine> {
    control: Arc<Control>,
    engine: E,
    /// Until it runs.
    parts: Vec<Part>,
    handoff: Arc<Handoff<Work>>,
    spin_ns: u64,
    /// Up to such a pause it spins all the same: sessions of steps compute between two I/Os, they do not sleep.
    short_ns: u64,
    attendance: Attendance,
}

impl<E: Engine> Worker<E> {
    /// A worker with its engine, whose work lies in `handoff` while it waits; the slots of `parts` follow each other
    /// from 0. `index` makes its payload differ from that of all others. `spin` is false where it would take the
    /// processors from others.
    pub fn new(
        control: Arc<Control>,
        mut engine: E,
        mut parts: Vec<Part>,
        index: u32,
        spin: bool,
        handoff: Arc<Handoff<Work>>,
    ) -> Worker<E> {
        for part in &mut parts {
            part.prepare(&mut engine, index);
        }
        let spin_ns = if engine.virtual_time() || !spin { 0 } else { SPIN_NS };
        let steps = !engine.virtual_time() && parts.iter().any(Part::has_steps);
        let short_ns = if steps { SPIN_NS } else { 0 };
        let attendance = Attendance::default();
        Worker { control, engine, parts, handoff, spin_ns, short_ns, attendance }
    }

    /// What the engine says of itself to each phase. It looks through the memory map, so ask before the
    /// start, and once.
    pub fn reports(&self) -> Vec<(usize, EngineReport)> {
        let report = self.engine.report();
        let for_part = |part: &Part| {
            let mut report = report.clone();
            report.flags.extend(part.flag());
            (part.phase(), report)
        };
        self.parts.iter().map(for_part).collect()
    }

    /// The engine, to hand it the common clock before the start.
    pub fn engine_mut(&mut self) -> &mut E {
        &mut self.engine
    }

    /// Runs all parts to their ends and hands over what was counted (`None` when somebody else took it
    /// meanwhile), and the engine: to take a ring down costs milliseconds, which must not fall into the last I/Os
    /// of other workers.
    pub fn run(mut self) -> (Option<Result<Vec<Outcome>>>, E) {
        self.attendance = Attendance::begin(self.engine.virtual_time());
        let ended = self.work();
        let (generator, control) = (self.attendance.end(), self.control);
        let outcomes = |(work, left): (Box<Work>, u64)| {
            work.parts.into_iter().map(|part| part.outcome(&control, left, generator.clone())).collect()
        };
        (ended.map(|whole| whole.map(outcomes)).transpose(), self.engine)
    }

    /// The loop. Returns the work and the time when all ended; `None` when somebody else took the work.
    fn work(&mut self) -> Result<Option<(Box<Work>, u64)>> {
        let mut completions: Vec<Completion> = Vec::new();
        let mut now = self.engine.now();
        let parts = std::mem::take(&mut self.parts);
        let mut work = Box::new(Work { parts, in_flight: 0, submitted: now });
        loop {
            let (issuing, wake) = self.issue(&mut work, now);
            if !issuing && (work.in_flight == 0 || self.control.abandon.load(Relaxed)) {
                break;
            }
            let from = now;
            let (pushed, wake) = self.enter(&mut work, from, wake);
            let (submitted, wait) = (work.submitted, u32::from(work.in_flight > 0));
            self.handoff.leave(work);
            match wake {
                Some(at) if at <= submitted => self.engine.submit(0, None)?,
                until => self.engine.submit(wait, until)?,
            }
            work = match self.handoff.take() {
                Some(mine) => mine,
                None => {
                    self.engine.abandon();
                    return Ok(None);
                }
            };
            self.engine.reap(&mut completions);
            now = self.engine.now();
            self.attendance.turn(from, submitted, wake.filter(|_| !pushed), now);
            self.record(&mut work, now, &mut completions);
        }
        if work.in_flight > 0 {
            self.engine.abandon();
        }
        Ok(Some((work, now)))
    }

    /// Pushes every I/O that is due and has a slot; returns whether any part still issues, and the next
    /// due time that is worth waking for (`u64::MAX`: none).
    #[inline]
    fn issue(&mut self, work: &mut Work, now: u64) -> (bool, u64) {
        let (mut issuing, mut wake) = (false, u64::MAX);
        for part in &mut work.parts {
            if let Some(due) = part.issue(&mut self.engine, &self.control, now) {
                (issuing, wake) = (true, wake.min(due));
            }
        }
        work.in_flight = work.parts.iter().map(Part::in_flight).sum();
        (issuing, wake)
    }

    /// The engine is about to be entered; returns whether anything was pushed, and until when to wait there.
    #[inline]
    fn enter(&self, work: &mut Work, from: u64, next_due: u64) -> (bool, Option<u64>) {
        let pushed = work.parts.iter().any(Part::pushed);
        let submitted = if pushed { self.engine.now() } else { from };
        for part in &mut work.parts {
            part.submitted(from, submitted);
        }
        work.submitted = submitted;
        let spin_ns = match next_due.saturating_sub(submitted) <= self.short_ns {
            true => self.short_ns.max(self.spin_ns),
            false => self.spin_ns,
        };
        (pushed, (next_due != u64::MAX).then(|| next_due.saturating_sub(spin_ns)))
    }

    /// Records what came until `now`.
    #[inline]
    fn record(&mut self, work: &mut Work, now: u64, completions: &mut Vec<Completion>) {
        for part in &mut work.parts {
            part.waited(work.submitted, now);
        }
        for completion in completions.drain(..) {
            let part = match &mut work.parts[..] {
                [only] => only,
                parts => {
                    let at = parts.partition_point(|part| part.first_slot() <= completion.slot);
                    &mut parts[at - 1]
                }
            };
            part.complete(&mut self.engine, &self.control, now, completion);
        }
        for part in &mut work.parts {
            part.publish(&self.control, now);
        }
    }
}
