//! Records of system calls become events: a call from its entry to its exit, with its file, place and flags.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use super::call_records::{CallRecords, Seen};
use super::call_table::{Call, call_of, filter};
use super::open_files::{Kind, OpenFiles};
use super::rings::{Rings, Whose};
use crate::error::Result;
use crate::trace::columns::Rows;
use crate::trace::event::{Event, Layer, Op, flags};
use crate::trace::report::FileReport;

const RWF_DSYNC: u64 = 2;
const RWF_SYNC: u64 = 4;
const RWF_APPEND: u64 = 16;

/// A call that has begun.
#[derive(Clone, Copy)]
struct Begun {
    at_ns: u64,
    number: i64,
    args: [u64; 6],
}

/// An event whose file may still turn out to be another one, until all that happened before the look is known.
struct Held {
    event: Event,
    file: u32,
    thread: u32,
}

/// See the module.
pub struct SystemCalls {
    rings: Rings,
    records: CallRecords,
    path: String,
    begun: HashMap<u32, Begun>,
    processes: HashMap<u32, u32>,
    actors: HashMap<u32, Option<u32>>,
    files: OpenFiles,
    held: Vec<Held>,
    report: FileReport,
    figures: Figures,
    source: u32,
}

/// Records, and events, that are told apart.
#[derive(Default)]
struct Figures {
    unnamed: i64,
    asynchronous: i64,
    untold: i64,
    without_entry: i64,
}

impl SystemCalls {
    /// Of these processes (or of all but these threads); with `path` only those on files below it. Nothing is
    /// recorded before `on`.
    pub fn new(
        root: &Path,
        whose: &Whose,
        path: &str,
        ring_kb: Option<u64>,
        source: u32,
    ) -> Result<SystemCalls> {
        let mut rings = Rings::create(root, whose, ring_kb)?;
        let records = CallRecords::listen(&mut rings, &filter())?;
        Ok(SystemCalls {
            rings,
            records,
            path: path.to_string(),
            begun: HashMap::new(),
            processes: HashMap::new(),
            actors: HashMap::new(),
            files: OpenFiles::default(),
            held: Vec::new(),
            report: FileReport::default(),
            figures: Figures::default(),
            source,
        })
    }

    /// Its instance.
    pub fn rings(&self) -> &Rings {
        &self.rings
    }

    /// Takes what was recorded. What happened before `until_ns` is paired; it is told one round later, when it is known
    /// whether the names that were looked up are right. `now_ns` is read when all records are in.
    pub fn round(&mut self, until_ns: u64, now_ns: &dyn Fn() -> u64, rows: &mut Rows) -> Result<()> {
        let SystemCalls { rings, records, .. } = self;
        let ready = records.read(rings, until_ns, &mut |_, _| {})?;
        let held = std::mem::take(&mut self.held);
        for (at_ns, seen) in ready {
            self.report.lines += 1;
            match seen {
                Seen::Enter { thread, number, args } => self.entered(at_ns, thread, number, args),
                Seen::Exit { thread, number, result } => self.left(at_ns, thread, number, result, now_ns()),
            }
        }
        held.into_iter().for_each(|each| self.tell(each, rows));
        Ok(())
    }

    fn entered(&mut self, at_ns: u64, thread: u32, number: i64, args: [u64; 6]) {
        if self.begun.insert(thread, Begun { at_ns, number, args }).is_some() {
            self.report.ignore("a call whose end was not seen");
        }
    }

    fn left(&mut self, at_ns: u64, thread: u32, number: i64, result: i64, now_ns: u64) {
        let begun = self.begun.remove(&thread).filter(|begun| begun.number == number);
        let (Some(begun), Some(call)) = (begun, call_of(number)) else {
            self.figures.without_entry += 1;
            self.report.ignore("a call whose beginning was not seen");
            return;
        };
        self.report.accepted += 2; // entry and exit
        let process = self.process(thread);
        let descriptor = i64::from(begun.args[0] as u32 as i32);
        match call {
            Call::Data { .. } | Call::Sync(_) | Call::Allocate => {
                self.moved(call, &begun, (process, thread), (at_ns, now_ns), result);
            }
            Call::Open(flags) if result >= 0 => {
                let flags = flags.map(|argument| begun.args[argument] as i32);
                self.files.opened(process, result, flags, now_ns);
            }
            Call::Close if result == 0 => self.files.closed(process, descriptor, at_ns),
            Call::CloseRange if result == 0 => {
                self.files.closed_range(process, descriptor, i64::from(begun.args[1] as u32), at_ns);
            }
            Call::Duplicate if result >= 0 => {
                self.files.closed(process, result, at_ns);
                self.files.duplicated(process, descriptor, result, now_ns);
            }
            Call::Seek if result >= 0 => {
                if let Some(number) = self.files.number(process, descriptor, now_ns) {
                    self.files.file_mut(number).place = Some(result as u64);
                }
            }
            Call::Control if result >= 0 => self.controlled(&begun, process, descriptor, result, now_ns),
            // What the kernel took; a call that only waits takes nothing.
            Call::Asynchronous if result > 0 => self.figures.asynchronous += result,
            Call::Untold if result > 0 => self.figures.untold += 1,
            _ => {}
        }
    }

    fn controlled(&mut self, begun: &Begun, process: u32, descriptor: i64, result: i64, now_ns: u64) {
        match begun.args[1] as i32 {
            libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => {
                self.files.duplicated(process, descriptor, result, now_ns);
            }
            libc::F_SETFL => {
                if let Some(number) = self.files.number(process, descriptor, now_ns) {
                    self.files.file_mut(number).flags = Some(begun.args[2] as i32);
                }
            }
            _ => {}
        }
    }

    /// A call that is an I/O, if its file is storage.
    fn moved(
        &mut self,
        call: Call,
        begun: &Begun,
        (process, thread): (u32, u32),
        (at_ns, now_ns): (u64, u64),
        result: i64,
    ) {
        let descriptor = i64::from(begun.args[0] as u32 as i32);
        let Some(number) = self.files.number(process, descriptor, now_ns) else {
            return; // a descriptor that was open before, and is closed by now
        };
        let file = self.files.file_mut(number);
        let opened = file.flags.unwrap_or(0);
        let mut event = Event::new(Op::Other, Layer::Syscall, self.report.lines);
        match call {
            Call::Data { op, placed, flagged } => {
                let rwf = if flagged { begun.args[5] } else { 0 };
                let own = !placed || (flagged && begun.args[3] as i64 == -1);
                let appends = op == Op::Write && (opened & libc::O_APPEND != 0 || rwf & RWF_APPEND != 0);
                event.op = op;
                event.flags = bits(op, opened, rwf, appends);
                event.offset = match (appends, own) {
                    (true, _) => None,
                    (false, true) => file.place.and_then(|place| i64::try_from(place).ok()),
                    (false, false) => i64::try_from(begun.args[3]).ok(),
                };
                event.size = (result >= 0).then_some(result);
                if own && !appends && result > 0 {
                    file.place = file.place.map(|place| place + result as u64);
                }
            }
            Call::Sync(op) => event.op = op,
            Call::Allocate if begun.args[1] as i32 & libc::FALLOC_FL_PUNCH_HOLE != 0 => {
                event.op = Op::Trim;
                event.offset = i64::try_from(begun.args[2]).ok();
                event.size = i64::try_from(begun.args[3]).ok();
            }
            _ => return,
        }
        event.ts_ns = Some(begun.at_ns as i64);
        event.lat_ns = Some(at_ns.saturating_sub(begun.at_ns) as i64);
        event.err = i16::try_from(if result < 0 { -result } else { 0 }).ok();
        self.held.push(Held { event, file: number, thread });
    }

    fn tell(&mut self, held: Held, rows: &mut Rows) {
        let Held { mut event, file, thread } = held;
        event.target = match &self.files.file(file).kind {
            Kind::Other => return,
            Kind::Storage(name) if name.starts_with(&self.path) => rows.targets.number(name.as_bytes()).ok(),
            Kind::Storage(_) => return,
            Kind::Unnamed if !self.path.is_empty() => {
                self.figures.unnamed += 1;
                return;
            }
            Kind::Unnamed => {
                self.figures.unnamed += 1;
                None
            }
        };
        let process = self.process(thread);
        let named = || actor_name(process, thread);
        event.actor =
            *self.actors.entry(thread).or_insert_with(|| rows.actors.number(named().as_bytes()).ok());
        rows.source = self.source;
        rows.push(&event);
    }

    /// The process of a thread: the thread itself where it is gone already.
    fn process(&mut self, thread: u32) -> u32 {
        *self.processes.entry(thread).or_insert_with(|| {
            let text = fs::read_to_string(format!("/proc/{thread}/status")).unwrap_or_default();
            let told = text.lines().find_map(|line| line.strip_prefix("Tgid:"));
            told.and_then(|told| told.trim().parse().ok()).unwrap_or(thread)
        })
    }

    /// The capture is over: everything is told.
    pub fn end(&mut self, rows: &mut Rows, report: &mut FileReport) {
        std::mem::take(&mut self.held).into_iter().for_each(|each| self.tell(each, rows));
        for _ in self.begun.drain() {
            self.report.ignore("a call whose end was not seen");
        }
        let Figures { unnamed, asynchronous, untold, without_entry } = self.figures;
        *report = std::mem::take(&mut self.report);
        for (name, count) in [
            ("calls_on_unnamed_files", unnamed),
            ("asynchronous_ios", asynchronous),
            ("copies_in_the_kernel", untold),
            ("calls_without_beginning", without_entry),
        ] {
            report.figures.insert(name.to_string(), count);
        }
        if unnamed > 0 {
            let what = if self.path.is_empty() { "their target is unknown" } else { "they are left out" };
            report.notes.push(format!(
                "{unnamed} calls were on files that were closed before they could be named: {what}"
            ));
        }
        if asynchronous > 0 {
            report.notes.push(format!(
                "{asynchronous} I/Os were handed over by io_uring or libaio and are not in the trace: capture the device \
                 (--device)"
            ));
        }
        if untold > 0 {
            report.notes.push(format!(
                "{untold} copies inside of the kernel (sendfile, splice) are not in the trace"
            ));
        }
    }
}

fn bits(op: Op, opened: i32, rwf: u64, appends: bool) -> u16 {
    let durable = op == Op::Write && (opened & libc::O_DSYNC != 0 || rwf & (RWF_DSYNC | RWF_SYNC) != 0);
    let direct = if opened & libc::O_DIRECT != 0 { flags::DIRECT } else { 0 };
    let append = if appends { flags::APPEND } else { 0 };
    direct | append | if durable { flags::SYNC | flags::FUA } else { 0 }
}

/// "4711 postgres"; of another thread than the first "4711/4712 postgres".
fn actor_name(process: u32, thread: u32) -> String {
    let comm = fs::read_to_string(format!("/proc/{thread}/comm")).unwrap_or_default();
    let who = if process == thread { process.to_string() } else { format!("{process}/{thread}") };
    format!("{who} {}", comm.trim()).trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_say_direct_durable_and_appended() {
        assert_eq!(bits(Op::Read, libc::O_DIRECT | libc::O_DSYNC, 0, false), flags::DIRECT);
        let durable = flags::SYNC | flags::FUA;
        assert_eq!(bits(Op::Write, libc::O_SYNC, 0, false), durable);
        assert_eq!(bits(Op::Write, 0, RWF_DSYNC, true), durable | flags::APPEND);
        assert_eq!(bits(Op::Write, 0, 0, false), 0);
    }
}
