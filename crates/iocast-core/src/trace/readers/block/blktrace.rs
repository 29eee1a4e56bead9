//! Binary block traces: the files of all CPUs of one trace are merged by time while they are read.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::io::Read;
use std::path::Path;

use crate::blk::pairing::Quick;
use crate::error::Result;
use crate::trace::columns::Rows;
use crate::trace::columns::{Taker, hand_on};
use crate::trace::event::{Op, flags};
use crate::trace::input::{Bytes, unreadable};
use crate::trace::line_verdict::Broken;
use crate::trace::reader::{Clock, Format, Reading};
use crate::trace::readers::block::traced_requests::{Record, Step, TracedRequests};
use crate::trace::report::FileReport;

/// `blk_io_trace` of either byte order; one file a CPU, or a merged dump.
pub const FORMAT: Format = Format {
    name: "blktrace",
    says: "binary blktrace, one file a CPU or a merged dump",
    sniff: |head| head.bytes.get(..4).is_some_and(|magic| order(magic).is_some()),
    open: |_, _| Ok(Reading::BlockRecords),
};

const HEADER: usize = 48;
const BUFFER: usize = 1 << 18;
const NOTIFY: u32 = 1 << 10;

/// Whether a file is that of one CPU: `NAME.blktrace.N`.
pub fn of_one_cpu(path: &Path) -> bool {
    same_trace(path, path)
}

/// Whether both are files of one trace: `NAME.blktrace.N`.
pub fn same_trace(one: &Path, other: &Path) -> bool {
    let stem = |path: &Path| {
        let text = path.to_str()?;
        let at = text.rfind(".blktrace.")?;
        let cpu = text[at + 10..].split('.').next()?;
        (!cpu.is_empty() && cpu.bytes().all(|byte| byte.is_ascii_digit())).then(|| text[..at].to_string())
    };
    stem(one).is_some_and(|name| stem(other) == Some(name))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Little,
    Big,
}

/// By the magic number, version 7.
fn order(magic: &[u8]) -> Option<Order> {
    match magic {
        [0x07, 0x74, 0x61, 0x65] => Some(Order::Little),
        [0x65, 0x61, 0x74, 0x07] => Some(Order::Big),
        _ => None,
    }
}

#[derive(Clone, Copy)]
struct Header {
    at_ns: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    pid: u32,
    device: u32,
    error: u16,
    extra: usize,
}

fn header(raw: &[u8; HEADER], order: Order) -> Header {
    let u16_at = |at: usize| {
        let bytes = [raw[at], raw[at + 1]];
        if order == Order::Little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) }
    };
    let u32_at = |at: usize| {
        let bytes = [raw[at], raw[at + 1], raw[at + 2], raw[at + 3]];
        if order == Order::Little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) }
    };
    let u64_at = |at: usize| {
        let (first, second) = (u64::from(u32_at(at)), u64::from(u32_at(at + 4)));
        if order == Order::Little { first | (second << 32) } else { (first << 32) | second }
    };
    Header {
        at_ns: u64_at(8),
        sector: u64_at(16),
        bytes: u32_at(24),
        action: u32_at(28),
        pid: u32_at(32),
        device: u32_at(36),
        error: u16_at(44),
        extra: usize::from(u16_at(46)),
    }
}

/// One file: its next record, and a buffer.
struct Feed {
    source: Bytes,
    room: Vec<u8>,
    start: usize,
    end: usize,
    over: bool,
    next: Option<(Header, Order)>,
    extra: Vec<u8>,
    number: u64,
}

impl Feed {
    fn new(source: Bytes) -> Feed {
        let room = vec![0; BUFFER];
        Feed { source, room, start: 0, end: 0, over: false, next: None, extra: Vec::new(), number: 0 }
    }

    /// At least `wanted` bytes, if the file has them.
    #[inline]
    fn fill(&mut self, wanted: usize, path: &str) -> Result<bool> {
        if self.end - self.start >= wanted { Ok(true) } else { self.refill(wanted, path) }
    }

    #[cold]
    fn refill(&mut self, wanted: usize, path: &str) -> Result<bool> {
        while self.end - self.start < wanted && !self.over {
            if self.room.len() - self.start < wanted {
                self.room.copy_within(self.start..self.end, 0);
                (self.start, self.end) = (0, self.end - self.start);
            }
            match self.source.read(&mut self.room[self.end..]) {
                Ok(0) => self.over = true,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable(path, error)),
            }
        }
        Ok(self.end - self.start >= wanted)
    }

    fn place(&self) -> u64 {
        self.source.bytes - (self.end - self.start) as u64 + 1
    }

    /// Makes the next record `next`; None at the end. Damage is skipped up to the next magic number.
    fn advance(&mut self, report: &mut FileReport) -> Result<()> {
        self.next = None;
        let mut lost = false;
        while self.fill(HEADER, &report.path)? {
            let mut raw = [0; HEADER];
            raw.copy_from_slice(&self.room[self.start..self.start + HEADER]);
            let Some(order) = order(&raw[..4]) else {
                if !lost {
                    self.number += 1;
                    report.lines += 1;
                    report.reject(self.number, self.place(), "no magic number of blktrace");
                    lost = true;
                }
                self.start += 1;
                continue;
            };
            let header = header(&raw, order);
            if !self.fill(HEADER + header.extra, &report.path)? {
                break;
            }
            self.number += 1;
            report.lines += 1;
            let body = self.start + HEADER;
            self.extra.clear();
            if header.extra > 0 {
                self.extra.extend_from_slice(&self.room[body..body + header.extra]);
            }
            self.start = body + header.extra;
            self.next = Some((header, order));
            return Ok(());
        }
        if self.end > self.start && !lost {
            self.number += 1;
            report.lines += 1;
            report.reject(self.number, self.place(), "the last record is cut");
        }
        self.start = self.end;
        report.bytes = self.source.bytes;
        report.notes.extend(self.source.note());
        Ok(())
    }
}

/// Reads the files of one trace; `reports` are theirs, in order.
pub fn read_together(
    inputs: Vec<Bytes>,
    rows: &mut Rows,
    reports: &mut [FileReport],
    taker: &mut Taker<'_>,
) -> Result<Clock> {
    let mut feeds: Vec<Feed> = inputs.into_iter().map(Feed::new).collect();
    for (feed, report) in feeds.iter_mut().zip(reports.iter_mut()) {
        feed.advance(report)?;
    }
    let first_source = rows.source;
    let mut trace = Trace::default();
    loop {
        let times = feeds.iter().enumerate().filter_map(|(at, feed)| Some((feed.next.as_ref()?.0.at_ns, at)));
        let first = if feeds.len() == 1 { feeds[0].next.map(|_| (0, 0)) } else { times.min() };
        let Some((_, at)) = first else { break };
        let (feed, report) = (&mut feeds[at], &mut reports[at]);
        rows.source = first_source + at as u32;
        rows.events = 0;
        trace.take(feed, report, rows);
        report.events += rows.events;
        feed.advance(report)?;
        if rows.full() {
            hand_on(rows, taker)?;
        }
    }
    rows.source = first_source;
    rows.events = 0;
    if let Some(first) = reports.first_mut() {
        trace.pairing.end(rows, first);
        first.events += rows.events;
    }
    Ok(Clock { origin: trace.timed.then_some("monotonic"), epoch_ns: trace.epoch_ns, tick_ns: 1 })
}

#[derive(Default)]
struct Trace {
    pairing: TracedRequests,
    timed: bool,
    epoch_ns: Option<i64>,
    targets: Numbers,
    actors: Numbers,
    /// Device and process of the last record, and their numbers.
    last: Option<((u32, u32), (u32, u32))>,
}

type Numbers = HashMap<u32, u32, BuildHasherDefault<Quick>>;

impl Trace {
    fn take(&mut self, feed: &Feed, report: &mut FileReport, rows: &mut Rows) {
        let Some((header, order)) = feed.next else { return };
        if (header.action >> 16) & NOTIFY != 0 {
            if header.action & 0xff == 1 {
                self.epoch_ns = self.epoch_ns.or_else(|| epoch(&header, &feed.extra, order));
            }
            return report.ignore("notice: process name, time or message");
        }
        let Ok(at_ns) = i64::try_from(header.at_ns) else {
            return report.reject(feed.number, feed.place(), "not a time");
        };
        let step = match header.action & 0xff {
            1 => Step::Queue,
            2 => Step::BackMerge,
            3 => Step::FrontMerge,
            6 => Step::Requeue,
            7 => Step::Issue,
            8 => Step::Complete(Some((header.error as i16).saturating_abs())),
            13 => match split_at(&feed.extra) {
                Some(sector) => Step::Split(sector),
                None => return report.reject(feed.number, feed.place(), "a split without its place"),
            },
            4 | 5 | 9..=12 | 14..=17 => return report.ignore("step without a time of its own"),
            _ => return report.reject(feed.number, feed.place(), "not an action"),
        };
        let (op, bits) = asked(header.action >> 16);
        let Ok((target, actor)) = self.names(&header, rows) else {
            return report.reject(feed.number, feed.place(), "more than 1048576 different targets or actors");
        };
        let record = Record {
            at_ns,
            device: header.device,
            sector: header.sector,
            sectors: u64::from(header.bytes / 512),
            op,
            flags: bits,
            actor: Some(actor),
            target: Some(target),
            source: rows.source,
            line: feed.number,
        };
        self.pairing.on_inlined(step, record, rows);
        self.timed = true;
        report.accepted += 1;
    }

    fn names(&mut self, header: &Header, rows: &mut Rows) -> std::result::Result<(u32, u32), Broken> {
        if let Some((asked, known)) = self.last
            && asked == (header.device, header.pid)
        {
            return Ok(known);
        }
        let target = match self.targets.get(&header.device) {
            Some(known) => *known,
            None => {
                let name = format!("{},{}", header.device >> 20, header.device & 0xf_ffff);
                let number = rows.targets.number(name.as_bytes())?;
                self.targets.insert(header.device, number);
                number
            }
        };
        let actor = match self.actors.get(&header.pid) {
            Some(known) => *known,
            None => {
                let number = rows.actors.number(header.pid.to_string().as_bytes())?;
                self.actors.insert(header.pid, number);
                number
            }
        };
        self.last = Some(((header.device, header.pid), (target, actor)));
        Ok((target, actor))
    }
}

fn epoch(header: &Header, extra: &[u8], order: Order) -> Option<i64> {
    let number = |at: usize| {
        let bytes: [u8; 4] = extra.get(at..at + 4)?.try_into().ok()?;
        Some(i64::from(if order == Order::Little {
            u32::from_le_bytes(bytes)
        } else {
            u32::from_be_bytes(bytes)
        }))
    };
    let wall_ns = number(0)? * 1_000_000_000 + number(4)?;
    wall_ns.checked_sub(i64::try_from(header.at_ns).ok()?)
}

fn split_at(extra: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(extra.get(..8)?.try_into().ok()?))
}

/// The operation and flags of the category bits.
fn asked(bits: u32) -> (Op, u16) {
    let has = |bit: u32| bits & (1 << bit) != 0;
    let op = match () {
        () if has(9) => Op::Other,
        () if has(13) => Op::Trim,
        () if has(1) => Op::Write,
        () if has(2) => Op::Flush,
        () if has(0) => Op::Read,
        () => Op::Other,
    };
    let pairs = [(3, flags::SYNC), (11, flags::AHEAD), (12, flags::META), (15, flags::FUA)];
    let mut found = pairs.iter().filter(|(bit, _)| has(*bit)).fold(0, |all, (_, flag)| all | flag);
    if has(2) && op == Op::Write {
        found |= flags::PREFLUSH;
    }
    (op, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_category_bits_say_what_was_asked() {
        let of = |bits: &[u32]| asked(bits.iter().fold(0, |all, bit| all | 1 << bit));
        assert_eq!(of(&[]), (Op::Other, 0));
        assert_eq!(of(&[0]), (Op::Read, 0));
        assert_eq!(of(&[0, 11, 12]), (Op::Read, flags::AHEAD | flags::META));
        assert_eq!(of(&[1, 3, 15]), (Op::Write, flags::SYNC | flags::FUA));
        assert_eq!(of(&[1, 2]), (Op::Write, flags::PREFLUSH));
        assert_eq!(of(&[2, 3]), (Op::Flush, flags::SYNC));
        assert_eq!(of(&[1, 13]), (Op::Trim, 0));
        assert_eq!(of(&[1, 9]), (Op::Other, 0));
    }

    #[test]
    fn both_orders_of_bytes_are_the_same_record() {
        let mut little = [0; HEADER];
        for (at, number) in (0_u8..48).enumerate() {
            little[at] = number;
        }
        let mut big = [0; HEADER];
        for (start, length) in
            [(0, 4), (4, 4), (8, 8), (16, 8), (24, 4), (28, 4), (32, 4), (36, 4), (40, 4), (44, 2), (46, 2)]
        {
            for byte in 0..length {
                big[start + byte] = little[start + length - 1 - byte];
            }
        }
        let (one, other) = (header(&little, Order::Little), header(&big, Order::Big));
        assert_eq!(one.at_ns, 0x0f0e_0d0c_0b0a_0908);
        assert_eq!((one.sector, one.bytes, one.action), (other.sector, other.bytes, other.action));
        assert_eq!((one.at_ns, one.pid, one.device), (other.at_ns, other.pid, other.device));
        assert_eq!((one.error, one.extra), (other.error, other.extra));
    }
}
