//! `Part`: one phase's part of a worker: its users' lanes and slots, and what is counted of them.

use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::absence::Generator;
use crate::buffers::PayloadMaker;
use crate::control::{Control, Counts};
use crate::engine::{Completion, Engine, Request};
use crate::lane::Lane;
use crate::merge::Outcome;
use crate::plan::{Arrival, Op, PhasePlan, SyncMode};
use crate::result::SlowIo;
use crate::stream::{Next, classes};
use crate::tally::{Ended, Tally};

/// A deep closed loop refills its queue in batches of this part of its depth: each submission may ring the
/// device's doorbell (a VM exit on virtio). It costs up to this share of the depth, which is reported as
/// achieved depth, and no accuracy: an I/O's time starts with its submission (docs/performance.md).
const SUBMIT_SHARE: usize = 8;
const SUBMIT_MOST: usize = 16;
/// The shared counters are brought up to date at least this often.
const PUBLISH_NS: u64 = 50_000_000;

#[derive(Clone, Copy)]
struct Slot {
    lane: u32,
    request: Request,
    io: Ended,
}

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
    first_slot: u32,
    slots: Vec<Option<Slot>>,
    batch: Vec<u32>,
    in_flight: u32,
    depth_area: f64,
    tally: Tally,
    payload: Option<PayloadMaker>,
    durable: bool,
    submit_batch: usize,
    think_ns: u64,
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
            Tally::new(&classes(&plan), plan.interval_ns, plan.slow_limit, plan.response_is_service());
        let think_ns = match plan.arrival {
            Arrival::Closed { think_ns } => think_ns,
            _ => 0,
        };
        Part {
            phase,
            lanes,
            first_slot,
            slots: vec![None; slots],
            batch: Vec::with_capacity(slots),
            in_flight: 0,
            depth_area: 0.0,
            tally,
            payload: None,
            durable: plan.sync != SyncMode::None,
            submit_batch: 1,
            think_ns,
            end_ns: plan.length.seconds.map_or(u64::MAX, |s| (s * 1e9) as u64),
            issued: None,
            left_ns: None,
            published: Counts::default(),
            publish_at: 0,
            plan,
        }
    }

    /// Fills the buffers; `index` makes the payload differ from that of all other workers.
    pub(crate) fn prepare(&mut self, engine: &mut impl Engine, index: u32) {
        if engine.virtual_time() {
            return;
        }
        let plan = &self.plan;
        if plan.response_is_service() {
            let share = (plan.depth as usize / SUBMIT_SHARE).clamp(1, SUBMIT_MOST);
            self.submit_batch = share.min(self.slots.len());
        }
        if plan.writes() {
            let (seed, fresh) = (plan.seed ^ plan.payload_seed, plan.role == "fill");
            let mut maker = PayloadMaker::new(plan.payload.clone(), fresh, seed, index);
            let largest = plan.largest_moved_bytes() as usize;
            for slot in 0..self.slots.len() as u32 {
                maker.prepare(engine.buffer(self.first_slot + slot, largest));
            }
            self.payload = Some(maker);
        }
    }

    /// Which of the phases that run at once.
    pub(crate) fn phase(&self) -> usize {
        self.phase
    }

    /// How it drives the engine, where that is worth a word.
    pub(crate) fn flag(&self) -> Option<String> {
        (self.submit_batch > 1).then(|| format!("refilled by {}", self.submit_batch))
    }

    /// The first of them.
    #[inline]
    pub(crate) fn first_slot(&self) -> u32 {
        self.first_slot
    }

    /// I/Os in flight, those not yet submitted included.
    #[inline]
    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// True when something waits to be submitted.
    #[inline]
    pub(crate) fn pushed(&self) -> bool {
        !self.batch.is_empty()
    }

    /// What was counted. `left_ns` is when the worker left its loop, `generator` what its thread did.
    pub(crate) fn outcome(self, control: &Control, left_ns: u64, generator: Generator) -> Outcome {
        let never = Issued { at_ns: left_ns, depth_area: self.depth_area, cut: false };
        let issued = self.issued.unwrap_or(never);
        let end = issued.at_ns.min(control.end_ns.load(Relaxed));
        let left_behind = if self.in_flight > 0 { self.outstanding(left_ns) } else { Vec::new() };
        Outcome {
            phase: self.phase,
            unsent: self.lanes.iter().map(|lane| lane.unsent(end)).sum(),
            generator,
            users: self.lanes.iter().map(|lane| (lane.user, lane.done.clone())).collect(),
            tallied: self.tally.finish(),
            depth_areas: (issued.depth_area, self.depth_area),
            left_ns: (issued.at_ns, self.left_ns.unwrap_or(left_ns)),
            cut: issued.cut,
            abandoned: u64::from(self.in_flight),
            left_behind,
        }
    }

    /// The I/Os in flight, with the times they have taken so far.
    fn outstanding(&self, now: u64) -> Vec<SlowIo> {
        let idle = |slot: u32| {
            let rests = |lane: &Lane| {
                lane.free.contains(&slot) || lane.thinking.iter().any(|Reverse((_, thinks))| *thinks == slot)
            };
            self.lanes.iter().any(rests)
        };
        let taken = self.slots.iter().flatten().filter(|slot| !idle(slot.request.slot));
        taken
            .map(|Slot { request, io, .. }| SlowIo {
                time_ns: io.submitted,
                op: request.op,
                file: request.file,
                offset_bytes: request.offset,
                size_bytes: u64::from(request.len),
                response_ns: now.saturating_sub(io.due),
                service_ns: now.saturating_sub(io.submitted),
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
        if self.in_flight == 0 && wake == u64::MAX {
            self.end_issuing(control, now, false);
            return None;
        }
        // No timer where nothing will be due: arming one costs more than a fast I/O.
        Some(if wake == u64::MAX { wake } else { wake.min(end_ns) })
    }

    #[cold]
    fn end_issuing(&mut self, control: &Control, now: u64, cut: bool) {
        self.issued = Some(Issued { at_ns: now, depth_area: self.depth_area, cut });
        self.left_ns = (self.in_flight == 0).then_some(now);
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
        if lane.free.is_empty() || (lane.free.len() < self.submit_batch && self.in_flight > 0) {
            return thinking;
        }
        let stream = Arc::clone(&lane.stream);
        let mut stream = stream.lock().expect("no worker panics while it holds a stream");
        while let Some(slot) = self.lanes[index].free.last().copied() {
            if stream.exhausted() {
                return thinking;
            }
            let due = match stream.schedule.peek() {
                _ if stream.syncs_next() => now,
                Some(due) if due > now => return due,
                Some(due) => due,
                // A slot that thought became due then; all others are due when they become free.
                None => self.slots[(slot - self.first_slot) as usize]
                    .map_or(now, |last| if last.io.due > last.io.submitted { last.io.due } else { now }),
            };
            self.lanes[index].free.pop();
            let next = stream.take();
            self.push(engine, index as u32, slot, next, due);
        }
        thinking
    }

    #[inline]
    fn push(&mut self, engine: &mut impl Engine, lane: u32, slot: u32, next: Next, due: u64) {
        let Next { class, op, size, place } = next;
        let (file, offset) = (place.file, place.offset);
        let request = Request { slot, op, file, offset, len: size as u32, done: 0, durable: self.durable };
        let io = Ended { class, file, offset, due, submitted: 0, bytes: 0, short: false };
        self.slots[(slot - self.first_slot) as usize] = Some(Slot { lane, request, io });
        if let (Op::Write, Some(payload)) = (op, &mut self.payload) {
            payload.stamp(engine.buffer(slot, size as usize));
        }
        engine.push(request);
        self.batch.push(slot);
        self.in_flight += 1;
    }

    /// What was pushed enters the engine at `submitted`; `now` is when the last turn ended.
    #[inline]
    pub(crate) fn submitted(&mut self, now: u64, submitted: u64) {
        self.depth_area += f64::from(self.in_flight - self.batch.len() as u32) * (submitted - now) as f64;
        let batch = std::mem::take(&mut self.batch);
        for slot in &batch {
            self.stamp(*slot, submitted);
        }
        self.batch = batch;
        self.batch.clear();
    }

    /// The engine was waited for from `submitted` to `now`.
    #[inline]
    pub(crate) fn waited(&mut self, submitted: u64, now: u64) {
        self.depth_area += f64::from(self.in_flight) * (now - submitted) as f64;
        self.tally.advance(now);
    }

    #[inline]
    fn stamp(&mut self, slot: u32, submitted: u64) {
        let slot =
            self.slots[(slot - self.first_slot) as usize].as_mut().expect("a slot in the batch is taken");
        let lane = &mut self.lanes[slot.lane as usize];
        slot.io.submitted = submitted;
        if self.plan.response_is_service() {
            slot.io.due = submitted;
        } else {
            let ready = slot.io.due.max(lane.full_until);
            self.tally.late(submitted.saturating_sub(ready));
        }
        if slot.request.op == Op::Write {
            lane.commit_from = lane.commit_from.min(slot.io.due);
        }
    }

    #[inline]
    pub(crate) fn complete(
        &mut self,
        engine: &mut impl Engine,
        control: &Control,
        now: u64,
        completion: Completion,
    ) {
        let slot = self.slots[(completion.slot - self.first_slot) as usize]
            .as_mut()
            .expect("a completion has its slot");
        let Slot { lane, request, .. } = *slot;
        let mut errno = None;
        if completion.result == -i64::from(libc::EINTR) && !control.stop.load(Relaxed) {
            // A signal that was meant for somebody else: no error of the storage, the I/O is made again.
            let again = slot.request;
            engine.push(again);
            return;
        }
        if completion.result < 0 {
            errno = Some(-completion.result as i32);
        } else if request.op.moves_data() {
            let moved = completion.result as u32;
            slot.request.done += moved;
            slot.io.bytes = u64::from(slot.request.done);
            if slot.request.done < request.len {
                // A short I/O goes on where it stopped, as one I/O with one time; nothing moved is the end
                // of the file, and a rest that O_DIRECT cannot address is an error too.
                slot.io.short = true;
                let addressable = !self.plan.direct || slot.request.done % 512 == 0;
                if moved > 0 && addressable {
                    let rest = slot.request;
                    engine.push(rest);
                    return;
                }
                errno = Some(0);
            }
        } else if request.op == Op::Trim {
            slot.io.bytes = u64::from(request.len);
        }
        let io = &slot.io; // no copy: reading back as one piece what was just written in parts stalls
        self.in_flight -= 1;
        match errno {
            None => self.tally.ended(now, io),
            // Someone who stops a run interrupts system calls: that is no error of the storage.
            Some(libc::EINTR | libc::ECANCELED) if control.stop.load(Relaxed) => {}
            Some(errno) => self.tally.failed(now, errno, io),
        }
        if !request.op.has_place() {
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
        let pause_ns = if self.think_ns > 0 && lane.syncs_next() { 0 } else { self.think_ns };
        let taken = self.slots[(slot - self.first_slot) as usize].as_mut().expect("a completed slot");
        let due = now + pause_ns;
        (taken.io.due, taken.io.submitted) = (due, now);
        if pause_ns == 0 {
            lane.free.push(slot);
        } else {
            lane.thinking.push(Reverse((due, slot)));
        }
    }

    /// Adds what is new to the shared counters, for progress and for the limit of errors.
    #[inline]
    pub(crate) fn publish(&mut self, control: &Control, now: u64) {
        if self.in_flight == 0 && self.issued.is_some() && self.left_ns.is_none() {
            self.left_ns = Some(now);
        }
        let (counts, before) = (self.tally.counts(), self.published);
        if counts.ios - before.ios < 64 && counts.errors == before.errors && now < self.publish_at {
            return;
        }
        self.publish_at = now + PUBLISH_NS;
        control.add(self.phase, &before, &counts, self.plan.error_limit);
        self.published = counts;
    }
}
