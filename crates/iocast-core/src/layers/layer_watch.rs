//! A watch on the layers: a thread that empties the rings in time, and what was counted since the beginning.

use std::time::Duration;

use rustix::time::ClockId;
use serde::{Deserialize, Serialize};

use super::block_clocks::{BlockApart, BlockClocks, BlockCounts};
use super::followed::{Followed, Who};
use super::power_counts::PowerCounts;
use super::timed_calls::{CallCounts, CallsApart, FileTotals, ProcessTotals, TimedCalls};
use crate::blk::Device;
use crate::blk::ring_thread::{Emptied, RingThread, clock_ns};
use crate::blk::tracefs::Tracefs;
use crate::error::Result;

/// How often the rings are emptied: at 100,000 I/Os a second 20 ms fill a fifteenth of them.
const ROUND: Duration = Duration::from_millis(20);
const RING_KB: u64 = 8 << 10;
/// How often the kernel is asked for lost records: it prints a text for each processor.
const ASK_NS: u64 = 100_000_000;
const FORGET_NS: u64 = 10_000_000_000;

/// What to watch.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// The clocks of the block layer.
    pub blocks: bool,
    /// Of these whole devices; of all when empty.
    pub devices: Vec<Device>,
    /// System calls, and I/Os of io_uring.
    pub calls: bool,
    /// Waits for a processor.
    pub scheduler: bool,
    /// Of these processes and what they start; of commands, or everybody, when empty.
    pub pids: Vec<u32>,
    /// Of commands of these names; of everybody when empty.
    pub commands: Vec<String>,
    /// The ring of each processor.
    pub ring_kb: Option<u64>,
}

/// What was counted since the beginning.
#[derive(Clone, Debug, Serialize)]
pub struct Snapshot {
    /// Records that the rings had no room for.
    pub lost_events: u64,
    /// Records that were read.
    pub events: u64,
    /// CPU time of reading and counting them; the kernel's share of making them is not in it.
    pub cpu_ns: u64,
    /// The clocks of the block layer; None when they are not watched.
    pub blocks: Option<Vec<BlockCounts>>,
    /// What they did not count.
    pub blocks_apart: BlockApart,
    /// System calls and I/Os of io_uring; None when they are not watched.
    pub calls: Option<Vec<CallCounts>>,
    /// What these did not count.
    pub calls_apart: CallsApart,
    /// Whether I/Os of io_uring can be seen.
    pub rings_seen: bool,
    /// Calls by process.
    pub processes: Vec<ProcessTotals>,
    /// Calls by file.
    pub files: Vec<FileTotals>,
    /// Waits for a processor by command; None when they are not watched.
    pub run_delays: Option<Vec<(String, PowerCounts)>>,
}

struct Reader {
    blocks: Option<BlockClocks>,
    calls: Option<TimedCalls>,
    _tracefs: Tracefs, // the paths of the instances go through it: dropped after them
    followed: Followed,
    with_calls: bool,
    lost_before: u64,
    asked_ns: u64,
    events: u64,
    cpu_ns: u64,
    forgot_ns: u64,
}

impl Emptied for Reader {
    fn round(&mut self) -> Result<Duration> {
        self.count()?;
        Ok(ROUND)
    }
}

impl Reader {
    fn start(options: &Options, tracefs: Tracefs) -> Result<Reader> {
        let who = match (&options.pids[..], &options.commands[..]) {
            ([], []) => Who::Everybody,
            ([], names) => Who::Commands(names.to_vec()),
            (pids, _) => Who::Processes(pids.to_vec()),
        };
        let (root, ring_kb) = (tracefs.root(), options.ring_kb.unwrap_or(RING_KB));
        let blocks = match options.blocks {
            true => Some(BlockClocks::new(root, &options.devices, ring_kb, options.calls)?),
            false => None,
        };
        let calls = match options.calls || options.scheduler {
            true => Some(TimedCalls::new(root, &who, ring_kb, options.scheduler)?),
            false => None,
        };
        if let Some(calls) = &calls {
            calls.rings().on()?;
        }
        if let Some(blocks) = &blocks {
            blocks.rings().on()?;
        }
        Ok(Reader {
            blocks,
            calls,
            _tracefs: tracefs,
            followed: Followed::new(who),
            with_calls: options.calls,
            lost_before: 0,
            asked_ns: 0,
            events: 0,
            cpu_ns: 0,
            forgot_ns: clock_ns(ClockId::Monotonic),
        })
    }

    /// Counts all that happened until now. What happens meanwhile waits: on another processor its beginning may not
    /// have been read yet.
    fn count(&mut self) -> Result<()> {
        let (now_ns, begun_ns) = (clock_ns(ClockId::Monotonic), clock_ns(ClockId::ThreadCPUTime));
        if now_ns > self.asked_ns + ASK_NS {
            self.asked_ns = now_ns;
            self.give_up_what_is_lost()?;
        }
        if let Some(blocks) = &mut self.blocks {
            self.events += blocks.round(now_ns, &mut self.followed)?;
        }
        if let Some(calls) = &mut self.calls {
            self.events += calls.round(now_ns, &|| clock_ns(ClockId::Monotonic), &mut self.followed)?;
        }
        if now_ns > self.forgot_ns + FORGET_NS {
            self.forgot_ns = now_ns;
            self.followed.forget();
        }
        self.cpu_ns += clock_ns(ClockId::ThreadCPUTime).saturating_sub(begun_ns);
        Ok(())
    }

    fn give_up_what_is_lost(&mut self) -> Result<()> {
        let lost = self.lost()?;
        if lost > self.lost_before {
            self.lost_before = lost;
            self.blocks.iter_mut().for_each(BlockClocks::give_up);
            self.calls.iter_mut().for_each(TimedCalls::give_up);
        }
        Ok(())
    }

    fn lost(&self) -> Result<u64> {
        let blocks = self.blocks.as_ref().map_or(Ok(0), |blocks| blocks.rings().lost())?;
        let calls = self.calls.as_ref().map_or(Ok(0), |calls| calls.rings().lost())?;
        Ok(blocks + calls)
    }

    fn snapshot(&mut self) -> Result<Snapshot> {
        self.count()?;
        let begun_ns = clock_ns(ClockId::ThreadCPUTime);
        let lost_events = self.lost()?;
        let followed = &self.followed;
        let mut calls = self.calls.as_ref().map(|calls| calls.counts(followed)).filter(|_| self.with_calls);
        let rings = self.blocks.as_ref().and_then(BlockClocks::of_rings);
        let rings_seen = rings.is_some();
        if let Some(calls) = &mut calls {
            calls.extend(rings.into_iter().flatten().map(|ios| CallCounts {
                command: followed.name(ios.name).into(),
                call: ios.call,
                size_bytes: ios.size_bytes,
                counts: ios.counts,
            }));
        }
        let mut snapshot = Snapshot {
            lost_events,
            events: self.events,
            cpu_ns: 0,
            blocks: self.blocks.as_ref().map(BlockClocks::counts),
            blocks_apart: self.blocks.as_mut().map(BlockClocks::apart).unwrap_or_default(),
            calls,
            calls_apart: self.calls.as_ref().map(TimedCalls::apart).unwrap_or_default(),
            rings_seen,
            processes: self.calls.as_mut().map(|calls| calls.processes(followed)).unwrap_or_default(),
            files: self.calls.as_ref().map(TimedCalls::files).unwrap_or_default(),
            run_delays: self.calls.as_ref().and_then(|calls| calls.run_delays(followed)),
        };
        self.cpu_ns += clock_ns(ClockId::ThreadCPUTime).saturating_sub(begun_ns);
        snapshot.cpu_ns = self.cpu_ns;
        Ok(snapshot)
    }
}

/// A watch that is on; it is off, and its instances gone, when it is dropped.
pub struct LayerWatch {
    thread: RingThread<Reader>,
    notes: Vec<String>,
}

impl LayerWatch {
    /// Begins to watch. Fails where tracing cannot be used.
    pub fn start(options: &Options) -> Result<LayerWatch> {
        let tracefs = Tracefs::find()?;
        let notes = tracefs.notes();
        let reader = Reader::start(options, tracefs)?;
        let thread = RingThread::start("iocast-layers", reader, ROUND)?;
        Ok(LayerWatch { thread, notes })
    }

    /// What somebody should know of how it was set up.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What was counted since the beginning.
    pub fn snapshot(&self) -> Result<Snapshot> {
        self.thread.ask(Reader::snapshot)
    }
}
