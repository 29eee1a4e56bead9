//! A watch on the layers: a thread that empties the rings in time, and what was counted since the beginning.

use std::time::Duration;

use rustix::time::ClockId;
use serde::{Deserialize, Serialize};

use super::block_clocks::{BlockApart, BlockClocks, BlockCounts};
use super::device_counters::{self, Done};
use super::followed::{Followed, Who};
use super::power_counts::PowerCounts;
use super::process_calls::{self, ProcessCalls};
use super::standing::Standing;
use super::timed_calls::{CallCounts, CallsApart, FileTotals, ProcessTotals, TimedCalls};
use crate::blk::Device;
use crate::blk::gate::{Gate, Listen};
use crate::blk::ring_thread::{Emptied, RingThread};
use crate::blk::tracefs::Tracefs;
use crate::error::Result;
use crate::host::clocks::{clock_ns, kernel_ns};

/// How often the rings are emptied: at 100,000 I/Os a second 20 ms fill a fifteenth of them.
const ROUND: Duration = Duration::from_millis(20);
const RING_KB: u64 = 8 << 10;
/// How often the kernel is asked for lost records: it prints a text for each processor.
const ASK_NS: u64 = 100_000_000;
const FORGET_NS: u64 = 10_000_000_000;
/// With a budget: a window in each half of a second, so that no second is without one.
const PERIOD_NS: u64 = 500_000_000;
/// How long a window that closes waits for what is on its way.
const PATIENCE_NS: u64 = 50_000_000;

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
    /// Above so many records a second only a part of the time is watched; None: all of it.
    pub budget_per_s: Option<f64>,
    /// The ring of each processor.
    pub ring_kb: Option<u64>,
}

/// What was counted since the beginning.
#[derive(Clone, Debug, Serialize)]
pub struct Snapshot {
    /// How long was watched: counts are those of what began meanwhile, made up for the rest of the time. Without a
    /// budget since the beginning.
    pub watched_ns: u64,
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

/// From the beginning of a window to that of the next one.
struct Cycle {
    since_ns: u64,
    watched_ns: u64, // of it
    done: Done,      // by the devices, until it began
    calls: ProcessCalls,
    calls_in_window: ProcessCalls, // until the window closed
    calls_so_far: ProcessCalls,    // until now, or until a process ended
}

impl Cycle {
    fn begin(since_ns: u64, done: Done, calls: ProcessCalls) -> Cycle {
        let (calls_in_window, calls_so_far) = (ProcessCalls::new(), calls.clone());
        Cycle { since_ns, watched_ns: 0, done, calls, calls_in_window, calls_so_far }
    }

    /// For how many times its length a window stands.
    fn factor(&self, now_ns: u64) -> f64 {
        let length_ns = now_ns.saturating_sub(self.since_ns);
        if self.watched_ns == 0 { 1.0 } else { (length_ns as f64 / self.watched_ns as f64).max(1.0) }
    }
}

struct Reader {
    blocks: Option<BlockClocks>,
    calls: Option<TimedCalls>,
    _tracefs: Tracefs, // the paths of the instances go through it: dropped after them
    followed: Followed,
    pids: Vec<u32>,
    with_calls: bool,
    gate: Gate,
    closed_ns: u64, // when the window began to close
    watched_ns: u64,
    cycle: Cycle,
    lost_before: u64,
    asked_ns: u64,
    events: u64,
    cpu_ns: u64,
    forgot_ns: u64,
}

impl Emptied for Reader {
    fn round(&mut self) -> Result<Duration> {
        self.count()?;
        let pause = self.gate.pause(kernel_ns());
        Ok(if self.gate.state() == Listen::Nothing { pause } else { pause.min(ROUND) })
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
        let now_ns = kernel_ns();
        let mut gate = Gate::every(PERIOD_NS, options.budget_per_s, now_ns);
        gate.next(now_ns, 0, 0);
        Ok(Reader {
            blocks,
            calls,
            _tracefs: tracefs,
            followed: Followed::new(who),
            with_calls: options.calls,
            gate,
            closed_ns: 0,
            watched_ns: 0,
            cycle: Cycle::begin(
                now_ns,
                device_counters::read(),
                process_calls::read(options.pids.iter().copied()),
            ),
            pids: options.pids.clone(),
            lost_before: 0,
            asked_ns: 0,
            events: 0,
            cpu_ns: 0,
            forgot_ns: now_ns,
        })
    }

    /// Counts all that happened until now. What happens meanwhile waits: on another processor its beginning may not
    /// have been read yet.
    fn count(&mut self) -> Result<()> {
        let (now_ns, begun_ns) = (kernel_ns(), clock_ns(ClockId::ThreadCPUTime));
        if now_ns > self.asked_ns + ASK_NS {
            self.asked_ns = now_ns;
            self.give_up_what_is_lost()?;
        }
        if let Some(blocks) = &mut self.blocks {
            self.events += blocks.round(now_ns, &mut self.followed)?;
        }
        if let Some(calls) = &mut self.calls {
            self.events += calls.round(now_ns, &kernel_ns, &mut self.followed)?;
        }
        if now_ns > self.forgot_ns + FORGET_NS {
            self.forgot_ns = now_ns;
            self.followed.forget();
        }
        self.turn(now_ns)?;
        self.cpu_ns += clock_ns(ClockId::ThreadCPUTime).saturating_sub(begun_ns);
        Ok(())
    }

    /// Opens and closes the watch, so that its records stay within the budget.
    fn turn(&mut self, now_ns: u64) -> Result<()> {
        let before = self.gate.state();
        let late = before == Listen::Departures && now_ns > self.closed_ns + PATIENCE_NS;
        let on_their_way = if late { 0 } else { self.blocks.as_ref().map_or(0, BlockClocks::on_their_way) };
        let now = self.gate.next(now_ns, self.events, on_their_way);
        match now {
            _ if now == before => {}
            Listen::Departures => {
                self.closed_ns = now_ns;
                self.cycle.calls_in_window = self.by_processes();
                self.blocks.iter_mut().for_each(BlockClocks::close);
                self.calls.iter_mut().for_each(TimedCalls::close);
            }
            Listen::Nothing => {
                self.blocks.iter().for_each(|blocks| blocks.rings().off());
                self.calls.iter().for_each(|calls| calls.rings().off());
            }
            // Switching them all on takes milliseconds, in which some are on and some are not: nothing is counted yet.
            Listen::Arrivals => {
                self.calls.as_ref().map_or(Ok(()), |calls| calls.rings().on())?;
                self.blocks.as_ref().map_or(Ok(()), |blocks| blocks.rings().on())?;
            }
            Listen::Everything => {
                self.calls.iter_mut().for_each(|calls| calls.reopen(now_ns));
                self.blocks.iter_mut().for_each(|blocks| blocks.reopen(now_ns));
            }
        }
        self.watch_the_clock(now_ns);
        Ok(())
    }

    /// A period that stayed within the budget was watched whole, another one until its window closed.
    fn watch_the_clock(&mut self, now_ns: u64) {
        let watched_ns = self.gate.take_watched_ns(now_ns);
        self.watched_ns += watched_ns;
        let begins = self.gate.state() == Listen::Everything && self.gate.since_ns() != self.cycle.since_ns;
        self.cycle.watched_ns += watched_ns;
        if !begins {
            return;
        }
        let done = device_counters::read();
        let standing = self.standing(now_ns, &done);
        self.cycle = Cycle::begin(self.gate.since_ns(), done, self.by_processes());
        self.blocks.iter_mut().for_each(|blocks| blocks.settle(&standing));
        self.calls.iter_mut().for_each(|calls| calls.settle(&standing));
    }

    fn by_processes(&self) -> ProcessCalls {
        self.calls.as_ref().map(|calls| calls.by_processes(&self.pids)).unwrap_or_default()
    }

    /// What the last window stands for; one that was never closed was all of the time.
    fn standing(&mut self, now_ns: u64, done: &Done) -> Standing {
        let by_time = self.cycle.factor(now_ns);
        if by_time <= 1.0 {
            return Standing::for_itself();
        }
        let counted = self.blocks.as_ref().map(BlockClocks::of_window).unwrap_or_default();
        let now = self.by_processes();
        self.cycle.calls_so_far.extend(now);
        let Cycle { calls, calls_in_window, calls_so_far, .. } = &self.cycle;
        let (in_window, in_all) = process_calls::done(calls, calls_in_window, calls_so_far);
        Standing::new(by_time, &counted, &self.cycle.done, done).with_calls(in_window, in_all)
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
        // While a window is open it stands for itself: counts are exact where it never closes.
        let standing = match self.gate.state() {
            Listen::Everything => Standing::for_itself(),
            _ => self.standing(kernel_ns(), &device_counters::read()),
        };
        let (followed, standing) = (&self.followed, &standing);
        let mut calls =
            self.calls.as_ref().map(|calls| calls.counts(followed, standing)).filter(|_| self.with_calls);
        let rings = self.blocks.as_ref().and_then(|blocks| blocks.of_rings(standing));
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
            watched_ns: self.watched_ns,
            lost_events,
            events: self.events,
            cpu_ns: 0,
            blocks: self.blocks.as_ref().map(|blocks| blocks.counts(standing)),
            blocks_apart: self.blocks.as_mut().map(BlockClocks::apart).unwrap_or_default(),
            calls,
            calls_apart: self.calls.as_ref().map(TimedCalls::apart).unwrap_or_default(),
            rings_seen,
            processes: self
                .calls
                .as_mut()
                .map(|calls| calls.processes(followed, standing))
                .unwrap_or_default(),
            files: self.calls.as_ref().map(|calls| calls.files(standing)).unwrap_or_default(),
            run_delays: self.calls.as_ref().and_then(|calls| calls.run_delays(followed, standing)),
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
