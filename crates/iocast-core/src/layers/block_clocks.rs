//! Three clocks of the block layer, by device, operation and size: of bios, of requests, and of the driver alone.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::hash::BuildHasherDefault;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::bio_clock::BioClock;
use super::device_counters::Done;
use super::extrapolated::Extrapolated;
use super::followed::Followed;
use super::power_counts::{PowerCounts, class_of};
use super::ring_ios::{RingCounts, RingIos};
use super::standing::Standing;
use crate::blk::layout::Layout;
use crate::blk::pairing::Quick;
use crate::blk::timed_requests::TimedRequests;
use crate::blk::{BlkOp, Device, Event, Step, instance};
use crate::capture::rings::{Rings, Whose};
use crate::error::Result;

const SECTOR_BYTES: u64 = 512;
/// After a window opened, ends without a beginning are those of what was under way, and nothing to be told.
const SETTLING_NS: u64 = 100_000_000;

/// Tracepoints, what they say, whether a kernel may lack them; in the order in which they are switched on: what is seen to end
/// and not to begin is counted apart, what begins and is not seen to end would be on its way for ever. A request
/// starts with its accounting (Linux 6.5), as that of iostat; before, when it is put into a queue.
const POINTS: [(&str, Step, bool); 8] = [
    ("block/block_rq_requeue", Step::Requeue, true),
    ("block/block_rq_merge", Step::Merge, true),
    ("block/block_rq_complete", Step::Complete, false),
    ("block/block_rq_issue", Step::Issue, false),
    ("block/block_io_start", Step::Insert, true),
    ("block/block_rq_insert", Step::Insert, true),
    ("block/block_split", Step::Split, true),
    ("block/block_bio_queue", Step::Bio, false),
];

/// From when to when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// From the arrival of a bio, after what throttles it, to its end.
    Bio,
    /// From the making of a request to its end: as iostat counts.
    Request,
    /// From the hand-over to the driver to the end.
    Driver,
}

/// What one clock says of one operation and size at one device.
#[derive(Clone, Debug, Serialize)]
pub struct BlockCounts {
    /// The whole device.
    pub device: Device,
    /// Which clock.
    pub clock: Clock,
    /// What was asked.
    pub op: BlkOp,
    /// The class of its size; None above the largest.
    pub size_bytes: Option<u64>,
    /// Since the beginning.
    pub counts: PowerCounts,
}

/// What was not counted, since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BlockApart {
    /// Ends of requests whose hand-over to the driver was not seen.
    pub driver: u64,
    /// Requests whose start was not seen.
    pub request: u64,
    /// Ends of requests that no bio was seen for.
    pub bio: u64,
    /// Requests and bios that were given up: records were lost.
    pub given_up: u64,
}

type Key = (u32, Clock, BlkOp, Option<u64>);

/// See the module.
pub struct BlockClocks {
    rings: Rings,
    layouts: Vec<Layout>,
    ring_ios: Option<RingIos>,
    waiting: Vec<Event>,
    clocks: Clocks,
    settled_ns: u64,
}

/// The clocks, fed with events in order of time.
#[derive(Default)]
struct Clocks {
    bios: BioClock,
    pairing: TimedRequests,
    disks: Disks,
    empty_writes: HashMap<(u32, Clock), VecDeque<u64>>,
    closing: bool,
    settling: bool,
    counts: Extrapolated<Key>,
    apart: BlockApart,
}

impl BlockClocks {
    /// Of these devices, whole ones, or of all when none is given; with `rings_too` of io_uring as well.
    pub fn new(root: &Path, devices: &[Device], ring_kb: u64, rings_too: bool) -> Result<BlockClocks> {
        let mut rings = Rings::create(root, &Whose::default(), Some(ring_kb))?;
        let filter = filter_of(devices);
        let mut layouts = Vec::new();
        let mut started = false;
        for (name, step, may_lack) in POINTS {
            if step == Step::Insert && started {
                continue;
            }
            match rings.add(name, &filter)? {
                Some(text) => {
                    layouts.push(Layout::parse(&text, step).ok_or_else(|| instance::unknown(name))?);
                    started |= step == Step::Insert;
                }
                None if may_lack => {}
                None => return Err(instance::unknown(name)),
            }
        }
        let ring_ios = if rings_too { RingIos::listen(&mut rings)? } else { None };
        Ok(BlockClocks {
            rings,
            layouts,
            ring_ios,
            waiting: Vec::new(),
            clocks: Clocks::default(),
            settled_ns: 0,
        })
    }

    /// Its instance.
    pub fn rings(&self) -> &Rings {
        &self.rings
    }

    /// Counts what happened before `until_ns`; returns how many records that were.
    pub fn round(&mut self, until_ns: u64, followed: &mut Followed) -> Result<u64> {
        let BlockClocks { rings, layouts, ring_ios, waiting, .. } = self;
        rings.read(until_ns, &mut |at_ns, record| {
            let id = record.get(..2).map(|id| u16::from_le_bytes([id[0], id[1]]));
            match layouts.iter().find(|layout| Some(layout.id) == id) {
                Some(layout) => waiting.extend(layout.event(at_ns, record)),
                None => ring_ios.iter_mut().for_each(|ios| ios.seen(at_ns, record)),
            }
        })?;
        waiting.sort_by_key(|event| event.at_ns);
        let ready = waiting.partition_point(|event| event.at_ns < until_ns);
        if self.clocks.settling && until_ns > self.settled_ns {
            self.clocks.settled();
        }
        for event in waiting.drain(..ready) {
            self.clocks.take(event);
        }
        let of_rings = self.ring_ios.as_mut().map_or(0, |ios| ios.round(until_ns, followed));
        Ok(ready as u64 + of_rings)
    }

    /// From now on nothing new begins: what is on its way is followed to its end.
    pub fn close(&mut self) {
        self.clocks.closing = true;
        self.clocks.pairing.close();
        self.ring_ios.iter_mut().for_each(RingIos::close);
    }

    /// Begins again at `now_ns`, with nothing on its way.
    pub fn reopen(&mut self, now_ns: u64) {
        self.give_up();
        self.settled_ns = now_ns + SETTLING_NS;
        self.clocks.pairing.reopen();
        (self.clocks.closing, self.clocks.settling) = (false, true);
        self.ring_ios.iter_mut().for_each(RingIos::reopen);
    }

    /// Requests and bios that are not done.
    pub fn on_their_way(&self) -> u64 {
        self.clocks.pairing.on_their_way().max(self.clocks.bios.on_their_way() as u64)
    }

    /// Records were lost: what is on its way is given up.
    pub fn give_up(&mut self) {
        self.clocks.pairing.give_up();
        self.clocks.bios.give_up();
        self.clocks.empty_writes.clear();
        self.ring_ios.iter_mut().for_each(RingIos::give_up);
    }

    /// A window is over; see `Extrapolated`.
    pub fn settle(&mut self, standing: &Standing) {
        self.clocks.counts.settle(|key| standing.of_device(key.0, key.2));
        self.ring_ios.iter_mut().for_each(|ios| ios.settle(standing));
    }

    /// Requests that this window counted, as the kernel counts them itself.
    pub fn of_window(&self) -> Done {
        let mut done = Done::default();
        for (&(device, clock, op, _), count) in self.clocks.counts.of_window() {
            if clock == Clock::Driver {
                *done.entry((device, op)).or_default() += count;
            }
        }
        done
    }

    /// All that was counted.
    pub fn counts(&self, standing: &Standing) -> Vec<BlockCounts> {
        let all = self.clocks.counts.all(|key| standing.of_device(key.0, key.2)).into_iter();
        all.map(|((device, clock, op, size_bytes), counts)| BlockCounts {
            device: Device::from_kernel(device),
            clock,
            op,
            size_bytes,
            counts,
        })
        .collect()
    }

    /// I/Os of io_uring; None where they cannot be seen.
    pub fn of_rings(&self, standing: &Standing) -> Option<Vec<RingCounts>> {
        self.ring_ios.as_ref().map(|ios| ios.counts(standing))
    }

    /// What was not counted.
    pub fn apart(&mut self) -> BlockApart {
        self.clocks.take_apart();
        let BlockApart { given_up, .. } = self.clocks.apart;
        BlockApart { given_up: given_up + self.clocks.bios.given_up(), ..self.clocks.apart }
    }
}

impl Clocks {
    /// What began before the window opened has ended by now.
    fn settled(&mut self) {
        self.take_apart();
        self.settling = false;
    }

    fn take_apart(&mut self) {
        let of_requests = self.pairing.take_apart();
        self.apart.driver += if self.settling { 0 } else { of_requests.unpaired };
        self.apart.given_up += of_requests.unfinished;
    }

    fn take(&mut self, mut event: Event) {
        if let Some(disk) = self.disks.of(event.device) {
            event.device = disk;
        } else {
            return; // it has bios and no requests: those below it are seen
        }
        if event.sectors == 0 && event.op == BlkOp::Write {
            self.empty_write(&event);
            return;
        }
        match event.step {
            Step::Bio if self.closing => {}
            Step::Bio => self.bios.begun(&event),
            Step::Split => self.bios.cut(&event),
            _ => self.request(&event),
        }
    }

    fn request(&mut self, event: &Event) {
        if event.step == Step::Complete && event.sectors > 0 {
            let Clocks { bios, counts, .. } = &mut *self;
            let known = bios.completed(event, &mut |bio| {
                let bytes = u64::from(bio.sectors) * SECTOR_BYTES;
                let key = (event.device, Clock::Bio, event.op, class_of(bytes));
                counts.record(key, bio.time_ns, bytes, event.failed);
            });
            self.apart.bio += u64::from(!known && !self.closing && !self.settling);
        }
        let Some(done) = self.pairing.ended(event) else { return };
        let bytes = done.size_bytes();
        let key = (event.device, Clock::Driver, done.op, class_of(bytes));
        self.counts.record(key, done.device_ns, bytes, done.failed);
        match done.queue_ns {
            Some(_) => {
                let key = (event.device, Clock::Request, done.op, class_of(bytes));
                self.counts.record(key, done.total_ns(), bytes, done.failed);
            }
            // The kernel's own flush has no bio: who waits for it is an empty write.
            None => self.apart.request += u64::from(done.op != BlkOp::Flush && !self.settling),
        }
    }

    /// Whoever waits for a flush: a write of nothing, which is not handed to the driver itself.
    fn empty_write(&mut self, event: &Event) {
        match event.step {
            Step::Bio | Step::Insert if self.closing => {}
            Step::Bio | Step::Insert => {
                let clock = if event.step == Step::Bio { Clock::Bio } else { Clock::Request };
                self.empty_writes.entry((event.device, clock)).or_default().push_back(event.at_ns);
            }
            Step::Complete => {
                for clock in [Clock::Bio, Clock::Request] {
                    let begun = self.empty_writes.get_mut(&(event.device, clock));
                    let Some(begun_ns) = begun.and_then(VecDeque::pop_front) else { continue };
                    let key = (event.device, clock, BlkOp::Flush, class_of(0));
                    self.counts.record(key, event.at_ns.saturating_sub(begun_ns), 0, event.failed);
                }
            }
            _ => {}
        }
    }
}

/// The disk of each device that was met: itself, or that of a partition; None where it has no requests.
#[derive(Default)]
struct Disks(HashMap<u32, Option<u32>, BuildHasherDefault<Quick>>);

impl Disks {
    fn of(&mut self, number: u32) -> Option<u32> {
        *self.0.entry(number).or_insert_with(|| disk_of(Device::from_kernel(number)))
    }
}

fn disk_of(device: Device) -> Option<u32> {
    let place = folder_of(device);
    if !place.exists() {
        return Some(device.to_kernel()); // gone by now, or hidden
    }
    if !place.join("partition").exists() {
        return place.join("mq").is_dir().then(|| device.to_kernel());
    }
    let (major, minor) = fs::read_to_string(place.join("../dev"))
        .ok()?
        .trim()
        .split_once(':')
        .map(|(a, b)| (a.parse(), b.parse()))?;
    Some(Device { major: major.ok()?, minor: minor.ok()? }.to_kernel())
}

fn folder_of(device: Device) -> PathBuf {
    let link = PathBuf::from(format!("/sys/dev/block/{}:{}", device.major, device.minor));
    fs::canonicalize(&link).unwrap_or(link)
}

/// The kernel's filter of these devices; bios carry the number of the partition that they were sent to.
fn filter_of(devices: &[Device]) -> String {
    let mut numbers: Vec<u32> = Vec::new();
    for device in devices {
        numbers.push(device.to_kernel());
        for entry in fs::read_dir(folder_of(*device)).into_iter().flatten().flatten() {
            if entry.path().join("partition").exists() {
                let text = fs::read_to_string(entry.path().join("dev")).unwrap_or_default();
                let parts = text.trim().split_once(':').map(|(a, b)| (a.parse::<u32>(), b.parse::<u32>()));
                if let Some((Ok(major), Ok(minor))) = parts {
                    numbers.push(Device { major, minor }.to_kernel());
                }
            }
        }
    }
    numbers.iter().map(|number| format!("dev == {number}")).collect::<Vec<_>>().join(" || ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEVICE: u32 = 4000 << 20; // no such device: taken as it is

    fn event(step: Step, op: BlkOp, at_ns: u64, sector: u64, sectors: u32) -> Event {
        Event { at_ns, step, device: DEVICE, sector, sectors, op, failed: false }
    }

    fn counted(events: &[Event]) -> (Vec<(Clock, BlkOp, u64, u64)>, BlockApart) {
        let mut clocks = Clocks::default();
        events.iter().for_each(|event| clocks.take(*event));
        let mut seen: Vec<_> = clocks
            .counts
            .all(|_| 1.0)
            .iter()
            .map(|(key, all)| (key.1, key.2, all.count, all.sum_ns))
            .collect();
        seen.sort();
        (seen, clocks.apart)
    }

    #[test]
    fn each_clock_starts_where_it_should() {
        let read = |step, at_ns| event(step, BlkOp::Read, at_ns, 8, 16);
        let events =
            [read(Step::Bio, 10), read(Step::Insert, 30), read(Step::Issue, 60), read(Step::Complete, 160)];
        let expected = vec![
            (Clock::Bio, BlkOp::Read, 1, 150),
            (Clock::Request, BlkOp::Read, 1, 130),
            (Clock::Driver, BlkOp::Read, 1, 100),
        ];
        assert_eq!(counted(&events), (expected, BlockApart::default()));
    }

    #[test]
    fn what_began_before_the_watch_is_counted_apart() {
        let read = |step, at_ns| event(step, BlkOp::Read, at_ns, 8, 16);
        let (seen, apart) = counted(&[read(Step::Issue, 60), read(Step::Complete, 160)]);
        assert_eq!(seen, [(Clock::Driver, BlkOp::Read, 1, 100)]);
        assert_eq!(apart, BlockApart { request: 1, bio: 1, ..BlockApart::default() });
    }

    #[test]
    fn a_window_counts_what_began_in_it() {
        let read = |step, at_ns, sector| event(step, BlkOp::Read, at_ns, sector, 16);
        let mut clocks = Clocks::default();
        let all = [Step::Bio, Step::Insert, Step::Issue];
        all.iter().for_each(|step| clocks.take(read(*step, 10, 8)));
        clocks.closing = true;
        clocks.pairing.close();
        all.iter().for_each(|step| clocks.take(read(*step, 20, 800))); // after it closed
        clocks.take(read(Step::Complete, 50, 8));
        clocks.take(read(Step::Complete, 60, 800));
        let mut seen: Vec<_> =
            clocks.counts.all(|_| 1.0).iter().map(|(key, all)| (key.1, all.sum_ns)).collect();
        seen.sort();
        assert_eq!(seen, [(Clock::Bio, 40), (Clock::Request, 40), (Clock::Driver, 40)]);
        clocks.take_apart();
        assert_eq!(clocks.apart, BlockApart::default(), "nobody promised to count it");
    }

    #[test]
    fn a_flush_is_waited_for_by_an_empty_write() {
        let events = [
            event(Step::Bio, BlkOp::Write, 10, 0, 0),
            event(Step::Insert, BlkOp::Write, 12, 0, 0),
            event(Step::Issue, BlkOp::Flush, 20, 0, 0),
            event(Step::Complete, BlkOp::Flush, 70, 0, 0),
            event(Step::Complete, BlkOp::Write, 71, 0, 0),
        ];
        let expected = vec![
            (Clock::Bio, BlkOp::Flush, 1, 61),
            (Clock::Request, BlkOp::Flush, 1, 59),
            (Clock::Driver, BlkOp::Flush, 1, 50),
        ];
        assert_eq!(counted(&events), (expected, BlockApart::default()));
    }
}
