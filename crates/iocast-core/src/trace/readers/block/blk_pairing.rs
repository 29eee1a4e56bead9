//! Queueing, issue and completion of a block request become one event; what has no partner is counted.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};

use crate::trace::columns::{Rows, has_extent};
use crate::trace::event::{Event, Layer, Op, flags};
use crate::trace::report::FileReport;

/// Requests under way, at most: a trace without completions must not fill the memory.
const OPEN_AT_MOST: usize = 1 << 16;
const SECTOR: u64 = 512;

/// One record of a block trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Where it was seen, on the trace's own clock.
    pub at_ns: i64,
    /// Kernel's number of the device.
    pub device: u32,
    /// Where it begins.
    pub sector: u64,
    /// How long it is.
    pub sectors: u64,
    /// What it asks.
    pub op: Op,
    /// Bits of `event::flags`.
    pub flags: u16,
    /// Who.
    pub actor: Option<u32>,
    /// Number of the target's name.
    pub target: Option<u32>,
    /// Number of the file: that of the issue, not of the completion.
    pub source: u32,
    /// Line or record.
    pub line: u64,
}

/// What happened to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It came.
    Queue,
    /// It was added to the end of another.
    BackMerge,
    /// It was put in front of another.
    FrontMerge,
    /// It went to the driver.
    Issue,
    /// The driver gave it back.
    Requeue,
    /// It is done, with this errno.
    Complete(Option<i16>),
    /// It was cut here.
    Split(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    device: u32,
    sector: u64,
    flush: bool,
}

impl std::hash::Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.sector ^ (u64::from(self.device) << 40) ^ (u64::from(self.flush) << 63));
    }
}

/// Stirs small whole numbers; no table of it is filled by an enemy for gain.
#[derive(Default)]
pub struct Stirred(u64);

impl Hasher for Stirred {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        // One multiplication: its high bits depend on all of the value, the table wants them low.
        self.0 = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }
}

/// What is under way at one place of a device: a request may be queued while another one there is served.
#[derive(Clone, Copy, Default)]
struct Place {
    queued: Option<Record>,
    issued: Option<Issued>,
}

#[derive(Clone, Copy)]
struct Issued {
    record: Record,
    queued_ns: Option<i64>,
    left: u64,
}

/// The requests of a trace that are under way.
#[derive(Default)]
pub struct Pairing {
    open: HashMap<Key, Place, BuildHasherDefault<Stirred>>,
    queued: usize,
    issued: usize,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    paired: i64,
    queue_to_completion: i64,
    without_completion: i64,
    without_issue: i64,
    merged: i64,
    requeued: i64,
    queued_only: i64,
    issues: i64,
    forgotten: i64,
}

impl Pairing {
    /// One more record, in order of time.
    #[inline(never)]
    pub fn on(&mut self, step: Step, record: Record, rows: &mut Rows) {
        self.on_inlined(step, record, rows);
    }

    /// The same in the caller's own code: a tenth quicker where a record is read in a few steps; readers of text, which
    /// have more to hold in registers, lose by it.
    #[inline(always)]
    pub fn on_inlined(&mut self, step: Step, mut record: Record, rows: &mut Rows) {
        if record.flags & flags::PREFLUSH != 0 && record.sectors == 0 {
            (record.op, record.flags) = (Op::Flush, record.flags & !flags::PREFLUSH);
        }
        if record.op == Op::Flush {
            // The kernel says 0 at its issue and the largest number at its end.
            record.sector = 0;
        }
        match step {
            Step::Queue => self.queue(record),
            Step::BackMerge => {
                self.counts.merged += 1;
                self.take_queued(key(&record, record.sector));
            }
            Step::FrontMerge => self.front_merge(record),
            Step::Issue => self.issue(record, rows),
            Step::Requeue => {
                self.counts.requeued += 1;
                if let Some(back) = self.take_issued(key(&record, record.sector)) {
                    let at_ns = back.queued_ns.unwrap_or(back.record.at_ns);
                    self.queue(Record { at_ns, ..back.record });
                }
            }
            Step::Complete(err) => self.complete(record, err, rows),
            Step::Split(at) => {
                let place = self.open.get(&key(&record, record.sector));
                if let Some(whole) = place.and_then(|place| place.queued) {
                    self.queue(Record { sector: at, ..whole });
                }
            }
        }
    }

    #[inline(always)]
    fn queue(&mut self, record: Record) {
        if self.queued >= OPEN_AT_MOST {
            self.counts.forgotten += self.queued as i64;
            self.queued = 0;
            self.open.retain(|_, place| {
                place.queued = None;
                place.issued.is_some()
            });
        }
        let place = self.open.entry(key(&record, record.sector)).or_default();
        self.queued += usize::from(place.queued.replace(record).is_none());
    }

    fn take_queued(&mut self, at: Key) -> Option<Record> {
        let Entry::Occupied(mut place) = self.open.entry(at) else { return None };
        let found = place.get_mut().queued.take();
        self.queued -= usize::from(found.is_some());
        if place.get().issued.is_none() {
            place.remove();
        }
        found
    }

    #[inline(always)]
    fn take_issued(&mut self, at: Key) -> Option<Issued> {
        let Entry::Occupied(mut place) = self.open.entry(at) else { return None };
        let found = place.get_mut().issued.take();
        self.issued -= usize::from(found.is_some());
        if place.get().queued.is_none() {
            place.remove();
        }
        found
    }

    /// The request begins earlier now; it waits since its first part came.
    fn front_merge(&mut self, record: Record) {
        self.counts.merged += 1;
        let old = self.take_queued(key(&record, record.sector.wrapping_add(record.sectors)));
        if let Some(old) = old {
            self.queue(Record { at_ns: old.at_ns, ..record });
        }
    }

    #[inline(always)]
    fn issue(&mut self, record: Record, rows: &mut Rows) {
        self.counts.issues += 1;
        if self.issued >= OPEN_AT_MOST {
            self.give_up(rows);
        }
        let place = self.open.entry(key(&record, record.sector)).or_default();
        let queued = place.queued.take();
        let queued_ns = queued.map(|queued| queued.at_ns);
        let lost = place.issued.replace(Issued { record, queued_ns, left: record.sectors });
        self.queued -= usize::from(queued.is_some());
        self.issued += usize::from(lost.is_none());
        if let Some(lost) = lost {
            self.counts.without_completion += 1;
            tell(rows, &lost.record, lost.queued_ns, None, None, Layer::BlockDevice);
        }
    }

    #[inline(always)]
    fn complete(&mut self, record: Record, err: Option<i16>, rows: &mut Rows) {
        let at = key(&record, record.sector);
        if let Some(mut issued) = self.take_issued(at) {
            if record.sectors > 0 && record.sectors < issued.left {
                issued.left -= record.sectors;
                let rest = key(&record, record.sector.wrapping_add(record.sectors));
                let place = self.open.entry(rest).or_default();
                self.issued += usize::from(place.issued.replace(issued).is_none());
                return;
            }
            self.counts.paired += 1;
            let done = Some(record.at_ns);
            tell(rows, &issued.record, issued.queued_ns, done, err, Layer::BlockDevice);
        } else if let Some(queued) = self.take_queued(at) {
            self.counts.queue_to_completion += 1;
            tell(rows, &queued, None, Some(record.at_ns), err, Layer::BlockQueue);
        } else {
            self.counts.without_issue += 1;
        }
    }

    /// Those under way are told without an end.
    fn give_up(&mut self, rows: &mut Rows) {
        let mut open: Vec<Issued> = self.open.values_mut().filter_map(|place| place.issued.take()).collect();
        self.open.retain(|_, place| place.queued.is_some());
        self.issued = 0;
        open.sort_by_key(|issued| issued.record.line);
        self.counts.without_completion += open.len() as i64;
        for issued in open {
            tell(rows, &issued.record, issued.queued_ns, None, None, Layer::BlockDevice);
        }
    }

    /// The trace is over.
    pub fn end(&mut self, rows: &mut Rows, report: &mut FileReport) {
        self.give_up(rows);
        let mut left: Vec<Record> = self.open.drain().filter_map(|(_, place)| place.queued).collect();
        self.queued = 0;
        left.sort_by_key(|queued| queued.line);
        self.counts.queued_only += left.len() as i64;
        if self.counts.issues == 0 {
            left.iter().for_each(|queued| tell(rows, queued, None, None, None, Layer::BlockQueue));
        }
        let counts = &self.counts;
        if counts.paired + counts.queue_to_completion + counts.issues + counts.queued_only == 0
            && counts.without_issue > 0
        {
            report
                .notes
                .push("completions only: without issues (D) or queueing (Q) no time is known".to_string());
        }
        for (name, count) in [
            ("issue_to_completion", counts.paired),
            ("queue_to_completion_only", counts.queue_to_completion),
            ("issued_without_completion", counts.without_completion),
            ("completed_without_issue", counts.without_issue),
            ("merged", counts.merged),
            ("requeued", counts.requeued),
            ("queued_without_issue", counts.queued_only + counts.forgotten),
        ] {
            report.figures.insert(name.to_string(), count);
        }
    }
}

fn key(record: &Record, sector: u64) -> Key {
    Key { device: record.device, sector, flush: record.op == Op::Flush }
}

/// One event, under the file of its issue; the reader's own file stays the current one.
fn tell(
    rows: &mut Rows,
    record: &Record,
    queued_ns: Option<i64>,
    done_ns: Option<i64>,
    err: Option<i16>,
    layer: Layer,
) {
    let after = |from: i64, to: i64| to.checked_sub(from).filter(|ns| *ns >= 0);
    let mut event = Event::new(record.op, layer, record.line);
    event.ts_ns = Some(record.at_ns);
    event.lat_ns = done_ns.and_then(|done| after(record.at_ns, done));
    event.queue_ns = queued_ns.and_then(|queued| after(queued, record.at_ns));
    if has_extent(record.op) {
        let bytes = |sectors: u64| sectors.checked_mul(SECTOR).and_then(|bytes| i64::try_from(bytes).ok());
        event.offset = bytes(record.sector);
        event.size = bytes(record.sectors);
    }
    event.target = record.target;
    event.actor = record.actor;
    event.flags = record.flags;
    event.err = err;
    let current = std::mem::replace(&mut rows.source, record.source);
    rows.push(&event);
    rows.source = current;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(at_ns: i64, sector: u64, sectors: u64) -> Record {
        Record {
            at_ns,
            device: 1,
            sector,
            sectors,
            op: Op::Write,
            flags: 0,
            actor: None,
            target: None,
            source: 0,
            line: 1,
        }
    }

    fn read(steps: &[(Step, Record)]) -> (u64, FileReport) {
        let (mut pairing, mut rows, mut report) =
            (Pairing::default(), Rows::default(), FileReport::default());
        steps.iter().for_each(|(step, record)| pairing.on(*step, *record, &mut rows));
        pairing.end(&mut rows, &mut report);
        (rows.events, report)
    }

    #[test]
    fn merges_splits_and_requeues_are_one_request_each() {
        let (events, report) = read(&[
            (Step::Queue, record(0, 100, 8)),
            (Step::Queue, record(5, 108, 8)),
            (Step::BackMerge, record(6, 108, 8)),
            (Step::Queue, record(7, 92, 8)),
            (Step::FrontMerge, record(8, 92, 8)),
            (Step::Issue, record(10, 92, 24)),
            (Step::Requeue, record(11, 92, 24)),
            (Step::Issue, record(12, 92, 24)),
            (Step::Complete(Some(0)), record(20, 92, 8)),
            (Step::Complete(Some(0)), record(30, 100, 16)),
        ]);
        assert_eq!(events, 1);
        assert_eq!((report.figures["issue_to_completion"], report.figures["merged"]), (1, 2));
        assert_eq!(report.figures["queued_without_issue"], 0);
    }

    #[test]
    fn what_has_no_partner_is_counted_and_has_no_latency() {
        let (events, report) =
            read(&[(Step::Issue, record(1, 0, 8)), (Step::Complete(None), record(3, 8, 8))]);
        assert_eq!(events, 1);
        assert_eq!(report.figures["issued_without_completion"], 1);
        assert_eq!(report.figures["completed_without_issue"], 1);
    }

    #[test]
    fn a_trace_without_completions_stays_in_bounds() {
        let (mut pairing, mut rows) = (Pairing::default(), Rows::default());
        for index in 0..200_000 {
            pairing.on(Step::Issue, record(index, index as u64 * 8, 8), &mut rows);
            pairing.on(Step::Queue, record(index, index as u64 * 8 + 4, 8), &mut rows);
        }
        assert!(pairing.issued <= OPEN_AT_MOST && pairing.queued <= OPEN_AT_MOST);
        let (issued, queued) = (pairing.issued, pairing.queued);
        let counted = |of: fn(&Place) -> bool| pairing.open.values().filter(|place| of(place)).count();
        assert_eq!((issued, queued), (counted(|at| at.issued.is_some()), counted(|at| at.queued.is_some())));
    }
}
