//! A user's stream of I/Os: its [`Source`] says what comes next and where, its [`Schedule`] when it is due.

use std::sync::Arc;

use rand::SeedableRng;
use rand::rngs::SmallRng;

use super::next_io::NextIo;
use super::pacing::Schedule;
use super::recorded::Recorded;
use super::source::Source;
use super::tree_drawn::TreeDrawn;
use crate::plan::{Op, PhasePlan};
use crate::replay::replay_schedule::UserRows;
use crate::tree::work::TreeWork;
use crate::workload::random::mix64;

/// See the module.
pub struct Stream {
    /// When I/Os are due.
    pub schedule: Schedule,
    source: Source,
    rng: SmallRng,
    ios_left: u64,
    bytes_left: u64,
    due_end_ns: u64,
}

impl Stream {
    /// The stream of `user`. Limits in I/Os and bytes are shared out evenly over users.
    pub fn new(plan: &PhasePlan, user: u32) -> Stream {
        let mut rng = SmallRng::seed_from_u64(mix64(plan.seed).wrapping_add(mix64(u64::from(user) + 1)));
        let (users, user64) = (u64::from(plan.users), u64::from(user));
        let share =
            |limit: Option<u64>| limit.map_or(u64::MAX, |n| n / users + u64::from(user64 < n % users));
        let mut schedule = Schedule::new(&plan.arrival, user, plan.users, &mut rng);
        if !plan.steps.is_empty() {
            schedule = Schedule::Recorded { next_ns: 0 };
        }
        let source = Source::new(plan, user, &mut rng);
        let mut stream = Stream {
            schedule,
            source,
            rng,
            ios_left: share(plan.length.ios),
            bytes_left: share(plan.length.bytes),
            due_end_ns: plan.length.seconds.map_or(u64::MAX, |s| (s * 1e9) as u64),
        };
        stream.follow_source();
        stream
    }

    /// The stream of `user` that makes these rows of a trace.
    pub fn replaying(plan: &PhasePlan, user: u32, rows: &Arc<UserRows>) -> Stream {
        let recorded = Recorded::new(plan, rows);
        let mut stream = Stream { ios_left: recorded.left(), ..Stream::new(plan, user) };
        stream.source = Source::Recorded(Box::new(recorded));
        stream.follow_source();
        stream
    }

    /// The stream of `user` that works in a tree.
    pub fn in_tree(plan: &PhasePlan, user: u32, work: &Arc<TreeWork>) -> Stream {
        let mut stream = Stream::new(plan, user);
        stream.source = Source::Tree(Box::new(TreeDrawn::new(plan, user, work)));
        stream
    }

    /// An operation of a tree has ended, and with which error.
    pub fn ended_in_tree(&mut self, op: Op, row: u32, offset: u64, errno: Option<i32>) {
        if let Source::Tree(tree) = &mut self.source {
            tree.ended(op, row, offset, errno);
        }
    }

    /// The schedule of recorded arrivals is what the source says.
    #[inline]
    fn follow_source(&mut self) {
        let Schedule::Recorded { next_ns } = &mut self.schedule else { return };
        match &self.source {
            Source::Recorded(recorded) => *next_ns = recorded.next_due(),
            Source::Stepped(stepped) => *next_ns = stepped.next_due(),
            Source::Drawn(_) | Source::Tree(_) => {}
        }
    }

    /// A row of a trace, or the I/O of a step, which was `due` and began at `from`, has ended.
    pub fn ended(&mut self, row: u32, due: u64, from: u64, now: u64) {
        match &mut self.source {
            Source::Recorded(recorded) => recorded.ended(row, now),
            Source::Stepped(stepped) => stepped.ended(due, from, now, &mut self.rng),
            Source::Drawn(_) | Source::Tree(_) => return,
        }
        self.follow_source();
    }

    /// True while rows of a trace wait for I/Os that have not ended, or operations of a tree for others.
    pub fn waits(&self) -> bool {
        match &self.source {
            Source::Recorded(recorded) => recorded.waits(),
            Source::Tree(tree) => tree.waits(),
            Source::Drawn(_) | Source::Stepped(_) => false,
        }
    }

    /// True when the user has done all it was asked for, or finds nothing to do.
    #[inline]
    pub fn exhausted(&mut self) -> bool {
        if self.over() {
            return true;
        }
        match &mut self.source {
            Source::Tree(tree) => !tree.draws(&mut self.rng),
            _ => false,
        }
    }

    fn over(&self) -> bool {
        self.ios_left == 0
            || self.bytes_left == 0
            || self.schedule.peek().is_some_and(|due| due >= self.due_end_ns && !self.follows_on())
    }

    /// Arrivals that were due before `end` and were not taken; they are taken now, so that who shares the
    /// stream does not count them again.
    pub fn unsent(&mut self, end: u64) -> u64 {
        let end = end.min(self.due_end_ns);
        if let Source::Stepped(stepped) = &mut self.source {
            return stepped.skip(end, &mut self.rng);
        }
        let open = matches!(self.schedule, Schedule::Recorded { .. });
        if let (Source::Recorded(recorded), true) = (&mut self.source, open) {
            return recorded.skip(end);
        }
        if self.over() { 0 } else { self.schedule.skip(end) }
    }

    /// True when the next I/O follows the one before at once, without a pause and without an arrival of its own.
    #[inline]
    pub fn follows_on(&self) -> bool {
        self.source.follows_on()
    }

    /// Takes the next I/O (and its arrival, in an open loop).
    #[inline]
    pub fn take(&mut self) -> NextIo {
        let next = match &mut self.source {
            Source::Drawn(drawn) => {
                if !drawn.syncs_next() {
                    self.schedule.take(&mut self.rng);
                }
                drawn.take(&mut self.rng)
            }
            Source::Tree(tree) => {
                self.schedule.take(&mut self.rng);
                tree.take(&mut self.rng)
            }
            Source::Recorded(recorded) => {
                let next = recorded.take();
                self.follow_source();
                next
            }
            Source::Stepped(stepped) => {
                let next = stepped.take(&mut self.rng);
                self.follow_source();
                next
            }
        };
        self.ios_left -= 1;
        self.bytes_left = self.bytes_left.saturating_sub(next.size);
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::plan;

    #[test]
    fn the_mix_has_the_shares_of_its_weights() {
        let plan = plan(serde_json::json!({"mix": [
            {"op": "read", "size_bytes": 8192, "weight": 70}, {"op": "write", "size_bytes": 8192, "weight": 20},
            {"op": "read", "size_bytes": 4096, "weight": 10}]}));
        let mut stream = Stream::new(&plan, 0);
        let mut counts = [0u32; 3];
        for _ in 0..100_000 {
            counts[stream.take().class] += 1;
        }
        for (count, share) in counts.iter().zip([0.7, 0.2, 0.1]) {
            assert!((f64::from(*count) / 100_000.0 - share).abs() < 0.01, "{counts:?}");
        }
    }

    #[test]
    fn fsync_follows_every_so_many_writes() {
        let plan = plan(serde_json::json!({"mix": [{"op": "write", "size_bytes": 8192}], "fsync_every": 3}));
        let mut stream = Stream::new(&plan, 0);
        let ops: Vec<Op> = (0..8).map(|_| stream.take().op).collect();
        use Op::{Fsync, Write};
        assert_eq!(ops, [Write, Write, Write, Fsync, Write, Write, Write, Fsync]);
    }

    #[test]
    fn an_fdatasync_follows_each_write_of_a_log() {
        let plan = plan(serde_json::json!({"mix": [{"op": "write", "size_bytes": 4096}],
            "fsync_every": 1, "fsync_op": "fdatasync"}));
        let mut stream = Stream::new(&plan, 0);
        let ops: Vec<Op> = (0..4).map(|_| stream.take().op).collect();
        assert_eq!(ops, [Op::Write, Op::Fdatasync, Op::Write, Op::Fdatasync]);
    }

    #[test]
    fn limits_are_shared_out_to_the_last_io() {
        let plan = plan(serde_json::json!({"users": 3, "length": {"ios": 11}}));
        let mut done = 0;
        for user in 0..3 {
            let mut stream = Stream::new(&plan, user);
            while !stream.exhausted() {
                stream.take();
                done += 1;
            }
        }
        assert_eq!(done, 11);
    }
}
