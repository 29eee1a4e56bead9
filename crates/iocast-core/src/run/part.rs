//! `Part`: one phase's part of a worker: its users' lanes and slots, and what is counted of them.

use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::control::Control;
use super::lane::Lane;
use super::merge::Outcome;
use super::refill::Refill;
use super::slots::{Slot, Slots};
use crate::engine::{Completion, Engine, Request};
use crate::plan::{Arrival, Op, PhasePlan, SyncMode};
use crate::record::generator::Generator;
use crate::record::interval_log::Outlet;
use crate::record::result::SlowIo;
use crate::record::tally::{Counts, Tally};
use crate::workload::payload::PayloadMaker;

/// The shared counters are brought up to date at least this often.
const PUBLISH_NS: u64 = 50_000_000;

/// A thread whose next I/O waits for those of other threads looks again after so long.
const LOOK_AGAIN_NS: u64 = 100_000;

/// How a part stopped issuing.
#[derive(Clone, Copy)]
struct Issued {
    at_ns: u64,
    depth_area: f64,
    /// Told to stop before its own end.
    cut: bool,
}

/// See the module.
pub struct Part {
    phase: usize,
    plan: Arc<PhasePlan>,
    lanes: Vec<Lane>,
    slots: Slots,
    depth_area: f64,
    tally: Tally,
    /// No I/O is due but when it is submitted.
    closed: bool,
    /// I/Os end while they are submitted.
    inline: bool,
    refill: Refill,
    think_ns: u64,
    /// I/Os are due when a trace says.
    recorded: bool,
    /// I/Os wait for the ends of others: of a trace, or of a session's steps.
    depends: bool,
    /// Its users keep count of which files there are.
    in_tree: bool,
    /// What comes after an I/O is decided when it has ended: its user thinks, or others wait for it.
    paused: bool,
    end_ns: u64,
    issued: Option<Issued>,
    left_ns: Option<u64>,
    published: Counts,
    publish_at: u64,
}

impl Part {
    /// The part of phase number `phase`; its lanes have the slots from `first_slot` on.
    pub fn new(phase: usize, plan: Arc<PhasePlan>, lanes: Vec<Lane>, first_slot: u32) -> Part {
        let slots: usize = lanes.iter().map(|lane| lane.free.len()).sum();
        let tally =
            Tally::new(&plan.classes(), plan.interval_ns, plan.slow_limit, plan.response_is_service());
        let think_ns = match plan.arrival {
            Arrival::Closed { think_ns } if plan.steps.is_empty() => think_ns,
            _ => 0,
        };
        let depends = plan.replay.as_ref().is_some_and(|replay| replay.depends()) || !plan.steps.is_empty();
        Part {
            phase,
            lanes,
            slots: Slots::new(first_slot, slots, plan.sync != SyncMode::None),
            depth_area: 0.0,
            tally,
            closed: plan.response_is_service(),
            inline: true,
            refill: Refill::WHEN_DUE,
            think_ns,
            recorded: matches!(plan.arrival, Arrival::Recorded { .. }),
            depends,
            in_tree: plan.counts_names(),
            paused: think_ns > 0 || depends,
            end_ns: plan.length.seconds.map_or(u64::MAX, |s| (s * 1e9) as u64),
            issued: None,
            left_ns: None,
            published: Counts::default(),
            publish_at: 0,
            plan,
        }
    }

    /// With what is known of how its I/Os end: while they are submitted, or later.
    pub(crate) fn ending(mut self, inline: bool) -> Part {
        self.inline = inline;
        self
    }

    /// Fills the buffers; `index` makes the payload differ from that of all other workers.
    pub(crate) fn prepare(&mut self, engine: &mut impl Engine, index: u32) {
        if engine.virtual_time() {
            return;
        }
        let plan = &self.plan;
        if self.closed {
            self.refill = Refill::closed(plan.depth as usize, self.slots.len(), self.inline);
        }
        if plan.writes() {
            let (seed, fresh) = (plan.seed ^ plan.payload_seed, plan.role == "fill");
            let maker = PayloadMaker::new(plan.payload.clone(), fresh, seed, index);
            self.slots.prepare(engine, maker, plan.largest_moved_bytes() as usize);
        }
    }

    /// Which of the phases that run at once.
    pub(crate) fn phase(&self) -> usize {
        self.phase
    }

    /// Where its closed intervals lie.
    pub(crate) fn outlet(&self) -> Arc<Outlet> {
        self.tally.outlet()
    }

    /// True where its users go from step to step.
    pub(crate) fn has_steps(&self) -> bool {
        !self.plan.steps.is_empty()
    }

    /// How it drives the engine, where that is worth a word.
    pub(crate) fn flag(&self) -> Option<String> {
        self.refill.flag()
    }

    /// The first of them.
    #[inline]
    pub(crate) fn first_slot(&self) -> u32 {
        self.slots.first()
    }

    /// I/Os in flight, those not yet submitted included.
    #[inline]
    pub(crate) fn in_flight(&self) -> u32 {
        self.slots.in_flight()
    }

    /// True when something waits to be submitted.
    #[inline]
    pub(crate) fn pushed(&self) -> bool {
        self.slots.pushed() > 0
    }

    /// What was counted. `left_ns` is when the worker left its loop, `generator` what its thread did.
    pub(crate) fn outcome(self, control: &Control, left_ns: u64, generator: Generator) -> Outcome {
        let never = Issued { at_ns: left_ns, depth_area: self.depth_area, cut: false };
        let issued = self.issued.unwrap_or(never);
        let end = issued.at_ns.min(control.end_ns.load(Relaxed));
        let in_flight = self.in_flight();
        let left_behind = if in_flight > 0 { self.outstanding(left_ns) } else { Vec::new() };
        Outcome {
            phase: self.phase,
            unsent: self.lanes.iter().map(|lane| lane.unsent(end)).sum(),
            generator,
            users: self.lanes.iter().map(|lane| (lane.user, lane.done.clone())).collect(),
            tallied: self.tally.finish(),
            depth_areas: (issued.depth_area, self.depth_area),
            left_ns: (issued.at_ns, self.left_ns.unwrap_or(left_ns)),
            cut: issued.cut,
            abandoned: u64::from(in_flight),
            left_behind,
        }
    }

    /// The thread entered the engine at `submitted` and had not come back at `now`: it would have stopped issuing at
    /// the end of the phase, and the I/Os in flight were so until now.
    pub(crate) fn left_in_the_kernel(&mut self, control: &Control, submitted: u64, now: u64) {
        let end_ns = self.end_ns.min(control.end_ns.load(Relaxed));
        if self.issued.is_none() {
            let at = end_ns.clamp(submitted, now);
            let depth_area = self.depth_area + f64::from(self.in_flight()) * (at - submitted) as f64;
            let cut = control.stop.load(Relaxed) && now < end_ns;
            self.issued = Some(Issued { at_ns: at, depth_area, cut });
        }
        self.waited(submitted, now);
    }

    /// The I/Os in flight, with the times they have taken so far.
    fn outstanding(&self, now: u64) -> Vec<SlowIo> {
        let idle = |slot: u32| {
            let rests = |lane: &Lane| {
                lane.free.contains(&slot) || lane.thinking.iter().any(|Reverse((_, thinks))| *thinks == slot)
            };
            self.lanes.iter().any(rests)
        };
        let taken = self.slots.iter().filter(|slot| !idle(slot.request.slot));
        taken
            .map(|Slot { request, due, submitted, .. }| SlowIo {
                time_ns: *submitted,
                op: request.op,
                file: request.file,
                offset_bytes: request.offset,
                size_bytes: u64::from(request.len),
                response_ns: now.saturating_sub(*due),
                service_ns: now.saturating_sub(*submitted),
            })
            .collect()
    }

    /// Pushes every I/O that is due and has a slot; returns the next due time that is worth waking for
    /// (`u64::MAX`: none), or `None` once issuing has ended.
    #[inline]
    pub(crate) fn issue(&mut self, engine: &mut impl Engine, control: &Control, now: u64) -> Option<u64> {
        if self.issued.is_some() {
            return None;
        }
        let (stop, end_ns) = (control.stop.load(Relaxed), self.end_ns.min(control.end_ns.load(Relaxed)));
        let left_alone = self.plan.length.follows && control.leading.load(Relaxed) == 0;
        if stop || left_alone || now >= end_ns {
            self.end_issuing(control, now, stop && now < end_ns);
            return None;
        }
        let mut wake = u64::MAX;
        for lane in 0..self.lanes.len() {
            wake = wake.min(self.issue_lane(engine, lane, now));
        }
        if self.in_flight() == 0 && wake == u64::MAX {
            self.end_issuing(control, now, false);
            return None;
        }
        // No timer where nothing will be due: arming one costs more than a fast I/O.
        Some(if wake == u64::MAX { wake } else { wake.min(end_ns) })
    }

    #[cold]
    fn end_issuing(&mut self, control: &Control, now: u64, cut: bool) {
        self.issued = Some(Issued { at_ns: now, depth_area: self.depth_area, cut });
        self.left_ns = (self.in_flight() == 0).then_some(now);
        if !self.plan.length.follows {
            control.leading.fetch_sub(1, Relaxed);
        }
    }

    fn issue_lane(&mut self, engine: &mut impl Engine, index: usize, now: u64) -> u64 {
        let lane = &mut self.lanes[index];
        while lane.thinking.peek().is_some_and(|Reverse((due, _))| *due <= now) {
            lane.free.extend(lane.thinking.pop().map(|Reverse((_, slot))| slot));
        }
        let thinking = lane.thinking.peek().map_or(u64::MAX, |Reverse((due, _))| *due);
        let mut batch = self.refill.batch(lane.free.len(), self.slots.in_flight());
        if batch == 0 {
            return thinking;
        }
        let mut stream = lane.stream.lock().expect("no worker panics while it holds a stream");
        while let Some(slot) = lane.free.last().copied() {
            if stream.exhausted() {
                let idle = (self.depends || self.in_tree) && self.slots.in_flight() == 0;
                return if idle && stream.waits() { now + LOOK_AGAIN_NS } else { thinking };
            }
            if batch == 0 {
                return now; // the rest is submitted when this has been
            }
            let due = match stream.schedule.peek() {
                None if self.think_ns == 0 => now,
                _ if stream.follows_on() => now,
                Some(due) if due > now => return due,
                Some(due) => due,
                // A slot that thought became due then; all others are due when they become free.
                None => self
                    .slots
                    .last(slot)
                    .map_or(now, |last| if last.due > last.submitted { last.due } else { now }),
            };
            lane.free.pop();
            batch -= 1;
            self.slots.push(engine, index as u32, slot, stream.take(), due);
        }
        thinking
    }

    /// What was pushed enters the engine at `submitted`; `now` is when the last turn ended.
    #[inline]
    pub(crate) fn submitted(&mut self, now: u64, submitted: u64) {
        let Part { slots, lanes, tally, closed, recorded, .. } = self;
        self.depth_area += f64::from(slots.in_flight() - slots.pushed()) * (submitted - now) as f64;
        slots.submitted(|slot| {
            slot.submitted = submitted;
            if *closed {
                slot.due = submitted;
            } else {
                let ready = slot.due.max(lanes[slot.lane as usize].full_until);
                tally.late(submitted.saturating_sub(ready));
                if *recorded {
                    tally.issued_late(submitted.saturating_sub(slot.due));
                }
            }
            if slot.request.op == Op::Write {
                let lane = &mut lanes[slot.lane as usize];
                lane.commit_from = lane.commit_from.min(slot.due);
            }
        });
    }

    /// The engine was waited for from `submitted` to `now`.
    #[inline]
    pub(crate) fn waited(&mut self, submitted: u64, now: u64) {
        self.depth_area += f64::from(self.in_flight()) * (now - submitted) as f64;
        self.tally.advance(now);
    }

    #[inline]
    pub(crate) fn complete(
        &mut self,
        engine: &mut impl Engine,
        control: &Control,
        now: u64,
        completion: Completion,
    ) {
        let slot = self.slots.taken(completion.slot);
        let Slot { lane, request, .. } = *slot;
        let (mut errno, mut bytes) = (None, 0);
        if completion.result < 0 {
            errno = Some(-completion.result as i32);
            if errno == Some(libc::EINTR) && !control.stop.load(Relaxed) {
                // A signal that was meant for somebody else: no error of the storage, the I/O is made again.
                engine.push(request);
                return;
            }
        } else if request.op.moves_data() {
            let (moved, done) = (completion.result as u32, request.done + completion.result as u32);
            bytes = u64::from(done);
            if done < request.len {
                // A short I/O goes on where it stopped, as one I/O with one time; nothing moved is the end
                // of the file, and a rest that O_DIRECT cannot address is an error too.
                (slot.request.done, slot.short) = (done, true);
                let addressable = !self.plan.direct || done % 512 == 0;
                if moved > 0 && addressable {
                    engine.push(Request { done, ..request });
                    return;
                }
                errno = Some(0);
            }
        } else if request.op == Op::Trim {
            bytes = u64::from(request.len);
        }
        let io = slot.ended(bytes);
        self.slots.ended();
        match errno {
            None => self.tally.ended(now, &io),
            // Someone who stops a run interrupts system calls: that is no error of the storage.
            Some(libc::EINTR | libc::ECANCELED) if control.stop.load(Relaxed) => {}
            Some(errno) => self.tally.failed(now, errno, io),
        }
        if self.in_tree {
            let row = self.slots.taken(completion.slot).row;
            let mut stream =
                self.lanes[lane as usize].stream.lock().expect("no worker panics while it holds a stream");
            stream.ended_in_tree(request.op, row, request.offset, errno);
        } else if !request.op.has_place() {
            self.committed(lane as usize, now, errno.is_none());
        }
        self.release(completion.slot, lane as usize, now, errno.is_none());
    }

    /// A sync has ended: all that the user wrote since the one before is durable.
    fn committed(&mut self, lane: usize, now: u64, well: bool) {
        let from = std::mem::replace(&mut self.lanes[lane].commit_from, u64::MAX);
        if well && from != u64::MAX && self.plan.commits() {
            self.tally.committed(now.saturating_sub(from));
        }
    }

    #[inline]
    fn release(&mut self, slot: u32, lane: usize, now: u64, well: bool) {
        let lane = &mut self.lanes[lane];
        lane.done.ios += u64::from(well);
        lane.done.last_ns = now;
        if lane.free.is_empty() {
            lane.full_until = now;
        }
        if !self.paused {
            lane.free.push(slot);
            return;
        }
        if self.depends {
            let taken = self.slots.taken(slot);
            let (row, due, from) = (taken.row, taken.due, taken.submitted);
            let mut stream = lane.stream.lock().expect("no worker panics while it holds a stream");
            stream.ended(row, due, from, now);
            drop(stream);
            lane.free.push(slot);
            return;
        }
        let pause_ns = if lane.follows_on() { 0 } else { self.think_ns };
        let (taken, due) = (self.slots.taken(slot), now + pause_ns);
        (taken.due, taken.submitted) = (due, now);
        if pause_ns == 0 {
            lane.free.push(slot);
        } else {
            lane.thinking.push(Reverse((due, slot)));
        }
    }

    /// Adds what is new to the shared counters, for progress and for the limit of errors.
    #[inline]
    pub(crate) fn publish(&mut self, control: &Control, now: u64) {
        if self.in_flight() == 0 && self.issued.is_some() && self.left_ns.is_none() {
            self.left_ns = Some(now);
        }
        let (tally, before) = (&self.tally, self.published);
        if tally.ios - before.ios < 64 && tally.error_count == before.errors && now < self.publish_at {
            return;
        }
        let counts = tally.counts();
        self.publish_at = now + PUBLISH_NS;
        control.add(self.phase, &before, &counts, self.plan.error_limit);
        self.published = counts;
    }
}
