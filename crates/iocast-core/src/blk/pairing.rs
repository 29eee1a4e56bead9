//! Puts the steps of a request together by device, sector and operation: how long it queued, how long the device had it.
//!
//! The tracepoints name no request, so of two of the same operation at the same sector the one that is as long as what
//! ended is taken, and first in, first out among those. What began before the watch, or was merged into another, is never averaged in: it is counted apart.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use super::device_times::{DeviceTimes, Done, Tally};
use super::{BlkOp, Device, Event, Step};

/// More than this are never waiting: what is left over from merges that were not seen is thrown away.
const MOST_OPEN: usize = 1 << 17;

type Key = (u32, u64, BlkOp);

/// One multiplication a word: the table is looked at for every record, and its keys are nobody's to choose.
#[derive(Default)]
pub struct Quick(u64);

impl Hasher for Quick {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(23) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_isize(&mut self, value: isize) {
        self.write_u64(value as u64);
    }
}

/// A request on its way. A time of 0 is one that was not seen.
#[derive(Clone, Copy, Debug)]
struct Open {
    inserted_ns: u64,
    issued_ns: u64,
    sectors: u32,
    left: u32, // not done yet: a driver may complete a request in parts
    sector: u64,
}

/// All requests that have one key: nearly always one.
#[derive(Default)]
struct Slot(smallest::Few<Open>);

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
pub struct Pairing {
    wanted: Wanted,
    open: HashMap<Key, Slot, BuildHasherDefault<Quick>>,
    tallies: BTreeMap<u32, Tally>,
    apart: Apart,
    closing: bool,
    done: u64,
}

impl Pairing {
    /// For the requests that are wanted.
    pub fn new(wanted: Wanted) -> Pairing {
        let tallies = wanted.devices.iter().map(|device| (device.to_kernel(), Tally::default())).collect();
        Pairing { wanted, tallies, ..Pairing::default() }
    }

    /// Takes one event, and counts the request that it ends; they come in order of time.
    pub fn take(&mut self, event: &Event) {
        let Some(done) = self.ended(event) else { return };
        if self.wanted.size_bytes.is_none_or(|size| size == done.size_bytes()) {
            self.tallies.entry(event.device).or_default().record(&done, self.wanted.slow_ns);
        }
    }

    /// Takes one event; the request that it ends, which is counted by nobody yet.
    pub fn ended(&mut self, event: &Event) -> Option<Done> {
        let of_interest = self.wanted.devices.is_empty() || self.tallies.contains_key(&event.device);
        if !of_interest || !(self.wanted.ops.is_empty() || self.wanted.ops.contains(&event.op)) {
            return None;
        }
        let key = (event.device, event.sector, event.op);
        match event.step {
            Step::Insert if self.closing => {}
            Step::Insert => self.insert(key, event),
            Step::Issue => self.issue(key, event),
            Step::Requeue => self.requeue(key),
            Step::Merge => self.forget_queued(key),
            Step::Complete => return self.complete(key, event),
            Step::Bio | Step::Split => {}
        }
        None
    }

    fn insert(&mut self, key: Key, event: &Event) {
        if self.open.len() >= MOST_OPEN {
            self.open.retain(|_, slot| slot.0.any(|open| open.issued_ns > 0));
        }
        let (sectors, sector) = (event.sectors, event.sector);
        let fresh = Open { inserted_ns: event.at_ns, issued_ns: 0, sectors, left: sectors, sector };
        self.open.entry(key).or_default().0.push(fresh);
    }

    fn issue(&mut self, key: Key, event: &Event) {
        if self.closing && !self.open.contains_key(&key) {
            return;
        }
        let slot = self.open.entry(key).or_default();
        // The last that was inserted: one before it that was never issued has gone into another request.
        match slot.0.last_where(|open| open.issued_ns == 0) {
            Some(queued) => {
                queued.issued_ns = event.at_ns;
                (queued.sectors, queued.left) = (event.sectors, event.sectors);
            }
            None if self.closing => {}
            None => slot.0.push(Open {
                inserted_ns: 0,
                issued_ns: event.at_ns,
                sectors: event.sectors,
                left: event.sectors,
                sector: event.sector,
            }),
        }
    }

    fn requeue(&mut self, key: Key) {
        let Some(slot) = self.open.get_mut(&key) else { return };
        if let Some(back) = slot.0.last_where(|open| open.issued_ns > 0) {
            // All of the time until it is issued for good is queueing.
            back.inserted_ns = if back.inserted_ns > 0 { back.inserted_ns } else { back.issued_ns };
            back.issued_ns = 0;
        }
    }

    fn forget_queued(&mut self, key: Key) {
        if let Some(slot) = self.open.get_mut(&key) {
            slot.0.remove_last(|open| open.issued_ns == 0);
            if slot.0.is_empty() {
                self.open.remove(&key);
            }
        }
    }

    fn complete(&mut self, key: Key, event: &Event) -> Option<Done> {
        let Some(open) = self.take_issued(key, event.sectors) else {
            // The carrier of a flush has nothing to issue: the flush itself is a request of its own.
            // While the watch closes, others end that it never followed.
            self.apart.unpaired += u64::from(event.sectors > 0 && !self.closing);
            return None;
        };
        if event.sectors > 0 && event.sectors < open.left && !event.failed {
            let rest = Open { left: open.left - event.sectors, ..open };
            let at = (event.device, event.sector + u64::from(event.sectors), event.op);
            self.open.entry(at).or_default().0.push(rest);
            return None;
        }
        self.done += 1;
        Some(done_by(event, &open))
    }

    /// Where lengths differ: taken for one that ended in part, the longer one would leave a rest behind, and each request
    /// at that place would be given the beginning of the one before.
    fn take_issued(&mut self, key: Key, sectors: u32) -> Option<Open> {
        let slot = self.open.get_mut(&key)?;
        let whole = slot.0.remove_first(|open| open.issued_ns > 0 && open.left == sectors);
        let open = whole.or_else(|| slot.0.remove_first(|open| open.issued_ns > 0))?;
        // What was inserted before it and never issued has gone into another request.
        slot.0.drop_where(|left| left.issued_ns == 0 && left.inserted_ns <= open.inserted_ns);
        if slot.0.is_empty() {
            self.open.remove(&key);
        }
        Some(open)
    }

    /// From now on nothing new begins: only what is on its way is followed to its end.
    pub fn close(&mut self) {
        self.closing = true;
        self.open.retain(|_, slot| slot.0.any(|open| open.issued_ns > 0));
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
        self.open.clear();
    }

    /// Requests issued and not done.
    pub fn on_their_way(&self) -> u64 {
        self.open.values().map(|slot| slot.0.count(|open| open.issued_ns > 0)).sum()
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
        for (key, slot) in &self.open {
            *in_flight.entry(key.0).or_default() += slot.0.count(|open| open.issued_ns > 0);
        }
        let drained = |(&number, tally): (&u32, &mut Tally)| {
            tally.drain(Device::from_kernel(number), in_flight.get(&number).copied().unwrap_or(0))
        };
        (self.tallies.iter_mut().map(drained).collect(), std::mem::take(&mut self.apart))
    }
}

fn done_by(event: &Event, open: &Open) -> Done {
    Done {
        at_ns: event.at_ns,
        op: event.op,
        sector: open.sector,
        sectors: open.sectors,
        queue_ns: (open.inserted_ns > 0).then(|| open.issued_ns.saturating_sub(open.inserted_ns)),
        device_ns: event.at_ns.saturating_sub(open.issued_ns),
        failed: event.failed,
    }
}

/// A list that is nearly always one long, and then needs no memory of its own.
mod smallest {
    /// In the order of arrival.
    pub struct Few<T> {
        first: Option<T>,
        more: Vec<T>,
    }

    impl<T> Default for Few<T> {
        fn default() -> Self {
            Few { first: None, more: Vec::new() }
        }
    }

    impl<T> Few<T> {
        pub fn push(&mut self, value: T) {
            if self.first.is_none() && self.more.is_empty() {
                self.first = Some(value);
            } else {
                self.more.push(value);
            }
        }

        pub fn is_empty(&self) -> bool {
            self.first.is_none() && self.more.is_empty()
        }

        fn iter(&self) -> impl Iterator<Item = &T> {
            self.first.iter().chain(&self.more)
        }

        pub fn any(&self, test: impl Fn(&T) -> bool) -> bool {
            self.iter().any(test)
        }

        pub fn count(&self, test: impl Fn(&T) -> bool) -> u64 {
            self.iter().filter(|value| test(value)).count() as u64
        }

        pub fn last_where(&mut self, test: impl Fn(&T) -> bool) -> Option<&mut T> {
            self.first.iter_mut().chain(&mut self.more).rev().find(|value| test(value))
        }

        pub fn remove_first(&mut self, test: impl Fn(&T) -> bool) -> Option<T> {
            if self.first.as_ref().is_some_and(&test) {
                return self.first.take();
            }
            self.more.iter().position(test).map(|at| self.more.remove(at))
        }

        pub fn remove_last(&mut self, test: impl Fn(&T) -> bool) -> Option<T> {
            match self.more.iter().rposition(&test) {
                Some(at) => Some(self.more.remove(at)),
                None if self.first.as_ref().is_some_and(test) => self.first.take(),
                None => None,
            }
        }

        pub fn drop_where(&mut self, test: impl Fn(&T) -> bool) {
            if self.first.as_ref().is_some_and(&test) {
                self.first = None;
            }
            self.more.retain(|value| !test(value));
        }
    }
}

#[cfg(test)]
#[path = "pairing_tests.rs"]
mod tests;
