//! What becomes of a target's I/Os in a ring: a few of them, of the phase's own shape, just before it.
//!
//! Nothing here needs privileges: an I/O that ends inline is there when the submitting call returns, and one
//! that the kernel cannot start without blocking is given to a kernel worker, which is a thread of ours.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use crate::engine::setup::{Choice, Setup};
use crate::engine::sim::world::SimWorld;
use crate::engine::uring::UringEngine;
use crate::engine::{Completion, Engine, Request};
use crate::error::{Error, Result};
use crate::plan::{Arrival, Locality, Op, PhasePlan, SyncMode};
use crate::workload::payload::PayloadMaker;
use crate::workload::stream::Stream;

/// A probe ends after so many I/Os, or after so long once its first batch is back.
const IOS_MOST: u32 = 64;
const TIME_MOST: Duration = Duration::from_millis(10);
const BATCH_MOST: u32 = 8;
/// An I/O of the probe that is not back by then is left behind.
const PATIENCE: Duration = Duration::from_millis(500);
/// Draws other places than the phase will.
const OTHER_SEED: u64 = 0x0b5e_7fed_5eed;

/// How I/Os end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// While they are submitted: memory answers.
    Inline,
    /// In a kernel worker: this target cannot start an I/O without perhaps blocking.
    Punted,
    /// Later, by interrupt.
    Later,
}

/// What the phase's I/Os come to. On a thread of its own: kernel workers belong to the thread they work for,
/// and a thread whose I/O hangs is left to itself.
pub(super) fn how_ios_end(plan: &PhasePlan) -> Result<Ends> {
    let mut small = sample(plan);
    small.depth = plan.depth.min(BATCH_MOST);
    small.users = 1;
    let (sender, receiver) = channel();
    let body = move || {
        crate::run::signals::only_waker();
        // Said before the ring is taken down, which waits for whatever hangs.
        let _ = match Prober::new(small) {
            Ok(mut prober) => sender.send(prober.watch()),
            Err(why) => sender.send(Err(why)),
        };
    };
    let thread =
        std::thread::Builder::new().name("iocast-probe".into()).spawn(body).map_err(Error::Thread)?;
    match receiver.recv_timeout(PATIENCE * 2) {
        Ok(seen) => {
            // The phase begins when the ring of the probe is gone.
            let patience = Instant::now() + PATIENCE;
            while !thread.is_finished() && Instant::now() < patience {
                std::thread::sleep(Duration::from_micros(200));
            }
            seen
        }
        Err(_) => Ok(Ends::Later),
    }
}

/// The plan with places of its own, as a closed loop.
pub(super) fn sample(plan: &PhasePlan) -> PhasePlan {
    let mut sample = plan.clone();
    sample.role = "probe".into();
    sample.seed ^= OTHER_SEED;
    sample.payload_seed ^= OTHER_SEED;
    sample.locality = Locality::Uniform { repeats: true };
    sample.arrival = Arrival::Closed { think_ns: 0 };
    sample.slow_limit = 0;
    sample.replay = None;
    sample.steps.clear();
    sample
}

struct Prober {
    plan: PhasePlan,
    engine: UringEngine,
    stream: Stream,
    payload: PayloadMaker,
    completions: Vec<Completion>,
}

impl Prober {
    fn new(plan: PhasePlan) -> Result<Prober> {
        let choice = Choice::of("uring", &plan);
        let setup =
            Setup { plans: vec![Arc::new(plan.clone())], choice, world: SimWorld::default(), tree: None };
        let mut engine = UringEngine::new(&setup)?;
        let stream = Stream::new(&plan, 0);
        let seed = plan.seed ^ plan.payload_seed;
        let mut payload = PayloadMaker::new(plan.payload.clone(), false, seed, plan.users);
        if plan.writes() {
            let largest = plan.largest_moved_bytes() as usize;
            (0..plan.depth).for_each(|slot| payload.prepare(engine.buffer(slot, largest)));
        }
        Ok(Prober { plan, engine, stream, payload, completions: Vec::new() })
    }

    fn watch(&mut self) -> Result<Ends> {
        let before = kernel_workers();
        let (mut ended, mut inline) = (0, 0);
        let begun = Instant::now();
        while ended < IOS_MOST && (ended == 0 || begun.elapsed() < TIME_MOST) {
            (0..self.plan.depth).for_each(|slot| self.push(slot));
            self.engine.submit(0, None)?;
            self.engine.reap(&mut self.completions);
            inline += self.completions.len() as u32;
            if !self.wait_for_all()? {
                self.engine.abandon();
                return Ok(Ends::Later);
            }
            self.completions.clear();
            ended += self.plan.depth;
        }
        let punted = kernel_workers().difference(&before).next().is_some();
        Ok(match () {
            () if punted => Ends::Punted,
            () if inline * 10 >= ended * 9 => Ends::Inline,
            () => Ends::Later,
        })
    }

    fn push(&mut self, slot: u32) {
        let next = self.stream.take();
        if next.op == Op::Write {
            self.payload.stamp(self.engine.buffer(slot, next.size as usize));
        }
        self.engine.push(Request {
            slot,
            op: next.op,
            file: next.place.file,
            offset: next.place.offset,
            len: next.size as u32,
            done: 0,
            durable: self.plan.sync != SyncMode::None,
        });
    }

    fn wait_for_all(&mut self) -> Result<bool> {
        let until = self.engine.now() + PATIENCE.as_nanos() as u64;
        while self.completions.len() < self.plan.depth as usize {
            if self.engine.now() >= until {
                return Ok(false);
            }
            self.engine.submit(1, Some(until))?;
            self.engine.reap(&mut self.completions);
        }
        Ok(true)
    }
}

/// The threads of this process that are io_uring's kernel workers.
fn kernel_workers() -> HashSet<std::ffi::OsString> {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    tasks
        .filter(|task| {
            std::fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name.starts_with("iou-wrk-"))
        })
        .map(|task| task.file_name())
        .collect()
}
