//! Sequential runs among interleaved requests: several streams of a target are followed at once.
//!
//! A request joins the stream that it continues, forwards or backwards; otherwise it opens one, and the stream that was
//! unused for longest ends. A run is what came of a stream: its requests are sequential when there are two or more.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::Serialize;

use crate::profile::event_rows::{EventRow, UNNAMED, WRITE};
use crate::profile::stack_distance::MixingMap;

/// Streams followed at once, of each target and operation.
const STREAMS: usize = 32;
/// A stream without a request for so long has ended.
const TIMEOUT_NS: i64 = 1_000_000_000;
/// Runs that are told one by one: the longest.
const RUNS_TOLD: usize = 256;
/// Requests of a run that is told.
const RUN_AT_LEAST: u64 = 8;
/// Requests before this one that it is compared with, and how far from all of them it is random (IISWC 2020).
const BEFORE: usize = 32;
const FAR_BYTES: i64 = 128 << 10;
const POWERS: usize = 64;

/// One run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Run {
    /// Bytes of its requests.
    pub bytes: u64,
    /// Its requests.
    pub requests: u64,
    /// The time of its first request.
    pub start_ns: Option<i64>,
    /// The time of its last one.
    pub end_ns: Option<i64>,
    /// Its target.
    pub target: u32,
    /// The number of its operation.
    pub op: u8,
    /// Where it began.
    pub offset: i64,
    /// It went from the end towards the beginning.
    pub backwards: bool,
}

/// What is told of one operation.
#[derive(Clone, Debug, Serialize)]
pub struct StreamFacts {
    /// The number of the operation.
    pub op: u8,
    /// Requests whose place is known.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Requests in runs of two or more.
    pub sequential_requests: u64,
    /// Their bytes.
    pub sequential_bytes: u64,
    /// Bytes in runs of two or more, where a gap is allowed.
    pub near_bytes: u64,
    /// Requests in runs that went backwards.
    pub backward_requests: u64,
    /// Requests that begin where the last one of their target ended.
    pub after_the_last: u64,
    /// The same of the last one of their session and target.
    pub after_the_last_of_session: u64,
    /// Requests as far from the one before them as that from the one before it.
    pub strided: u64,
    /// Requests far from all of the last ones of their target.
    pub random: u64,
    /// Runs of two or more.
    pub runs: u64,
    /// Runs by requests: those of 2 to 3, 4 to 7, ... under the power of two.
    pub runs_by_requests: Vec<u64>,
    /// Bytes of the runs, the same way.
    pub bytes_by_requests: Vec<u64>,
}

/// What is told of all.
#[derive(Debug, Serialize)]
pub struct StreamReport {
    /// Reads, then writes; an operation without requests is missing.
    pub by_op: Vec<StreamFacts>,
    /// The longest runs, the longest first.
    pub longest: Vec<Run>,
    /// The gap that "near" allows.
    pub near_gap_bytes: i64,
}

const NEAR_GAP: i64 = 64 << 10;

struct Stream {
    next: i64,
    last_start: i64,
    used: u64,
    last_ns: Option<i64>,
    run: Run,
}

/// Streams of one target and operation.
struct Detector {
    gap: i64,
    clock: u64,
    live: Vec<Stream>,
}

impl Detector {
    fn new(gap: i64) -> Detector {
        Detector { gap, clock: 0, live: Vec::new() }
    }

    /// A request joins a stream, or opens one; `ended` takes the run that makes room.
    fn request(&mut self, row: &EventRow, offset: i64, size: i64, ended: &mut dyn FnMut(Run)) {
        self.clock += 1;
        let stale = |stream: &Stream| matches!((row.ts_ns, stream.last_ns), (Some(now), Some(last)) if now - last > TIMEOUT_NS);
        let joins = |stream: &Stream| {
            let forwards = (offset - stream.next).abs() <= self.gap && !stream.run.backwards;
            let fresh = stream.run.requests == 1 || stream.run.backwards;
            (forwards || (fresh && (stream.last_start - offset - size).abs() <= self.gap)) && !stale(stream)
        };
        // One that it continues exactly before one that is near, and the one used last of several.
        let found = (0..self.live.len())
            .filter(|at| joins(&self.live[*at]))
            .max_by_key(|at| (self.live[*at].next == offset, self.live[*at].used));
        if let Some(at) = found {
            let stream = &mut self.live[at];
            let forwards = (offset - stream.next).abs() <= self.gap && !stream.run.backwards;
            stream.run.backwards = !forwards;
            (stream.next, stream.last_start) = (offset + size, offset);
            (stream.used, stream.last_ns) = (self.clock, row.ts_ns);
            stream.run.requests += 1;
            stream.run.bytes += size as u64;
            stream.run.end_ns = row.ts_ns;
            return;
        }
        if self.live.len() >= STREAMS {
            let oldest = (0..self.live.len()).min_by_key(|at| self.live[*at].used).unwrap_or(0);
            ended(self.live.swap_remove(oldest).run);
        }
        let run = Run {
            bytes: size as u64,
            requests: 1,
            start_ns: row.ts_ns,
            end_ns: row.ts_ns,
            target: row.target,
            op: row.op,
            offset,
            backwards: false,
        };
        let used = self.clock;
        self.live.push(Stream { next: offset + size, last_start: offset, used, last_ns: row.ts_ns, run });
    }
}

#[derive(Clone, Copy, Default)]
struct LastOfSession {
    start: i64,
    end: i64,
    step: i64,
    requests: u64,
}

/// The last requests of a target.
struct LastOfTarget {
    end: i64,
    starts: [i64; BEFORE],
    seen: usize,
}

struct Tally {
    facts: StreamFacts,
}

/// Follows all targets.
pub struct Streams {
    exact: MixingMap<(u32, u8), Detector>,
    near: MixingMap<(u32, u8), Detector>,
    targets: MixingMap<u32, LastOfTarget>,
    sessions: MixingMap<(u32, u32, u8), LastOfSession>,
    tallies: [Tally; 2],
    longest: BinaryHeap<Reverse<Run>>,
}

impl Default for Streams {
    fn default() -> Streams {
        Streams {
            exact: MixingMap::default(),
            near: MixingMap::default(),
            targets: MixingMap::default(),
            sessions: MixingMap::default(),
            tallies: [Tally::new(0), Tally::new(WRITE)],
            longest: BinaryHeap::new(),
        }
    }
}

impl Streams {
    /// One more request.
    pub fn event(&mut self, row: &EventRow) {
        let Some((offset, size)) = row.extent() else { return };
        let key = (row.target, row.op);
        let tally = &mut self.tallies[usize::from(row.op == WRITE)];
        tally.facts.requests += 1;
        tally.facts.bytes += size as u64;
        let longest = &mut self.longest;
        let exact = self.exact.entry(key).or_insert_with(|| Detector::new(0));
        exact.request(row, offset, size, &mut |run| tally.ended(&run, longest));
        let near = self.near.entry(key).or_insert_with(|| Detector::new(NEAR_GAP));
        near.request(row, offset, size, &mut |run| tally.near(&run));
        self.beside_the_last(row, offset, size);
    }

    fn beside_the_last(&mut self, row: &EventRow, offset: i64, size: i64) {
        let facts = &mut self.tallies[usize::from(row.op == WRITE)].facts;
        let last =
            self.targets.entry(row.target).or_insert(LastOfTarget { end: -1, starts: [0; BEFORE], seen: 0 });
        facts.after_the_last += u64::from(last.end == offset);
        let known = last.seen.min(BEFORE);
        if last.starts[..known].iter().all(|start| (offset - start).abs() > FAR_BYTES) {
            facts.random += 1;
        }
        (last.starts[last.seen % BEFORE], last.end) = (offset, offset + size);
        last.seen += 1;
        let actor = if row.actor == UNNAMED { 0 } else { row.actor + 1 };
        let session = self.sessions.entry((row.target, actor, row.op)).or_default();
        if session.requests > 0 {
            let step = offset - session.start;
            facts.after_the_last_of_session += u64::from(session.end == offset);
            let alike = session.requests > 1 && step == session.step && step != 0 && session.end != offset;
            facts.strided += u64::from(alike);
            session.step = step;
        }
        (session.start, session.end) = (offset, offset + size);
        session.requests += 1;
    }

    /// What is told of them.
    pub fn finish(mut self) -> StreamReport {
        for (key, detector) in self.exact {
            let tally = &mut self.tallies[usize::from(key.1 == WRITE)];
            detector.live.iter().for_each(|stream| tally.ended(&stream.run, &mut self.longest));
        }
        for (key, detector) in self.near {
            let tally = &mut self.tallies[usize::from(key.1 == WRITE)];
            detector.live.iter().for_each(|stream| tally.near(&stream.run));
        }
        let mut longest: Vec<Run> = self.longest.into_iter().map(|Reverse(run)| run).collect();
        longest.sort_by(|one, other| other.cmp(one));
        let told = self.tallies.into_iter().map(|tally| tally.facts).filter(|facts| facts.requests > 0);
        StreamReport { by_op: told.map(trimmed).collect(), longest, near_gap_bytes: NEAR_GAP }
    }
}

impl Tally {
    fn new(op: u8) -> Tally {
        Tally {
            facts: StreamFacts {
                op,
                requests: 0,
                bytes: 0,
                sequential_requests: 0,
                sequential_bytes: 0,
                near_bytes: 0,
                backward_requests: 0,
                after_the_last: 0,
                after_the_last_of_session: 0,
                strided: 0,
                random: 0,
                runs: 0,
                runs_by_requests: vec![0; POWERS],
                bytes_by_requests: vec![0; POWERS],
            },
        }
    }

    fn ended(&mut self, run: &Run, longest: &mut BinaryHeap<Reverse<Run>>) {
        if run.requests < 2 {
            return;
        }
        let facts = &mut self.facts;
        facts.runs += 1;
        facts.sequential_requests += run.requests;
        facts.sequential_bytes += run.bytes;
        facts.backward_requests += if run.backwards { run.requests } else { 0 };
        let power = run.requests.ilog2() as usize;
        facts.runs_by_requests[power] += 1;
        facts.bytes_by_requests[power] += run.bytes;
        if run.requests >= RUN_AT_LEAST {
            longest.push(Reverse(run.clone()));
            if longest.len() > RUNS_TOLD {
                longest.pop();
            }
        }
    }

    fn near(&mut self, run: &Run) {
        if run.requests >= 2 {
            self.facts.near_bytes += run.bytes;
        }
    }
}

fn trimmed(mut facts: StreamFacts) -> StreamFacts {
    let held = facts.runs_by_requests.iter().rposition(|runs| *runs > 0).map_or(0, |at| at + 1);
    facts.runs_by_requests.truncate(held);
    facts.bytes_by_requests.truncate(held);
    facts
}

#[cfg(test)]
mod tests {
    use rand::rngs::SmallRng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::profile::event_rows::tests::row;

    fn report(rows: impl Iterator<Item = EventRow>) -> StreamReport {
        let mut streams = Streams::default();
        rows.for_each(|row| streams.event(&row));
        streams.finish()
    }

    #[test]
    fn four_interleaved_scans_are_sequential_and_look_random_to_a_single_eye() {
        let mib = 1 << 20;
        let rows = (0..4000i64).map(|at| row(at * 1000, 0, (at % 4) * (1 << 40) + (at / 4) * mib, mib));
        let found = report(rows);
        let reads = &found.by_op[0];
        assert_eq!((reads.sequential_requests, reads.runs, reads.after_the_last), (4000, 4, 0));
        assert_eq!((found.longest.len(), found.longest[0].requests), (4, 1000));
        assert_eq!(reads.runs_by_requests[9], 4);
    }

    #[test]
    fn uniform_requests_are_not_sequential() {
        let mut random = SmallRng::seed_from_u64(5);
        let rows = (0..100_000i64).map(|at| row(at, 0, random.random_range(0..1i64 << 27) * 8192, 8192));
        let reads = &report(rows).by_op[0];
        assert!(reads.sequential_requests < 1000 && reads.near_bytes < 8192 * 1000);
        assert!(reads.random > 99_000);
    }

    #[test]
    fn backwards_and_strides_are_told_apart() {
        let backwards = report((0..100i64).map(|at| row(at, 0, (1000 - at) * 4096, 4096)));
        assert_eq!(backwards.by_op[0].backward_requests, 100);
        let strided = report((0..100i64).map(|at| row(at, 1, at * 1_000_000, 4096)));
        assert_eq!((strided.by_op[0].op, strided.by_op[0].strided), (1, 98));
        assert_eq!(strided.by_op[0].sequential_requests, 0);
    }

    #[test]
    fn a_stream_that_rests_for_more_than_a_second_has_ended() {
        let found = report(
            [0, 2_000_000_000].into_iter().enumerate().map(|(at, ts)| row(ts, 0, at as i64 * 8192, 8192)),
        );
        assert_eq!(found.by_op[0].sequential_requests, 0);
    }

    #[test]
    fn a_log_that_writes_its_last_block_again_is_near() {
        let found = report((0..100i64).map(|at| row(at, 1, at * 3072 / 512 * 512, 4096)));
        assert_eq!((found.by_op[0].sequential_requests, found.by_op[0].near_bytes), (0, 409_600));
    }
}
