//! The reads, writes and flushes of a trace of strace as they were asked for: of which descriptor, how much, where.
//!
//! The table of events has what was moved; here calls stand as the program made them, also those without a result, and
//! calls that are not on files are skipped silently. So do batches of asynchronous requests, and what slides have of them:
//! lists that go on in the next line, blanks in the name of the call.

use std::borrow::Cow;
use std::collections::HashMap;

use memchr::{memchr, memmem, memrchr};
use serde::Serialize;

use super::strace_aio::{Request, is_batch, requests, results};
use super::strace_line::{
    Piece, Returned, Stamp, called, descriptor, last_argument, open_flags, piece, prefix, quoted,
    without_kind,
};
use crate::trace::event::Op;
use crate::trace::fields::whole;

/// Calls that have begun and not returned, at most.
const BEGUN_AT_MOST: usize = 1 << 14;
/// Descriptors whose opening is remembered.
const OPENED_AT_MOST: usize = 1 << 16;
/// Of a batch that goes on in the next line.
const CUT_AT_MOST: usize = 1 << 16;
const UNFINISHED: &[u8] = b"<unfinished ...>";
/// How many characters of an invalid number an error shows.
const SHOWN: usize = 40;

/// One call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Call {
    op: &'static str,
    fd: i64,
    path: String,
    /// With which it was opened, where that was seen.
    flags: Option<Vec<String>>,
    /// As asked for.
    size_bytes: Option<i64>,
    offset: Option<i64>,
    done_bytes: Option<i64>,
    error: String,
    took_ns: Option<i64>,
    /// When it began, by the clock of the trace.
    at_ns: Option<i64>,
    pid: String,
}

/// Requests that were handed over, or results that were taken, with one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Batch {
    submits: bool,
    /// As many as were handed over or taken.
    count: i64,
    /// Of `io_getevents`: the least and the most that it asked for.
    least: Option<i64>,
    most: Option<i64>,
    /// Those that are printed.
    requests: Vec<Call>,
    /// What each moved, of those that are printed.
    results: Vec<i64>,
    took_ns: Option<i64>,
}

/// The calls that have returned since the last time; what is wrong, and in which line.
#[derive(Debug, Default, Serialize)]
pub struct Calls {
    calls: Vec<Call>,
    batches: Vec<Batch>,
    refused: Option<(u64, String)>,
}

struct Begun {
    args: Vec<u8>,
    at_ns: Option<i64>,
}

/// Takes a trace piece by piece.
#[derive(Default)]
pub struct StraceCalls {
    line: u64,
    /// The first half of calls during which another was traced, by process and name.
    begun: HashMap<(Vec<u8>, Vec<u8>), Begun>,
    opened: HashMap<i64, (String, Vec<String>)>,
    /// A batch whose list goes on in the next line.
    cut: Vec<u8>,
    found: Calls,
}

impl StraceCalls {
    /// More whole lines, and the calls in them.
    pub fn feed(&mut self, text: &[u8]) -> Calls {
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            self.line += 1;
            let whole = self.joined(line.trim_ascii_end());
            let line = &whole[..];
            let taken = match attached_in(line) {
                Some(call) => self.take(&[call, UNFINISHED].concat()),
                None => self.take(line),
            };
            if let Err(why) = taken {
                self.found.refused = Some((self.line, why));
                break;
            }
        }
        std::mem::take(&mut self.found)
    }

    /// The line, behind what was cut before it.
    fn joined(&mut self, line: &[u8]) -> Vec<u8> {
        let line = with_underscores(line);
        let is_call = prefix(&line).is_ok_and(|found| called(found.rest).is_some());
        let cut = std::mem::take(&mut self.cut);
        if cut.is_empty() || is_call { line.into_owned() } else { [&cut[..], b" ", &line[..]].concat() }
    }

    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        let Ok(found) = prefix(line) else { return Ok(()) };
        let at_ns = match found.stamp {
            Stamp::None => None,
            Stamp::Unix(ns) | Stamp::Day(ns) | Stamp::Since(ns) => Some(ns),
        };
        let pid = found.pid.unwrap_or(b"");
        match piece(found.rest) {
            Ok(Piece::Whole(name, args, back)) => self.call(name, args, Some(back), pid, at_ns),
            Ok(Piece::Begun(name, args)) => {
                if is_read(name) {
                    if self.begun.len() >= BEGUN_AT_MOST {
                        self.begun.clear();
                    }
                    self.begun.insert((pid.to_vec(), name.to_vec()), Begun { args: args.to_vec(), at_ns });
                }
                Ok(())
            }
            Ok(Piece::Resumed(name, args, back)) => {
                let Some(begun) = self.begun.remove(&(pid.to_vec(), name.to_vec())) else { return Ok(()) };
                let joined = [&begun.args[..], args].concat();
                self.call(name, &joined, Some(back), pid, begun.at_ns)
            }
            Ok(Piece::Notice) => Ok(()),
            // A call whose result was not printed.
            Err(_) => match called(found.rest) {
                Some((name, args)) if is_batch(name) => {
                    match last_number(args).filter(|_| memchr(b'=', args).is_some()) {
                        Some(count) => self.batch(name, args, (count, None), pid, at_ns),
                        None if line.len() < CUT_AT_MOST => self.cut = line.to_vec(),
                        None => {}
                    }
                    Ok(())
                }
                Some((name, args)) => {
                    self.call(name, args.strip_suffix(b")").unwrap_or(args), None, pid, at_ns)
                }
                None => Ok(()),
            },
        }
    }

    fn call(
        &mut self,
        name: &[u8],
        args: &[u8],
        back: Option<Returned<'_>>,
        pid: &[u8],
        at_ns: Option<i64>,
    ) -> Result<(), String> {
        match name {
            b"open" | b"openat" => self.opens(args, back),
            b"close" => {
                if let Some((number, ..)) = descriptor(args) {
                    self.opened.remove(&number);
                }
            }
            _ if is_batch(name) => {
                let back = back.map(|back| (back.number.unwrap_or(0), back.took_ns));
                self.batch(name, args, back.unwrap_or((0, None)), pid, at_ns);
            }
            _ => {
                let (Some(op), Some((fd, path, rest))) = (op_of(name), descriptor(args)) else {
                    return Ok(());
                };
                let (size_bytes, offset) = extent(name, op, rest)?;
                let (path, flags) = self.file(fd, path);
                let error = back.and_then(|back| back.error).map(text).unwrap_or_default();
                self.found.calls.push(Call {
                    op,
                    fd,
                    path,
                    flags,
                    size_bytes,
                    offset,
                    done_bytes: back.and_then(|back| back.number).filter(|moved| *moved >= 0),
                    error,
                    took_ns: back.and_then(|back| back.took_ns),
                    at_ns,
                    pid: text(pid),
                });
            }
        }
        Ok(())
    }

    /// The path of a descriptor, and how it was opened.
    fn file(&self, fd: i64, path: Option<&[u8]>) -> (String, Option<Vec<String>>) {
        let known = self.opened.get(&fd);
        let path = match (path, known) {
            (Some(path), _) => text(without_kind(path)),
            (None, Some((path, _))) => path.clone(),
            (None, None) => String::new(),
        };
        (path, known.map(|file| file.1.clone()))
    }

    fn batch(
        &mut self,
        name: &[u8],
        args: &[u8],
        (count, took_ns): (i64, Option<i64>),
        pid: &[u8],
        at_ns: Option<i64>,
    ) {
        let submits = name == b"io_submit";
        let request = |request: Request<'_>| {
            let (path, flags) = self.file(request.file, request.path);
            Call {
                op: word(request.op),
                fd: request.file,
                path,
                flags,
                size_bytes: request.size,
                offset: request.offset,
                done_bytes: None,
                error: String::new(),
                took_ns: None,
                at_ns,
                pid: text(pid),
            }
        };
        let printed = if submits { requests(args) } else { Vec::new() };
        let mut bounds = args.split(|byte| *byte == b',').skip(1).map(|part| whole(part.trim_ascii()));
        let (least, most) = (bounds.next().flatten(), bounds.next().flatten());
        let batch = Batch {
            submits,
            count: count.max(0),
            least: least.filter(|_| !submits),
            most: most.filter(|_| !submits),
            requests: printed.into_iter().map(request).collect(),
            results: if submits { Vec::new() } else { results(args) },
            took_ns,
        };
        self.found.batches.push(batch);
    }

    fn opens(&mut self, args: &[u8], back: Option<Returned<'_>>) {
        let Some(fd) = back.and_then(|back| back.number).filter(|number| *number >= 0) else { return };
        let (Some(path), Some(flags)) = (quoted(args), open_flags(args)) else { return };
        if self.opened.len() >= OPENED_AT_MOST {
            self.opened.clear();
        }
        let flags = flags.split(|byte| *byte == b'|').map(text).collect();
        self.opened.insert(fd, (text(path), flags));
    }
}

/// What stands before the notice of a new thread in the midst of a call: strace writes it to the same terminal.
fn attached_in(line: &[u8]) -> Option<&[u8]> {
    let at = memmem::rfind(line, b"strace: Process ").filter(|_| line.ends_with(b" attached"))?;
    memchr(b'(', &line[..at]).map(|_| &line[..at])
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn op_of(name: &[u8]) -> Option<&'static str> {
    Some(match name {
        b"read" | b"pread" | b"pread64" | b"preadv" | b"preadv2" | b"readv" => "read",
        b"write" | b"pwrite" | b"pwrite64" | b"pwritev" | b"pwritev2" | b"writev" => "write",
        b"fsync" => "fsync",
        b"fdatasync" => "fdatasync",
        _ => return None,
    })
}

fn is_read(name: &[u8]) -> bool {
    op_of(name).is_some() || is_batch(name) || matches!(name, b"open" | b"openat" | b"close")
}

fn word(op: Op) -> &'static str {
    match op {
        Op::Write => "write",
        Op::Flush => "fsync",
        Op::Datasync => "fdatasync",
        _ => "read",
    }
}

/// The number behind the last `=`.
fn last_number(args: &[u8]) -> Option<i64> {
    whole(args[memrchr(b'=', args)? + 1..].trim_ascii())
}

/// `io submit (` of a slide as the name of the call.
fn with_underscores(line: &[u8]) -> Cow<'_, [u8]> {
    let spelt: [(&[u8], &[u8]); 2] = [(b"io submit", b"io_submit"), (b"io getevents", b"io_getevents")];
    match spelt.iter().find(|(blank, _)| line.starts_with(blank)) {
        Some((blank, name)) => Cow::Owned([*name, line[blank.len()..].trim_ascii_start()].concat()),
        None => Cow::Borrowed(line),
    }
}

/// Size and offset of a call, at the end of its arguments; those of vectors are lists of buffers.
fn extent(name: &[u8], op: &str, args: &[u8]) -> Result<(Option<i64>, Option<i64>), String> {
    let vectors = name.ends_with(b"v") || name.ends_with(b"v2");
    if vectors || !matches!(op, "read" | "write") {
        return Ok((None, None));
    }
    let number = |argument: &[u8]| {
        let shown: String = text(argument).chars().take(SHOWN).collect();
        whole(argument).ok_or(format!("a size or an offset is \"{shown}\", not a whole number"))
    };
    let missing = || format!("{} without its size", text(name));
    let (last, before) = last_argument(args);
    if last.is_empty() && before.is_empty() {
        return Err(missing());
    }
    if !name.starts_with(b"p") {
        return Ok((Some(number(last)?), None));
    }
    if before.is_empty() {
        return Err(missing());
    }
    let (size, _) = last_argument(before);
    Ok((Some(number(size)?), Some(number(last)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(text: &str) -> Vec<Call> {
        let trace = StraceCalls::default().feed(text.as_bytes());
        assert_eq!(trace.refused, None);
        trace.calls
    }

    #[test]
    fn a_call_has_what_was_asked_for_with_and_without_its_result() {
        for line in
            ["pwrite(259, ..., 1024, 2891776)", r#"pwrite(259, "\0, 7) = 1"..., 1024, 2891776) = 512"#]
        {
            let found = calls(line);
            assert_eq!((found[0].op, found[0].fd), ("write", 259));
            assert_eq!((found[0].size_bytes, found[0].offset), (Some(1024), Some(2_891_776)));
        }
        assert!(calls("write(buffer, 1024)\nfutex(3, 1) = 0\nnot a call\n").is_empty());
    }

    #[test]
    fn batches_are_read_as_slides_have_them() {
        let trace = StraceCalls::default().feed(
            concat!(
                "io_submit(478, 1, {{0x2b60b0, 0, 0, 0, 288}}) = 1\n",
                "io_getevents(478, 1, 128, {{0x2b81d0, 0x2b81d0, 8192, 0}, {0x2b8e00, (...)\n",
                "0x2b6e20, 8192, 0}, {600, 0}) = 128\n",
                "io submit((469, 1, \\{(0x2b9050, 0, 0, 0, 287)\\}) = 1\n",
                "times (NULL)\n = 18\n",
                "io getevents (469, 34, 128, {{0x2ad310, 0x2ad310, 1048576, 0},\n (...) , \\{600, 0\\} = 34\n",
            )
            .as_bytes(),
        );
        let batches: Vec<_> = trace
            .batches
            .iter()
            .map(|batch| {
                (batch.submits, batch.count, batch.most, batch.requests.len(), batch.results.clone())
            })
            .collect();
        assert_eq!(
            batches,
            [
                (true, 1, None, 1, vec![]),
                (false, 128, Some(128), 0, vec![8192, 8192]),
                (true, 1, None, 1, vec![]),
                (false, 34, Some(128), 0, vec![1_048_576]),
            ]
        );
        assert_eq!((trace.batches[0].requests[0].fd, trace.batches[3].least), (288, Some(34)));
        assert!(trace.calls.is_empty());
    }

    #[test]
    fn a_descriptor_is_the_file_that_was_opened_and_an_interrupted_call_is_one() {
        let found = calls(concat!(
            "7 1.5 openat(AT_FDCWD, \"/db/a\\\"b\", O_RDWR|O_DSYNC) = 3\n",
            "7 2.5 fsync(3 <unfinished ...>\n",
            "8 2.6 read(3, \"x\"..., 9) = -1 EIO (Input/output error) <0.000002>\n",
            "7 2.7 <... fsync resumed>) = 0 <0.2>\n",
            "7 2.8 close(3) = 0\n7 2.9 read(3, \"\", 9) = 0\n",
        ));
        let flags = vec!["O_RDWR".to_string(), "O_DSYNC".to_string()];
        assert_eq!((found[0].path.as_str(), found[0].flags.clone()), ("/db/a\\\"b", Some(flags)));
        assert_eq!(
            (found[0].error.as_str(), found[0].done_bytes, found[0].took_ns),
            ("EIO", None, Some(2_000))
        );
        assert_eq!(
            (found[1].op, found[1].at_ns, found[1].took_ns),
            ("fsync", Some(2_500_000_000), Some(200_000_000))
        );
        assert_eq!((found[2].path.as_str(), found[2].flags.clone()), ("", None));
    }

    #[test]
    fn names_of_processes_and_notices_of_threads_are_no_part_of_a_call() {
        let found = calls(concat!(
            "25347<postgres> 1.5 pread64(3</db/a>, \"x\"..., 8192, 0) = 8192 <0.1>\n",
            "[pid 25348<pg worker>] 2.5 pread64(3</db/a>, \"x\"..., 8192, 8192) = 8192 <0.1>\n",
            "3.5 read(4<pipe:[1]>, strace: Process 733 attached\n <unfinished ...>\n",
            "4.5 pread64(3</db/a>, \"x\"..., 8192, 16384) = 8192 <0.1>\n",
        ));
        assert_eq!(found.iter().map(|call| call.pid.as_str()).collect::<Vec<_>>(), ["25347", "25348", ""]);
        assert_eq!(found[2].offset, Some(16_384));
    }

    #[test]
    fn what_is_no_size_is_refused_with_its_line() {
        let why = |text: &str| StraceCalls::default().feed(text.as_bytes()).refused;
        let said = "a size or an offset is \"x\", not a whole number".to_string();
        assert_eq!(why("read(7, \"\", 9) = 9\npread64(7, \"\"..., 8192, x) = 8192\n"), Some((2, said)));
        assert_eq!(why("pwrite64(3) = 1\n"), Some((1, "pwrite64 without its size".to_string())));
    }
}
