//! What a worker counts: histograms per op × size and interval, errors with their places, slowest I/Os.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::histogram::{Histogram, Recorder};
use super::interval_log::Outlet;
use super::interval_row::IntervalRow;
use super::lateness::Lateness;
use super::result::{ErrorCount, ErrorPlace, SlowIo};
use crate::error::errno_name;
use crate::plan::Class;

const FIRST_PLACES: usize = 8;

/// What was done so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Completed without error.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Failed.
    pub errors: u64,
    /// Sum of the response times of those completed.
    pub response_ns: u64,
}

/// An I/O as the tally sees it when it ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Index of its class.
    pub class: usize,
    /// Index into the plan's files.
    pub file: u32,
    /// Byte offset in it.
    pub offset: u64,
    /// When it was due.
    pub due: u64,
    /// When it was submitted.
    pub submitted: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// It came in more than one piece.
    pub short: bool,
}

struct ClassTally {
    class: Class,
    response: Recorder,
    service: Recorder,
    bytes: u64,
    errors: u64,
    all: ClassSum,
}

/// One class over the whole phase.
#[derive(Clone, Debug)]
pub struct ClassSum {
    /// Which.
    pub class: Class,
    /// From the due time.
    pub response: Histogram,
    /// From submission.
    pub service: Histogram,
    /// Bytes moved.
    pub bytes: u64,
    /// I/Os in pieces.
    pub short_ios: u64,
}

/// See the module.
pub struct Tally {
    classes: Vec<ClassTally>,
    response_is_service: bool,
    interval_ns: u64,
    interval: u32,
    interval_end: u64,
    lag: Recorder,
    lag_all: Histogram,
    commit: Recorder,
    commit_all: Histogram,
    issue_error: Recorder,
    issue_error_all: Histogram,
    lateness: Lateness,
    errors: Vec<ErrorCount>,
    slow: BinaryHeap<Reverse<(u64, u64, u64)>>,
    slow_ios: Vec<SlowIo>,
    slow_limit: usize,
    slow_floor: u64,
    outlet: Arc<Outlet>,
    /// Completed without error.
    pub ios: u64,
    /// Failed.
    pub error_count: u64,
    /// Of the intervals that are closed.
    bytes: u64,
    response_ns: u64,
}

/// Everything a tally holds, at the end.
pub struct Tallied {
    /// Per op × size.
    pub classes: Vec<ClassSum>,
    /// Generator lag.
    pub lag: Histogram,
    /// From the first write to the end of the sync after it.
    pub commit: Histogram,
    /// Of a replay: how late I/Os were issued, whatever the reason.
    pub issue_error: Histogram,
    /// The same over its course.
    pub lateness: Lateness,
    /// Failures.
    pub errors: Vec<ErrorCount>,
    /// Slowest I/Os, slowest first.
    pub slow: Vec<SlowIo>,
    /// The series, as far as nobody took it before.
    pub intervals: Vec<IntervalRow>,
    /// Completed without error.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: u64,
}

impl Tally {
    /// An empty tally of these classes.
    pub fn new(classes: &[Class], interval_ns: u64, slow_limit: usize, response_is_service: bool) -> Tally {
        let classes = classes
            .iter()
            .map(|class| ClassTally {
                class: *class,
                response: Recorder::default(),
                service: Recorder::default(),
                bytes: 0,
                errors: 0,
                all: ClassSum {
                    class: *class,
                    response: Histogram::default(),
                    service: Histogram::default(),
                    bytes: 0,
                    short_ios: 0,
                },
            })
            .collect();
        Tally {
            classes,
            response_is_service,
            interval_ns,
            interval: 0,
            interval_end: interval_ns,
            lag: Recorder::default(),
            lag_all: Histogram::default(),
            commit: Recorder::default(),
            commit_all: Histogram::default(),
            issue_error: Recorder::default(),
            issue_error_all: Histogram::default(),
            lateness: Lateness::default(),
            errors: Vec::new(),
            slow: BinaryHeap::new(),
            slow_ios: Vec::new(),
            slow_limit,
            slow_floor: if slow_limit == 0 { u64::MAX } else { 0 },
            outlet: Arc::default(),
            ios: 0,
            error_count: 0,
            bytes: 0,
            response_ns: 0,
        }
    }

    /// Where it leaves the intervals that it has closed.
    pub fn outlet(&self) -> Arc<Outlet> {
        Arc::clone(&self.outlet)
    }

    /// Closes intervals that have ended before `now`. Called once a batch.
    #[inline(always)]
    pub fn advance(&mut self, now: u64) {
        if now >= self.interval_end {
            self.close_interval(now);
        }
    }

    /// What was counted so far.
    pub fn counts(&self) -> Counts {
        let closed = Counts {
            ios: self.ios,
            bytes: self.bytes,
            errors: self.error_count,
            response_ns: self.response_ns,
        };
        self.classes.iter().fold(closed, |sum, class| {
            let response = if self.response_is_service { &class.service } else { &class.response };
            let (bytes, response_ns) = (sum.bytes + class.bytes, sum.response_ns + response.sum_ns());
            Counts { bytes, response_ns, ..sum }
        })
    }

    /// How late the generator was with an I/O.
    #[inline]
    pub fn late(&mut self, lag_ns: u64) {
        self.lag.record(lag_ns);
    }

    /// How late an I/O of a trace was issued, whatever the reason.
    #[inline]
    pub fn issued_late(&mut self, error_ns: u64) {
        self.issue_error.record(error_ns);
    }

    /// A sync has made what was written before it durable, so long after the first of it was due.
    pub fn committed(&mut self, commit_ns: u64) {
        self.commit.record(commit_ns);
    }

    /// An I/O ended well at `now`.
    #[inline(always)]
    pub fn ended(&mut self, now: u64, io: &Ended) {
        let class = &mut self.classes[io.class];
        let service = now - io.submitted;
        let response = now.saturating_sub(io.due).max(service);
        class.service.record(service);
        if !self.response_is_service {
            class.response.record(response);
        }
        class.bytes += io.bytes;
        if io.short {
            class.all.short_ios += 1;
        }
        self.ios += 1;
        if response > self.slow_floor {
            self.keep_slow(response, service, *io);
        }
    }

    #[cold]
    fn keep_slow(&mut self, response_ns: u64, service_ns: u64, io: Ended) {
        let class = self.classes[io.class].class;
        let place = if self.slow_ios.len() < self.slow_limit {
            self.slow_ios.push(SlowIo {
                time_ns: 0,
                op: class.op,
                file: 0,
                offset_bytes: 0,
                size_bytes: 0,
                response_ns: 0,
                service_ns: 0,
            });
            self.slow_ios.len() - 1
        } else {
            self.slow.pop().map_or(0, |Reverse((_, _, place))| place as usize)
        };
        self.slow_ios[place] = SlowIo {
            time_ns: io.submitted,
            op: class.op,
            file: io.file,
            offset_bytes: io.offset,
            size_bytes: class.size_bytes,
            response_ns,
            service_ns,
        };
        self.slow.push(Reverse((response_ns, io.submitted, place as u64)));
        if self.slow_ios.len() == self.slow_limit {
            self.slow_floor = self.slow.peek().map_or(0, |Reverse(least)| least.0);
        }
    }

    /// An I/O failed at `now`: it is counted apart and never as a fast one.
    #[cold]
    pub fn failed(&mut self, now: u64, errno: i32, io: Ended) {
        let class = &mut self.classes[io.class];
        class.errors += 1;
        self.error_count += 1;
        let op = class.class.op;
        let place = ErrorPlace { time_ns: now, file: io.file, offset_bytes: io.offset };
        match self.errors.iter_mut().find(|e| e.op == op && e.errno == errno) {
            Some(known) => {
                known.count += 1;
                if known.first.len() < FIRST_PLACES {
                    known.first.push(place);
                }
            }
            None => self.errors.push(ErrorCount {
                op,
                errno,
                name: errno_name(errno),
                count: 1,
                first: vec![place],
            }),
        }
    }

    #[cold]
    fn close_interval(&mut self, now: u64) {
        let mut rows = Vec::new();
        for tally in &mut self.classes {
            let service = tally.service.drain();
            let response = if self.response_is_service { service.clone() } else { tally.response.drain() };
            let (bytes, errors) = (std::mem::take(&mut tally.bytes), std::mem::take(&mut tally.errors));
            if service.total() == 0 && errors == 0 {
                continue;
            }
            (self.bytes, self.response_ns) = (self.bytes + bytes, self.response_ns + response.sum_ns);
            tally.all.service.merge(&service);
            tally.all.response.merge(&response);
            tally.all.bytes += bytes;
            let Class { op, size_bytes } = tally.class;
            rows.push(IntervalRow {
                interval: self.interval,
                op,
                size_bytes,
                bytes,
                errors,
                response,
                service,
            });
        }
        self.lag_all.merge(&self.lag.drain());
        self.commit_all.merge(&self.commit.drain());
        let late = self.issue_error.drain();
        self.lateness.add(u64::from(self.interval), &late);
        self.issue_error_all.merge(&late);
        self.interval = (now / self.interval_ns).min(u64::from(u32::MAX)) as u32;
        self.interval_end = (u64::from(self.interval) + 1).saturating_mul(self.interval_ns);
        self.outlet.leave(rows.into_iter(), self.interval);
    }

    /// Closes the last interval and hands everything over.
    pub fn finish(mut self) -> Tallied {
        self.close_interval(u64::MAX);
        let mut slow = self.slow_ios;
        slow.sort_by_key(|io| Reverse(io.response_ns));
        Tallied {
            classes: self.classes.into_iter().map(|c| c.all).collect(),
            lag: self.lag_all,
            commit: self.commit_all,
            issue_error: self.issue_error_all,
            lateness: self.lateness,
            errors: self.errors,
            slow,
            intervals: self.outlet.take().0,
            ios: self.ios,
            bytes: self.bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Op;

    fn io(submitted: u64) -> Ended {
        Ended { class: 0, file: 0, offset: submitted, due: submitted, submitted, bytes: 512, short: false }
    }

    fn tally(slow_limit: usize) -> Tally {
        Tally::new(&[Class { op: Op::Read, size_bytes: 512 }], 1000, slow_limit, true)
    }

    #[test]
    fn the_slowest_are_kept_and_sorted() {
        let mut tally = tally(3);
        for (i, latency) in [5u64, 90, 10, 70, 20, 80, 30].iter().enumerate() {
            let at = i as u64 * 100;
            tally.ended(at + latency, &io(at));
        }
        let kept: Vec<u64> = tally.finish().slow.iter().map(|s| s.response_ns).collect();
        assert_eq!(kept, [90, 80, 70]);
    }

    #[test]
    fn an_io_counts_in_the_interval_in_which_it_ended() {
        let mut tally = tally(0);
        for now in [10u64, 999, 1000, 5500] {
            tally.advance(now);
            tally.ended(now, &io(now - 10));
        }
        let done = tally.finish();
        let counts: Vec<(u32, u64)> =
            done.intervals.iter().map(|r| (r.interval, r.service.total())).collect();
        assert_eq!(counts, [(0, 2), (1, 1), (5, 1)]);
        assert_eq!(done.classes[0].service.total(), 4);
    }

    #[test]
    fn an_interval_is_one_row_however_often_it_is_looked_at() {
        let mut tally = tally(0);
        for now in [1000u64, 1500, 1999, 2000, 2999, 3000] {
            tally.advance(now);
            tally.ended(now, &io(now - 10));
        }
        let rows: Vec<_> = tally.finish().intervals.iter().map(|r| (r.interval, r.service.total())).collect();
        assert_eq!(rows, [(1, 3), (2, 2), (3, 1)]);
    }

    #[test]
    fn what_was_counted_so_far_is_of_all_intervals() {
        for response_is_service in [true, false] {
            let classes = [512, 1024].map(|size_bytes| Class { op: Op::Read, size_bytes });
            let mut tally = Tally::new(&classes, 1000, 0, response_is_service);
            let mut seen = Vec::new();
            for now in [100u64, 999, 1000, 5500] {
                tally.advance(now);
                let due = if response_is_service { now - 10 } else { now - 30 };
                tally.ended(now, &Ended { due, submitted: now - 10, ..io(0) });
                tally.ended(now, &Ended { class: 1, due, submitted: now - 10, ..io(0) });
                seen.push(tally.counts());
            }
            tally.failed(5600, libc::EIO, io(0));
            let each = if response_is_service { 10 } else { 30 };
            for (turn, counts) in (1u64..).zip(&seen) {
                assert_eq!((counts.ios, counts.bytes, counts.errors), (2 * turn, 1024 * turn, 0));
                assert_eq!(counts.response_ns, 2 * each * turn);
            }
            assert_eq!((tally.counts().errors, tally.counts().ios), (1, 8));
            assert_eq!(tally.finish().bytes, 4096);
        }
    }

    #[test]
    fn errors_are_not_fast_ios() {
        let mut tally = tally(4);
        for at in 0..20 {
            tally.failed(at, libc::EIO, io(at));
        }
        let done = tally.finish();
        assert_eq!((done.ios, done.classes[0].service.total(), done.slow.len()), (0, 0, 0));
        assert_eq!((done.errors[0].count, done.errors[0].name.as_str()), (20, "EIO"));
        assert_eq!(done.errors[0].first.len(), FIRST_PLACES);
    }

    const TWO: [Class; 2] =
        [Class { op: Op::Read, size_bytes: 512 }, Class { op: Op::Write, size_bytes: 4096 }];

    #[test]
    fn a_slow_io_says_when_and_where_it_was() {
        let mut tally = Tally::new(&TWO, 1000, 2, false);
        let io = Ended { class: 1, file: 3, offset: 8192, due: 40, submitted: 50, bytes: 4096, short: false };
        tally.ended(250, &io);
        let seen = SlowIo {
            time_ns: 50,
            op: Op::Write,
            file: 3,
            offset_bytes: 8192,
            size_bytes: 4096,
            response_ns: 210,
            service_ns: 200,
        };
        assert_eq!(tally.finish().slow, [seen]);
    }

    #[test]
    fn of_equally_slow_ios_the_first_is_kept() {
        let mut tally = tally(1);
        for at in [0, 100] {
            tally.ended(at + 30, &io(at));
        }
        assert_eq!(tally.finish().slow.iter().map(|io| io.time_ns).collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn a_response_is_never_shorter_than_its_service() {
        let mut tally = Tally::new(&TWO, 1000, 0, false);
        for due in [20, 70, 90] {
            tally.ended(80, &Ended { due, submitted: 50, ..io(0) });
        }
        let read = &tally.finish().classes[0];
        assert_eq!((read.response.sum_ns, read.response.max_ns, read.service.sum_ns), (120, 60, 90));
    }

    #[test]
    fn bytes_errors_and_pieces_are_counted_in_their_interval_and_class() {
        let mut tally = Tally::new(&TWO, 1000, 0, true);
        tally.ended(10, &Ended { short: true, ..io(0) });
        tally.ended(20, &io(0));
        tally.failed(30, libc::EIO, Ended { class: 1, ..io(0) });
        tally.advance(1000);
        tally.ended(1500, &Ended { class: 1, bytes: 4096, ..io(1400) });
        let done = tally.finish();
        let rows: Vec<_> = done.intervals.iter().map(|r| (r.interval, r.op, r.bytes, r.errors)).collect();
        assert_eq!(rows, [(0, Op::Read, 1024, 0), (0, Op::Write, 0, 1), (1, Op::Write, 4096, 0)]);
        assert_eq!((done.ios, done.bytes), (3, 5120));
        assert_eq!(
            done.classes.iter().map(|c| (c.bytes, c.short_ios)).collect::<Vec<_>>(),
            [(1024, 1), (4096, 0)]
        );
    }

    #[test]
    fn lag_and_commits_of_all_intervals_are_kept() {
        let mut tally = tally(0);
        for now in [500, 1500] {
            tally.advance(now);
            tally.late(now + 1);
            tally.committed(now + 2);
        }
        let done = tally.finish();
        assert_eq!((done.lag.total(), done.lag.sum_ns), (2, 2002));
        assert_eq!((done.commit.total(), done.commit.sum_ns), (2, 2004));
    }

    #[test]
    fn errors_of_another_kind_or_operation_are_counted_apart() {
        let mut tally = Tally::new(&TWO, 1000, 0, true);
        for (now, errno, class) in
            [(1, libc::EIO, 0), (2, libc::EIO, 1), (3, libc::ENOSPC, 1), (4, libc::EIO, 1)]
        {
            tally.failed(now, errno, Ended { class, file: 2, offset: 512 * now, ..io(0) });
        }
        let done = tally.finish();
        let kinds: Vec<_> = done.errors.iter().map(|e| (e.op, e.errno, e.count)).collect();
        assert_eq!(
            kinds,
            [(Op::Read, libc::EIO, 1), (Op::Write, libc::EIO, 2), (Op::Write, libc::ENOSPC, 1)]
        );
        let places: Vec<_> =
            done.errors[1].first.iter().map(|p| (p.time_ns, p.file, p.offset_bytes)).collect();
        assert_eq!(places, [(2, 2, 1024), (4, 2, 2048)]);
    }
}
