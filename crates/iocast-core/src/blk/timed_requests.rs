//! The requests of devices as they end: how long each queued, how long the device had it.
//!
//! What began before the watch, or was merged into another, is never averaged in: it is counted apart.

use std::collections::{BTreeMap, HashMap};

use super::device_times::{DeviceTimes, Done, Tally};
use super::pairing::{Open, Requests};
use super::{BlkOp, Device, Event, Step};

/// More than this are never waiting: what is left over from merges that were not seen is thrown away.
const MOST_QUEUED: usize = 1 << 17;

type Key = (u32, u64, BlkOp);

/// A request, as it was queued or issued.
#[derive(Clone, Copy, Debug)]
struct Placed {
    sector: u64,
    sectors: u32,
}

/// Which requests count.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// These devices; all when empty.
    pub devices: Vec<Device>,
    /// These operations; all when empty.
    pub ops: Vec<BlkOp>,
    /// This size alone.
    pub size_bytes: Option<u64>,
    /// Those that took longer are kept by name.
    pub slow_ns: Option<u64>,
}

/// Counts that say how far the histograms can be trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Apart {
    /// Completions of requests whose issue was not seen.
    pub unpaired: u64,
    /// Requests given up: still on their way when the watch had to close, or when records were lost.
    pub unfinished: u64,
}

/// The requests on their way, and the tallies of those that are done.
#[derive(Default)]
pub struct TimedRequests {
    wanted: Wanted,
    requests: Requests<Key, Placed>,
    tallies: BTreeMap<u32, Tally>,
    apart: Apart,
    closing: bool,
    done: u64,
}

impl TimedRequests {
    /// For the requests that are wanted.
    pub fn new(wanted: Wanted) -> TimedRequests {
        let tallies = wanted.devices.iter().map(|device| (device.to_kernel(), Tally::default())).collect();
        TimedRequests { wanted, tallies, ..TimedRequests::default() }
    }

    /// Takes one event, and counts the request that it ends; they come in order of time.
    pub fn take(&mut self, event: &Event) {
        let Some(done) = self.ended(event) else { return };
        if self.wanted.size_bytes.is_none_or(|size| size == done.size_bytes()) {
            self.tallies.entry(event.device).or_default().record(&done, self.wanted.slow_ns);
        }
    }

    /// Handles one event and returns the request that it completes, which the caller has to count.
    pub fn ended(&mut self, event: &Event) -> Option<Done> {
        let of_interest = self.wanted.devices.is_empty() || self.tallies.contains_key(&event.device);
        if !of_interest || !(self.wanted.ops.is_empty() || self.wanted.ops.contains(&event.op)) {
            return None;
        }
        let key = (event.device, event.sector, event.op);
        let placed = Placed { sector: event.sector, sectors: event.sectors };
        let (at_ns, sectors) = (event.at_ns as i64, u64::from(event.sectors));
        match event.step {
            Step::Insert if self.closing => {}
            Step::Insert => {
                if self.requests.queued() >= MOST_QUEUED {
                    self.requests.take_queued();
                }
                self.requests.queue(key, placed, at_ns);
            }
            Step::Issue if self.closing => {
                self.requests.issue_queued(key, placed, at_ns, sectors);
            }
            Step::Issue => self.requests.issue(key, placed, at_ns, sectors),
            Step::Requeue => self.requests.requeue(key),
            Step::Merge => {
                self.requests.merge(key);
            }
            Step::Complete => return self.complete(key, event),
            Step::Bio | Step::Split => {}
        }
        None
    }

    fn complete(&mut self, key: Key, event: &Event) -> Option<Done> {
        let sectors = u64::from(event.sectors);
        let Some(open) = self.requests.complete(key, sectors) else {
            // The carrier of a flush has nothing to issue: the flush itself is a request of its own.
            // While the watch closes, others end that it never followed.
            self.apart.unpaired += u64::from(event.sectors > 0 && !self.closing);
            return None;
        };
        if sectors > 0 && sectors < open.left && !event.failed {
            let at = (event.device, event.sector + sectors, event.op);
            self.requests.go_on(at, Open { left: open.left - sectors, ..open });
            return None;
        }
        self.done += 1;
        Some(done_by(event, &open))
    }

    /// From now on nothing new begins: only what is on its way is followed to its end.
    pub fn close(&mut self) {
        self.closing = true;
        self.requests.take_queued();
    }

    /// Begins again, with nothing on its way; what was is given up.
    pub fn reopen(&mut self) {
        self.give_up();
        self.closing = false;
    }

    /// Forgets all that is on its way. Where records were lost an end may be among them, and the next request at
    /// the same sector would be given the beginning of the one before.
    pub fn give_up(&mut self) {
        self.apart.unfinished += self.on_their_way();
        self.requests = Requests::default();
    }

    /// Requests issued and not done.
    pub fn on_their_way(&self) -> u64 {
        self.requests.issued() as u64
    }

    /// Requests that were followed from their issue to their end, since the beginning.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// What was counted apart since this, or a drain, was asked for.
    pub fn take_apart(&mut self) -> Apart {
        std::mem::take(&mut self.apart)
    }

    /// Everything since the last drain, device by device.
    pub fn drain(&mut self) -> (Vec<DeviceTimes>, Apart) {
        let mut in_flight: HashMap<u32, u64> = HashMap::new();
        for (device, ..) in self.requests.issued_at() {
            *in_flight.entry(*device).or_default() += 1;
        }
        let drained = |(&number, tally): (&u32, &mut Tally)| {
            tally.drain(Device::from_kernel(number), in_flight.get(&number).copied().unwrap_or(0))
        };
        (self.tallies.iter_mut().map(drained).collect(), std::mem::take(&mut self.apart))
    }
}

fn done_by(event: &Event, open: &Open<Placed>) -> Done {
    let issued_ns = open.issued_ns.unwrap_or_default();
    Done {
        at_ns: event.at_ns,
        op: event.op,
        sector: open.record.sector,
        sectors: open.record.sectors,
        queue_ns: open.queued_ns.map(|queued_ns| issued_ns.saturating_sub(queued_ns).max(0) as u64),
        device_ns: event.at_ns.saturating_sub(issued_ns as u64),
        failed: event.failed,
    }
}

#[cfg(test)]
#[path = "timed_requests_tests.rs"]
mod tests;
