//! A watch on block devices: a thread that empties the rings in time, and snapshots of what was counted.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::device_times::DeviceTimes;
use super::gate::{Gate, Listen};
use super::request_points::RequestPoints;
use super::ring_thread::{Emptied, RingThread};
use super::timed_requests::{TimedRequests, Wanted};
use super::tracefs::Tracefs;
use super::{BlkOp, Device, Event};
use crate::error::Result;
use crate::host::clocks::kernel_ns;

/// What to watch.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Whole devices, not partitions; all when empty.
    pub devices: Vec<Device>,
    /// All when empty.
    pub ops: Vec<BlkOp>,
    /// Requests of exactly this size.
    pub size_bytes: Option<u64>,
    /// Requests that take longer are kept by name.
    pub slow_ns: Option<u64>,
    /// Above so many requests a second only a part of the time is watched.
    pub budget_per_s: Option<f64>,
    /// The ring of each processor.
    pub ring_kb: Option<u64>,
}

/// What was seen since the last snapshot.
#[derive(Clone, Debug, Serialize)]
pub struct Snapshot {
    /// Since then.
    pub elapsed_ns: u64,
    /// How much of it was watched: all of it without a budget.
    pub watched_ns: u64,
    /// Records that the rings had no room for.
    pub lost_events: u64,
    /// Completions of requests whose issue was not seen.
    pub unpaired: u64,
    /// Requests that were given up when the watch closed for a while, or lost records.
    pub unfinished: u64,
    /// By device.
    pub devices: Vec<DeviceTimes>,
}

struct Reader {
    points: RequestPoints,
    _tracefs: Tracefs, // the paths of the instance go through it: dropped after it
    pairing: TimedRequests,
    gate: Gate,
    events: Vec<Event>,
    snapshot_ns: u64,
    lost_before: u64,
}

impl Emptied for Reader {
    fn round(&mut self) -> Result<Duration> {
        self.take()?;
        Ok(self.gate.pause(kernel_ns()))
    }
}

impl Reader {
    /// Takes all that happened until now. What happens meanwhile waits: on another processor its beginning may
    /// not have been read yet.
    fn take(&mut self) -> Result<()> {
        let now_ns = kernel_ns();
        self.points.read(now_ns, &mut self.events)?;
        self.events.sort_by_key(|event| event.at_ns);
        let ready = self.events.partition_point(|event| event.at_ns < now_ns);
        self.events.drain(..ready).for_each(|event| self.pairing.take(&event));
        self.turn(now_ns)
    }

    fn turn(&mut self, now_ns: u64) -> Result<()> {
        let before = self.gate.state();
        let on_their_way = if before == Listen::Departures { self.pairing.on_their_way() } else { 0 };
        let now = self.gate.next(now_ns, self.pairing.done(), on_their_way);
        if now == before {
            return Ok(());
        }
        match now {
            Listen::Departures => self.pairing.close(),
            Listen::Arrivals => self.pairing.reopen(),
            Listen::Everything | Listen::Nothing => {}
        }
        self.points.listen(now)
    }

    fn snapshot(&mut self) -> Result<Snapshot> {
        self.take()?;
        let now_ns = kernel_ns();
        let lost = self.points.lost()?;
        if lost > self.lost_before {
            self.pairing.give_up();
        }
        let (devices, apart) = self.pairing.drain();
        Ok(Snapshot {
            elapsed_ns: now_ns - std::mem::replace(&mut self.snapshot_ns, now_ns),
            watched_ns: self.gate.take_watched_ns(now_ns),
            lost_events: lost - std::mem::replace(&mut self.lost_before, lost),
            unpaired: apart.unpaired,
            unfinished: apart.unfinished,
            devices,
        })
    }
}

/// A watch that is on; it is off, and its instance gone, when it is dropped.
pub struct Watch {
    thread: RingThread<Reader>,
    notes: Vec<String>,
}

impl Watch {
    /// Begins to watch. Fails where tracing cannot be used.
    pub fn start(options: &Options) -> Result<Watch> {
        let tracefs = Tracefs::find()?;
        let mut points = RequestPoints::create(tracefs.root(), &options.devices, options.ring_kb)?;
        let now_ns = kernel_ns();
        let wanted = Wanted {
            devices: options.devices.clone(),
            ops: options.ops.clone(),
            size_bytes: options.size_bytes,
            slow_ns: options.slow_ns,
        };
        let mut gate = Gate::new(options.budget_per_s, now_ns);
        points.listen(gate.next(now_ns, 0, 0))?;
        let notes = tracefs.notes();
        let reader = Reader {
            points,
            _tracefs: tracefs,
            pairing: TimedRequests::new(wanted),
            gate,
            events: Vec::new(),
            snapshot_ns: kernel_ns(),
            lost_before: 0,
        };
        let thread = RingThread::start("iocast-blk", reader, Duration::ZERO)?;
        Ok(Watch { thread, notes })
    }

    /// What somebody should know of how it was set up.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What was seen since the last snapshot, or the beginning.
    pub fn snapshot(&self) -> Result<Snapshot> {
        self.thread.ask(Reader::snapshot)
    }
}
