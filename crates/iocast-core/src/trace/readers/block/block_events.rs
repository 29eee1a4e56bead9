//! Block tracepoints as text: what `perf script` and `trace_pipe` print of them.

use memchr::{memchr, memmem};

use crate::trace::columns::Rows;
use crate::trace::event::Op;
use crate::trace::fields::{decimal_ns, last_word, signed, unsigned, word};
use crate::trace::line_verdict::{Broken, Taken, Verdict};
use crate::trace::reader::{Clock, Format, LineReader, Reading};
use crate::trace::readers::block::blk_letters::{asked, device_number};
use crate::trace::readers::block::traced_requests::{Record, Step, TracedRequests};
use crate::trace::report::FileReport;

/// `comm pid [cpu] time: block:block_rq_issue: maj,min RWBS bytes () sector + sectors [comm]`.
pub const FORMAT: Format = Format {
    name: "block_events",
    says: "block events as text: perf script, ftrace (trace, trace_pipe)",
    sniff: |head| {
        let mut lines = head.lines().filter(|line| !line.is_empty() && !line.starts_with(b"#")).take(50);
        lines.any(|line| Fields::of(line).is_ok_and(|fields| fields.event.starts_with(b"block_")))
    },
    open: |_, _| Ok(Reading::Lines(Box::new(BlockEventsReader::default()))),
};

#[derive(Default)]
struct BlockEventsReader {
    pairing: TracedRequests,
    timed: bool,
    fine: bool,
    lost: u64,
    lost_lines: u64,
}

struct Fields<'a> {
    pid: &'a [u8],
    at_ns: i64,
    /// Digits of the time after the dot.
    digits: usize,
    event: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    fn of(line: &'a [u8]) -> Result<Fields<'a>, Broken> {
        let broken = |part: &[u8], rule| Broken { column: line.len() - part.len() + 1, rule };
        let (open, close) = cpu(line).ok_or(broken(line, "no CPU in brackets"))?;
        let pid = process(&line[..open]).ok_or(broken(line, "not a process"))?;
        let mut rest = &line[close + 1..];
        let at_ns;
        let mut digits;
        loop {
            let (field, after) = word(rest).ok_or(broken(b"", "no time"))?;
            rest = after;
            if let Some(time) = field.strip_suffix(b":")
                && time.first().is_some_and(u8::is_ascii_digit)
            {
                let dot = memchr(b'.', time).ok_or(broken(rest, "not a time"))?;
                digits = time.len() - dot - 1;
                at_ns = decimal_ns(time, 1_000_000_000).ok_or(broken(rest, "not a time"))?;
                break;
            }
            // The flags of ftrace: `d..1.`.
            if field.len() > 8 || field.ends_with(b":") {
                return Err(broken(rest, "not a time"));
            }
        }
        let (mut event, mut after) = word(rest).ok_or(broken(b"", "no event"))?;
        // perf can print a period in between.
        if !event.ends_with(b":") && unsigned(event).is_some() {
            (event, after) = word(after).ok_or(broken(b"", "no event"))?;
        }
        let event = event.strip_suffix(b":").ok_or(broken(after, "not an event"))?;
        let event = event.strip_prefix(b"block:").unwrap_or(event);
        digits = digits.min(9);
        Ok(Fields { pid, at_ns, digits, event, rest: after })
    }
}

/// Where `[003]` begins and ends.
fn cpu(line: &[u8]) -> Option<(usize, usize)> {
    let mut from = 0;
    loop {
        let open = from + memmem::find(&line[from..], b" [")? + 1;
        let digits = line[open + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits > 0 && line.get(open + 1 + digits) == Some(&b']') {
            return Some((open, open + 1 + digits));
        }
        from = open;
    }
}

/// `comm 123`, `comm 123/124`, `comm-123`, `comm-123 (  120)`.
fn process(text: &[u8]) -> Option<&[u8]> {
    let mut text = text.trim_ascii_end();
    if text.ends_with(b")")
        && let Some(open) = memchr::memrchr(b'(', text)
    {
        text = text[..open].trim_ascii_end();
    }
    let (last, _) = last_word(text)?;
    let pid = last.rsplit(|byte| matches!(byte, b'-' | b'/')).next()?;
    unsigned(pid).map(|_| pid)
}

impl LineReader for BlockEventsReader {
    fn line(&mut self, line: &[u8], number: u64, rows: &mut Rows) -> Verdict {
        let text = line.trim_ascii();
        if text.is_empty() {
            return Ok(Taken::Ignored("blank line"));
        }
        if text.starts_with(b"#") {
            return Ok(Taken::Ignored("heading"));
        }
        if text.starts_with(b"CPU:") || memmem::find(text, b"LOST ").is_some() || text.starts_with(b"lost ") {
            self.lost_lines += 1;
            self.lost += lost(text);
            return Ok(Taken::Ignored("lost events"));
        }
        let fields = Fields::of(line)?;
        let Some(step) = step_of(fields.event) else {
            return Ok(Taken::Ignored("event without a step of a request"));
        };
        let request = Request::of(line, fields.rest, step)?;
        self.timed = true;
        self.fine |= fields.digits > 6;
        if matches!(request.step, Step::Complete(_)) && request.sectors == 0 && request.op == Op::Write {
            return Ok(Taken::Ignored("end of a write that was a flush only"));
        }
        let record = Record {
            at_ns: fields.at_ns,
            device: request.number,
            sector: request.sector,
            sectors: request.sectors,
            op: request.op,
            flags: request.flags,
            actor: Some(rows.actors.number(fields.pid)?),
            target: Some(rows.targets.number(request.device)?),
            source: rows.source,
            line: number,
        };
        self.pairing.on(request.step, record, rows);
        Ok(Taken::Accepted)
    }

    fn end(&mut self, rows: &mut Rows, report: &mut FileReport) {
        self.pairing.end(rows, report);
        if self.lost_lines > 0 {
            report.notes.push(format!("the trace lost events: at least {}", self.lost.max(self.lost_lines)));
        }
    }

    fn clock(&self) -> Clock {
        let tick_ns = if self.fine { 1 } else { 1_000 };
        Clock { origin: self.timed.then_some("monotonic"), epoch_ns: None, tick_ns }
    }
}

/// `CPU:3 [LOST 120 EVENTS]`, `LOST 12 events!`.
fn lost(text: &[u8]) -> u64 {
    let Some(at) = memmem::find(text, b"LOST ").or(memmem::find(text, b"lost ")) else { return 0 };
    word(&text[at + 5..]).and_then(|(count, _)| unsigned(count)).unwrap_or(0)
}

fn step_of(event: &[u8]) -> Option<Step> {
    Some(match event {
        b"block_bio_queue" | b"block_rq_insert" => Step::Queue,
        b"block_bio_backmerge" => Step::BackMerge,
        b"block_bio_frontmerge" => Step::FrontMerge,
        b"block_rq_issue" => Step::Issue,
        b"block_rq_requeue" => Step::Requeue,
        b"block_rq_complete" => Step::Complete(None),
        b"block_split" => Step::Split(0),
        _ => return None,
    })
}

struct Request<'a> {
    device: &'a [u8],
    number: u32,
    op: Op,
    flags: u16,
    sector: u64,
    sectors: u64,
    step: Step,
}

impl<'a> Request<'a> {
    /// `8,0 WS 4096 () 2048 + 8 0x2,0,4 [comm]`, without bytes of completions, without `()` of bios.
    fn of(line: &[u8], rest: &'a [u8], step: Step) -> Result<Request<'a>, Broken> {
        let broken = |part: &[u8], rule| Broken { column: line.len() - part.len() + 1, rule };
        let (device, rest) = word(rest).ok_or(broken(b"", "no device"))?;
        let number = device_number(device).ok_or(broken(rest, "not a device (major,minor)"))?;
        let (letters, mut rest) = word(rest).ok_or(broken(b"", "no operation"))?;
        if letters.len() > 8 || !letters.iter().all(u8::is_ascii_uppercase) {
            return Err(broken(rest, "not an operation"));
        }
        if let Some((first, after)) = word(rest)
            && unsigned(first).is_some()
            && after.trim_ascii_start().starts_with(b"(")
        {
            rest = after;
        }
        if rest.trim_ascii_start().starts_with(b"(") {
            let close = memchr(b')', rest).ok_or(broken(rest, "no end of the command"))?;
            rest = &rest[close + 1..];
        }
        let (first, after) = word(rest).ok_or(broken(b"", "no sector"))?;
        let sector = unsigned(first).ok_or(broken(rest, "not a sector"))?;
        let (between, after) = word(after).ok_or(broken(b"", "no number of sectors"))?;
        let (count, tail) = word(after).ok_or(broken(b"", "no number of sectors"))?;
        let count_of = unsigned(count).ok_or(broken(after, "not a number of sectors"))?;
        let (op, flags) = asked(letters);
        let mut request = Request { device, number, op, flags, sector, sectors: count_of, step };
        match (between, step) {
            (b"+", Step::Complete(_)) => request.step = Step::Complete(error_of(tail)),
            (b"+", _) => {}
            (b"/", Step::Split(_)) => (request.step, request.sectors) = (Step::Split(count_of), 0),
            _ => return Err(broken(after, "neither + nor /")),
        }
        Ok(request)
    }
}

/// `[-5]` at the end.
fn error_of(tail: &[u8]) -> Option<i16> {
    let (last, _) = last_word(tail)?;
    let value = signed(last.strip_prefix(b"[")?.strip_suffix(b"]")?)?;
    i16::try_from(value).ok().map(i16::saturating_abs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn perf_and_ftrace_say_the_same_in_different_places() {
        let lines: [&[u8]; 5] = [
            b" my prog [x]    12 [000]  2698.025961595:    block:block_rq_issue: 7,1 WS 16384 () 32 + 32 [a]",
            b" prog  11/12 [000]  2698.025961595:  1  block:block_rq_issue: 7,1 WS 16384 () 32 + 32 [a]",
            b" kworker/0:1H-12  [000] d..1.  2698.025961595: block_rq_issue: 7,1 WS 16384 () 32 + 32 none,0,0 [a]",
            b" my-prog-12  (   11) [000] ....  2698.025961595: block_rq_issue: 7,1 WS 16384 (2a 00) 32 + 32 [a]",
            b" prog-12 [000]  2698.025961595: block_rq_issue: 7,1 WS 16384 () 32 + 32 [a]",
        ];
        for line in lines {
            let fields = Fields::of(line).unwrap();
            assert_eq!((fields.pid, fields.at_ns), (&b"12"[..], 2_698_025_961_595), "{line:?}");
            let request = Request::of(line, fields.rest, Step::Issue).unwrap();
            assert_eq!((request.sector, request.sectors, request.number), (32, 32, 7 << 20 | 1));
        }
        assert_eq!(Fields::of(b"prog 12 [000] x: block").err().unwrap().rule, "not a time");
        assert_eq!(lost(b"CPU:3 [LOST 120 EVENTS]"), 120);
    }
}
