//! What an I/O of a trace waited for: the last I/O of the same actor that had ended before it was issued.
//!
//! The pause between that end and the issue is the actor's own (it thought, or worked); the time before is the
//! storage's. A faster storage therefore makes the replay shorter, and the pauses stay. I/Os that were issued while others
//! of their actor had not ended do not wait for these. An I/O before which none of its actor had ended is issued at
//! its time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::selection::Io;

/// No I/O.
pub const NONE: u32 = u32::MAX;

/// For each I/O which one it waits for (`NONE`: for none), and the pause after its end, or its time.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// Indices among the same I/Os.
    pub after: Vec<u32>,
    /// ns.
    pub pause_ns: Vec<u64>,
}

/// Of I/Os that stand together by actor, each actor's in order of issue.
pub fn waits(ios: &[Io]) -> Waits {
    let mut found = Waits { after: Vec::with_capacity(ios.len()), pause_ns: Vec::with_capacity(ios.len()) };
    let mut under_way: BinaryHeap<Reverse<(u64, u32)>> = BinaryHeap::new();
    let mut latest: Option<(u64, u32)> = None;
    for (index, io) in ios.iter().enumerate() {
        if index == 0 || ios[index - 1].actor != io.actor {
            under_way.clear();
            latest = None;
        }
        while under_way.peek().is_some_and(|Reverse((end_ns, _))| *end_ns <= io.at_ns) {
            latest = under_way.pop().map(|Reverse(ended)| ended);
        }
        match latest {
            Some((end_ns, which)) => {
                found.after.push(which);
                found.pause_ns.push(io.at_ns - end_ns);
            }
            None => {
                found.after.push(NONE);
                found.pause_ns.push(io.at_ns);
            }
        }
        if let Some(lat_ns) = io.lat_ns {
            under_way.push(Reverse((io.at_ns.saturating_add(lat_ns), index as u32)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Op;

    fn io(at_ns: u64, lat_ns: Option<u64>, actor: u32) -> Io {
        Io { at_ns, lat_ns, op: Op::Read, offset: 0, size: 4096, target: 0, actor, may_be_cached: false }
    }

    #[test]
    fn an_io_waits_for_the_last_one_of_its_actor_that_had_ended() {
        // The second and third are issued after the first; the third while the second is under way.
        let found =
            waits(&[io(0, Some(100), 1), io(150, Some(100), 1), io(160, Some(10), 1), io(300, Some(5), 1)]);
        assert_eq!(found.after, [NONE, 0, 0, 1]);
        assert_eq!(found.pause_ns, [0, 50, 60, 50]);
    }

    #[test]
    fn actors_do_not_wait_for_each_other() {
        let found =
            waits(&[io(0, Some(10), 1), io(50, Some(10), 1), io(20, Some(10), 2), io(40, Some(10), 2)]);
        assert_eq!(found.after, [NONE, 0, NONE, 2]);
        assert_eq!(found.pause_ns, [0, 40, 20, 10]);
    }

    #[test]
    fn what_has_no_end_is_not_waited_for() {
        let found = waits(&[io(0, None, 1), io(50, Some(10), 1), io(60, None, 1)]);
        assert_eq!(found.after, [NONE, NONE, 1]);
        assert_eq!(found.pause_ns, [0, 50, 0]);
    }
}
