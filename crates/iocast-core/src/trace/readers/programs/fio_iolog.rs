//! The I/O logs that fio writes and replays (`write_iolog`), versions 2 and 3.

use crate::trace::columns::{Rows, has_extent};
use crate::trace::event::{Event, Layer, Op};
use crate::trace::fields::{last_word, unsigned, whole, word};
use crate::trace::line_verdict::{Broken, Taken, Verdict};
use crate::trace::reader::{Clock, Format, LineReader, Reading};

/// `fio version N iolog`.
pub const FORMAT: Format = Format {
    name: "fio_iolog",
    says: "fio iolog, version 2 and 3",
    sniff: |head| head.lines().next().is_some_and(|line| version(line).is_some()),
    open: |_, _| Ok(Reading::Lines(Box::new(IologReader { version: 0, now_us: 0, timed: false }))),
};

struct IologReader {
    version: u8,
    now_us: i64,
    timed: bool,
}

fn version(line: &[u8]) -> Option<u8> {
    match line {
        b"fio version 2 iolog" => Some(2),
        b"fio version 3 iolog" => Some(3),
        _ => None,
    }
}

const ACTIONS: [(&[u8], Op); 5] = [
    (b"read", Op::Read),
    (b"write", Op::Write),
    (b"sync", Op::Flush),
    (b"datasync", Op::Datasync),
    (b"trim", Op::Trim),
];

impl LineReader for IologReader {
    fn line(&mut self, line: &[u8], number: u64, rows: &mut Rows) -> Verdict {
        if line.trim_ascii().is_empty() {
            return Ok(Taken::Ignored("blank line"));
        }
        if self.version == 0 {
            self.version =
                version(line).ok_or(Broken { column: 1, rule: "no `fio version 2 iolog` first" })?;
            return Ok(Taken::Ignored("heading"));
        }
        let broken = |part: &[u8], rule| Broken { column: offset_in(line, part) + 1, rule };
        let mut rest = line;
        if self.version == 3 {
            let (stamp, after) = word(line).ok_or(Broken { column: 1, rule: "no time" })?;
            let stamp_us = whole(stamp).ok_or(broken(stamp, "not a time"))?;
            stamp_us.checked_mul(1000).ok_or(broken(stamp, "not a time"))?;
            (self.now_us, rest) = (stamp_us, after);
        }
        let (last, before) =
            last_word(rest).ok_or(Broken { column: line.len() + 1, rule: "too few fields" })?;
        if matches!(last, b"add" | b"open" | b"close") && !before.trim_ascii().is_empty() {
            return Ok(Taken::Ignored("file added, opened or closed"));
        }
        let short = Broken { column: line.len() + 1, rule: "too few fields" };
        let length = whole(last).ok_or(broken(last, "not a length"))?;
        let (second, before) = last_word(before).ok_or(short)?;
        let (action, file) = last_word(before).ok_or(short)?;
        let file = file.trim_ascii();
        if file.is_empty() {
            return Err(short);
        }
        let place = unsigned(second).ok_or(broken(second, "not an offset"))?;
        if action == b"wait" && self.version == 2 {
            let wait = i64::try_from(place).ok().and_then(|wait| self.now_us.checked_add(wait));
            let now_us = wait.filter(|us| us.checked_mul(1000).is_some());
            self.now_us = now_us.ok_or(broken(second, "not a wait"))?;
            return Ok(Taken::Ignored("wait"));
        }
        let known = ACTIONS.iter().find(|(name, _)| *name == action);
        let (_, op) = known.ok_or(broken(action, "not an action"))?;
        let mut event = Event::new(*op, Layer::Syscall, number);
        event.ts_ns = Some(self.now_us * 1000);
        if has_extent(*op) {
            event.offset = Some(i64::try_from(place).map_err(|_| broken(second, "not an offset"))?);
            event.size = Some(length);
        }
        event.target = Some(rows.targets.number(file)?);
        rows.push(&event);
        self.timed = true;
        Ok(Taken::Accepted)
    }

    fn clock(&self) -> Clock {
        Clock { origin: self.timed.then_some("trace"), epoch_ns: None, tick_ns: 1_000 }
    }
}

/// Where a part of a line begins.
fn offset_in(line: &[u8], part: &[u8]) -> usize {
    (part.as_ptr() as usize).saturating_sub(line.as_ptr() as usize).min(line.len())
}
