//! strace: reads, writes and flushes of programs, as their system calls.

use std::collections::HashMap;

use memchr::memmem;

use crate::trace::columns::Rows;
use crate::trace::event::{Event, Layer, Op, flags};
use crate::trace::fields::signed;
use crate::trace::line_verdict::{Broken, Taken, Verdict};
use crate::trace::reader::{Clock, Format, LineReader, Reading};
use crate::trace::readers::programs::descriptors::{Descriptors, OpenFile};
use crate::trace::readers::programs::strace_aio;
use crate::trace::readers::programs::strace_line::{
    Piece, Prefix, Returned, Stamp, descriptor, last_argument, open_flags, piece, prefix, quoted,
    without_kind,
};
use crate::trace::report::FileReport;

/// `[PID] [time] call(arguments) = result [<seconds>]`.
pub const FORMAT: Format = Format {
    name: "strace",
    says: "strace, with or without -f, -y, -T, -r and -t to -ttt",
    sniff: |head| {
        head.lines().filter(|line| !line.is_empty()).take(50).any(|line| {
            prefix(line).is_ok_and(|found| {
                matches!(piece(found.rest), Ok(Piece::Whole(..) | Piece::Begun(..) | Piece::Resumed(..)))
            })
        })
    },
    open: |_, _| Ok(Reading::Lines(Box::new(StraceReader::default()))),
};

/// Calls that have begun and not returned, at most.
const BEGUN_AT_MOST: usize = 1 << 14;
/// Of their arguments the first and last bytes are kept.
const ARGS_KEPT: usize = 4_096;
const DAY_NS: i64 = 86_400_000_000_000;
/// Descriptors that are no file, by the beginning of their paths.
const NO_STORAGE: [&[u8]; 11] = [
    b"/dev/null",
    b"/dev/tty",
    b"/dev/pts/",
    b"/proc/",
    b"/sys/",
    b"pipe:",
    b"socket:",
    b"anon_inode:",
    b"TCP",
    b"UDP",
    b"UNIX",
];
const KERNELS_OWN: &str = "socket, pipe, terminal or file of the kernel";
const OUT_OF_SIGHT: &str = "read or write of a descriptor that was opened out of sight";

struct Begun {
    name: Vec<u8>,
    args: Vec<u8>,
    at_ns: Option<i64>,
    line: u64,
}

#[derive(Default)]
struct StraceReader {
    files: Descriptors,
    begun: HashMap<Vec<u8>, Begun>,
    joined: Vec<u8>,
    name: Vec<u8>,
    stamp: Option<Stamp>,
    now_ns: i64,
    tick_ns: i64,
    out_of_sight: u64,
    untimed: u64,
    not_printed: u64,
    without_pid: bool,
}

/// One call that has returned.
struct Call<'a> {
    pid: &'a [u8],
    name: &'a [u8],
    args: &'a [u8],
    back: Returned<'a>,
    at_ns: Option<i64>,
    line: u64,
}

impl LineReader for StraceReader {
    fn line(&mut self, line: &[u8], number: u64, rows: &mut Rows) -> Verdict {
        if line.trim_ascii().is_empty() {
            return Ok(Taken::Ignored("blank line"));
        }
        let found = prefix(line)?;
        let at_ns = self.time(&found)?;
        let column = line.len() - found.rest.len() + 1;
        let found_piece = piece(found.rest).map_err(|rule| Broken { column, rule })?;
        let pid = found.pid.unwrap_or(b"");
        self.without_pid |= found.pid.is_none();
        match found_piece {
            Piece::Notice => Ok(Taken::Ignored("signal, exit or message of strace")),
            Piece::Begun(name, args) => Ok(self.begin(pid, name, args, at_ns, number)),
            Piece::Whole(name, args, back) => {
                let call = Call { pid, name, args, back, at_ns, line: number };
                self.call(&call, column, rows)
            }
            Piece::Resumed(name, args, back) => self.resume(pid, (name, args, back), (at_ns, number), rows),
        }
    }

    fn end(&mut self, rows: &mut Rows, report: &mut FileReport) {
        let _ = rows;
        report.figures.insert("calls_without_return".into(), self.begun.len() as i64);
        let mut note = |wrong: bool, said: String| {
            if wrong {
                report.notes.push(said);
            }
        };
        note(
            self.out_of_sight > 0,
            format!(
                "{} reads and writes of descriptors that were opened out of sight are left out: they may be sockets; \
                 trace with -y",
                self.out_of_sight
            ),
        );
        note(
            self.not_printed > 0,
            format!("{} requests of io_submit are not printed: trace with -v", self.not_printed),
        );
        note(self.untimed > 0, format!("{} calls have no latency: trace with -T", self.untimed));
        note(
            matches!(self.stamp, Some(Stamp::Day(_))),
            "times of day without a date: ts_ns counts from the midnight before; trace with -ttt".into(),
        );
    }

    fn clock(&self) -> Clock {
        let unix = matches!(self.stamp, Some(Stamp::Unix(_)));
        let timed = matches!(self.stamp, Some(Stamp::Unix(_) | Stamp::Day(_) | Stamp::Since(_)));
        Clock {
            origin: timed.then_some(if unix { "unix" } else { "trace" }),
            epoch_ns: unix.then_some(0),
            tick_ns: self.tick_ns.max(1),
        }
    }
}

impl StraceReader {
    /// The time of a line; one trace has one kind of stamps.
    fn time(&mut self, found: &Prefix<'_>) -> Result<Option<i64>, Broken> {
        let same = |known: Stamp| std::mem::discriminant(&known) == std::mem::discriminant(&found.stamp);
        if !same(*self.stamp.get_or_insert(found.stamp)) {
            return Err(Broken { column: 1, rule: "a time of another kind than the first" });
        }
        self.tick_ns = self.tick_ns.max(found.tick_ns);
        let too_late = Broken { column: 1, rule: "a time beyond what a column holds" };
        match found.stamp {
            Stamp::None => return Ok(None),
            Stamp::Unix(ns) => self.now_ns = ns,
            Stamp::Since(ns) => self.now_ns = self.now_ns.checked_add(ns).ok_or(too_late)?,
            Stamp::Day(ns) => {
                let of_day = self.now_ns.rem_euclid(DAY_NS);
                let midnight = self.now_ns - of_day;
                let next = if ns + DAY_NS / 2 < of_day { DAY_NS } else { 0 };
                self.now_ns = midnight.checked_add(next + ns).ok_or(too_late)?;
            }
        }
        Ok(Some(self.now_ns))
    }

    fn begin(&mut self, pid: &[u8], name: &[u8], args: &[u8], at_ns: Option<i64>, line: u64) -> Taken {
        let kept = is_io(name) || is_state(name);
        if kept {
            if self.begun.len() >= BEGUN_AT_MOST {
                self.begun.clear();
            }
            let mut held = args[..args.len().min(ARGS_KEPT)].to_vec();
            held.extend_from_slice(&args[args.len().saturating_sub(ARGS_KEPT).max(held.len())..]);
            self.begun.insert(pid.to_vec(), Begun { name: name.to_vec(), args: held, at_ns, line });
        } else {
            self.begun.remove(pid);
        }
        match descriptor(args) {
            Some((_, Some(path), _)) if no_storage(path) => Taken::Ignored(KERNELS_OWN),
            _ if is_io(name) => Taken::Accepted,
            _ => Taken::Ignored("other system call"),
        }
    }

    fn resume(
        &mut self,
        pid: &[u8],
        (name, args, back): (&[u8], &[u8], Returned<'_>),
        (now_ns, number): (Option<i64>, u64),
        rows: &mut Rows,
    ) -> Verdict {
        let mut joined = std::mem::take(&mut self.joined);
        joined.clear();
        let begun = self.begun.remove(pid).filter(|begun| begun.name == name);
        let (at_ns, line) = match &begun {
            Some(begun) => {
                joined.extend_from_slice(&begun.args);
                (begun.at_ns, begun.line)
            }
            // It began before the trace; the stamp is that of its return.
            None => (now_ns.zip(back.took_ns).map(|(now, took)| now - took), number),
        };
        joined.extend_from_slice(args);
        let call = Call { pid, name, args: &joined, back, at_ns, line };
        let verdict = if begun.is_some() { self.call(&call, 1, rows) } else { self.orphan(&call, rows) };
        self.joined = joined;
        verdict
    }

    /// A call whose beginning, and with it the descriptor, was not seen.
    fn orphan(&mut self, call: &Call<'_>, rows: &mut Rows) -> Verdict {
        let placed = placed(call.name);
        if !is_io(call.name) {
            return Ok(Taken::Ignored("other system call"));
        }
        if !placed && !matches!(call.name, b"fsync" | b"fdatasync") {
            self.out_of_sight += 1;
            return Ok(Taken::Ignored(OUT_OF_SIGHT));
        }
        let mut event = self.event(call, op_of(call.name), rows)?;
        if placed {
            event.offset = offset_argument(call);
        }
        rows.push(&event);
        Ok(Taken::Accepted)
    }

    fn call(&mut self, call: &Call<'_>, column: usize, rows: &mut Rows) -> Verdict {
        let broken = |rule| Broken { column, rule };
        if is_state(call.name) {
            self.state(call, rows).map_err(broken)?;
            return Ok(Taken::Ignored("other system call"));
        }
        if call.name == b"io_submit" {
            return self.submitted(call, column, rows);
        }
        if !is_io(call.name) {
            return Ok(Taken::Ignored("other system call"));
        }
        let (number, path, rest) =
            descriptor(call.args).ok_or(broken("no descriptor in front of the arguments"))?;
        if path.is_some_and(no_storage) {
            return Ok(Taken::Ignored(KERNELS_OWN));
        }
        let op = op_of(call.name);
        let mut event = self.event(call, op, rows)?;
        let holds = self.files.positions_hold();
        let known = self.files.file(call.pid, number).map(|file| *file);
        let placed = placed(call.name);
        let always_file = placed || matches!(op, Op::Flush | Op::Datasync);
        if path.is_none() && known.is_none() && !always_file {
            self.out_of_sight += 1;
            return Ok(Taken::Ignored(OUT_OF_SIGHT));
        }
        let file = known.unwrap_or_default();
        event.target = match path {
            Some(path) => Some(rows.targets.number(without_kind(path))?),
            None => file.target,
        };
        event.flags = file.flags | if op == Op::Write { file.of_writes } else { 0 };
        if call.name.ends_with(b"v2") {
            event.flags |= flags_argument(rest);
        }
        if placed {
            event.offset =
                Some(offset_argument(call).ok_or(broken("no offset at the end of the arguments"))?);
        } else if matches!(op, Op::Read | Op::Write) {
            let appends = event.flags & flags::APPEND != 0;
            event.offset = file.position.filter(|_| holds && !appends);
            if let Some(open) = self.files.file(call.pid, number) {
                let moved = open.position.zip(call.back.number.filter(|moved| *moved >= 0));
                open.position =
                    if appends { None } else { moved.and_then(|(from, moved)| from.checked_add(moved)) };
            }
        }
        rows.push(&event);
        Ok(Taken::Accepted)
    }

    /// What all calls share: times, size, error, who.
    fn event(&mut self, call: &Call<'_>, op: Op, rows: &mut Rows) -> Result<Event, Broken> {
        let broken = |rule| Broken { column: 1, rule };
        let mut event = Event::new(op, Layer::Syscall, call.line);
        event.ts_ns = call.at_ns;
        event.lat_ns = call.back.took_ns;
        self.untimed += u64::from(call.back.took_ns.is_none());
        match (call.back.number, call.back.error) {
            (None, _) => return Err(broken("a call that never returned")),
            (Some(_), Some(name)) => {
                event.err = Some(errno(name).ok_or(broken("an error that is not known"))?);
            }
            (Some(count), None) if count >= 0 => {
                event.err = Some(0);
                event.size = matches!(op, Op::Read | Op::Write).then_some(count);
            }
            _ => return Err(broken("a negative result without its error")),
        }
        if !call.pid.is_empty() {
            event.actor = Some(rows.actors.number(call.pid)?);
        }
        Ok(event)
    }

    /// Calls that change what descriptors are.
    fn state(&mut self, call: &Call<'_>, rows: &mut Rows) -> Result<(), &'static str> {
        let Some(back) = call.back.number.filter(|number| *number >= 0 && call.back.error.is_none()) else {
            return Ok(());
        };
        let first = descriptor(call.args);
        match call.name {
            b"open" | b"openat" | b"openat2" | b"creat" => {
                let path = call.back.path.map(without_kind).or_else(|| quoted(call.args));
                let target = match path {
                    Some(path) => Some(rows.targets.number(path).map_err(|broken| broken.rule)?),
                    None => None,
                };
                self.files.open(
                    call.pid,
                    back,
                    OpenFile::opened(target, open_flags(call.args).unwrap_or(b"")),
                );
            }
            b"close" => {
                let (number, ..) = first.ok_or("no descriptor in front of the arguments")?;
                self.files.close(call.pid, number);
            }
            b"lseek" => {
                let (number, ..) = first.ok_or("no descriptor in front of the arguments")?;
                if let Some(file) = self.files.file(call.pid, number) {
                    file.position = Some(back);
                }
            }
            b"dup" | b"dup2" | b"dup3" => {
                let (number, ..) = first.ok_or("no descriptor in front of the arguments")?;
                self.files.duplicate(call.pid, number, back);
            }
            b"fcntl" if memmem::find(call.args, b"F_DUPFD").is_some() => {
                let (number, ..) = first.ok_or("no descriptor in front of the arguments")?;
                self.files.duplicate(call.pid, number, back);
            }
            b"fcntl" => {}
            _ if self.without_pid => self.files.lose_positions(),
            _ => {
                let thread = memmem::find(call.args, b"CLONE_FILES").is_some();
                self.name.clear();
                self.name.extend_from_slice(back.to_string().as_bytes());
                self.files.fork(call.pid, &self.name, thread);
            }
        }
        Ok(())
    }

    /// The requests of one `io_submit`: an event each, waited for elsewhere.
    fn submitted(&mut self, call: &Call<'_>, column: usize, rows: &mut Rows) -> Verdict {
        let broken = |rule| Broken { column, rule };
        let mut events = Vec::new();
        for request in strace_aio::requests(call.args) {
            let mut event = self.event(call, request.op, rows)?;
            (event.lat_ns, event.flags, event.size) = (None, flags::ASYNC_SUBMIT_ONLY, request.size);
            event.offset = request.offset;
            event.target = match request.path {
                Some(path) => Some(rows.targets.number(without_kind(path))?),
                None => None,
            };
            if let Some(file) = self.files.file(call.pid, request.file) {
                event.target = event.target.or(file.target);
                event.flags |= file.flags | if request.op == Op::Write { file.of_writes } else { 0 };
            }
            events.push(event);
        }
        let count = call.back.number.and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
        match count.checked_sub(events.len()) {
            Some(0) if count > 0 => {}
            Some(cut) if strace_aio::is_cut(call.args) => self.not_printed += cut as u64,
            _ => return Err(broken("not as many requests as were submitted")),
        }
        events.iter().for_each(|event| rows.push(event));
        Ok(Taken::Accepted)
    }
}

fn no_storage(path: &[u8]) -> bool {
    NO_STORAGE.iter().any(|start| path.starts_with(start))
}

fn is_io(name: &[u8]) -> bool {
    matches!(name, b"read" | b"write" | b"readv" | b"writev" | b"fsync" | b"fdatasync" | b"io_submit")
        || placed(name)
}

/// Whether a call says where it reads or writes.
fn placed(name: &[u8]) -> bool {
    matches!(
        name,
        b"pread64" | b"pwrite64" | b"pread" | b"pwrite" | b"preadv" | b"pwritev" | b"preadv2" | b"pwritev2"
    )
}

fn is_state(name: &[u8]) -> bool {
    matches!(
        name,
        b"open"
            | b"openat"
            | b"openat2"
            | b"creat"
            | b"close"
            | b"lseek"
            | b"dup"
            | b"dup2"
            | b"dup3"
            | b"fcntl"
            | b"clone"
            | b"clone3"
            | b"fork"
            | b"vfork"
    )
}

fn op_of(name: &[u8]) -> Op {
    match name {
        b"fsync" => Op::Flush,
        b"fdatasync" => Op::Datasync,
        _ if memmem::find(name, b"read").is_some() => Op::Read,
        _ => Op::Write,
    }
}

fn offset_argument(call: &Call<'_>) -> Option<i64> {
    let (mut last, before) = last_argument(call.args);
    if call.name.ends_with(b"v2") {
        last = last_argument(before).0;
    }
    signed(last).filter(|offset| *offset >= 0)
}

/// `RWF_DSYNC` and the like, the last argument of `preadv2` and `pwritev2`.
fn flags_argument(args: &[u8]) -> u16 {
    last_argument(args).0.split(|byte| *byte == b'|').fold(0, |all, flag| {
        all | match flag {
            b"RWF_DSYNC" | b"RWF_SYNC" => flags::SYNC | flags::FUA,
            b"RWF_APPEND" => flags::APPEND,
            _ => 0,
        }
    })
}

fn errno(name: &[u8]) -> Option<i16> {
    const NAMES: [(&[u8], i32); 22] = [
        (b"EPERM", libc::EPERM),
        (b"EINTR", libc::EINTR),
        (b"EIO", libc::EIO),
        (b"ENXIO", libc::ENXIO),
        (b"EBADF", libc::EBADF),
        (b"EAGAIN", libc::EAGAIN),
        (b"ENOMEM", libc::ENOMEM),
        (b"EACCES", libc::EACCES),
        (b"EFAULT", libc::EFAULT),
        (b"ENODEV", libc::ENODEV),
        (b"EISDIR", libc::EISDIR),
        (b"EINVAL", libc::EINVAL),
        (b"EFBIG", libc::EFBIG),
        (b"ENOSPC", libc::ENOSPC),
        (b"ESPIPE", libc::ESPIPE),
        (b"EROFS", libc::EROFS),
        (b"EPIPE", libc::EPIPE),
        (b"ETIMEDOUT", libc::ETIMEDOUT),
        (b"ESTALE", libc::ESTALE),
        (b"EREMOTEIO", libc::EREMOTEIO),
        (b"EDQUOT", libc::EDQUOT),
        (b"EOPNOTSUPP", libc::EOPNOTSUPP),
    ];
    NAMES.iter().find(|(known, _)| *known == name).and_then(|(_, number)| i16::try_from(*number).ok())
}
