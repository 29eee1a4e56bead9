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
