//! The `tree_calls` engine: operations on the names of a tree by one system call each, done when it returns.
//!
//! It has one slot, as `sync` has: a user of depth d is d threads.

use super::Request;
use super::one_call::{Calls, OneCall};
use super::setup::Setup;
use super::tree_operation::{Operator, Prepared};
use crate::error::{Error, Result};

/// See the module.
pub type TreeCalls = OneCall<NameCalls>;

/// The calls of the `tree_calls` engine.
pub struct NameCalls {
    operator: Operator,
    prepared: Option<Prepared>,
}

impl TreeCalls {
    /// One slot.
    pub fn new(setup: &Setup) -> Result<TreeCalls> {
        let tree = setup.tree.as_ref().ok_or_else(|| Error::Plan("tree: it is missing".into()))?;
        let calls = NameCalls { operator: Operator::new(setup.plan(), tree, 1)?, prepared: None };
        Ok(OneCall::of(calls, &setup.choice))
    }
}

impl Calls for NameCalls {
    const NAME: &'static str = "tree_calls";
    const FLAG: Option<&'static str> = None;

    #[inline]
    fn prepare(&mut self, request: &Request) {
        self.prepared = Some(self.operator.prepare(request));
    }

    #[inline]
    fn make(&mut self, request: &Request, now_ns: u64) -> i64 {
        let prepared = self.prepared.take().expect("each call is prepared");
        self.operator.perform(request, &prepared, now_ns)
    }

    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.operator.buffer(slot, len)
    }

    fn buffers(&self) -> String {
        self.operator.buffers()
    }

    fn abandon(&mut self) {
        self.operator.abandon();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::sync::Arc;

    use super::*;
    use crate::engine::Engine;
    use crate::engine::setup::Choice;
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
