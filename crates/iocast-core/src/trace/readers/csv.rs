//! Any trace with one I/O a line and separated fields: a map says which field is what.

use crate::trace::columns::Rows;
use crate::trace::event::{Event, Layer, Op};
use crate::trace::field_map::{Map, OpCode, Separator, Unit};
use crate::trace::fields::{decimal_ns, unsigned};
use crate::trace::line_verdict::{Broken, Taken, Verdict};
use crate::trace::reader::{Clock, Head, LineReader};

const FIELDS_AT_MOST: usize = 32;
/// Unix epoch in Windows' file time.
const FILE_TIME_OF_1970: i64 = 116_444_736_000_000_000;

/// Reads by a map.
pub struct CsvReader {
    map: Map,
    bounds: [(usize, usize); FIELDS_AT_MOST],
    timed: bool,
}

impl CsvReader {
    /// None where the map asks for fields that a line need not have.
    pub fn new(map: Map) -> Option<CsvReader> {
        let asked = [map.time.0, map.offset.0, map.size.0, map.op.0];
        let others = [map.target.map(|(_, last)| last), map.latency.map(|(at, _)| at)];
        let last = asked.into_iter().chain(others.into_iter().flatten()).max()?;
        let sound = last < map.fields_at_least
            && map.fields_at_least <= map.fields_at_most
            && map.target.is_none_or(|(first, last)| first <= last);
        sound.then_some(CsvReader { map, bounds: [(0, 0); FIELDS_AT_MOST], timed: false })
    }

    /// Finds the fields; how many there are.
    fn split(&mut self, line: &[u8]) -> usize {
        let separator = match self.map.separator {
            Separator::Comma => b',',
            Separator::Semicolon => b';',
            Separator::Tab => b'\t',
            Separator::Blanks => return self.split_blanks(line),
        };
        let (mut count, mut start) = (0, 0);
        for (at, byte) in line.iter().enumerate() {
            if *byte == separator {
                if count < FIELDS_AT_MOST {
                    self.bounds[count] = (start, at);
                }
                count += 1;
                start = at + 1;
            }
        }
        if count < FIELDS_AT_MOST {
            self.bounds[count] = (start, line.len());
        }
        count + 1
    }

    fn split_blanks(&mut self, line: &[u8]) -> usize {
        let (mut count, mut at) = (0, 0);
        loop {
            while at < line.len() && matches!(line[at], b' ' | b'\t') {
                at += 1;
            }
            if at == line.len() {
                return count;
            }
            let start = at;
            while at < line.len() && !matches!(line[at], b' ' | b'\t') {
                at += 1;
            }
            if count < FIELDS_AT_MOST {
                self.bounds[count] = (start, at);
            }
            count += 1;
        }
    }

    fn broken(&self, field: usize, rule: &'static str) -> Broken {
        Broken { column: self.bounds[field].0 + 1, rule }
    }

    fn field<'a>(&self, line: &'a [u8], field: usize) -> &'a [u8] {
        let (start, end) = self.bounds[field];
        line[start..end].trim_ascii()
    }

    fn bytes(&self, line: &[u8], (field, unit): (usize, i64), rule: &'static str) -> Result<i64, Broken> {
        let count = unsigned(self.field(line, field)).and_then(|count| i64::try_from(count).ok());
        count.and_then(|count| count.checked_mul(unit)).ok_or(self.broken(field, rule))
    }

    fn time(&self, line: &[u8]) -> Option<i64> {
        let (field, unit) = self.map.time;
        let text = self.field(line, field);
        if unit == Unit::Filetime {
            let ticks = i64::try_from(unsigned(text)?).ok()?;
            return ticks.checked_sub(FILE_TIME_OF_1970)?.checked_mul(100);
        }
        decimal_ns(text, unit.ns())
    }

    fn event(&mut self, line: &[u8], number: u64, rows: &mut Rows) -> Result<Event, Broken> {
        let fields = self.split(line);
        let (least, most) = (self.map.fields_at_least, self.map.fields_at_most);
        if fields < least {
            return Err(Broken { column: line.len() + 1, rule: "too few fields" });
        }
        if fields > most {
            let column = self.bounds.get(most).map_or(line.len() + 1, |(start, _)| start + 1);
            return Err(Broken { column, rule: "too many fields" });
        }
        let (at, code) = self.map.op;
        let op = operation(self.field(line, at), code).ok_or(self.broken(at, "not an operation"))?;
        let mut event = Event::new(op, Layer::Array, number);
        event.ts_ns = Some(self.time(line).ok_or(self.broken(self.map.time.0, "not a time"))?);
        event.offset = Some(self.bytes(line, self.map.offset, "not an offset")?);
        event.size = Some(self.bytes(line, self.map.size, "not a size")?);
        if let Some((at, unit)) = self.map.latency {
            let latency = decimal_ns(self.field(line, at), unit.ns());
            event.lat_ns = Some(latency.ok_or(self.broken(at, "not a latency"))?);
        }
        if let Some((first, last)) = self.map.target {
            let name = line[self.bounds[first].0..self.bounds[last].1].trim_ascii();
            if name.is_empty() {
                return Err(self.broken(first, "no name of a target"));
            }
            event.target = Some(rows.targets.number(name)?);
        }
        Ok(event)
    }
}

impl LineReader for CsvReader {
    fn line(&mut self, line: &[u8], number: u64, rows: &mut Rows) -> Verdict {
        if line.is_empty() {
            return Ok(Taken::Ignored("blank line"));
        }
        if number == 1
            && let Some(heading) = &self.map.heading
            && line.get(..heading.len()).is_some_and(|start| start.eq_ignore_ascii_case(heading.as_bytes()))
        {
            return Ok(Taken::Ignored("heading"));
        }
        let event = self.event(line, number, rows)?;
        rows.push(&event);
        self.timed = true;
        Ok(Taken::Accepted)
    }

    fn clock(&self) -> Clock {
        let unix = self.map.unix || self.map.time.1 == Unit::Filetime;
        Clock {
            origin: self.timed.then_some(if unix { "unix" } else { "trace" }),
            epoch_ns: unix.then_some(0),
            tick_ns: if self.map.time.1 == Unit::S { 1_000 } else { self.map.time.1.ns() },
        }
    }
}

fn operation(text: &[u8], code: OpCode) -> Option<Op> {
    match code {
        OpCode::Words => match text {
            [] => Some(Op::Other),
            [b'R' | b'r'] => Some(Op::Read),
            [b'W' | b'w'] => Some(Op::Write),
            word if word.eq_ignore_ascii_case(b"read") => Some(Op::Read),
            word if word.eq_ignore_ascii_case(b"write") => Some(Op::Write),
            _ => None,
        },
        OpCode::ZeroReads | OpCode::ZeroWrites => match (text, code) {
            (b"0", OpCode::ZeroReads) | (b"1", OpCode::ZeroWrites) => Some(Op::Read),
            (b"1", OpCode::ZeroReads) | (b"0", OpCode::ZeroWrites) => Some(Op::Write),
            _ => None,
        },
        OpCode::Scsi => {
            let hex = std::str::from_utf8(text).ok().and_then(|hex| u8::from_str_radix(hex, 16).ok())?;
            Some(match hex {
                0x08 | 0x28 | 0x88 | 0xa8 => Op::Read,
                0x0a | 0x2a | 0x8a | 0xaa => Op::Write,
                0x35 | 0x91 => Op::Flush,
                0x42 => Op::Trim,
                _ => Op::Other,
            })
        }
    }
}

/// Whether the first lines of a file are, for the most part, what a map says.
pub fn looks_like(map: &Map, head: &Head<'_>) -> bool {
    let Some(mut reader) = CsvReader::new(map.clone()) else { return false };
    let mut rows = Rows::default();
    let (mut good, mut all) = (0, 0);
    for (index, line) in head.lines().take(20).enumerate() {
        match reader.line(line, index as u64 + 1, &mut rows) {
            Ok(Taken::Accepted) => (good, all) = (good + 1, all + 1),
            Ok(Taken::Ignored(_)) => {}
            Err(_) => all += 1,
        }
    }
    good > 0 && good * 10 >= all * 6
}
