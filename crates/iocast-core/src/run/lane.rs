//! `Lane`: one user's stream of I/Os, and which of a worker's slots are its own.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex};

use crate::record::result::UserResult;
use crate::workload::stream::Stream;

/// See the module.
pub struct Lane {
    pub(crate) user: usize,
    pub(crate) stream: Arc<Mutex<Stream>>,
    pub(crate) free: Vec<u32>,
    /// Slots of a closed loop that think, by the time at which they will be due.
    pub(crate) thinking: BinaryHeap<Reverse<(u64, u32)>>,
    /// When a slot last became free while none was: arrivals that wait for a slot are not late before it.
    pub(crate) full_until: u64,
    /// When the first write was due that no sync has followed yet (`u64::MAX`: none).
    pub(crate) commit_from: u64,
    pub(crate) done: UserResult,
}

impl Lane {
    /// A lane of `slots` for user `user`.
    pub fn new(user: usize, stream: Arc<Mutex<Stream>>, slots: std::ops::Range<u32>) -> Lane {
        Lane {
            user,
            stream,
            free: slots.rev().collect(),
            thinking: BinaryHeap::new(),
            full_until: 0,
            commit_from: u64::MAX,
            done: UserResult::default(),
        }
    }

    /// True when the user's next I/O follows the one before at once.
    pub(crate) fn follows_on(&self) -> bool {
        self.stream.lock().expect("no worker panics while it holds a stream").follows_on()
    }

    /// Arrivals that were due before `end` and were not sent.
    pub(crate) fn unsent(&self, end: u64) -> u64 {
        self.stream.lock().expect("no worker panics while it holds a stream").unsent(end)
    }
}
