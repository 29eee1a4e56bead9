//! Oracle's extended SQL trace (event 10046), 8i to 21c: the waits that are I/O, and the calls that they are part of.
//!
//! A state machine and no search: SQL text and bind values may hold whole lines that look like waits.

use std::collections::BTreeMap;

use memchr::memmem;

use crate::trace::call_rows::{Call, CallKind};
use crate::trace::columns::Rows;
use crate::trace::event::{Event, Layer, flags};
use crate::trace::line_verdict::{Broken, Taken, Verdict};
use crate::trace::little::Little;
use crate::trace::reader::{Clock, Format, Head, LineReader, Options, Reading};
use crate::trace::readers::oracle::oracle_calls::{CALLS, CallLine, Cursors, LOB_CALLS};
use crate::trace::readers::oracle::oracle_clock::{Stamps, Tick, calibrated, tick_of};
use crate::trace::readers::oracle::oracle_waits::{Kind, Parameter, Place, Wait};
use crate::trace::readers::oracle::wait_forms::WaitForms;
use crate::trace::report::FileReport;

/// `WAIT #C: nam='...' ela= N ... tim=N` among calls, SQL text and binds.
pub const FORMAT: Format = Format {
    name: "oracle_10046",
    says: "Oracle extended SQL trace (event 10046, .trc), 8i to 21c",
    sniff,
    open: |options, head| Ok(Reading::Lines(Box::new(OracleReader::new(options, head)))),
};

/// Oracle allows 65,533 data files; few have more than this.
const FILES_CACHED: usize = 1 << 12;
/// Waits without a time that wait for the call that they are part of.
const HELD_AT_MOST: usize = 1 << 12;

fn sniff(head: &Head<'_>) -> bool {
    let said = |line: &[u8]| {
        line.starts_with(b"PARSING IN CURSOR #")
            || (line.starts_with(b"WAIT #") && memmem::find(line, b": nam='").is_some())
            || (line.starts_with(b"Oracle") && memmem::find(line, b" Release ").is_some())
            || line.starts_with(b"*** SESSION ID:(")
            || call_of(line).is_some()
            || lob_call_of(line).is_some()
            || OTHERS.iter().any(|name| line.starts_with(name))
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

struct OracleReader {
    inside: Inside,
    forms: WaitForms,
    tick: Tick,
    block_bytes: Option<i64>,
    block_bytes_of: BTreeMap<i64, i64>,
    pid: Vec<u8>,
    name: Vec<u8>,
    /// Numbers of the names of files, by file number.
    files: Vec<Option<u32>>,
    /// The cursor of the last I/O, and the number of its name.
    last_cursor: Vec<u8>,
    last_actor: Option<u32>,
    session: Option<Vec<u8>>,
    cursors: Cursors,
    /// Waits without a time, and how long they took.
    held: Vec<(Option<Event>, Option<Call>, i64)>,
    unix: Option<bool>,
    stamps: Stamps,
    little: Little,
    seen: Seen,
}

/// What is told at the end.
#[derive(Default)]
struct Seen {
    cut: bool,
    blocks: i64,
    blocks_of_unknown_size: i64,
    single: i64,
    single_ela: i64,
    other_waits: i64,
    calls: i64,
    untimed: i64,
    placed_back: i64,
    unitless: i64,
    sessions: i64,
}

impl OracleReader {
    fn new(options: &Options, head: &Head<'_>) -> OracleReader {
        let mut reader = OracleReader {
            inside: Inside::Nothing,
            forms: WaitForms::default(),
            tick: Tick::Unknown,
            block_bytes: options.block_size_bytes.filter(|size| *size > 0),
            block_bytes_of: options.block_size_bytes_of_files.clone(),
            pid: Vec::new(),
            name: Vec::new(),
            files: vec![None; FILES_CACHED],
            last_cursor: Vec::new(),
            last_actor: None,
            session: None,
            cursors: Cursors::default(),
            held: Vec::new(),
            unix: None,
            stamps: Stamps::default(),
            little: Little::default(),
            seen: Seen::default(),
        };
        match &options.oracle_release {
            Some(release) => reader.tick = tick_of(release.as_bytes()),
            None => head.lines().take(100).for_each(|line| reader.release(line)),
        }
        if reader.tick == Tick::MaybeBinary {
            reader.tick = calibrated(head.path);
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

const OTHERS: [&[u8]; 4] = [b"STAT #", b"XCTEND ", b"ERROR #", b"RPC "];

/// The length of the name of a call for a LOB.
fn lob_call_of(line: &[u8]) -> Option<usize> {
    LOB_CALLS.iter().find(|name| line.starts_with(name)).map(|name| name.len())
}

/// The kind of a call and the length of its name.
fn call_of(line: &[u8]) -> Option<(Option<CallKind>, usize)> {
    let (name, kind) = CALLS.iter().find(|(name, _)| line.starts_with(name))?;
    Some((*kind, name.len()))
}

impl LineReader for OracleReader {
    fn line(&mut self, line: &[u8], number: u64, rows: &mut Rows) -> Verdict {
        match self.inside {
            Inside::Sql => {
                if line == b"END OF STMT" || line.starts_with(b"==========") {
                    self.inside = Inside::Nothing;
                    if let Some(calls) = &mut rows.calls {
                        self.cursors.end_of_text(calls);
                    }
                } else if rows.calls.is_some() {
                    self.cursors.text(line);
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
        if let Some((kind, length)) = call_of(line) {
            self.inside = Inside::Nothing;
            two_records(line)?;
            let found = CallLine::of(line, length)?;
            return self.call(&found, kind, number, rows);
        }
        if OTHERS.iter().any(|name| line.starts_with(name)) {
            self.inside = Inside::Nothing;
            two_records(line)?;
            return Ok(Taken::Ignored("statistics, transaction end or error"));
        }
        if let Some(start) = lob_call_of(line) {
            self.inside = Inside::Nothing;
            two_records(line)?;
            let found = CallLine::of_lob(line, start)?;
            return self.call(&found, Some(CallKind::Lob), number, rows);
        }
        self.around(line, rows)
    }

    fn end(&mut self, rows: &mut Rows, report: &mut FileReport) {
        self.let_go(None, rows);
        let seen = &self.seen;
        for (name, count) in [
            ("single_block_reads", seen.single),
            ("single_block_reads_ela", seen.single_ela),
            ("blocks", seen.blocks),
            ("other_waits", seen.other_waits),
            ("calls", seen.calls),
            ("sessions", seen.sessions),
        ] {
            report.figures.insert(name.into(), count);
        }
        self.notes(report);
        self.little.tell(report, self.seen.sessions < 2);
    }

    fn clock(&self) -> Clock {
        let unix = self.unix == Some(true);
        Clock {
            origin: self.unix.map(|unix| if unix { "unix" } else { "monotonic" }),
            epoch_ns: unix.then_some(0),
            tick_ns: self.tick.ns(true).unwrap_or(1_000),
        }
    }
}

fn two_records(line: &[u8]) -> Result<(), Broken> {
    match memmem::find(line, b"WAIT #") {
        Some(at) => Err(Broken { column: at + 1, rule: "two records on one line" }),
        None => Ok(()),
    }
}

fn value_ends(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    line.ends_with(b"\"") || line.ends_with(b"\"...")
}

impl OracleReader {
    fn notes(&self, report: &mut FileReport) {
        let seen = &self.seen;
        let mut note = |wrong: bool, said: &str| {
            if wrong {
                report.notes.push(said.to_string());
            }
        };
        note(seen.cut, "the database cut this trace at its size limit (max_dump_file_size)");
        note(
            seen.blocks_of_unknown_size > 0,
            "offsets and sizes are unknown: the trace counts blocks; give the size of a block (--block-size 8k, in Python block_size_bytes)",
        );
        note(seen.untimed > 0, "waits without tim= (Oracle 9 and 10.1 and older) have no time of issue");
        note(
            seen.placed_back > 0,
            "waits without tim= are placed one before the other in front of the call that follows them: their \
             latest possible times",
        );
        note(
            seen.unitless > 0,
            "latencies are unknown: ela is 1/100 s up to Oracle 8 and us from 9 on; give oracle_release",
        );
        note(
            self.tick == Tick::Ns(1_024),
            "a tick of ela and tim is 1024 ns (stamps against tim): times and latencies are corrected",
        );
        note(
            self.tick == Tick::MaybeBinary,
            "a tick of ela and tim is 1 us or 1.024 us, and the stamps do not say which: latencies may be 2.4 % \
             too short",
        );
    }

    /// Lines that are neither waits nor calls.
    fn around(&mut self, line: &[u8], rows: &mut Rows) -> Verdict {
        if line.starts_with(b"***") {
            self.seen.cut |= memmem::find(line, b"DUMP FILE SIZE IS LIMITED").is_some();
            self.stamps.stamp(line);
            if let Some(rest) = line.strip_prefix(b"*** SESSION ID:(") {
                let id = &rest[..rest.iter().position(|byte| *byte == b')').unwrap_or(0)];
                if self.session.as_deref() != Some(id) {
                    self.seen.sessions += 1;
                    self.session = Some(id.to_vec());
                }
            }
            return Ok(Taken::Ignored("stamp"));
        }
        if line.starts_with(b"PARSING IN CURSOR #") {
            self.inside = Inside::Sql;
            if let Some(calls) = &mut rows.calls {
                self.cursors.parsing(line, calls);
            }
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
            self.last_actor = None;
        }
        Ok(Taken::Ignored("heading and other text"))
    }

    fn call(
        &mut self,
        found: &CallLine<'_>,
        kind: Option<CallKind>,
        number: u64,
        rows: &mut Rows,
    ) -> Verdict {
        self.seen.calls += 1;
        let tick_ns = self.tick.ns(false).or_else(|| self.unix.map(|_| 1_000));
        let ns = |ticks: Option<i64>| ticks?.checked_mul(tick_ns?);
        if let Some(tim) = found.tim {
            self.stamps.note(tim);
            self.let_go(ns(found.tim), rows);
        }
        if let (Some(kind), Some(calls)) = (kind, &mut rows.calls) {
            let mut call = self.cursors.call(kind, found.cursor, number);
            call.elapsed_ns = ns(found.elapsed);
            call.start_ns = ns(found.tim).zip(call.elapsed_ns).map(|(end, took)| end - took);
            // CPU time comes from the system, which knows no ns/1024.
            let cpu_tick = tick_ns.map(|ns| if ns == 1_024 { 1_000 } else { ns });
            call.cpu_ns = found.cpu.zip(cpu_tick).and_then(|(cpu, ns)| cpu.checked_mul(ns));
            call.dep = found.dep.and_then(|dep| i32::try_from(dep).ok());
            (call.rows, call.work) = (found.rows, found.work);
            if let Some(session) = &self.session {
                call.session = Some(calls.sessions.number(session)?);
            }
            calls.push(&call, rows.source);
        }
        Ok(Taken::Ignored("database call"))
    }

    fn wait(&mut self, line: &[u8], number: u64, rows: &mut Rows) -> Verdict {
        let wait = self.forms.read(line)?;
        let broken = |rule| Broken { column: 1, rule };
        if let Some(tim) = wait.tim {
            self.unix.get_or_insert(tim > 1_000_000_000_000_000);
            self.stamps.note(tim);
        }
        let tick_ns = self.tick.ns(wait.tim.is_some() || !wait.numbered);
        let took_ns = match tick_ns {
            Some(ns) => Some(wait.ela.checked_mul(ns).ok_or(broken("ela is too large"))?),
            None => None,
        };
        // `tim` is the end of the wait.
        let mut start_ns = None;
        if let (Some(tim), Some(took), Some(ns)) = (wait.tim, took_ns, tick_ns) {
            start_ns = tim.checked_mul(ns).ok_or(broken("tim is too large"))?.checked_sub(took);
        }
        let event = match wait.kind {
            Some(kind) => Some(self.io(&kind, &wait, (start_ns, took_ns), number, rows)?),
            None => {
                self.seen.other_waits += 1;
                None
            }
        };
        let call = self.wait_row(&wait, (start_ns, took_ns), (event.is_some(), number), rows)?;
        let verdict =
            Ok(if event.is_some() { Taken::Accepted } else { Taken::Ignored("wait that is no I/O") });
        if wait.tim.is_none() && took_ns.is_some() {
            if self.held.len() >= HELD_AT_MOST {
                self.let_go(None, rows);
            }
            self.held.push((event, call, took_ns.unwrap_or(0)));
        } else {
            self.seen.untimed += i64::from(event.is_some() && start_ns.is_none());
            self.give(event, call, rows);
        }
        verdict
    }

    fn io(
        &mut self,
        kind: &Kind,
        wait: &Wait<'_>,
        (start_ns, took_ns): (Option<i64>, Option<i64>),
        number: u64,
        rows: &mut Rows,
    ) -> Result<Event, Broken> {
        let mut event = Event::new(kind.op, Layer::Db, number);
        event.ts_ns = start_ns;
        if kind.timed {
            event.lat_ns = took_ns;
            self.seen.unitless += i64::from(took_ns.is_none());
        } else {
            event.flags |= flags::ASYNC_SUBMIT_ONLY;
        }
        self.place(kind, wait, &mut event, rows)?;
        event.actor = Some(self.actor(wait.cursor, rows)?);
        if wait.event == b"db file sequential read" {
            self.seen.single += 1;
            self.seen.single_ela = self.seen.single_ela.saturating_add(wait.ela);
        }
        Ok(event)
    }

    /// The number of a cursor, with the process that it belongs to: most often that of the wait before.
    fn actor(&mut self, cursor: &[u8], rows: &mut Rows) -> Result<u32, Broken> {
        if let Some(actor) = self.last_actor
            && self.last_cursor == cursor
        {
            return Ok(actor);
        }
        self.name.clear();
        if !self.pid.is_empty() {
            self.name.extend_from_slice(&self.pid);
            self.name.push(b'/');
        }
        self.name.extend_from_slice(cursor);
        let actor = rows.actors.number(&self.name)?;
        self.last_cursor.clear();
        self.last_cursor.extend_from_slice(cursor);
        self.last_actor = Some(actor);
        Ok(actor)
    }

    fn wait_row(
        &mut self,
        wait: &Wait<'_>,
        (start_ns, took_ns): (Option<i64>, Option<i64>),
        (io, number): (bool, u64),
        rows: &mut Rows,
    ) -> Result<Option<Call>, Broken> {
        let Some(calls) = &mut rows.calls else { return Ok(None) };
        let kind = if io { CallKind::IoWait } else { CallKind::OtherWait };
        let mut call = self.cursors.call(kind, wait.cursor, number);
        (call.start_ns, call.elapsed_ns) = (start_ns, took_ns);
        call.event = Some(calls.event(wait.event)?);
        if wait.kind.is_some_and(|kind| kind.place == Place::FileBlockCount) {
            call.target = wait.parameters[0].and_then(|file| file.value);
        }
        if let Some(session) = &self.session {
            call.session = Some(calls.sessions.number(session)?);
        }
        Ok(Some(call))
    }

    fn give(&mut self, event: Option<Event>, call: Option<Call>, rows: &mut Rows) {
        if let Some(event) = event {
            self.little.add(&event);
            rows.push(&event);
        }
        if let (Some(call), Some(calls)) = (call, &mut rows.calls) {
            calls.push(&call, rows.source);
        }
    }

    /// The waits that were held end, at the latest, one before the other up to the end of their call.
    fn let_go(&mut self, end_ns: Option<i64>, rows: &mut Rows) {
        let mut held = std::mem::take(&mut self.held);
        if let Some(mut end) = end_ns {
            for (event, call, took) in held.iter_mut().rev() {
                end = end.saturating_sub(*took);
                if let Some(event) = event {
                    event.ts_ns = Some(end);
                    self.seen.placed_back += 1;
                }
                if let Some(call) = call {
                    call.start_ns = Some(end);
                }
            }
            self.unix.get_or_insert(end > 1_000_000_000_000_000_000);
        }
        for (event, call, _) in held.drain(..) {
            self.seen.untimed += i64::from(event.is_some_and(|event| event.ts_ns.is_none()));
            self.give(event, call, rows);
        }
        self.held = held;
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
        let value = |parameter: Parameter<'_>| parameter.value;
        match kind.place {
            Place::FileBlockCount => {
                let mut block_bytes = self.block_bytes;
                if let Some(file) = first {
                    event.target = Some(self.file(file, rows)?);
                    if !self.block_bytes_of.is_empty() {
                        let own = file.value.and_then(|file| self.block_bytes_of.get(&file).copied());
                        block_bytes = own.or(block_bytes);
                    }
                }
                let (block, count) = (second.and_then(value), third.and_then(value));
                self.count(count, block_bytes);
                let bytes = |blocks: Option<i64>| blocks?.checked_mul(block_bytes?);
                (event.offset, event.size) = (bytes(block), bytes(count));
            }
            Place::BlocksSecond => {
                let count = second.and_then(value);
                self.count(count, self.block_bytes);
                event.size = count.and_then(|count| count.checked_mul(self.block_bytes?));
                event.target = Some(rows.targets.number(kind.target)?);
            }
            Place::BytesThird => {
                event.size = third.and_then(value);
                event.target = Some(rows.targets.number(kind.target)?);
            }
            Place::Unknown => event.target = Some(rows.targets.number(kind.target)?),
        }
        Ok(())
    }

    /// The number of the name of a data file.
    fn file(&mut self, file: Parameter<'_>, rows: &mut Rows) -> Result<u32, Broken> {
        let plain = file.value.filter(|_| file.text[0] != b'0');
        let cached = plain.and_then(|number| usize::try_from(number).ok());
        if let Some(Some(known)) = cached.and_then(|number| self.files.get(number)) {
            return Ok(*known);
        }
        self.name.clear();
        self.name.extend_from_slice(b"file ");
        self.name.extend_from_slice(file.text);
        let number = rows.targets.number(&self.name)?;
        if let Some(room) = cached.and_then(|number| self.files.get_mut(number)) {
            *room = Some(number);
        }
        Ok(number)
    }

    fn count(&mut self, blocks: Option<i64>, block_bytes: Option<i64>) {
        let count = blocks.unwrap_or(0);
        self.seen.blocks = self.seen.blocks.saturating_add(count);
        if block_bytes.is_none() {
            self.seen.blocks_of_unknown_size = self.seen.blocks_of_unknown_size.saturating_add(count);
        }
    }
}
