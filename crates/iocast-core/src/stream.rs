//! A user's stream of I/Os: which operation comes next, where, and when it is due.

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use crate::buffers::mix64;
use crate::offsets::Offsets;
use crate::pacing::Schedule;
use crate::plan::{Op, PhasePlan};
use crate::span::Place;
use crate::tally::Class;

/// The op × size classes of a plan: those of the mix without repeats, and the sync of `fsync_every`.
pub fn classes(plan: &PhasePlan) -> Vec<Class> {
    let mut classes: Vec<Class> = Vec::new();
    let every = (plan.fsync_every > 0).then_some(Class { op: plan.fsync_op, size_bytes: 0 });
    let mix = plan.mix.iter().map(|m| Class { op: m.op, size_bytes: m.size_bytes });
    for class in mix.chain(every) {
        if !classes.contains(&class) {
            classes.push(class);
        }
    }
    classes
}

/// The next I/O of a user.
#[derive(Clone, Copy, Debug)]
pub struct Next {
    /// Index into `classes(plan)`.
    pub class: usize,
    /// Operation.
    pub op: Op,
    /// Bytes.
    pub size: u64,
    /// Where.
    pub place: Place,
}

/// See the module.
pub struct Stream {
    /// When I/Os are due.
    pub schedule: Schedule,
    rng: SmallRng,
    offsets: Offsets,
    classes: Vec<Class>,
    /// Upper edge of each mix item on 0..1, and its class.
    edges: Vec<(f64, usize)>,
    fsync_every: u32,
    fsync_op: Op,
    writes_since_fsync: u32,
    last_file: u32,
    ios_left: u64,
    bytes_left: u64,
    due_end_ns: u64,
}

impl Stream {
    /// The stream of `user`. Limits in I/Os and bytes are shared out evenly over users.
    pub fn new(plan: &PhasePlan, user: u32) -> Stream {
        let mut rng = SmallRng::seed_from_u64(mix64(plan.seed).wrapping_add(mix64(u64::from(user) + 1)));
        let classes = classes(plan);
        let all: f64 = plan.mix.iter().map(|m| m.weight).sum();
        let mut edge = 0.0;
        let edges = plan
            .mix
            .iter()
            .map(|m| {
                edge += m.weight / all;
                let class = classes.iter().position(|c| c.op == m.op && c.size_bytes == m.size_bytes);
                (edge, class.expect("each item has a class"))
            })
            .collect();
        let (users, user64) = (u64::from(plan.users), u64::from(user));
        let share =
            |limit: Option<u64>| limit.map_or(u64::MAX, |n| n / users + u64::from(user64 < n % users));
        Stream {
            schedule: Schedule::new(&plan.arrival, user, plan.users, &mut rng),
            offsets: Offsets::new(plan, user),
            rng,
            classes,
            edges,
            fsync_every: plan.fsync_every,
            fsync_op: plan.fsync_op,
            writes_since_fsync: 0,
            last_file: 0,
            ios_left: share(plan.length.ios),
            bytes_left: share(plan.length.bytes),
            due_end_ns: plan.length.seconds.map_or(u64::MAX, |s| (s * 1e9) as u64),
        }
    }

    /// True when the user has done all it was asked for.
    pub fn exhausted(&self) -> bool {
        self.ios_left == 0
            || self.bytes_left == 0
            || (!self.syncs_next() && self.schedule.peek().is_some_and(|due| due >= self.due_end_ns))
    }

    /// Arrivals that were due before `end` and were not taken; they are taken now, so that who shares the
    /// stream does not count them again.
    pub fn unsent(&mut self, end: u64) -> u64 {
        if self.exhausted() { 0 } else { self.schedule.skip(end.min(self.due_end_ns)) }
    }

    /// True when the next I/O is the sync of `fsync_every`: it follows its write at once, without a pause and
    /// without an arrival of its own.
    #[inline]
    pub fn syncs_next(&self) -> bool {
        self.fsync_every > 0 && self.writes_since_fsync >= self.fsync_every
    }

    /// Takes the next I/O (and its arrival, in an open loop).
    #[inline]
    pub fn take(&mut self) -> Next {
        if !self.syncs_next() {
            self.schedule.take(&mut self.rng);
        }
        let class = self.pick();
        let Class { op, size_bytes } = self.classes[class];
        self.ios_left -= 1;
        self.bytes_left = self.bytes_left.saturating_sub(size_bytes);
        let place = if op.has_place() {
            let place = self.offsets.next(size_bytes, &mut self.rng);
            if op == Op::Write {
                self.last_file = place.file;
                self.writes_since_fsync += 1;
            }
            place
        } else {
            Place { file: self.last_file, offset: 0 }
        };
        Next { class, op, size: size_bytes, place }
    }

    #[inline]
    fn pick(&mut self) -> usize {
        if self.syncs_next() {
            self.writes_since_fsync = 0;
            let sync = self.classes.iter().position(|c| c.op == self.fsync_op);
            return sync.expect("fsync_every has its class");
        }
        if self.edges.len() == 1 {
            return self.edges[0].1;
        }
        let u = self.rng.random::<f64>();
        let item = self.edges.partition_point(|(edge, _)| *edge <= u).min(self.edges.len() - 1);
        self.edges[item].1
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
