//! The `tree_calls` engine: operations on the names of a tree by one system call each, done when it returns.
//!
//! It has one slot, as `sync` has: a user of depth d is d threads.

use super::setup::{Choice, Setup};
use super::tree_operation::{Operator, Prepared};
use super::{Clock, Completion, Engine, Request};
use crate::error::{Error, Result};
use crate::record::result::EngineReport;

/// See the module.
pub struct TreeCalls {
    clock: Clock,
    operator: Operator,
    pushed: Option<(Request, Prepared)>,
    ended: Option<Completion>,
    choice: Choice,
}

impl TreeCalls {
    /// One slot.
    pub fn new(setup: &Setup) -> Result<TreeCalls> {
        let tree = setup.tree.as_ref().ok_or_else(|| Error::Plan("tree: it is missing".into()))?;
        Ok(TreeCalls {
            clock: Clock::start(),
            operator: Operator::new(setup.plan(), tree, 1)?,
            pushed: None,
            ended: None,
            choice: setup.choice.clone(),
        })
    }
}

impl Engine for TreeCalls {
    fn start(&mut self, clock: Clock) {
        self.clock = clock;
    }

    #[inline(always)]
    fn now(&self) -> u64 {
        self.clock.now()
    }

    #[inline]
    fn push(&mut self, request: Request) {
        // The rest of a short read or write goes to the file that is open for it; all else is prepared anew.
        let prepared = self.operator.prepare(&request);
        self.pushed = Some((request, prepared));
    }

    #[inline]
    fn submit(&mut self, _wait: u32, until: Option<u64>) -> Result<()> {
        match (self.pushed.take(), until) {
            (Some((request, prepared)), _) => {
                let result = self.operator.perform(&request, &prepared);
                self.ended = Some(Completion { slot: request.slot, result });
            }
            (None, Some(until)) => self.clock.sleep_until(until),
            (None, None) => {}
        }
        Ok(())
    }

    #[inline]
    fn reap(&mut self, out: &mut Vec<Completion>) {
        out.extend(self.ended.take());
    }

    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.operator.buffer(slot, len)
    }

    fn abandon(&mut self) {
        self.operator.abandon();
    }

    fn report(&self) -> EngineReport {
        EngineReport {
            name: "tree_calls".into(),
            flags: self.choice.flags.clone(),
            buffers: self.operator.buffers(),
            notes: self.choice.notes.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::sync::Arc;

    use super::*;
    use crate::engine::sim::world::SimWorld;
    use crate::plan::Op;
    use crate::testing::plan;
    use crate::tree::make::make_directories;
    use crate::tree::shape::Spot;
    use crate::tree::work::TreeWork;

    #[test]
    fn an_operation_ends_with_its_submission_and_says_what_the_kernel_said() {
        use std::os::fd::AsRawFd;
        let place = tempfile::tempdir().unwrap();
        std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o1700)).unwrap();
        let open = std::fs::File::open(place.path()).unwrap();
        let files = serde_json::json!([{"path": place.path(), "start_bytes": 0, "size_bytes": 1u64 << 40}]);
        let tree = serde_json::json!({"depth": 1, "width": 1, "files": 4});
        let mix = serde_json::json!([{"op": "create", "size_bytes": 0}]);
        let plan = plan(serde_json::json!({"files": files, "tree": tree, "mix": mix}));
        make_directories(plan.tree.as_ref().unwrap(), open.as_raw_fd(), || true).unwrap();
        let work = Arc::new(TreeWork::of(&plan, false).unwrap().unwrap());
        let (choice, world) = (Choice::of("tree_calls", &plan), SimWorld::default());
        let setup = Setup { plans: vec![Arc::new(plan)], choice, world, tree: Some(Arc::clone(&work)) };
        let mut engine = TreeCalls::new(&setup).unwrap();
        let mut did = |op: Op, number: u64| {
            let offset = work.shape.place(Spot { number, ..Spot::default() });
            engine.push(Request { slot: 0, op, file: 0, offset, len: 0, done: 0, durable: false });
            engine.submit(1, None).unwrap();
            let mut ended = Vec::new();
            engine.reap(&mut ended);
            ended[0].result
        };
        assert_eq!((did(Op::Create, 3), did(Op::Create, 3)), (0, -i64::from(libc::EEXIST)));
        assert!(place.path().join("d0/f3").exists());
        assert_eq!((did(Op::Stat, 3), did(Op::Stat, 2)), (0, -i64::from(libc::ENOENT)));
        assert_eq!((did(Op::Unlink, 3), did(Op::Close, 3)), (0, -i64::from(libc::ENOENT)));
    }
}
