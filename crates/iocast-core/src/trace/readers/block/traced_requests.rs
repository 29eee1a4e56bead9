//! Queueing, issue and completion of a block request become one event; what has no partner is counted.

use crate::blk::pairing::{Open, Requests};
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
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u64(self.sector ^ (u64::from(self.device) << 40) ^ (u64::from(self.flush) << 63));
    }
}

/// The requests of a trace that are under way.
#[derive(Default)]
pub struct TracedRequests {
    requests: Requests<Key, Record>,
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

impl TracedRequests {
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
                self.requests.merge(key(&record, record.sector));
            }
            Step::FrontMerge => self.front_merge(record),
            Step::Issue => self.issue(record, rows),
            Step::Requeue => {
                self.counts.requeued += 1;
                self.requests.requeue(key(&record, record.sector));
            }
            Step::Complete(err) => self.complete(record, err, rows),
            Step::Split(at) => {
                if let Some(whole) = self.requests.queued_last(key(&record, record.sector)) {
                    let at_ns = whole.queued_ns.unwrap_or(whole.record.at_ns);
                    self.queue(Record { sector: at, at_ns, ..whole.record });
                }
            }
        }
    }

    #[inline(always)]
    fn queue(&mut self, record: Record) {
        if self.requests.queued() >= OPEN_AT_MOST {
            self.counts.forgotten += self.requests.take_queued().len() as i64;
        }
        self.requests.queue(key(&record, record.sector), record, record.at_ns);
    }

    /// The request begins earlier now; it waits since its first part came.
    fn front_merge(&mut self, record: Record) {
        self.counts.merged += 1;
        let old = self.requests.merge(key(&record, record.sector.wrapping_add(record.sectors)));
        if let Some(at_ns) = old.and_then(|old| old.queued_ns) {
            self.requests.merge(key(&record, record.sector));
            self.queue(Record { at_ns, ..record });
        }
    }

    #[inline(always)]
    fn issue(&mut self, record: Record, rows: &mut Rows) {
        self.counts.issues += 1;
        if self.requests.issued() >= OPEN_AT_MOST {
            self.give_up(rows);
        }
        let at = key(&record, record.sector);
        // A trace may be that of one processor, where others saw the ends: what was issued there before has ended.
        while let Some(lost) = self.requests.give_up(at) {
            self.counts.without_completion += 1;
            tell(rows, &lost, None, None, Layer::BlockDevice);
        }
        self.requests.issue(at, record, record.at_ns, record.sectors);
    }

    #[inline(always)]
    fn complete(&mut self, record: Record, err: Option<i16>, rows: &mut Rows) {
        let at = key(&record, record.sector);
        if let Some(open) = self.requests.complete(at, record.sectors) {
            if record.sectors > 0 && record.sectors < open.left {
                let rest = key(&record, record.sector.wrapping_add(record.sectors));
                self.requests.go_on(rest, Open { left: open.left - record.sectors, ..open });
                return;
            }
            self.counts.paired += 1;
            tell(rows, &open, Some(record.at_ns), err, Layer::BlockDevice);
        } else if let Some(queued) = self.requests.merge(at) {
            self.counts.queue_to_completion += 1;
            tell(rows, &queued, Some(record.at_ns), err, Layer::BlockQueue);
        } else {
            self.counts.without_issue += 1;
        }
    }

    /// Those under way are told without an end.
    fn give_up(&mut self, rows: &mut Rows) {
        let mut open = self.requests.take_issued();
        open.sort_by_key(|issued| issued.record.line);
        self.counts.without_completion += open.len() as i64;
        open.iter().for_each(|issued| tell(rows, issued, None, None, Layer::BlockDevice));
    }

    /// The trace is over.
    pub fn end(&mut self, rows: &mut Rows, report: &mut FileReport) {
        self.give_up(rows);
        let mut left = self.requests.take_queued();
        left.sort_by_key(|queued| queued.record.line);
        self.counts.queued_only += left.len() as i64;
        if self.counts.issues == 0 {
            left.iter().for_each(|queued| tell(rows, queued, None, None, Layer::BlockQueue));
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
fn tell(rows: &mut Rows, open: &Open<Record>, done_ns: Option<i64>, err: Option<i16>, layer: Layer) {
    let record = &open.record;
    let begun_ns = open.issued_ns.or(open.queued_ns).unwrap_or(record.at_ns);
    let after = |from: i64, to: i64| to.checked_sub(from).filter(|ns| *ns >= 0);
    let mut event = Event::new(record.op, layer, record.line);
    event.ts_ns = Some(begun_ns);
    event.lat_ns = done_ns.and_then(|done| after(begun_ns, done));
    event.queue_ns = open.issued_ns.zip(open.queued_ns).and_then(|(issued, queued)| after(queued, issued));
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
            (TracedRequests::default(), Rows::default(), FileReport::default());
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
        let (mut pairing, mut rows) = (TracedRequests::default(), Rows::default());
        for index in 0..200_000 {
            pairing.on(Step::Issue, record(index, index as u64 * 8, 8), &mut rows);
            pairing.on(Step::Queue, record(index, index as u64 * 8 + 4, 8), &mut rows);
        }
        let (queued, issued) = (pairing.requests.queued(), pairing.requests.issued());
        assert!(issued <= OPEN_AT_MOST && queued <= OPEN_AT_MOST);
        assert_eq!(pairing.requests.take_issued().len(), issued);
        assert_eq!(pairing.requests.take_queued().len(), queued);
    }
}
