//! `OneCall`: an engine that makes each operation by one system call, which is done when it returns.
//!
//! What the calls are is said by `sync` and `tree_calls`.

use std::cell::Cell;

use super::setup::Choice;
use super::{Clock, Completion, Engine, Request};
use crate::error::Result;
use crate::record::result::EngineReport;

/// The calls of an engine.
pub trait Calls {
    /// Its name in the table.
    const NAME: &'static str;
    /// What is said of it in every report.
    const FLAG: Option<&'static str>;

    /// What must be open before a call is; no part of its time.
    #[inline]
    fn prepare(&mut self, _request: &Request) {}
    /// Makes the call for what was prepared last: what it returned, or -errno. `now_ns` is when the clock was last read.
    fn make(&mut self, request: &Request, now_ns: u64) -> i64;
    /// The buffer of a slot.
    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8];
    /// How buffers are described.
    fn buffers(&self) -> String;
    /// A call has not returned and will not be waited for.
    fn abandon(&mut self);
}

/// See the module.
pub struct OneCall<C> {
    calls: C,
    clock: Clock,
    read_ns: Cell<u64>,
    pushed: Option<Request>,
    ended: Option<Completion>,
    choice: Choice,
}

impl<C: Calls> OneCall<C> {
    /// An engine of one slot.
    pub fn of(calls: C, choice: &Choice) -> OneCall<C> {
        let (clock, read_ns) = (Clock::start(), Cell::new(0));
        OneCall { calls, clock, read_ns, pushed: None, ended: None, choice: choice.clone() }
    }
}

impl<C: Calls> Engine for OneCall<C> {
    fn start(&mut self, clock: Clock) {
        self.clock = clock;
    }

    #[inline(always)]
    fn now(&self) -> u64 {
        let now = self.clock.now();
        self.read_ns.set(now);
        now
    }

    #[inline]
    fn push(&mut self, request: Request) {
        debug_assert!(self.pushed.is_none(), "one slot");
        self.calls.prepare(&request);
        self.pushed = Some(request);
    }

    #[inline]
    fn submit(&mut self, _wait: u32, until: Option<u64>) -> Result<()> {
        match (self.pushed.take(), until) {
            (Some(request), _) => {
                let result = self.calls.make(&request, self.read_ns.get());
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
        self.calls.buffer(slot, len)
    }

    fn abandon(&mut self) {
        self.calls.abandon();
    }

    fn report(&self) -> EngineReport {
        let own = C::FLAG.map(String::from).into_iter();
        EngineReport {
            name: C::NAME.into(),
            flags: own.chain(self.choice.flags.iter().cloned()).collect(),
            buffers: self.calls.buffers(),
            notes: self.choice.notes.clone(),
        }
    }
}
