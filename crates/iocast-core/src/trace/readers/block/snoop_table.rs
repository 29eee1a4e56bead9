//! The tables of biosnoop (bcc, bpftrace) and iosnoop (perf-tools): their headings say what the columns are.

use memchr::memmem;

use crate::trace::columns::{Rows, has_extent};
use crate::trace::event::{Event, Layer, Op};
use crate::trace::fields::{
    clock_ns, days_since_1970, decimal_ns, last_word, step_ns, unsigned, whole, word,
};
use crate::trace::line_verdict::{Broken, Taken, Verdict};
use crate::trace::reader::{Clock, Format, LineReader, Reading};
use crate::trace::readers::block::blk_letters::asked;
use crate::trace::report::FileReport;

/// `TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)` and its relatives.
pub const FORMAT: Format = Format {
    name: "snoop_table",
    says: "biosnoop of bcc and bpftrace, iosnoop of perf-tools",
    sniff: |head| head.lines().any(|line| Heading::of(line).is_some()),
    open: |_, _| Ok(Reading::Lines(Box::new(SnoopReader::default()))),
};

const SECTOR: i64 = 512;
const S: i64 = 1_000_000_000;
const MS: i64 = 1_000_000;
const DAY_NS: i64 = 86_400 * S;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    /// Time of the end, and its unit in ns.
    End(i64),
    /// Time of the end as a time of day, which a date may stand before.
    Clock,
    /// Time of the issue, in s.
    Start,
    Command,
    Pid,
    Disk,
    Letters,
    Sector,
    Bytes,
    /// Waiting before the issue, in ms.
    Queue,
    /// From issue to end, in ms.
    Latency,
    /// A column that no event needs.
    Else,
}

fn column_of(name: &[u8]) -> Option<Column> {
    Some(match name {
        b"TIME(s)" | b"ENDs" => Column::End(S),
        b"TIME(ms)" => Column::End(MS),
        b"STARTs" => Column::Start,
        b"COMM" => Column::Command,
        b"PID" => Column::Pid,
        b"DISK" | b"DEV" => Column::Disk,
        b"T" | b"TYPE" => Column::Letters,
        b"SECTOR" | b"BLOCK" => Column::Sector,
        b"BYTES" => Column::Bytes,
        b"QUE(ms)" => Column::Queue,
        b"LAT(ms)" | b"LATms" => Column::Latency,
        b"TIMESTAMP" | b"TIME" => Column::Clock,
        b"P" => Column::Else,
        _ => return None,
    })
}

/// The columns, in order; the one of the command may hold blanks.
struct Heading {
    columns: Vec<Column>,
    command: usize,
    /// perf-tools prints the kernel's clock, the others count from their first event.
    origin: &'static str,
}

impl Heading {
    fn of(line: &[u8]) -> Option<Heading> {
        let mut columns = Vec::new();
        let mut rest = line;
        while let Some((name, after)) = word(rest) {
            columns.push(column_of(name)?);
            rest = after;
        }
        let at = |kind| columns.iter().position(|column| *column == kind);
        let command = at(Column::Command)?;
        let kernels = memmem::find(line, b"STARTs").or(memmem::find(line, b"ENDs")).is_some();
        let origin = if kernels { "monotonic" } else { "trace" };
        let whole = at(Column::Latency).is_some() && at(Column::Pid).is_some();
        whole.then_some(Heading { columns, command, origin })
    }
}

#[derive(Default)]
struct SnoopReader {
    heading: Option<Heading>,
    /// Between a heading and the next blank line.
    inside: bool,
    origin: Option<&'static str>,
    tick_ns: i64,
    timeless: u64,
    nameless: u64,
    lost: u64,
}

impl LineReader for SnoopReader {
    fn line(&mut self, line: &[u8], number: u64, rows: &mut Rows) -> Verdict {
        let text = line.trim_ascii();
        if text.is_empty() {
            self.inside = false;
            return Ok(Taken::Ignored("blank line"));
        }
        if let Some(heading) = Heading::of(line) {
            (self.heading, self.inside) = (Some(heading), true);
            return Ok(Taken::Ignored("heading"));
        }
        if memmem::find(text, b"ost ").is_some() && memmem::find(text, b" events").is_some() {
            self.lost += text.split(u8::is_ascii_whitespace).filter_map(unsigned).next().unwrap_or(1).max(1);
            return Ok(Taken::Ignored("lost events"));
        }
        let messages: [&[u8]; 5] = [b"Tracing block", b"Attaching ", b"Ending tracing", b"^C", b"[...]"];
        if messages.iter().any(|start| text.starts_with(start)) {
            return Ok(Taken::Ignored("message of the tool"));
        }
        match self.row(line, number, rows) {
            Ok(event) => {
                rows.push(&event);
                Ok(Taken::Accepted)
            }
            Err(_) if !self.inside => Ok(Taken::Ignored("text outside the table")),
            Err(broken) => Err(broken),
        }
    }

    fn end(&mut self, rows: &mut Rows, report: &mut FileReport) {
        let _ = rows;
        let mut note = |count: u64, said: String| {
            if count > 0 {
                report.notes.push(said);
            }
        };
        note(self.lost, format!("the trace lost events: {}", self.lost));
        note(self.timeless, format!("{} rows have no time: trace with iosnoop -s", self.timeless));
        note(
            self.nameless,
            format!("{} rows have no operation, offset and size: op is `other`", self.nameless),
        );
    }

    fn clock(&self) -> Clock {
        Clock { origin: self.origin, epoch_ns: None, tick_ns: self.tick_ns.max(1) }
    }
}

impl SnoopReader {
    fn row(&mut self, line: &[u8], number: u64, rows: &mut Rows) -> Result<Event, Broken> {
        let at_end = |rule| Broken { column: line.len() + 1, rule };
        let heading =
            self.heading.take().ok_or(Broken { column: 1, rule: "no heading of a table before it" })?;
        let event = self.fields(&heading, line, number, rows, at_end("too few fields"));
        self.heading = Some(heading);
        event
    }

    fn fields(
        &mut self,
        heading: &Heading,
        line: &[u8],
        number: u64,
        rows: &mut Rows,
        short: Broken,
    ) -> Result<Event, Broken> {
        let mut event = Event::new(Op::Other, Layer::BlockDevice, number);
        let mut told = Told { tick_ns: 1, ..Told::default() };
        let column = |part: &[u8]| (part.as_ptr() as usize).saturating_sub(line.as_ptr() as usize) + 1;
        let mut rest = line;
        for kind in &heading.columns[..heading.command] {
            let (mut field, mut after) = word(rest).ok_or(short)?;
            if *kind == Column::Clock
                && let Some(day) = day_of(field)
            {
                told.day = day;
                (field, after) = word(after).ok_or(short)?;
            }
            told.take(*kind, field, &mut event, rows)
                .map_err(|rule| Broken { column: column(field), rule })?;
            rest = after;
        }
        for kind in heading.columns[heading.command + 1..].iter().rev() {
            let (field, before) = last_word(rest).ok_or(short)?;
            told.take(*kind, field, &mut event, rows)
                .map_err(|rule| Broken { column: column(field), rule })?;
            rest = before;
        }
        if rest.trim_ascii().is_empty() {
            return Err(short);
        }
        if event.op == Op::Write && event.size == Some(0) {
            event.op = Op::Flush; // libbpf's tool prints flags of a flush without data as those of a write
        }
        if !has_extent(event.op) {
            event.offset = None;
            event.size = event.size.filter(|size| *size > 0);
        }
        event.ts_ns = match (told.start_ns, told.end_ns, event.lat_ns) {
            (Some(start), _, _) => Some(start),
            (None, Some(end), Some(latency)) => end.checked_sub(latency),
            _ => None,
        };
        self.timeless += u64::from(event.ts_ns.is_none());
        self.nameless += u64::from(!told.letters);
        if event.ts_ns.is_some() {
            self.origin = Some(heading.origin);
            self.tick_ns = self.tick_ns.max(told.tick_ns);
        }
        Ok(event)
    }
}

/// The days from 1970 to `2026-06-25`.
fn day_of(field: &[u8]) -> Option<i64> {
    let [year, month, day] = field.split(|byte| *byte == b'-').collect::<Vec<_>>()[..] else { return None };
    let (year, month, day) = (whole(year)?, whole(month)?, whole(day)?);
    if !(1970..10_000).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    Some(days_since_1970(year, month, day))
}

/// What the columns of a row said that is no column of the event.
#[derive(Default)]
struct Told {
    start_ns: Option<i64>,
    end_ns: Option<i64>,
    /// Days since 1970, where a date is told.
    day: i64,
    letters: bool,
    tick_ns: i64,
}

impl Told {
    fn take(
        &mut self,
        kind: Column,
        field: &[u8],
        event: &mut Event,
        rows: &mut Rows,
    ) -> Result<(), &'static str> {
        match kind {
            Column::End(unit) => self.end_ns = Some(decimal_ns(field, unit).ok_or("not a time")?),
            Column::Clock => {
                let of_day_ns = clock_ns(field).filter(|ns| *ns < DAY_NS);
                self.end_ns = of_day_ns.map(|ns| self.day * DAY_NS + ns);
                self.tick_ns = self.tick_ns.max(of_day_ns.map_or(1, |_| step_ns(field, S)));
            }
            Column::Start => self.start_ns = Some(decimal_ns(field, S).ok_or("not a time")?),
            Column::Pid => {
                unsigned(field).ok_or("not a process")?;
                event.actor = Some(rows.actors.number(field).map_err(|broken| broken.rule)?);
            }
            Column::Disk => event.target = Some(rows.targets.number(field).map_err(|broken| broken.rule)?),
            Column::Letters => {
                if field.len() > 8 || !field.iter().all(u8::is_ascii_uppercase) {
                    return Err("not an operation");
                }
                (event.op, event.flags) = asked(field);
                self.letters = true;
            }
            Column::Sector => {
                // Flushes have the largest number.
                let sector = i64::try_from(unsigned(field).ok_or("not a sector")?).ok();
                event.offset = sector.and_then(|sector| sector.checked_mul(SECTOR));
            }
            Column::Bytes => event.size = Some(whole(field).ok_or("not a size")?),
            Column::Queue => event.queue_ns = Some(decimal_ns(field, MS).ok_or("not a time in the queue")?),
            Column::Latency => {
                event.lat_ns = Some(decimal_ns(field, MS).ok_or("not a latency")?);
                self.tick_ns = self.tick_ns.max(step_ns(field, MS));
            }
            Column::Command | Column::Else => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_day_with_and_without_a_date() {
        let end_ns = |field: &[u8]| {
            let mut told = Told::default();
            let (mut event, mut rows) = (Event::new(Op::Other, Layer::BlockDevice, 1), Rows::default());
            told.take(Column::Clock, field, &mut event, &mut rows).unwrap();
            told.end_ns
        };
        assert_eq!(end_ns(b"17:58:57.814"), Some(64_737_814 * MS));
        for none in [&b"17:58"[..], b"24:00:00", b"1:2:61.5", b"postgres", b"12.5"] {
            assert_eq!(end_ns(none), None);
        }
        assert_eq!((day_of(b"1970-01-01"), day_of(b"2026-06-25")), (Some(0), Some(20_629)));
        assert_eq!((day_of(b"2024-02-29"), day_of(b"2024-03-01")), (Some(19_782), Some(19_783)));
        assert_eq!((day_of(b"2024-13-01"), day_of(b"sda-1-2")), (None, None));
    }
}
