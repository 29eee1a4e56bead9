//! The text that blkparse prints by default.

use memchr::memmem;

use crate::trace::columns::Rows;
use crate::trace::fields::{decimal_ns, unsigned, word};
use crate::trace::line_verdict::{Broken, Taken, Verdict};
use crate::trace::reader::{Clock, Format, LineReader, Reading};
use crate::trace::readers::block::blk_letters::{asked, device_number};
use crate::trace::readers::block::blk_pairing::{Pairing, Record, Step};
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
    pairing: Pairing,
    summary: bool,
    timed: bool,
    lost: u64,
}

struct Fields<'a> {
    device: &'a [u8],
    number: u32,
    at_ns: i64,
    pid: &'a [u8],
    action: &'a [u8],
    letters: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    fn of(line: &'a [u8]) -> Result<Fields<'a>, Broken> {
        let mut rest = line;
        let mut next = |rule: &'static str| match word(rest) {
            Some((field, after)) => {
                rest = after;
                Ok((field, line.len() - after.len() - field.len() + 1))
            }
            None => Err(Broken { column: line.len() + 1, rule }),
        };
        let (device, at) = next("too few fields")?;
        let number =
            device_number(device).ok_or(Broken { column: at, rule: "not a device (major,minor)" })?;
        for rule in ["not a CPU", "not a sequence number"] {
            let (field, at) = next("too few fields")?;
            unsigned(field).ok_or(Broken { column: at, rule })?;
        }
        let (time, at) = next("too few fields")?;
        let dotted = time.contains(&b'.').then(|| decimal_ns(time, 1_000_000_000)).flatten();
        let at_ns = dotted.ok_or(Broken { column: at, rule: "not a time" })?;
        let (pid, at) = next("too few fields")?;
        unsigned(pid).ok_or(Broken { column: at, rule: "not a process" })?;
        let (action, at) = next("too few fields")?;
        if action.len() > 2 || !action.iter().all(u8::is_ascii_alphabetic) {
            return Err(Broken { column: at, rule: "not an action" });
        }
        let (letters, _) = next("too few fields")?;
        Ok(Fields { device, number, at_ns, pid, action, letters, rest })
    }
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
        let step = match fields.action {
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
            _ => return Err(Broken { column: line.len() - fields.rest.len(), rule: "not an action" }),
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
fn extent(line: &[u8], fields: &Fields<'_>, step: Step) -> Result<(Step, u64, u64), Broken> {
    let column = |part: &[u8]| line.len() - part.len() + 1;
    let step = match step {
        Step::Complete(_) => Step::Complete(error_of(fields.rest)),
        other => other,
    };
    let Some((first, after)) = word(fields.rest) else { return Ok((step, 0, 0)) };
    if first.starts_with(b"[") {
        return Ok((step, 0, 0));
    }
    let broken = |part: &[u8], rule| Broken { column: column(part), rule };
    let sector = unsigned(first).ok_or(broken(fields.rest, "not a sector"))?;
    match word(after) {
        Some((b"+", rest)) => {
            let (count, _) = word(rest).ok_or(broken(rest, "no number of sectors"))?;
            Ok((step, sector, unsigned(count).ok_or(broken(rest, "not a number of sectors"))?))
        }
        Some((b"/", rest)) => {
            let (at, _) = word(rest).ok_or(broken(rest, "no second sector"))?;
            Ok((Step::Split(unsigned(at).ok_or(broken(rest, "not a sector"))?), sector, 0))
        }
        // A command that is passed through gives bytes and the command instead.
        Some((other, _)) if other.starts_with(b"(") || other.starts_with(b"[") => Ok((step, sector, 0)),
        None => Ok((step, sector, 0)),
        Some(_) => Err(broken(after, "neither + nor /")),
    }
}

fn error_of(rest: &[u8]) -> Option<i16> {
    let inside = &rest[memmem::rfind(rest, b"[")? + 1..];
    let digits = inside.strip_suffix(b"]")?;
    let value = crate::trace::fields::signed(digits)?;
    i16::try_from(value).ok().map(i16::saturating_abs)
}
