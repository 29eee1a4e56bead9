//! I/Os of io_uring: from the submission of a request to its completion, as the kernel's two tracepoints tell.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use io_uring::opcode;
use serde::Serialize;

use super::extrapolated::Extrapolated;
use super::followed::Followed;
use super::power_counts::{PowerCounts, class_of};
use super::standing::Standing;
use crate::blk::layout::{Field, field};
use crate::blk::pairing::Quick;
use crate::capture::call_records::id_of;
use crate::capture::rings::Rings;
use crate::error::Result;

const SUBMIT: &str = "io_uring/io_uring_submit_req";
const COMPLETE: &str = "io_uring/io_uring_complete";
/// Threads that are started: one that makes its I/Os and ends between two rounds is asked for too late.
const BORN: &str = "task/task_newtask";
/// CLONE_THREAD: what is started is a thread of the process that starts it.
const THREADS: &str = "clone_flags & 65536";
/// What a request asks, as it is named with the calls.
const ASKED: [(u8, &str); 7] = [
    (opcode::Read::CODE, "uring_read"),
    (opcode::Readv::CODE, "uring_read"),
    (opcode::ReadFixed::CODE, "uring_read"),
    (opcode::Write::CODE, "uring_write"),
    (opcode::Writev::CODE, "uring_write"),
    (opcode::WriteFixed::CODE, "uring_write"),
    (opcode::Fsync::CODE, "uring_fsync"),
];
const MOST_OPEN: usize = 1 << 17;

#[derive(Clone, Copy)]
enum Seen {
    Born { thread: u32, by: u32 },
    Submit { thread: u32, request: u64, code: u8 },
    Complete { request: u64, result: i32 },
}

/// What the I/Os of one command and kind came to.
#[derive(Clone, Debug, Serialize)]
pub struct RingCounts {
    /// The number of the command's name.
    #[serde(skip)]
    pub name: u32,
    /// What was asked.
    pub call: &'static str,
    /// The class of what was moved; None above the largest.
    pub size_bytes: Option<u64>,
    /// Since the beginning.
    pub counts: PowerCounts,
}

struct Birth {
    id: u64,
    thread: Field,
    by: Field,
}

struct Fields {
    birth: Option<Birth>,
    submit: u64,
    complete: u64,
    thread: Field,
    request: Field,
    code: Field,
    done: Field,
    result: Field,
}

/// See the module.
pub struct RingIos {
    fields: Fields,
    waiting: Vec<(u64, Seen)>,
    open: HashMap<u64, (u64, u32, u8), BuildHasherDefault<Quick>>,
    counts: Extrapolated<(u32, &'static str, Option<u64>)>,
    closing: bool,
}

impl RingIos {
    /// Adds both tracepoints to the rings; None where the kernel does not have them in this form (before Linux 6.0).
    pub fn listen(rings: &mut Rings) -> Result<Option<RingIos>> {
        let wanted = ASKED.map(|(code, _)| format!("opcode == {code}")).join(" || ");
        let Some(complete) = rings.add(COMPLETE, "")? else { return Ok(None) };
        let Some(submit) = rings.add(SUBMIT, &wanted)? else { return Ok(None) };
        let named = |text: &str, name: &str| text.lines().find_map(|line| field(line, name));
        let birth = rings.add(BORN, THREADS)?.and_then(|born| {
            Some(Birth { id: id_of(&born)?, thread: named(&born, "pid")?, by: named(&born, "common_pid")? })
        });
        let fields = || {
            Some(Fields {
                birth,
                submit: id_of(&submit)?,
                complete: id_of(&complete)?,
                thread: named(&submit, "common_pid")?,
                request: named(&submit, "req")?,
                code: named(&submit, "opcode")?,
                done: named(&complete, "req")?,
                result: named(&complete, "res")?,
            })
        };
        let (waiting, open, counts) = (Vec::new(), HashMap::default(), Extrapolated::default());
        Ok(fields().map(|fields| RingIos { fields, waiting, open, counts, closing: false }))
    }

    /// Keeps a record, if it is one of these.
    pub fn seen(&mut self, at_ns: u64, record: &[u8]) {
        self.waiting.extend(self.understood(record).map(|seen| (at_ns, seen)));
    }

    fn understood(&self, record: &[u8]) -> Option<Seen> {
        let id = u64::from(u16::from_le_bytes(record.get(..2)?.try_into().ok()?));
        let fields = &self.fields;
        if id == fields.complete {
            let (request, result) =
                (fields.done.number(record)?, fields.result.number(record)? as u32 as i32);
            return Some(Seen::Complete { request, result });
        }
        if let Some(birth) = fields.birth.as_ref().filter(|birth| birth.id == id) {
            let (thread, by) = (birth.thread.number(record)? as u32, birth.by.number(record)? as u32);
            return Some(Seen::Born { thread, by });
        }
        (id == fields.submit).then_some(())?;
        Some(Seen::Submit {
            thread: fields.thread.number(record)? as u32,
            request: fields.request.number(record)?,
            code: fields.code.number(record)? as u8,
        })
    }

    /// Counts what happened before `until_ns`; returns how many records that were.
    pub fn round(&mut self, until_ns: u64, followed: &mut Followed) -> u64 {
        self.waiting.sort_by_key(|(at_ns, _)| *at_ns);
        let ready = self.waiting.partition_point(|(at_ns, _)| *at_ns < until_ns);
        for (at_ns, seen) in self.waiting.drain(..ready) {
            match seen {
                Seen::Born { thread, by } => followed.born(thread, by),
                Seen::Submit { thread, request, code } => {
                    let process = followed.process(thread);
                    if process.followed && !self.closing && self.open.len() < MOST_OPEN {
                        self.open.insert(request, (at_ns, process.name, code));
                    }
                }
                Seen::Complete { request, result } => {
                    let Some((begun_ns, name, code)) = self.open.remove(&request) else { continue };
                    let Some((_, call)) = ASKED.iter().find(|(known, _)| *known == code) else { continue };
                    let bytes = u64::try_from(result).unwrap_or(0);
                    let key = (name, *call, class_of(bytes));
                    self.counts.record(key, at_ns.saturating_sub(begun_ns), bytes, result < 0);
                }
            }
        }
        ready as u64
    }

    /// From now on nothing new begins.
    pub fn close(&mut self) {
        self.closing = true;
    }

    /// Begins again.
    pub fn reopen(&mut self) {
        self.give_up();
        self.closing = false;
    }

    /// Records were lost.
    pub fn give_up(&mut self) {
        self.open.clear();
    }

    /// A window is over; see `Extrapolated`.
    pub fn settle(&mut self, standing: &Standing) {
        self.counts.settle(|_| standing.of_rings());
    }

    /// All that was counted.
    pub fn counts(&self, standing: &Standing) -> Vec<RingCounts> {
        let all = self.counts.all(|_| standing.of_rings()).into_iter();
        all.map(|((name, call, size_bytes), counts)| RingCounts { name, call, size_bytes, counts }).collect()
    }
}
