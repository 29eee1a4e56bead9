//! A drawn workload: which operation of the mix comes next, by weight, and where it goes, by locality.

use rand::RngExt;
use rand::rngs::SmallRng;

use super::next_io::NextIo;
use super::offsets::Offsets;
use super::span::Place;
use crate::plan::{Class, Op, PhasePlan};

/// See the module.
pub struct Drawn {
    offsets: Offsets,
    classes: Vec<Class>,
    /// Upper edge of each mix item on 0..1, and its class.
    edges: Vec<(f64, usize)>,
    fsync_every: u32,
    fsync_op: Op,
    writes_since_fsync: u32,
    last_file: u32,
}

impl Drawn {
    /// What `user` draws.
    pub fn new(plan: &PhasePlan, user: u32) -> Drawn {
        let classes = plan.classes();
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
        Drawn {
            offsets: Offsets::new(plan, user),
            classes,
            edges,
            fsync_every: plan.fsync_every,
            fsync_op: plan.fsync_op,
            writes_since_fsync: 0,
            last_file: 0,
        }
    }

    /// True when the next I/O is the sync of `fsync_every`.
    #[inline]
    pub fn syncs_next(&self) -> bool {
        self.fsync_every > 0 && self.writes_since_fsync >= self.fsync_every
    }

    /// Draws the next I/O.
    #[inline]
    pub fn take(&mut self, rng: &mut SmallRng) -> NextIo {
        let class = self.pick(rng);
        let Class { op, size_bytes } = self.classes[class];
        let place = if op.has_place() {
            let place = self.offsets.next(size_bytes, rng);
            if op == Op::Write {
                self.last_file = place.file;
                self.writes_since_fsync += 1;
            }
            place
        } else {
            Place { file: self.last_file, offset: 0 }
        };
        NextIo { class, op, row: 0, size: size_bytes, place }
    }

    #[inline]
    fn pick(&mut self, rng: &mut SmallRng) -> usize {
        if self.syncs_next() {
            self.writes_since_fsync = 0;
            let sync = self.classes.iter().position(|c| c.op == self.fsync_op);
            return sync.expect("fsync_every has its class");
        }
        if self.edges.len() == 1 {
            return self.edges[0].1;
        }
        let u = rng.random::<f64>();
        let item = self.edges.partition_point(|(edge, _)| *edge <= u).min(self.edges.len() - 1);
        self.edges[item].1
    }
}
