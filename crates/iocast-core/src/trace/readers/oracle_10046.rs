//! Oracle's extended SQL trace (event 10046), 8i to 21c: the waits that are I/O.
//!
//! A state machine and no search: SQL text and bind values may hold whole lines that look like waits.

use memchr::memmem;

use crate::trace::columns::Rows;
use crate::trace::event::{Event, Layer, Op, flags};
use crate::trace::fields::{signed, unsigned, whole};
use crate::trace::line_verdict::{Broken, Taken, Verdict};
use crate::trace::reader::{Clock, Format, Head, LineReader, Options, Reading};
use crate::trace::report::FileReport;

/// `WAIT #C: nam='...' ela= N ... tim=N` among calls, SQL text and binds.
pub const FORMAT: Format = Format {
    name: "oracle_10046",
    says: "Oracle extended SQL trace (event 10046, .trc), 8i to 21c",
    sniff,
    open: |options, head| Ok(Reading::Lines(Box::new(OracleReader::new(options, head)))),
};

fn sniff(head: &Head<'_>) -> bool {
    let said = |line: &[u8]| {
        line.starts_with(b"PARSING IN CURSOR #")
            || (line.starts_with(b"WAIT #") && memmem::find(line, b": nam='").is_some())
            || (line.starts_with(b"Oracle") && memmem::find(line, b" Release ").is_some())
            || line.starts_with(b"*** SESSION ID:(")
            || call_of(line).is_some()
    };
    head.lines().take(500).any(said)
}

/// What the text around a line is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Nothing,
    Sql,
    Binds,
    BindValue,
    FailedSql,
}

/// What one unit of `ela` is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tick {
    Unknown,
    Ns(i64),
    /// 9.2 and 10 on Unix may count ns/1024: calibrated at the end only, so latencies may be 2.4 % short.
    MaybeBinary,
}

struct OracleReader {
    inside: Inside,
    tick: Tick,
    block_bytes: Option<i64>,
    pid: Vec<u8>,
    name: Vec<u8>,
    unix: Option<bool>,
    cut: bool,
    blocks: i64,
    single: i64,
    single_ela: i64,
    other_waits: i64,
    untimed: i64,
    unitless: i64,
    stamps: Stamps,
}

/// Stamps (`***`) and the `tim` that follows each, first and last.
#[derive(Default)]
struct Stamps {
    waiting_us: Option<i64>,
    first: Option<(i64, i64)>,
    last: Option<(i64, i64)>,
}

impl OracleReader {
    fn new(options: &Options, head: &Head<'_>) -> OracleReader {
        let mut reader = OracleReader {
            inside: Inside::Nothing,
            tick: Tick::Unknown,
            block_bytes: options.block_size_bytes.filter(|size| *size > 0),
            pid: Vec::new(),
            name: Vec::new(),
            unix: None,
            cut: false,
            blocks: 0,
            single: 0,
            single_ela: 0,
            other_waits: 0,
            untimed: 0,
            unitless: 0,
            stamps: Stamps::default(),
        };
        match &options.oracle_release {
            Some(release) => reader.tick = tick_of(release.as_bytes()),
            None => head.lines().take(100).for_each(|line| reader.release(line)),
        }
        reader
    }

    fn release(&mut self, line: &[u8]) {
        if self.tick == Tick::Unknown
            && line.starts_with(b"Oracle")
            && let Some(at) = memmem::find(line, b" Release ")
        {
            self.tick = tick_of(&line[at + 9..]);
        }
    }
}

/// `9.2.0.6.0 - Production`: the first number decides.
fn tick_of(release: &[u8]) -> Tick {
    let digits = release.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(release.len());
    match unsigned(&release[..digits]) {
        Some(6..=8) => Tick::Ns(10_000_000),
        Some(9 | 10) => Tick::MaybeBinary,
        Some(11..) => Tick::Ns(1_000),
        _ => Tick::Unknown,
    }
}

const CALLS: [&[u8]; 6] = [b"PARSE #", b"EXEC #", b"FETCH #", b"UNMAP #", b"SORT UNMAP #", b"CLOSE #"];
const OTHERS: [&[u8]; 14] = [
    b"STAT #",
    b"XCTEND ",
    b"ERROR #",
    b"LOBREAD:",
    b"LOBWRITE:",
    b"LOBGETLEN:",
    b"LOBPGSIZE:",
    b"LOBTMPCREATE:",
    b"LOBTMPFREE:",
    b"LOBAPPEND:",
    b"LOBARRREAD:",
    b"LOBARRTMPFRE:",
    b"LOBTRIM:",
    b"RPC ",
];

/// The rule that a database call is ignored by.
fn call_of(line: &[u8]) -> Option<&'static str> {
    if CALLS.iter().any(|name| line.starts_with(name)) {
        return Some("database call");
    }
    OTHERS
        .iter()
        .any(|name| line.starts_with(name))
        .then_some("statistics, transaction end, LOB call or error")
}

impl LineReader for OracleReader {
    fn line(&mut self, line: &[u8], number: u64, rows: &mut Rows) -> Verdict {
        match self.inside {
            Inside::Sql => {
                if line == b"END OF STMT" || line.starts_with(b"==========") {
                    self.inside = Inside::Nothing;
                }
                return Ok(Taken::Ignored("SQL text"));
            }
            Inside::BindValue => {
                if value_ends(line) || line.starts_with(b"==========") {
                    self.inside = Inside::Binds;
                }
                return Ok(Taken::Ignored("bind values"));
            }
            _ => {}
        }
        if line.starts_with(b"WAIT #") {
            self.inside = Inside::Nothing;
            return self.wait(line, number, rows);
        }
        if let Some(rule) = call_of(line) {
            self.inside = Inside::Nothing;
            if let Some(at) = memmem::find(line, b"WAIT #") {
                return Err(Broken { column: at + 1, rule: "two records on one line" });
            }
            self.stamps.tim(line);
            return Ok(Taken::Ignored(rule));
        }
        self.around(line)
    }

    fn end(&mut self, rows: &mut Rows, report: &mut FileReport) {
        let _ = rows;
        for (name, count) in [
            ("single_block_reads", self.single),
            ("single_block_reads_ela", self.single_ela),
            ("blocks", self.blocks),
            ("other_waits", self.other_waits),
        ] {
            report.figures.insert(name.into(), count);
        }
        let mut note = |wrong: bool, said: &str| {
            if wrong {
                report.notes.push(said.to_string());
            }
        };
        note(self.cut, "the database cut this trace at its size limit (max_dump_file_size)");
        note(
            self.block_bytes.is_none() && self.blocks > 0,
            "offsets and sizes are unknown: the trace counts blocks; give block_size_bytes",
        );
        note(self.untimed > 0, "waits without tim= (Oracle 9 and 10.1 and older) have no time of issue");
        note(
            self.unitless > 0,
            "latencies are unknown: ela is 1/100 s up to Oracle 8 and us from 9 on; give oracle_release",
        );
        if self.tick == Tick::MaybeBinary {
            let slope = self.stamps.slope();
            let said = match slope {
                Some(slope) if (slope - 1.024).abs() < 0.006 => {
                    "1024 ns: latencies and times are 2.4 % too short"
                }
                Some(slope) if (slope - 1.0).abs() < 0.006 => "1 us",
                _ => "unknown, 1 us or 1.024 us: latencies may be 2.4 % too short",
            };
            report.notes.push(format!("a tick of ela and tim is {said} (stamps against tim)"));
        }
    }

    fn clock(&self) -> Clock {
        let unix = self.unix == Some(true);
        Clock {
            origin: self.unix.map(|unix| if unix { "unix" } else { "monotonic" }),
            epoch_ns: unix.then_some(0),
            tick_ns: 1_000,
        }
    }
}

fn value_ends(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    line.ends_with(b"\"") || line.ends_with(b"\"...")
}

impl OracleReader {
    /// Lines that are neither waits nor calls.
    fn around(&mut self, line: &[u8]) -> Verdict {
        if line.starts_with(b"***") {
            self.cut |= memmem::find(line, b"DUMP FILE SIZE IS LIMITED").is_some();
            self.stamps.stamp(line);
            return Ok(Taken::Ignored("stamp"));
        }
        if line.starts_with(b"PARSING IN CURSOR #") {
            self.inside = Inside::Sql;
            return Ok(Taken::Ignored("SQL text"));
        }
        if line.starts_with(b"PARSE ERROR #") {
            self.inside = Inside::FailedSql;
            return Ok(Taken::Ignored("SQL text"));
        }
        if line.starts_with(b"BINDS #") {
            self.inside = Inside::Binds;
            return Ok(Taken::Ignored("bind values"));
        }
        if line.starts_with(b"=====") {
            self.inside = Inside::Nothing;
            return Ok(Taken::Ignored("rule"));
        }
        match self.inside {
            Inside::FailedSql => return Ok(Taken::Ignored("SQL text")),
            Inside::Binds => {
                let text = line.trim_ascii_start();
                if let Some(value) = text.strip_prefix(b"value=\"")
                    && !value_ends(value)
                {
                    self.inside = Inside::BindValue;
                }
                return Ok(Taken::Ignored("bind values"));
            }
            _ => {}
        }
        self.release(line);
        if let Some(pid) = line.strip_prefix(b"Unix process pid: ") {
            let digits = pid.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(pid.len());
            self.pid = pid[..digits].to_vec();
        }
        Ok(Taken::Ignored("heading and other text"))
    }

    fn wait(&mut self, line: &[u8], number: u64, rows: &mut Rows) -> Verdict {
        let wait = Wait::of(line)?;
        if let Some(tim) = wait.tim {
            self.unix.get_or_insert(tim > 1_000_000_000_000_000);
            self.stamps.note(tim);
        }
        let Some(kind) = kind_of(wait.event) else {
            self.other_waits += 1;
            return Ok(Taken::Ignored("wait that is no I/O"));
        };
        let tick_ns = match self.tick {
            Tick::Ns(ns) => Some(ns),
            Tick::MaybeBinary => Some(1_000),
            Tick::Unknown if wait.tim.is_some() || !wait.numbered => Some(1_000),
            Tick::Unknown => None,
        };
        let broken = |rule| Broken { column: 1, rule };
        let mut event = Event::new(kind.op, Layer::Db, number);
        let took_ns = match tick_ns {
            Some(ns) => Some(wait.ela.checked_mul(ns).ok_or(broken("ela is too large"))?),
            None => None,
        };
        if kind.timed {
            event.lat_ns = took_ns;
            self.unitless += i64::from(took_ns.is_none());
        } else {
            event.flags |= flags::ASYNC_SUBMIT_ONLY;
        }
        // `tim` is the end of the wait.
        if let (Some(tim), Some(took)) = (wait.tim, took_ns) {
            let end_ns = tim.checked_mul(1_000).ok_or(broken("tim is too large"))?;
            event.ts_ns = end_ns.checked_sub(took);
        }
        self.untimed += i64::from(wait.tim.is_none());
        self.place(&kind, &wait, &mut event, rows)?;
        self.name.clear();
        if !self.pid.is_empty() {
            self.name.extend_from_slice(&self.pid);
            self.name.push(b'/');
        }
        self.name.extend_from_slice(wait.cursor);
        event.actor = Some(rows.actors.number(&self.name)?);
        if wait.event == b"db file sequential read" {
            self.single += 1;
            self.single_ela = self.single_ela.saturating_add(wait.ela);
        }
        rows.push(&event);
        Ok(Taken::Accepted)
    }

    /// File, offset and size, as far as the parameters and the block size say.
    fn place(
        &mut self,
        kind: &Kind,
        wait: &Wait<'_>,
        event: &mut Event,
        rows: &mut Rows,
    ) -> Result<(), Broken> {
        let [first, second, third] = wait.parameters;
        match kind.place {
            Place::FileBlockCount => {
                if let Some(file) = first {
                    self.name.clear();
                    self.name.extend_from_slice(b"file ");
                    self.name.extend_from_slice(file);
                    event.target = Some(rows.targets.number(&self.name)?);
                }
                let (block, count) = (second.and_then(whole), third.and_then(whole));
                self.blocks = self.blocks.saturating_add(count.unwrap_or(0));
                let bytes = |blocks: Option<i64>| blocks?.checked_mul(self.block_bytes?);
                (event.offset, event.size) = (bytes(block), bytes(count));
            }
            Place::BlocksSecond => {
                let count = second.and_then(whole);
                self.blocks = self.blocks.saturating_add(count.unwrap_or(0));
                event.size = count.and_then(|count| count.checked_mul(self.block_bytes?));
                event.target = Some(rows.targets.number(kind.target)?);
            }
            Place::BytesThird => {
                event.size = third.and_then(whole);
                event.target = Some(rows.targets.number(kind.target)?);
            }
            Place::Unknown => event.target = Some(rows.targets.number(kind.target)?),
        }
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    FileBlockCount,
    BlocksSecond,
    BytesThird,
    Unknown,
}

/// What a wait event is as an I/O.
struct Kind {
    op: Op,
    place: Place,
    /// Whether `ela` is the time of one I/O: not of asynchronous ones and not of batches.
    timed: bool,
    target: &'static [u8],
}

fn kind_of(event: &[u8]) -> Option<Kind> {
    let kind = |op, place, timed, target| Some(Kind { op, place, timed, target });
    match event {
        b"db file sequential read" | b"db file scattered read" => {
            kind(Op::Read, Place::FileBlockCount, true, b"")
        }
        b"db file parallel read" => kind(Op::Read, Place::BlocksSecond, false, b"data files"),
        b"direct path read" | b"direct path read temp" => kind(Op::Read, Place::FileBlockCount, false, b""),
        b"direct path write" | b"direct path write temp" => {
            kind(Op::Write, Place::FileBlockCount, false, b"")
        }
        b"db file single write" => kind(Op::Write, Place::FileBlockCount, true, b""),
        b"db file parallel write" => kind(Op::Write, Place::Unknown, false, b"data files"),
        // Redo blocks are of 512 or 4096 bytes, whatever the block of the database is.
        b"log file parallel write" | b"log file single write" => {
            kind(Op::Write, Place::Unknown, true, b"redo log")
        }
        b"log file sequential read" => kind(Op::Read, Place::Unknown, true, b"redo log"),
        b"control file sequential read" => kind(Op::Read, Place::Unknown, true, b"control file"),
        b"control file parallel write" | b"control file single write" => {
            kind(Op::Write, Place::Unknown, true, b"control file")
        }
        b"Disk file operations I/O" => kind(Op::Meta, Place::Unknown, true, b"data files"),
        b"cell single block physical read" | b"cell multiblock physical read" => {
            kind(Op::Read, Place::BytesThird, true, b"cells")
        }
        b"cell list of blocks physical read" => kind(Op::Read, Place::Unknown, false, b"cells"),
        _ => None,
    }
}

/// The parts of a `WAIT` line.
struct Wait<'a> {
    cursor: &'a [u8],
    event: &'a [u8],
    ela: i64,
    /// Values of the three parameters.
    parameters: [Option<&'a [u8]>; 3],
    /// `p1=`, `p2=`, `p3=`: up to 10.1, and where an event names none.
    numbered: bool,
    tim: Option<i64>,
}

impl<'a> Wait<'a> {
    fn of(line: &'a [u8]) -> Result<Wait<'a>, Broken> {
        let at_end = |rule| Broken { column: line.len() + 1, rule };
        let colon = line.iter().position(|byte| *byte == b':').ok_or(at_end("no cursor"))?;
        let cursor = &line[6..colon.max(6)];
        unsigned(cursor).ok_or(Broken { column: 7, rule: "not a cursor" })?;
        let name = memmem::find(&line[colon..], b"nam='").ok_or(at_end("no name of an event"))? + colon + 5;
        let length =
            line[name..].iter().position(|byte| *byte == b'\'').ok_or(at_end("a name without its end"))?;
        let event = &line[name..name + length];
        let mut at = name + length + 1;
        let mut wait = Wait { cursor, event, ela: 0, parameters: [None; 3], numbered: false, tim: None };
        let mut pairs = 0;
        while let Some((key, value, after)) = pair(line, at)? {
            let number = signed(value);
            let column = after - value.len() + 1;
            let number = number.ok_or(Broken { column, rule: "not a whole number" });
            match (pairs, key) {
                (0, b"ela") => {
                    wait.ela = number?;
                    if wait.ela < 0 {
                        return Err(Broken { column, rule: "a negative time" });
                    }
                }
                (0, _) => return Err(Broken { column: at + 1, rule: "no ela= after the name" }),
                (_, b"tim") => wait.tim = Some(number?),
                (_, b"obj#") => drop(number?),
                (1..=3, key) => {
                    wait.numbered |= key == b"p1";
                    // Some parameters are addresses beyond 63 bits.
                    if number.is_err() && unsigned(value).is_none() {
                        number?;
                    }
                    wait.parameters[pairs - 1] = Some(value);
                }
                _ => return Err(Broken { column: at + 1, rule: "more than three parameters" }),
            }
            pairs += 1;
            at = after;
        }
        if pairs == 0 {
            return Err(at_end("no ela="));
        }
        Ok(wait)
    }
}

type Pair<'a> = Option<(&'a [u8], &'a [u8], usize)>;

/// The next `name=value` (names may hold blanks, values may follow a blank) and where it ends.
fn pair(line: &[u8], from: usize) -> Result<Pair<'_>, Broken> {
    let mut at = from;
    while at < line.len() && line[at].is_ascii_whitespace() {
        at += 1;
    }
    if at == line.len() {
        return Ok(None);
    }
    let text = Broken { column: at + 1, rule: "text after the last pair" };
    let equals = line[at..].iter().position(|byte| *byte == b'=').ok_or(text)? + at;
    let key = &line[at..equals];
    let mut start = equals + 1;
    while start < line.len() && line[start] == b' ' {
        start += 1;
    }
    let mut end = start;
    while end < line.len() && !line[end].is_ascii_whitespace() {
        end += 1;
    }
    Ok(Some((key, &line[start..end], end)))
}

impl Stamps {
    /// Time of day of a stamp, in us since 1970 as if it were UTC: only differences count.
    fn stamp(&mut self, line: &[u8]) {
        self.waiting_us = stamp_us(line).or(self.waiting_us);
    }

    fn tim(&mut self, line: &[u8]) {
        if self.waiting_us.is_some()
            && let Some(at) = memmem::rfind(line, b"tim=")
            && let Some(tim) = whole(line[at + 4..].trim_ascii_end())
        {
            self.note(tim);
        }
    }

    fn note(&mut self, tim: i64) {
        if let Some(us) = self.waiting_us.take() {
            self.first.get_or_insert((us, tim));
            self.last = Some((us, tim));
        }
    }

    /// Microseconds of a unit of tim, where a minute or more is between the stamps.
    fn slope(&self) -> Option<f64> {
        let ((from_us, from), (to_us, to)) = (self.first?, self.last?);
        let (us, ticks) = (to_us.checked_sub(from_us)?, to.checked_sub(from)?);
        (us >= 60_000_000 && ticks > 0).then(|| us as f64 / ticks as f64)
    }
}

/// `*** 2013-08-26 14:40:23.035`, `*** 2019-07-09T09:57:07.703476-07:00 (...)`.
fn stamp_us(line: &[u8]) -> Option<i64> {
    let text = line.strip_prefix(b"*** ")?;
    let number = |from: usize, to: usize| whole(text.get(from..to)?);
    let shape = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':'), (19, b'.')];
    if !shape.iter().all(|(at, byte)| text.get(*at) == Some(byte)) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let digits = text[20..].iter().take_while(|byte| byte.is_ascii_digit()).count().min(6);
    let fraction = number(20, 20 + digits)? * 10_i64.pow(6 - digits as u32);
    // Days of the proleptic Gregorian calendar since 1970.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 719_469;
    let seconds = days * 86_400 + number(11, 13)? * 3_600 + number(14, 16)? * 60 + number(17, 19)?;
    Some(seconds * 1_000_000 + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_of_all_releases_are_times() {
        assert_eq!(stamp_us(b"*** 1970-01-02 00:00:01.500"), Some(86_401_500_000));
        assert_eq!(stamp_us(b"*** 2019-07-09T09:57:07.703476-07:00 (X(8))"), Some(1_562_666_227_703_476));
        assert_eq!(stamp_us(b"*** SESSION ID:(409.215) 2013-08-26 14:40:23.035"), None);
    }

    #[test]
    fn the_release_says_what_a_tick_is() {
        assert!(tick_of(b"8.1.7.4.0 - Production") == Tick::Ns(10_000_000));
        assert!(tick_of(b"9.2.0.6.0") == Tick::MaybeBinary);
        assert!(tick_of(b"19.0.0.0.0") == Tick::Ns(1_000));
        assert!(tick_of(b"") == Tick::Unknown);
    }
}
