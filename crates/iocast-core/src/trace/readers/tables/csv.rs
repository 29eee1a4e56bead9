//! Any trace with one I/O a line and separated fields: a map says which field is what.

use memchr::memchr;

use crate::trace::columns::Rows;
use crate::trace::event::{Event, Layer, Op};
use crate::trace::field_map::{Map, OpCode, Separator, Unit};
use crate::trace::fields::{decimal_ns, unsigned, whole};
use crate::trace::line_verdict::{Broken, Taken, Verdict};
use crate::trace::reader::{Clock, Head, Learned, LineReader};
use crate::trace::report::FileReport;

const FIELDS_AT_MOST: usize = 32;
/// Unix epoch in Windows' file time.
const FILE_TIME_OF_1970: i64 = 116_444_736_000_000_000;

/// Reads by a map.
pub struct CsvReader {
    map: Map,
    bounds: [(usize, usize); FIELDS_AT_MOST],
    /// The unit of the times, once it is known.
    unit: Option<Unit>,
    learned: Learned,
}

impl CsvReader {
    /// None where the map asks for fields that a line need not have.
    pub fn new(map: Map) -> Option<CsvReader> {
        let asked = [map.offset.0, map.size.0, map.op.0];
        let time = map.time.map(|(at, _)| at);
        let others = [time, map.target.map(|(_, last)| last), map.latency.map(|(at, _)| at)];
        let last = asked.into_iter().chain(others.into_iter().flatten()).max()?;
        let sound = last < map.fields_at_least
            && map.fields_at_least <= map.fields_at_most
            && map.target.is_none_or(|(first, last)| first <= last);
        let unit = map.time.map(|(_, unit)| unit).filter(|unit| *unit != Unit::Unix);
        let bounds = [(0, 0); FIELDS_AT_MOST];
        sound.then_some(CsvReader { map, bounds, unit, learned: Learned::default() })
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
        for (part, text) in line.chunks(64).enumerate() {
            let mut marks = marks(text, separator);
            while marks != 0 {
                let at = part * 64 + marks.trailing_zeros() as usize;
                if let Some(bounds) = self.bounds.get_mut(count) {
                    *bounds = (start, at);
                }
                (count, start) = (count + 1, at + 1);
                marks &= marks - 1;
            }
        }
        if let Some(bounds) = self.bounds.get_mut(count) {
            *bounds = (start, line.len());
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
        whole(self.field(line, field))
            .and_then(|count| count.checked_mul(unit))
            .ok_or(self.broken(field, rule))
    }

    fn time(&mut self, line: &[u8], field: usize) -> Option<i64> {
        let text = self.field(line, field);
        let unit = match self.unit {
            Some(unit) => unit,
            None => *self.unit.insert(unix_unit(text)?),
        };
        if unit == Unit::Filetime {
            let ticks = i64::try_from(unsigned(text)?).ok()?;
            return ticks.checked_sub(FILE_TIME_OF_1970)?.checked_mul(100);
        }
        if let Some(count) = whole(text) {
            return count.checked_mul(unit.ns());
        }
        if let Some(dot) = memchr(b'.', text) {
            self.learned.digits =
                self.learned.digits.max(u32::try_from(text.len() - dot - 1).unwrap_or(u32::MAX));
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
        if let Some((at, _)) = self.map.time {
            event.ts_ns = Some(self.time(line, at).ok_or(self.broken(at, "not a time"))?);
        }
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
        self.learned.little.add(&event);
        self.learned.timed |= event.ts_ns.is_some();
        Ok(Taken::Accepted)
    }

    fn end(&mut self, rows: &mut Rows, report: &mut FileReport) {
        let _ = rows;
        self.learned.little.tell(report, false);
    }

    fn clock(&self) -> Clock {
        let unit = self.unit.unwrap_or(Unit::Ns);
        let digits_said = self.map.time.is_some_and(|(_, unit)| matches!(unit, Unit::Unix | Unit::Filetime));
        let unix = self.map.unix || digits_said;
        Clock {
            origin: self.learned.timed.then_some(if unix { "unix" } else { "trace" }),
            epoch_ns: unix.then_some(0),
            tick_ns: 10_i64.checked_pow(self.learned.digits).map_or(1, |parts| (unit.ns() / parts).max(1)),
        }
    }

    fn part(&self) -> Option<Box<dyn LineReader>> {
        // The first time says the unit of all.
        let known = self.map.time.is_none() || self.unit.is_some();
        known.then(|| {
            Box::new(CsvReader {
                map: self.map.clone(),
                bounds: self.bounds,
                unit: self.unit,
                learned: Learned::default(),
            }) as Box<dyn LineReader>
        })
    }

    fn learned(&self) -> Learned {
        self.learned
    }

    fn learn(&mut self, part: &Learned) {
        self.learned.join(part);
    }
}

/// A bit for each of up to 64 bytes that is this one, the first byte's lowest.
#[inline]
fn marks(text: &[u8], byte: u8) -> u64 {
    let words = text.chunks_exact(8);
    let rest = words.remainder();
    let mut last = [!byte; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words.map(|word| word.first_chunk::<8>().copied().unwrap_or_default());
    let of = |(at, word): (usize, [u8; 8])| equal_bytes(word, byte) << (8 * at);
    let of_rest = if rest.is_empty() { 0 } else { of((text.len() / 8, last)) };
    words.enumerate().map(of).fold(of_rest, |all, marks| all | marks)
}

/// A bit for each of eight bytes that is this one.
#[inline]
fn equal_bytes(eight: [u8; 8], byte: u8) -> u64 {
    let low = 0x7f7f_7f7f_7f7f_7f7f;
    let differs = u64::from_le_bytes(eight) ^ (u64::from(byte) * 0x0101_0101_0101_0101);
    let equal = !(((differs & low) + low) | differs | low);
    // The highest bits of the bytes, put side by side into the highest byte.
    (equal >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// The unit of a time since 1970, by its digits in the years 2001 to 2286.
fn unix_unit(text: &[u8]) -> Option<Unit> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match digits {
        10 => Some(Unit::S),
        13 => Some(Unit::Ms),
        16 => Some(Unit::Us),
        18 => Some(Unit::Filetime),
        19 => Some(Unit::Ns),
        _ => None,
    }
}

/// The words of an operation. Reads and writes come in no order that a processor could foresee: one way for both.
#[inline]
fn words(text: &[u8]) -> Option<Op> {
    let Some(four) = text.first_chunk::<4>() else {
        return match text {
            [] => Some(Op::Other),
            [b'R' | b'r'] => Some(Op::Read),
            [b'W' | b'w'] => Some(Op::Write),
            _ => None,
        };
    };
    let small = |word: &[u8; 4]| u32::from_le_bytes(*word) | 0x2020_2020;
    let last = text[text.len() - 1] | 0x20;
    let read = (small(four) == small(b"read")) & (text.len() == 4);
    let write = (small(four) == small(b"writ")) & (last == b'e') & (text.len() == 5);
    (read | write).then_some(if read { Op::Read } else { Op::Write })
}

fn operation(text: &[u8], code: OpCode) -> Option<Op> {
    match code {
        OpCode::Words => words(text),
        OpCode::OddReads => Some(if unsigned(text)? % 2 == 1 { Op::Read } else { Op::Write }),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_end_where_the_separator_is() {
        for byte in 0..=255 {
            let text = [byte, b',', 0xac, b'-', b',', b'+', byte ^ 0x80, b','];
            let expected = text.iter().enumerate().filter(|(_, each)| **each == b',');
            let marks = expected.fold(0, |all, (at, _)| all | 1 << at);
            assert_eq!(equal_bytes(text, b','), marks, "{byte}");
        }
        for length in 0..=64 {
            for at in 0..length {
                let mut text = vec![b'-'; length];
                (text[at], text[length / 2]) = (b',', b',');
                assert_eq!(marks(&text, b','), 1 << at | 1 << (length / 2));
            }
        }
    }
}
