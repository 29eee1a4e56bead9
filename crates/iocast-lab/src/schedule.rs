//! When an I/O ends: servers, caps and stalls on virtual time, so that no wake-up that comes late adds up.
//!
//! Arrival times go in, end times come out; nothing here sleeps or reads a clock.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use crate::options::Options;
use crate::service::{Io, Service};

/// See the module.
pub struct Schedule {
    options: Arc<Options>,
    service: Service,
    /// When each server is free: of any I/O, or one heap for each disk of a stripe.
    servers: Vec<BinaryHeap<Reverse<u64>>>,
    /// When the I/Os that the cap let in are paid for.
    paid_ns: f64,
    /// When all bytes so far have passed.
    moved_ns: f64,
    /// When the write before is done, where they are served in turn.
    written_ns: u64,
    /// Time 0 of stalls and slow times: the first I/O since the file was opened by its only user.
    begun_ns: Option<u64>,
}

impl Schedule {
    /// Idle, with fresh extents.
    pub fn new(options: Arc<Options>) -> Schedule {
        Schedule {
            service: Service::new(Arc::clone(&options)),
            servers: idle_servers(&options),
            paid_ns: 0.0,
            moved_ns: 0.0,
            written_ns: 0,
            begun_ns: None,
            options,
        }
    }

    /// Lets the time of stalls and slow times begin anew with the next I/O.
    pub fn restart(&mut self) {
        self.begun_ns = None;
    }

    /// When an I/O that came at `arrived_ns` ends, and how it fails, if it does.
    pub fn end(&mut self, io: &Io, arrived_ns: u64) -> (u64, Option<i32>) {
        let work_ns = self.service.time_ns(io);
        let work_ns = self.slowed(work_ns, arrived_ns);
        let at = self.servers_of(io);
        let free_ns = at.and_then(|at| self.servers[at].pop()).map_or(0, |Reverse(free_ns)| free_ns);
        let in_turn = io.write && self.options.writes_in_turn;
        let turn_ns = if in_turn { self.written_ns } else { 0 };
        let ready_ns = self.after_stall(arrived_ns.max(free_ns).max(turn_ns));
        let start_ns = self.let_in(ready_ns);
        let moved_ns = self.moved(io.len, start_ns);
        let end_ns = self.after_stall(moved_ns.max(start_ns + work_ns));
        let end_ns = self.at_a_tick(end_ns);
        if in_turn {
            self.written_ns = end_ns;
        }
        if let Some(at) = at {
            self.servers[at].push(Reverse(end_ns));
        }
        (end_ns, self.service.errno(io))
    }

    /// Which heap serves this I/O: the disk that holds its first byte, or the only one.
    fn servers_of(&self, io: &Io) -> Option<usize> {
        let disks = self.servers.len() as u64;
        let stripe = io.offset / self.options.stripe_bytes.unwrap_or(u64::MAX);
        (disks > 0).then(|| (stripe % disks) as usize)
    }

    /// When an fsync that came at `arrived_ns` ends: it waits for nobody.
    pub fn end_of_sync(&mut self, arrived_ns: u64) -> u64 {
        let work_ns = self.slowed(self.options.fsync_ns, arrived_ns);
        let start_ns = self.after_stall(arrived_ns);
        let end_ns = self.after_stall(start_ns + work_ns);
        self.at_a_tick(end_ns)
    }

    /// How long the device works on what comes now, in its slow times.
    fn slowed(&mut self, work_ns: u64, arrived_ns: u64) -> u64 {
        let begun_ns = *self.begun_ns.get_or_insert(arrived_ns);
        (work_ns as f64 * times_slower(&self.options, arrived_ns.saturating_sub(begun_ns))).round() as u64
    }

    fn at_a_tick(&self, time_ns: u64) -> u64 {
        self.options.tick_ns.map_or(time_ns, |tick_ns| time_ns.next_multiple_of(tick_ns))
    }

    /// When the cap lets an I/O start: as soon as those before it are paid for. An idle device saves nothing up.
    fn let_in(&mut self, start_ns: u64) -> u64 {
        let Some(rate) = self.options.iops else { return start_ns };
        let start = self.paid_ns.max(start_ns as f64);
        self.paid_ns = start + 1e9 / rate;
        start.round() as u64
    }

    /// When all of these bytes have passed, one I/O after the other.
    fn moved(&mut self, len: u64, start_ns: u64) -> u64 {
        let Some(rate) = self.options.bandwidth else { return 0 };
        self.moved_ns = self.moved_ns.max(start_ns as f64) + len as f64 * 1e9 / rate;
        self.moved_ns.round() as u64
    }

    /// The same time, or the end of the stall that it falls into.
    fn after_stall(&mut self, time_ns: u64) -> u64 {
        let begun_ns = *self.begun_ns.get_or_insert(time_ns);
        match self.options.stall {
            Some(stall) => begun_ns + after_stall(time_ns.saturating_sub(begun_ns), stall),
            None => time_ns,
        }
    }
}

/// How many times as long everything takes at this time since the start.
fn times_slower(options: &Options, time_ns: u64) -> f64 {
    let slow =
        options.slow.filter(|(from, to, _)| (*from..*to).contains(&time_ns)).map_or(1.0, |slow| slow.2);
    let drift = options
        .drift
        .map_or(1.0, |(times, after_ns)| 1.0 + (times - 1.0) * (time_ns as f64 / after_ns as f64).min(1.0));
    let busy =
        options.busy.filter(|(long, every, _)| time_ns % every >= every - long).map_or(1.0, |busy| busy.2);
    slow * drift * busy
}

/// All servers in one heap, or each in its own where I/Os are striped over them.
fn idle_servers(options: &Options) -> Vec<BinaryHeap<Reverse<u64>>> {
    let servers = options.servers.unwrap_or(0);
    let heaps = if options.stripe_bytes.is_some() { servers } else { servers.min(1) };
    (0..heaps).map(|_| (0..servers / heaps).map(|_| Reverse(0)).collect()).collect()
}

/// `time_ns`, or the end of the period when it falls into the last `.0` of a period of `.1`.
fn after_stall(time_ns: u64, (long_ns, every_ns): (u64, u64)) -> u64 {
    let phase_ns = time_ns % every_ns;
    if phase_ns < every_ns - long_ns { time_ns } else { time_ns - phase_ns + every_ns }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;
    const READ: Io = Io { write: false, offset: 0, len: 4096, zeros: false };

    fn schedule(change: impl FnOnce(&mut Options)) -> Schedule {
        let mut options = Options { read_ns: MS, ..Options::default() };
        change(&mut options);
        Schedule::new(Arc::new(options))
    }

    fn ends(schedule: &mut Schedule, arrivals: &[u64]) -> Vec<u64> {
        arrivals.iter().map(|at| schedule.end(&READ, *at).0).collect()
    }

    /// Ends per second of `depth` I/Os, each followed by the next one at its end.
    fn closed_loop(schedule: &mut Schedule, depth: usize, ios: usize) -> f64 {
        let mut due: BinaryHeap<Reverse<u64>> = (0..depth).map(|_| Reverse(0)).collect();
        let mut last = 0;
        for _ in 0..ios {
            let Reverse(arrived) = due.pop().unwrap();
            last = schedule.end(&READ, arrived).0;
            due.push(Reverse(last));
        }
        ios as f64 * 1e9 / last as f64
    }

    #[test]
    fn without_servers_nobody_waits() {
        assert_eq!(ends(&mut schedule(|_| {}), &[0, 0, 0, 10]), [MS, MS, MS, MS + 10]);
    }

    #[test]
    fn the_knee_is_where_the_servers_are() {
        for (depth, rate) in [(1, 1000.0), (2, 2000.0), (4, 4000.0), (8, 4000.0), (64, 4000.0)] {
            let measured = closed_loop(&mut schedule(|o| o.servers = Some(4)), depth, 4000);
            assert!((measured / rate - 1.0).abs() < 0.01, "{measured} at depth {depth}");
        }
    }

    #[test]
    fn a_stripe_waits_for_its_own_disk() {
        let mut striped = schedule(|o| (o.servers, o.stripe_bytes) = (Some(2), Some(8192)));
        let mut end = |offset| striped.end(&Io { offset, ..READ }, 0).0;
        assert_eq!([end(0), end(8192), end(4096), end(16384), end(12288)], [MS, MS, 2 * MS, 3 * MS, 2 * MS]);
    }

    #[test]
    fn caps_hold_at_any_depth_and_nothing_is_saved_up() {
        for depth in [8, 32] {
            let measured = closed_loop(&mut schedule(|o| o.iops = Some(5000.0)), depth, 10_000);
            assert!((measured / 5000.0 - 1.0).abs() < 0.001, "{measured}");
        }
        let late = 1000 * MS;
        let mut capped = schedule(|o| (o.read_ns, o.iops) = (0, Some(1000.0)));
        assert_eq!(ends(&mut capped, &[late, late, late]), [late, late + MS, late + 2 * MS]);
    }

    #[test]
    fn bandwidth_counts_bytes_and_the_stricter_cap_wins() {
        let mut both = schedule(|o| (o.bandwidth, o.iops) = (Some(4_096_000.0), Some(10_000.0)));
        assert_eq!(ends(&mut both, &[0, 0]), [MS, 2 * MS]);
        let mut large = schedule(|o| o.bandwidth = Some(1e8));
        assert_eq!(large.end(&Io { len: 1_000_000, ..READ }, 0).0, 10 * MS);
    }

    #[test]
    fn what_comes_or_ends_in_a_stall_waits_for_its_end() {
        let mut stalled = schedule(|o| o.stall = Some((1000 * MS, 5000 * MS)));
        let arrivals = [0, 3998 * MS, 3999 * MS + MS / 2, 4000 * MS, 4900 * MS, 5000 * MS].map(|at| at + 7);
        let wanted = [MS, 3999 * MS, 5000 * MS, 5001 * MS, 5001 * MS, 5001 * MS].map(|at| at + 7);
        assert_eq!(ends(&mut stalled, &arrivals), wanted);
    }

    #[test]
    fn stalls_count_from_the_first_io_after_a_restart() {
        let mut stalled = schedule(|o| o.stall = Some((1000 * MS, 5000 * MS)));
        stalled.end(&READ, 0);
        stalled.restart();
        assert_eq!(ends(&mut stalled, &[4500 * MS, 8400 * MS, 8600 * MS]), [4501 * MS, 8401 * MS, 9501 * MS]);
    }

    #[test]
    fn slow_times_count_from_the_first_io() {
        let at = [0, 999 * MS, 1000 * MS, 1999 * MS, 2000 * MS].map(|at| at + 5);
        let mut slow = schedule(|o| o.slow = Some((1000 * MS, 2000 * MS, 3.0)));
        let wanted = [1, 1000, 1003, 2002, 2001].map(|ms| ms * MS + 5);
        assert_eq!(ends(&mut slow, &at), wanted);
        let mut busy = schedule(|o| o.busy = Some((1000 * MS, 2000 * MS, 3.0)));
        assert_eq!(ends(&mut busy, &at), wanted);
        let mut drift = schedule(|o| o.drift = Some((3.0, 1000 * MS)));
        assert_eq!(ends(&mut drift, &[0, 500 * MS, 4000 * MS]), [MS, 502 * MS, 4003 * MS]);
    }

    #[test]
    fn an_fsync_is_slow_too() {
        let mut slow = schedule(|o| (o.fsync_ns, o.slow) = (8 * MS, Some((0, 1000 * MS, 3.0))));
        assert_eq!(slow.end_of_sync(5), 24 * MS + 5);
    }

    #[test]
    fn writes_in_turn_wait_for_each_other_and_reads_for_nobody() {
        let mut turns = schedule(|o| (o.write_ns, o.writes_in_turn) = (2 * MS, true));
        let write = Io { write: true, ..READ };
        let mut end = |io: &Io| turns.end(io, 0).0;
        assert_eq!([end(&write), end(&READ), end(&write), end(&READ)], [2 * MS, MS, 4 * MS, MS]);
    }

    #[test]
    fn what_ends_does_so_at_a_tick() {
        let mut ticks = schedule(|o| (o.tick_ns, o.fsync_ns) = (Some(4 * MS), 5 * MS));
        assert_eq!(ends(&mut ticks, &[0, 3 * MS, 3 * MS + 1]), [4 * MS, 4 * MS, 8 * MS]);
        assert_eq!(ticks.end_of_sync(0), 8 * MS);
    }

    #[test]
    fn an_fsync_takes_its_own_time() {
        let mut slow = schedule(|o| (o.fsync_ns, o.servers) = (8 * MS, Some(1)));
        slow.end(&READ, 0);
        assert_eq!(slow.end_of_sync(0), 8 * MS);
    }

    proptest! {
        #[test]
        fn nothing_ends_in_a_stall_or_before_it_came(
            time in 0u64..1 << 50, long in 1u64..1 << 30, rest in 1u64..1 << 30
        ) {
            let every = long + rest;
            let end = after_stall(time, (long, every));
            prop_assert!(end >= time && end - time <= long);
            prop_assert!(end % every < rest);
        }

        #[test]
        fn a_serving_device_is_never_faster_than_told(
            gaps in prop::collection::vec(0u64..3 * MS, 1..200), servers in 1usize..8
        ) {
            let mut device = schedule(|o| o.servers = Some(servers));
            let (mut at, mut open) = (0, Vec::new());
            for gap in gaps {
                at += gap;
                let end = device.end(&READ, at).0;
                prop_assert!(end >= at + MS);
                open.push((end - MS, end));
            }
            for (start, _) in &open {
                prop_assert!(open.iter().filter(|(s, e)| s <= start && start < e).count() <= servers);
            }
        }
    }
}
