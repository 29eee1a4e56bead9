//! How long system calls on files take, by command, call and size; who made them, and on which files.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::path::Path;

use serde::Serialize;

use super::extrapolated::Extrapolated;
use super::followed::{Followed, Process, Who};
use super::power_counts::{PowerCounts, class_of};
use super::process_calls::{self, ProcessCalls};
use super::run_queue::RunQueue;
use super::standing::Standing;
use crate::blk::pairing::Quick;
use crate::capture::call_records::{CallRecords, Seen};
use crate::capture::call_table::{Call, NAMED, call_of, passing};
use crate::capture::open_files::{Kind, OpenFiles};
use crate::capture::rings::Rings;
use crate::error::Result;

/// After so many descriptors all are looked up anew: those that were closed are not given back one by one.
const MOST_FILES: usize = 1 << 16;
/// More files than these are counted together.
const MOST_NAMED: usize = 4096;
/// After a window opened, a call without a beginning is one that was under way.
const SETTLING_NS: u64 = 100_000_000;

/// What the calls of one command, kind and size came to.
#[derive(Clone, Debug, Serialize)]
pub struct CallCounts {
    /// The command; "" where it was gone before it could be looked at, and for those that were too many.
    pub command: String,
    /// "pread64".
    pub call: &'static str,
    /// The class of what was moved; None above the largest.
    pub size_bytes: Option<u64>,
    /// Since the beginning.
    pub counts: PowerCounts,
}

/// Sums without a distribution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// How many.
    pub count: u64,
    /// Their times together.
    pub sum_ns: u64,
    /// What they moved.
    pub bytes: u64,
}

impl From<&PowerCounts> for Totals {
    fn from(counts: &PowerCounts) -> Totals {
        Totals { count: counts.count, sum_ns: counts.sum_ns, bytes: counts.bytes }
    }
}

/// What one process did with one call.
#[derive(Clone, Debug, Serialize)]
pub struct ProcessTotals {
    /// Which.
    pub pid: u32,
    /// Its command.
    pub command: String,
    /// "pread64".
    pub call: &'static str,
    /// Since it was first seen.
    #[serde(flatten)]
    pub totals: Totals,
}

/// What was done with one file.
#[derive(Clone, Debug, Serialize)]
pub struct FileTotals {
    /// Its path; "" for all that were too many, or could not be named.
    pub path: String,
    /// "pread64".
    pub call: &'static str,
    /// Since the beginning.
    #[serde(flatten)]
    pub totals: Totals,
}

/// What was not counted, since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CallsApart {
    /// Calls whose beginning was not seen.
    pub without_beginning: u64,
    /// Calls under way when records were lost.
    pub given_up: u64,
    /// Calls that may have been on sockets or pipes: their descriptors were closed before they could be looked at.
    pub unnamed: u64,
}

#[derive(Clone, Copy)]
struct Begun {
    at_ns: u64,
    number: i64,
    descriptor: i64,
    second: u64,
}

/// See the module.
pub struct TimedCalls {
    rings: Rings,
    records: CallRecords,
    run_queue: Option<RunQueue>,
    tallies: Tallies,
}

#[derive(Default)]
struct Tallies {
    begun: HashMap<u32, Begun, BuildHasherDefault<Quick>>,
    files: OpenFiles,
    /// The number of the name of a file, by its number among the open files.
    named: HashMap<u32, u32, BuildHasherDefault<Quick>>,
    paths: Vec<String>,
    path_numbers: HashMap<String, u32>,
    counts: Extrapolated<(u32, &'static str, Option<u64>)>,
    processes: Extrapolated<(u32, &'static str)>,
    commands: HashMap<u32, u32>, // the number of the name of each process
    by_file: Extrapolated<(u32, &'static str)>,
    apart: CallsApart,
    closing: bool,
    settled_ns: u64,
}

impl TimedCalls {
    /// Of those who are followed; with `scheduled` their waits for a processor as well.
    pub fn new(root: &Path, who: &Who, ring_kb: u64, scheduled: bool) -> Result<TimedCalls> {
        let mut rings = Rings::create(root, &who.recorded(), Some(ring_kb))?;
        let run_queue = if scheduled { Some(RunQueue::listen(&mut rings, who)?) } else { None };
        let closing = [libc::SYS_close, libc::SYS_close_range, libc::SYS_dup, libc::SYS_dup3];
        #[cfg(target_arch = "x86_64")]
        let closing = closing.into_iter().chain([libc::SYS_dup2]);
        let calls = passing(NAMED.iter().map(|(number, _)| *number).chain(closing));
        let filter = match who.condition(&["comm"]) {
            none if none.is_empty() => calls,
            condition => format!("({calls}) && ({condition})"),
        };
        let records = CallRecords::listen(&mut rings, &filter)?;
        Ok(TimedCalls { rings, records, run_queue, tallies: Tallies::default() })
    }

    /// Its instance.
    pub fn rings(&self) -> &Rings {
        &self.rings
    }

    /// Counts what happened before `until_ns`; returns how many records that were. `now_ns` is read when all are in.
    pub fn round(&mut self, until_ns: u64, now_ns: &dyn Fn() -> u64, followed: &mut Followed) -> Result<u64> {
        let TimedCalls { rings, records, run_queue, tallies } = self;
        let ready = records.read(rings, until_ns, &mut |at_ns, record| {
            run_queue.iter_mut().for_each(|queue| queue.seen(at_ns, record));
        })?;
        let looked_ns = now_ns();
        for (at_ns, seen) in &ready {
            tallies.take(*at_ns, *seen, looked_ns, followed);
        }
        let of_queue = run_queue.as_mut().map_or(0, |queue| queue.round(until_ns, followed));
        Ok(ready.len() as u64 + of_queue)
    }

    /// From now on nothing new begins.
    pub fn close(&mut self) {
        self.tallies.closing = true;
        self.run_queue.iter_mut().for_each(RunQueue::close);
    }

    /// Begins again at `now_ns`. Calls that still wait, such as for a socket, are left out; files may have been closed.
    pub fn reopen(&mut self, now_ns: u64) {
        self.tallies.begun.clear();
        self.give_up();
        (self.tallies.closing, self.tallies.settled_ns) = (false, now_ns + SETTLING_NS);
        self.run_queue.iter_mut().for_each(RunQueue::reopen);
    }

    /// Records were lost: what is under way is given up.
    pub fn give_up(&mut self) {
        self.tallies.apart.given_up += self.tallies.begun.len() as u64;
        self.tallies.begun.clear();
        self.tallies.files = OpenFiles::default(); // a close may be among them
        self.tallies.named.clear();
        self.run_queue.iter_mut().for_each(RunQueue::give_up);
    }

    /// A window is over; see `Extrapolated`.
    pub fn settle(&mut self, standing: &Standing) {
        self.tallies.counts.settle(|key| standing.of_call(key.1));
        self.tallies.processes.settle(|key| standing.of_call(key.1));
        self.tallies.by_file.settle(|key| standing.of_call(key.1));
        self.run_queue.iter_mut().for_each(|queue| queue.settle(standing));
    }

    /// All that was counted.
    pub fn counts(&self, followed: &Followed, standing: &Standing) -> Vec<CallCounts> {
        let all = self.tallies.counts.all(|key| standing.of_call(key.1)).into_iter();
        let mut all: Vec<CallCounts> = all
            .map(|((name, call, size_bytes), counts)| CallCounts {
                command: followed.name(name).into(),
                call,
                size_bytes,
                counts,
            })
            .collect();
        all.sort_by(|a, b| (&a.command, a.call, a.size_bytes).cmp(&(&b.command, b.call, b.size_bytes)));
        all
    }

    /// All processes that are there, and once those that have ended.
    pub fn processes(&mut self, followed: &Followed, standing: &Standing) -> Vec<ProcessTotals> {
        let Tallies { processes, commands, .. } = &mut self.tallies;
        let name = |pid: u32| commands.get(&pid).map_or("", |number| followed.name(*number)).to_string();
        let all = processes.all(|key| standing.of_call(key.1));
        let told = all
            .iter()
            .map(|&((pid, call), ref counts)| ProcessTotals {
                pid,
                command: name(pid),
                call,
                totals: counts.into(),
            })
            .collect();
        let there = |pid: &u32| Path::new(&format!("/proc/{pid}")).exists();
        processes.retain(|(pid, _)| there(pid));
        commands.retain(|pid, _| there(pid));
        told
    }

    /// All files.
    pub fn files(&self, standing: &Standing) -> Vec<FileTotals> {
        let path = |number: u32| self.tallies.paths.get(number as usize).cloned().unwrap_or_default();
        let all = self.tallies.by_file.all(|key| standing.of_call(key.1)).into_iter();
        all.map(|((number, call), counts)| FileTotals { path: path(number), call, totals: (&counts).into() })
            .collect()
    }

    /// Waits for a processor, by command; None when they are not watched.
    pub fn run_delays(&self, followed: &Followed, standing: &Standing) -> Option<Vec<(String, PowerCounts)>> {
        let queue = self.run_queue.as_ref()?;
        let mut all: Vec<(String, PowerCounts)> = queue
            .counts(standing)
            .into_iter()
            .map(|(name, counts)| (followed.name(name).into(), counts))
            .collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        Some(all)
    }

    /// How often the processes read and wrote whose calls were counted so far, and `named` ones, by their own counters.
    pub fn by_processes(&self, named: &[u32]) -> ProcessCalls {
        let counted = self.tallies.commands.keys().filter(|pid| !named.contains(pid));
        process_calls::read(named.iter().chain(counted).copied())
    }

    /// What was not counted.
    pub fn apart(&self) -> CallsApart {
        self.tallies.apart
    }
}

impl Tallies {
    fn take(&mut self, at_ns: u64, seen: Seen, now_ns: u64, followed: &mut Followed) {
        match seen {
            Seen::Enter { .. } if self.closing => {}
            Seen::Enter { thread, number, args } => {
                let descriptor = i64::from(args[0] as u32 as i32);
                self.begun.insert(thread, Begun { at_ns, number, descriptor, second: args[1] });
            }
            Seen::Exit { thread, number, result } => {
                let begun = self.begun.remove(&thread).filter(|begun| begun.number == number);
                let Some(begun) = begun else {
                    self.apart.without_beginning += u64::from(!self.closing && at_ns >= self.settled_ns);
                    return;
                };
                let process = followed.process(thread);
                if process.followed {
                    self.ended(&begun, &process, (at_ns, now_ns), result);
                }
            }
        }
    }

    fn ended(&mut self, begun: &Begun, process: &Process, (at_ns, now_ns): (u64, u64), result: i64) {
        let pid = process.pid;
        match call_of(begun.number) {
            Some(Call::Close) if result == 0 => self.files.closed(pid, begun.descriptor, at_ns),
            Some(Call::CloseRange) if result == 0 => {
                self.files.closed_range(pid, begun.descriptor, i64::from(begun.second as u32), at_ns);
            }
            Some(Call::Duplicate) if result >= 0 => self.files.closed(pid, result, at_ns),
            _ => {}
        }
        let Some((_, call)) = NAMED.iter().find(|(number, _)| *number == begun.number) else { return };
        let Some(path) = self.storage(begun, process, now_ns) else { return };
        let time_ns = at_ns.saturating_sub(begun.at_ns);
        let moves = matches!(call_of(begun.number), Some(Call::Data { .. }));
        let bytes = if moves { u64::try_from(result).unwrap_or(0) } else { 0 };
        let key = (process.name, *call, class_of(bytes));
        self.counts.record(key, time_ns, bytes, result < 0);
        self.commands.entry(pid).or_insert(process.name);
        self.processes.record((pid, *call), time_ns, bytes, result < 0);
        self.by_file.record((path, *call), time_ns, bytes, result < 0);
    }

    /// The number of the name of a call's file, if it is on storage. A call that only files know is counted without a name
    /// where the descriptor is gone by now.
    fn storage(&mut self, begun: &Begun, process: &Process, now_ns: u64) -> Option<u32> {
        if begun.number == libc::SYS_msync {
            return Some(u32::MAX); // an address, no descriptor
        }
        if self.files.seen() >= MOST_FILES {
            (self.files, self.named) = (OpenFiles::default(), HashMap::default());
        }
        let Some(number) = self.files.number(process.pid, begun.descriptor, now_ns) else {
            let anything = matches!(call_of(begun.number), Some(Call::Data { placed: false, .. }));
            self.apart.unnamed += u64::from(anything);
            return (!anything).then_some(u32::MAX);
        };
        if let Some(path) = self.named.get(&number) {
            return Some(*path);
        }
        let Kind::Storage(name) = &self.files.file(number).kind else { return None };
        let next = self.paths.len() as u32;
        let path = match self.path_numbers.get(name) {
            Some(known) => *known,
            None if self.paths.len() >= MOST_NAMED => u32::MAX,
            None => {
                self.paths.push(name.clone());
                self.path_numbers.insert(name.clone(), next);
                next
            }
        };
        self.named.insert(number, path);
        Some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    fn call(thread: u32, number: i64, descriptor: i32, result: i64, at_ns: u64) -> [(u64, Seen); 2] {
        let args = [descriptor as u32 as u64, 0, 0, 0, 0, 0];
        [
            (at_ns, Seen::Enter { thread, number, args }),
            (at_ns + 3_000, Seen::Exit { thread, number, result }),
        ]
    }

    #[test]
    fn calls_on_files_are_counted_and_those_on_pipes_are_not() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (pipe, _end) = std::io::pipe().unwrap();
        let (own, mut tallies) = (std::process::id(), Tallies::default());
        let mut followed = Followed::new(Who::Processes(vec![own]));
        let on_file = file.as_file().as_raw_fd();
        let mut records = vec![(1, Seen::Exit { thread: own, number: libc::SYS_fsync, result: 0 })];
        records.extend(call(own, libc::SYS_pread64, on_file, 8192, 10));
        records.extend(call(own, libc::SYS_read, on_file, -5, 20));
        records.extend(call(own, libc::SYS_read, pipe.as_raw_fd(), 100, 30));
        records.extend(call(own, libc::SYS_fdatasync, on_file, 0, 40));
        for (at_ns, seen) in records {
            tallies.take(at_ns, seen, 1_000, &mut followed);
        }
        let mut seen: Vec<_> = tallies
            .counts
            .all(|_| 1.0)
            .iter()
            .map(|(key, all)| (key.1, key.2, all.sum_ns, all.failed))
            .collect();
        seen.sort();
        let expected = [
            ("fdatasync", Some(0), 3_000, 0),
            ("pread64", Some(8192), 3_000, 0),
            ("read", Some(0), 3_000, 1),
        ];
        assert_eq!(seen, expected);
        assert_eq!(tallies.paths, [file.path().display().to_string()]);
        assert_eq!(tallies.apart, CallsApart { without_beginning: 1, ..CallsApart::default() });
    }
}
