//! vscsi traces of VMware (CloudPhysics), binary, version 1 and 2.

use crate::trace::columns::{Rows, has_extent};
use crate::trace::event::{Event, Layer, Op};
use crate::trace::line_verdict::{Broken, Taken, Verdict};
use crate::trace::reader::{Clock, Format, Head, Reading, RecordReader};

/// Little-endian records of 32 or 40 bytes.
pub const FORMAT: Format = Format {
    name: "vscsi",
    says: "binary vscsi traces (CloudPhysics), version 1 and 2",
    sniff: |head| version(head).is_some(),
    open: |_, head| {
        let length = if version(head) == Some(2) { 40 } else { 32 };
        Ok(Reading::Records(Box::new(VscsiReader { length, timed: false })))
    },
};

/// By the version in each of the first records, and their commands; text has neither.
fn version(head: &Head<'_>) -> Option<u8> {
    let fits = |length: usize, at: usize| {
        let mut records = head.bytes.chunks_exact(length).take(8).peekable();
        records.peek().is_some()
            && records.all(|record| {
                let command = if length == 32 { number(record, 12, 2) } else { number(record, 0, 2) };
                usize::from(record[at]) == length / 8 - 3 && command < 0x100 && operation(command).is_some()
            })
    };
    // The version is the upper byte of a field of two.
    if fits(32, 15) { Some(1) } else { fits(40, 3).then_some(2) }
}

fn number(record: &[u8], at: usize, length: usize) -> u64 {
    record[at..at + length].iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte))
}

fn operation(command: u64) -> Option<Op> {
    match command {
        0x08 | 0x28 | 0x88 | 0xa8 => Some(Op::Read),
        0x0a | 0x2a | 0x8a | 0xaa => Some(Op::Write),
        0x35 | 0x91 => Some(Op::Flush),
        0x42 => Some(Op::Trim),
        0x00..=0xff => Some(Op::Other),
        _ => None,
    }
}

struct VscsiReader {
    length: usize,
    timed: bool,
}

impl RecordReader for VscsiReader {
    fn length(&self) -> usize {
        self.length
    }

    fn record(&mut self, record: &[u8], number_of: u64, rows: &mut Rows) -> Verdict {
        let broken = |column, rule| Broken { column, rule };
        let second = self.length == 40;
        let (command_at, version_at, length_at, place_at) =
            if second { (0, 3, 8, 16) } else { (12, 15, 4, 16) };
        let expected = if second { 2 } else { 1 };
        if record[version_at] != expected {
            return Err(broken(version_at + 1, "another version than the first record's"));
        }
        let op =
            operation(number(record, command_at, 2)).ok_or(broken(command_at + 1, "not a SCSI command"))?;
        let mut event = Event::new(op, Layer::Array, number_of);
        let us = |at: usize, rule| {
            let value = i64::try_from(number(record, at, 8)).ok();
            value.and_then(|us| us.checked_mul(1_000)).ok_or(broken(at + 1, rule))
        };
        let stamp_ns = us(24, "not a time")?;
        event.ts_ns = Some(stamp_ns);
        if second {
            // The stamp is that of the end.
            let latency_ns = us(32, "not a latency")?;
            (event.ts_ns, event.lat_ns) = (Some(stamp_ns - latency_ns), Some(latency_ns));
        }
        if has_extent(op) {
            let block = i64::try_from(number(record, place_at, 8)).ok();
            let offset = block.and_then(|block| block.checked_mul(512));
            event.offset = Some(offset.ok_or(broken(place_at + 1, "not a block"))?);
            event.size = Some(number(record, length_at, 4) as i64);
        }
        rows.push(&event);
        self.timed = true;
        Ok(Taken::Accepted)
    }

    fn clock(&self) -> Clock {
        Clock { origin: self.timed.then_some("trace"), epoch_ns: None, tick_ns: 1_000 }
    }
}
