//! The text that blkparse prints by default.

use memchr::memrchr;

use crate::trace::columns::Rows;
use crate::trace::fields::{decimal_ns, unsigned, word};
use crate::trace::line_verdict::{Broken, Taken, Verdict};
use crate::trace::reader::{Clock, Format, LineReader, Reading};
use crate::trace::readers::block::blk_letters::{asked, leading_device};
use crate::trace::readers::block::traced_requests::{Record, Step, TracedRequests};
use crate::trace::readers::words::{Word, Words};
use crate::trace::report::FileReport;

/// `maj,min cpu seq sec.nsec pid ACT RWBS sector + sectors [process]`.
pub const FORMAT: Format = Format {
    name: "blkparse",
    says: "text of blkparse (default format)",
    sniff: |head| {
        let mut lines = head.lines().filter(|line| !line.is_empty()).take(20);
        lines.any(|line| Fields::of(line).is_ok())
    },
    open: |_, _| Ok(Reading::Lines(Box::new(BlkparseReader::default()))),
};

#[derive(Default)]
struct BlkparseReader {
    pairing: TracedRequests,
    summary: bool,
    timed: bool,
    lost: u64,
}

struct Fields<'a> {
    device: &'a [u8],
    number: u32,
    at_ns: i64,
    pid: &'a [u8],
    action: Word<'a>,
    letters: &'a [u8],
    rest: Words<'a>,
}

impl<'a> Fields<'a> {
    #[inline(always)]
    fn of(line: &'a [u8]) -> Result<Fields<'a>, Broken> {
        let mut rest = Words::of(line);
        let few = Broken { column: line.len() + 1, rule: "too few fields" };
        let broken = |word: Word<'_>, rule| Broken { column: column(line, word.onward), rule };
        let device = rest.next().ok_or(few)?;
        let number = leading_device(device.onward).filter(|(_, length)| *length == device.text.len());
        let (number, _) = number.ok_or_else(|| broken(device, "not a device (major,minor)"))?;
        for rule in ["not a CPU", "not a sequence number"] {
            let word = rest.next().ok_or(few)?;
            word.number().ok_or_else(|| broken(word, rule))?;
        }
        let time = rest.next().ok_or(few)?;
        let dotted = time.text.contains(&b'.').then(|| decimal_ns(time.text, 1_000_000_000)).flatten();
        let at_ns = dotted.ok_or_else(|| broken(time, "not a time"))?;
        let pid = rest.next().ok_or(few)?;
        pid.number().ok_or_else(|| broken(pid, "not a process"))?;
        let action = rest.next().ok_or(few)?;
        if action.text.len() > 2 || !action.text.iter().all(u8::is_ascii_alphabetic) {
            return Err(broken(action, "not an action"));
        }
        let letters = rest.next().ok_or(few)?.text;
        Ok(Fields { device: device.text, number, at_ns, pid: pid.text, action, letters, rest })
    }
}

/// The column at which the rest of a line begins.
fn column(line: &[u8], onward: &[u8]) -> usize {
    line.len() - onward.len() + 1
}

impl LineReader for BlkparseReader {
    fn line(&mut self, line: &[u8], number: u64, rows: &mut Rows) -> Verdict {
        if line.trim_ascii().is_empty() {
            return Ok(Taken::Ignored("blank line"));
        }
        if line.starts_with(b"CPU") || line.starts_with(b"Total (") || line.starts_with(b"Throughput (") {
            self.summary = true;
        }
        if let Some(skips) = line.strip_prefix(b"Skips:") {
            self.lost = word(skips).and_then(|(count, _)| unsigned(count)).unwrap_or(0);
            return Ok(Taken::Ignored("summary"));
        }
        if self.summary || line.starts_with(b"Input file ") {
            return Ok(Taken::Ignored("summary"));
        }
        let fields = Fields::of(line)?;
        let step = match fields.action.text {
            b"Q" => Step::Queue,
            b"M" => Step::BackMerge,
            b"F" => Step::FrontMerge,
            b"D" => Step::Issue,
            b"R" => Step::Requeue,
            b"C" => Step::Complete(None),
            b"X" => Step::Split(0),
            b"G" | b"S" | b"I" | b"P" | b"U" | b"UT" | b"B" | b"A" | b"T" | b"m" => {
                return Ok(Taken::Ignored("step without a time of its own"));
            }
            _ => return Err(Broken { column: column(line, fields.action.onward), rule: "not an action" }),
        };
        let (step, sector, sectors) = extent(line, &fields, step)?;
        let (op, bits) = asked(fields.letters);
        let record = Record {
            at_ns: fields.at_ns,
            device: fields.number,
            sector,
            sectors,
            op,
            flags: bits,
            actor: Some(rows.actors.number(fields.pid)?),
            target: Some(rows.targets.number(fields.device)?),
            source: rows.source,
            line: number,
        };
        self.pairing.on(step, record, rows);
        self.timed = true;
        Ok(Taken::Accepted)
    }

    fn end(&mut self, rows: &mut Rows, report: &mut FileReport) {
        self.pairing.end(rows, report);
        if self.lost > 0 {
            report.notes.push(format!("the trace lost events: blkparse skipped {}", self.lost));
        }
    }

    fn clock(&self) -> Clock {
        Clock { origin: self.timed.then_some("trace"), epoch_ns: None, tick_ns: 1 }
    }
}

/// `sector + sectors`, `sector / sector` of a split, `sector` or nothing of a flush; and the error of a completion.
#[inline]
fn extent(line: &[u8], fields: &Fields<'_>, step: Step) -> Result<(Step, u64, u64), Broken> {
    let mut rest = fields.rest;
    let first = rest.next();
    let step = match (step, first) {
        (Step::Complete(_), Some(first)) => Step::Complete(error_of(first.onward)),
        (other, _) => other,
    };
    let Some(first) = first.filter(|first| !first.text.starts_with(b"[")) else { return Ok((step, 0, 0)) };
    let broken = |onward: &[u8], rule| Broken { column: column(line, onward), rule };
    let sector = first.number().ok_or_else(|| broken(first.onward, "not a sector"))?;
    let Some(sign) = rest.next() else { return Ok((step, sector, 0)) };
    let mut second = |none, wrong| {
        let word = rest.next().ok_or_else(|| broken(&[], none))?;
        word.number().ok_or_else(|| broken(word.onward, wrong))
    };
    match sign.text {
        b"+" => Ok((step, sector, second("no number of sectors", "not a number of sectors")?)),
        b"/" => Ok((Step::Split(second("no second sector", "not a sector")?), sector, 0)),
        // A command that is passed through gives bytes and the command instead.
        other if other.starts_with(b"(") || other.starts_with(b"[") => Ok((step, sector, 0)),
        _ => Err(broken(sign.onward, "neither + nor /")),
    }
}

fn error_of(rest: &[u8]) -> Option<i16> {
    let inside = &rest[memrchr(b'[', rest)? + 1..];
    let digits = inside.strip_suffix(b"]")?;
    let value = crate::trace::fields::signed(digits)?;
    i16::try_from(value).ok().map(i16::saturating_abs)
}
