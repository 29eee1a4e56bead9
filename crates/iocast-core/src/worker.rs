//! The loop: due → offset → submit → reap → record.
//!
//! Time is read once at each edge of a system call, not once an I/O: I/Os of one batch enter the kernel
//! together and are noticed together, so their stamps would say nothing more (decision 0007).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

use crate::absence::{Attendance, Generator};
use crate::buffers::PayloadMaker;
use crate::control::{Control, Counts};
use crate::engine::{Completion, Engine, Request};
use crate::error::Result;
use crate::plan::{Arrival, Op, PhasePlan};
use crate::result::{EngineReport, UserResult};
use crate::stream::{Stream, classes};
use crate::tally::{Ended, Tallied, Tally};

/// Below this distance to the next due time the worker spins: timers are no more exact than that.
pub const SPIN_NS: u64 = 60_000;
/// A deep closed loop refills its queue in batches of this part of its depth: each submission may ring the
/// device's doorbell (a VM exit on virtio). It costs up to this share of the depth, which is reported as
/// achieved depth, and no accuracy: an I/O's time starts with its submission (docs/performance.md).
const SUBMIT_SHARE: usize = 8;
const SUBMIT_MOST: usize = 16;
/// The shared counters are brought up to date at least this often.
const PUBLISH_NS: u64 = 50_000_000;

/// One user's stream, and which of the worker's slots are its own.
pub struct Lane {
    user: usize,
    stream: Arc<Mutex<Stream>>,
    free: Vec<u32>,
    /// Slots of a closed loop that think, by the time at which they will be due.
    thinking: BinaryHeap<Reverse<(u64, u32)>>,
    /// When a slot last became free while none was: arrivals that wait for a slot are not late before it.
    full_until: u64,
    done: UserResult,
}

impl Lane {
    /// A lane of `slots` for user `user`.
    pub fn new(user: usize, stream: Arc<Mutex<Stream>>, slots: std::ops::Range<u32>) -> Lane {
        Lane {
            user,
            stream,
            free: slots.rev().collect(),
            thinking: BinaryHeap::new(),
            full_until: 0,
            done: UserResult::default(),
        }
    }

    fn unsent(&self, end: u64) -> u64 {
        self.stream.lock().expect("no worker panics while it holds a stream").unsent(end)
    }
}

#[derive(Clone, Copy)]
struct Slot {
    lane: u32,
    request: Request,
    io: Ended,
}

/// See the module.
pub struct Worker<E: Engine> {
    plan: Arc<PhasePlan>,
    control: Arc<Control>,
    engine: E,
    lanes: Vec<Lane>,
    slots: Vec<Option<Slot>>,
    batch: Vec<u32>,
    in_flight: u32,
    depth_area: f64,
    tally: Tally,
    payload: Option<PayloadMaker>,
    spin_ns: u64,
    submit_batch: usize,
    think_ns: u64,
    attendance: Attendance,
    published: Counts,
    publish_at: u64,
}

/// What a worker hands back.
pub struct Outcome {
    /// All that was counted.
    pub tallied: Tallied,
    /// By user index.
    pub users: Vec<(usize, UserResult)>,
    /// Integral of I/Os in flight over time, in ns: while issuing, and over all.
    pub depth_areas: (f64, f64),
    /// When it issued its last I/O, and when it left the loop.
    pub left_ns: (u64, u64),
    /// I/Os left behind.
    pub abandoned: u64,
    /// Arrivals that were due and not sent.
    pub unsent: u64,
    /// What its thread did with its time.
    pub generator: Generator,
}

impl<E: Engine> Worker<E> {
    /// A worker with its engine; `index` makes its payload differ from that of all others. `spin` is
    /// false where it would take the processors from others.
    pub fn new(
        plan: Arc<PhasePlan>,
        control: Arc<Control>,
        mut engine: E,
        lanes: Vec<Lane>,
        index: u32,
        spin: bool,
    ) -> Worker<E> {
        let slots: usize = lanes.iter().map(|lane| lane.free.len()).sum();
        let largest = plan.largest_moved_bytes() as usize;
        let moves_data = !engine.virtual_time();
        let payload = (plan.writes() && moves_data).then(|| {
            let mut maker = PayloadMaker::new(
                plan.payload.clone(),
                plan.role == "fill",
                plan.seed ^ plan.payload_seed,
                index,
            );
            for slot in 0..slots as u32 {
                maker.prepare(engine.buffer(slot, largest));
            }
            maker
        });
        let tally =
            Tally::new(&classes(&plan), plan.interval_ns, plan.slow_limit, plan.response_is_service());
        let spin_ns = if engine.virtual_time() || !spin { 0 } else { SPIN_NS };
        let submit_batch = if engine.virtual_time() || !plan.response_is_service() {
            1
        } else {
            (plan.depth as usize / SUBMIT_SHARE).clamp(1, SUBMIT_MOST).min(slots)
        };
        let think_ns = match plan.arrival {
            Arrival::Closed { think_ns } => think_ns,
            _ => 0,
        };
        Worker {
            plan,
            control,
            engine,
            lanes,
            slots: vec![None; slots],
            batch: Vec::with_capacity(slots),
            in_flight: 0,
            depth_area: 0.0,
            tally,
            payload,
            spin_ns,
            submit_batch,
            think_ns,
            attendance: Attendance::default(),
            published: Counts::default(),
            publish_at: 0,
        }
    }

    /// What the engine says of itself. It looks through the memory map, so ask before the start, and once.
    pub fn report(&self) -> EngineReport {
        let mut report = self.engine.report();
        if self.submit_batch > 1 {
            report.flags.push(format!("refilled by {}", self.submit_batch));
        }
        report
    }

    /// The engine, to hand it the common clock before the start.
    pub fn engine_mut(&mut self) -> &mut E {
        &mut self.engine
    }

    /// Runs the phase to its end and hands over what was counted, and the engine: to take a ring down
    /// costs milliseconds, which must not fall into the last I/Os of other workers.
    pub fn run(mut self) -> (Result<Outcome>, E) {
        self.attendance = Attendance::begin(self.engine.virtual_time());
        let ended = self.work();
        (ended.map(|(issued, left)| self.outcome(issued, left)), self.engine)
    }

    /// The loop. Returns the time and the depth integral when issuing ended, and the time when all ended.
    fn work(&mut self) -> Result<((u64, f64), u64)> {
        let end = self.plan.length.seconds.map_or(u64::MAX, |s| (s * 1e9) as u64);
        let mut completions: Vec<Completion> = Vec::with_capacity(self.slots.len());
        let mut now = self.engine.now();
        while !self.control.stop.load(Relaxed) && now < end.min(self.control.end_ns.load(Relaxed)) {
            let next_due = self.issue(now);
            if self.in_flight == 0 && next_due == u64::MAX {
                break;
            }
            // No timer where nothing will be due: arming one costs more than a fast I/O.
            let wake = if next_due == u64::MAX { next_due } else { next_due.min(end) };
            now = self.turn(now, wake, &mut completions)?;
        }
        let (issued_ns, issued_area) = (now, self.depth_area);
        while self.in_flight > 0 && !self.control.abandon.load(Relaxed) {
            now = self.turn(now, u64::MAX, &mut completions)?;
        }
        if self.in_flight > 0 {
            self.engine.abandon();
        }
        Ok(((issued_ns, issued_area), now))
    }

    fn outcome(&mut self, issued: (u64, f64), left_ns: u64) -> Outcome {
        let end = issued.0.min(self.control.end_ns.load(Relaxed));
        let empty = Tally::new(&[], self.plan.interval_ns, 0, true);
        Outcome {
            users: self.lanes.iter().map(|lane| (lane.user, lane.done.clone())).collect(),
            tallied: std::mem::replace(&mut self.tally, empty).finish(),
            depth_areas: (issued.1, self.depth_area),
            left_ns: (issued.0, left_ns),
            abandoned: u64::from(self.in_flight),
            unsent: self.lanes.iter().map(|lane| lane.unsent(end)).sum(),
            generator: self.attendance.end(),
        }
    }

    /// Submits the batch, waits for what must be waited for, records what came. Returns the time.
    fn turn(&mut self, from: u64, next_due: u64, completions: &mut Vec<Completion>) -> Result<u64> {
        let submitted = if self.batch.is_empty() { from } else { self.engine.now() };
        self.depth_area += f64::from(self.in_flight - self.batch.len() as u32) * (submitted - from) as f64;
        let batch = std::mem::take(&mut self.batch);
        for slot in &batch {
            self.stamp(*slot, submitted);
        }
        self.batch = batch;
        let only_waits = self.batch.is_empty();
        self.batch.clear();
        let wake = (next_due != u64::MAX).then(|| next_due.saturating_sub(self.spin_ns));
        match wake {
            Some(at) if at <= submitted => self.engine.submit(0, None)?,
            Some(at) => self.engine.submit(u32::from(self.in_flight > 0), Some(at))?,
            None => self.engine.submit(u32::from(self.in_flight > 0), None)?,
        }
        self.engine.reap(completions);
        let now = self.engine.now();
        self.attendance.turn(from, submitted, wake.filter(|_| only_waits), now);
        self.depth_area += f64::from(self.in_flight) * (now - submitted) as f64;
        self.tally.advance(now);
        for completion in completions.drain(..) {
            self.complete(now, completion);
        }
        self.publish(now);
        Ok(now)
    }

    /// Pushes every I/O that is due and has a slot; returns the next due time that is worth waking for
    /// (`u64::MAX`: none).
    fn issue(&mut self, now: u64) -> u64 {
        let mut wake = u64::MAX;
        for lane in 0..self.lanes.len() {
            wake = wake.min(self.issue_lane(lane, now));
        }
        wake
    }

    fn issue_lane(&mut self, index: usize, now: u64) -> u64 {
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
                Some(due) if due > now => return due,
                Some(due) => due,
                // A slot that thought became due then; all others are due when they become free.
                None => self.slots[slot as usize]
                    .map_or(now, |last| if last.io.due > last.io.submitted { last.io.due } else { now }),
            };
            self.lanes[index].free.pop();
            let next = stream.take();
            let request = Request {
                slot,
                op: next.op,
                file: next.place.file,
                offset: next.place.offset,
                len: next.size as u32,
                done: 0,
            };
            let io = Ended {
                class: next.class,
                file: request.file,
                offset: request.offset,
                due,
                submitted: 0,
                bytes: 0,
                short: false,
            };
            self.slots[slot as usize] = Some(Slot { lane: index as u32, request, io });
            if let (Op::Write, Some(payload)) = (next.op, &mut self.payload) {
                payload.stamp(self.engine.buffer(slot, next.size as usize));
            }
            self.engine.push(request);
            self.batch.push(slot);
            self.in_flight += 1;
        }
        thinking
    }

    #[inline]
    fn stamp(&mut self, slot: u32, submitted: u64) {
        let slot = self.slots[slot as usize].as_mut().expect("a slot in the batch is taken");
        slot.io.submitted = submitted;
        if self.plan.response_is_service() {
            slot.io.due = submitted;
        } else {
            let ready = slot.io.due.max(self.lanes[slot.lane as usize].full_until);
            self.tally.late(submitted.saturating_sub(ready));
        }
    }

    #[inline]
    fn complete(&mut self, now: u64, completion: Completion) {
        let slot = self.slots[completion.slot as usize].as_mut().expect("a completion has its slot");
        let Slot { lane, request, .. } = *slot;
        let mut errno = None;
        if completion.result == -i64::from(libc::EINTR) && !self.control.stop.load(Relaxed) {
            // A signal that was meant for somebody else: no error of the storage, the I/O is made again.
            let again = slot.request;
            self.engine.push(again);
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
                    self.engine.push(rest);
                    return;
                }
                errno = Some(0);
            }
        } else if request.op == Op::Trim {
            slot.io.bytes = u64::from(request.len);
        }
        let io = slot.io;
        self.in_flight -= 1;
        match errno {
            None => self.tally.ended(now, &io),
            // Someone who stops a run interrupts system calls: that is no error of the storage.
            Some(libc::EINTR | libc::ECANCELED) if self.control.stop.load(Relaxed) => {}
            Some(errno) => self.tally.failed(now, errno, &io),
        }
        self.release(completion.slot, lane as usize, now, errno.is_none());
    }

    #[inline]
    fn release(&mut self, slot: u32, lane: usize, now: u64, well: bool) {
        let lane = &mut self.lanes[lane];
        lane.done.ios += u64::from(well);
        lane.done.last_ns = now;
        if lane.free.is_empty() {
            lane.full_until = now;
        }
        let taken = self.slots[slot as usize].as_mut().expect("a completed slot");
        let due = now + self.think_ns;
        (taken.io.due, taken.io.submitted) = (due, now);
        if self.think_ns == 0 {
            lane.free.push(slot);
        } else {
            lane.thinking.push(Reverse((due, slot)));
        }
    }

    /// Adds what is new to the shared counters, for progress and for the limit of errors.
    #[inline]
    fn publish(&mut self, now: u64) {
        let (counts, before) = (self.tally.counts(), self.published);
        if counts.ios - before.ios < 64 && counts.errors == before.errors && now < self.publish_at {
            return;
        }
        self.publish_at = now + PUBLISH_NS;
        self.control.add(&before, &counts, self.plan.error_limit);
        self.published = counts;
    }
}
