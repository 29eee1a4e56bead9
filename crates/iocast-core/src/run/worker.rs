//! The loop: due → offset → submit → reap → record, for one engine.
//!
//! Time is read once at each edge of a system call, not once an I/O: I/Os of one batch enter the kernel
//! together and are noticed together, so their stamps would say nothing more (decision 0007).
//!
//! A worker has one part for each phase that uses its engine. Only the simulated device, on which all users
//! of all phases that run at once contend, has more than one.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::attendance::Attendance;
use super::control::Control;
use super::merge::Outcome;
use super::part::Part;
use crate::engine::{Completion, Engine};
use crate::error::Result;
use crate::record::result::EngineReport;

/// Below this distance to the next due time the worker spins: timers are no more exact than that.
pub const SPIN_NS: u64 = 60_000;

/// See the module.
pub struct Worker<E: Engine> {
    control: Arc<Control>,
    engine: E,
    parts: Vec<Part>,
    /// All parts together.
    in_flight: u32,
    spin_ns: u64,
    /// Up to such a pause it spins all the same: sessions of steps compute between two I/Os, they do not sleep.
    short_ns: u64,
    attendance: Attendance,
}

impl<E: Engine> Worker<E> {
    /// A worker with its engine; the slots of `parts` follow each other from 0. `index` makes its payload
    /// differ from that of all others. `spin` is false where it would take the processors from others.
    pub fn new(
        control: Arc<Control>,
        mut engine: E,
        mut parts: Vec<Part>,
        index: u32,
        spin: bool,
    ) -> Worker<E> {
        for part in &mut parts {
            part.prepare(&mut engine, index);
        }
        let spin_ns = if engine.virtual_time() || !spin { 0 } else { SPIN_NS };
        let steps = !engine.virtual_time() && parts.iter().any(Part::has_steps);
        let short_ns = if steps { SPIN_NS } else { 0 };
        let attendance = Attendance::default();
        Worker { control, engine, parts, in_flight: 0, spin_ns, short_ns, attendance }
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

    /// Runs all parts to their ends and hands over what was counted, and the engine: to take a ring down
    /// costs milliseconds, which must not fall into the last I/Os of other workers.
    pub fn run(mut self) -> (Result<Vec<Outcome>>, E) {
        self.attendance = Attendance::begin(self.engine.virtual_time());
        let ended = self.work();
        let (generator, control) = (self.attendance.end(), self.control);
        let outcome = |part: Part, left| part.outcome(&control, left, generator.clone());
        (ended.map(|left| self.parts.into_iter().map(|part| outcome(part, left)).collect()), self.engine)
    }

    /// The loop. Returns the time when all ended.
    fn work(&mut self) -> Result<u64> {
        let mut completions: Vec<Completion> = Vec::new();
        let mut now = self.engine.now();
        loop {
            let (issuing, wake) = self.issue(now);
            if !issuing && (self.in_flight == 0 || self.control.abandon.load(Relaxed)) {
                break;
            }
            now = self.turn(now, wake, &mut completions)?;
        }
        if self.in_flight > 0 {
            self.engine.abandon();
        }
        Ok(now)
    }

    /// Pushes every I/O that is due and has a slot; returns whether any part still issues, and the next
    /// due time that is worth waking for (`u64::MAX`: none).
    #[inline]
    fn issue(&mut self, now: u64) -> (bool, u64) {
        let (mut issuing, mut wake) = (false, u64::MAX);
        for part in &mut self.parts {
            if let Some(due) = part.issue(&mut self.engine, &self.control, now) {
                (issuing, wake) = (true, wake.min(due));
            }
        }
        self.in_flight = self.parts.iter().map(Part::in_flight).sum();
        (issuing, wake)
    }

    /// Submits what was pushed, waits for what must be waited for, records what came. Returns the time.
    #[inline]
    fn turn(&mut self, from: u64, next_due: u64, completions: &mut Vec<Completion>) -> Result<u64> {
        let pushed = self.parts.iter().any(Part::pushed);
        let submitted = if pushed { self.engine.now() } else { from };
        for part in &mut self.parts {
            part.submitted(from, submitted);
        }
        let spin_ns = match next_due.saturating_sub(submitted) <= self.short_ns {
            true => self.short_ns.max(self.spin_ns),
            false => self.spin_ns,
        };
        let wake = (next_due != u64::MAX).then(|| next_due.saturating_sub(spin_ns));
        match wake {
            Some(at) if at <= submitted => self.engine.submit(0, None)?,
            Some(at) => self.engine.submit(u32::from(self.in_flight > 0), Some(at))?,
            None => self.engine.submit(u32::from(self.in_flight > 0), None)?,
        }
        self.engine.reap(completions);
        let now = self.engine.now();
        self.attendance.turn(from, submitted, wake.filter(|_| !pushed), now);
        for part in &mut self.parts {
            part.waited(submitted, now);
        }
        for completion in completions.drain(..) {
            let part = match &mut self.parts[..] {
                [only] => only,
                parts => {
                    let at = parts.partition_point(|part| part.first_slot() <= completion.slot);
                    &mut parts[at - 1]
                }
            };
            part.complete(&mut self.engine, &self.control, now, completion);
        }
        for part in &mut self.parts {
            part.publish(&self.control, now);
        }
        Ok(now)
    }
}
