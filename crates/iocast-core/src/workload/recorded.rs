//! A recorded workload: the next row of a trace that is due, and who waits for the end of which.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::next_io::NextIo;
use super::span::Place;
use crate::plan::{Class, PhasePlan};
use crate::replay::dependencies::NONE;
use crate::replay::replay_schedule::UserRows;

/// See the module.
pub struct Recorded {
    rows: Arc<UserRows>,
    classes: Vec<Class>,
    /// The next row, where they are taken in order.
    next: usize,
    /// Rows that may be issued, by time, where they wait for others.
    ready: BinaryHeap<Reverse<(u64, u32)>>,
    depends: bool,
    left: u64,
    outstanding: u64,
}

impl Recorded {
    /// The rows of one user.
    pub fn new(plan: &PhasePlan, rows: &Arc<UserRows>) -> Recorded {
        let free = rows.after.iter().zip(&rows.rows).enumerate().filter(|(_, (after, _))| **after == NONE);
        Recorded {
            classes: plan.classes(),
            next: 0,
            ready: free.map(|(index, (_, row))| Reverse((row.due_ns, index as u32))).collect(),
            depends: plan.replay.as_ref().is_some_and(|replay| replay.depends()),
            left: rows.rows.len() as u64,
            outstanding: 0,
            rows: Arc::clone(rows),
        }
    }

    /// How many rows have not been taken.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// When the next row is due; `u64::MAX` where none is, or all wait for others.
    #[inline]
    pub fn next_due(&self) -> u64 {
        if self.depends {
            return self.ready.peek().map_or(u64::MAX, |Reverse((due, _))| *due);
        }
        self.rows.rows.get(self.next).map_or(u64::MAX, |row| row.due_ns)
    }

    /// True while rows wait for I/Os that have not ended.
    pub fn waits(&self) -> bool {
        self.depends && self.left > 0 && self.outstanding > 0
    }

    /// Takes the next row.
    #[inline]
    pub fn take(&mut self) -> NextIo {
        let index = if self.depends {
            self.ready.pop().map_or(self.rows.rows.len(), |Reverse((_, index))| index as usize)
        } else {
            self.next
        };
        self.next = index + 1;
        self.left -= 1;
        self.outstanding += 1;
        let row = self.rows.rows[index];
        let class = usize::from(row.class);
        NextIo {
            class,
            op: self.classes[class].op,
            row: index as u32,
            size: u64::from(row.len),
            place: Place { file: u32::from(row.file), offset: row.offset },
        }
    }

    /// A row has ended: those that waited for it are due after their pauses.
    pub fn ended(&mut self, row: u32, now: u64) {
        self.outstanding = self.outstanding.saturating_sub(1);
        let UserRows { rows, after, first_waiting } = &*self.rows;
        let first = first_waiting.get(row as usize).copied().unwrap_or(NONE) as usize;
        for index in first..after.len() {
            if after[index] != row {
                break;
            }
            self.ready.push(Reverse((now.saturating_add(rows[index].due_ns), index as u32)));
        }
    }

    /// Rows that are due before `end` and were not taken; they are taken now.
    pub fn skip(&mut self, end: u64) -> u64 {
        if self.depends {
            let before = self.ready.len();
            self.ready.retain(|Reverse((due, _))| *due >= end);
            let skipped = (before - self.ready.len()) as u64;
            self.left -= skipped;
            return skipped;
        }
        let rest = &self.rows.rows[self.next.min(self.rows.rows.len())..];
        let skipped = rest.partition_point(|row| row.due_ns < end);
        self.next += skipped;
        self.left -= skipped as u64;
        skipped as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::replay_schedule::Row;
    use crate::testing::plan;

    fn rows(due: &[u64], after: &[u32]) -> Arc<UserRows> {
        let rows =
            due.iter().map(|due_ns| Row { due_ns: *due_ns, offset: 8192, len: 4096, class: 0, file: 0 });
        let mut first_waiting = vec![NONE; after.len()];
        for (index, after) in after.iter().enumerate().rev().filter(|(_, after)| **after != NONE) {
            first_waiting[*after as usize] = index as u32;
        }
        Arc::new(UserRows { rows: rows.collect(), after: after.to_vec(), first_waiting })
    }

    fn replay(mode: &str) -> PhasePlan {
        plan(serde_json::json!({
            "arrival": {"kind": "recorded", "rate_per_s": 10.0, "longest_gap_ns": 5},
            "locality": {"kind": "recorded"},
            "replay": {"events": "none", "mode": mode, "speed": 1.0, "remap": "refuse", "block_bytes": 512,
                "reads_only": false, "targets": []}}))
    }

    #[test]
    fn rows_are_due_at_their_times() {
        let mut recorded = Recorded::new(&replay("timed"), &rows(&[0, 7, 7, 30], &[]));
        let mut seen = Vec::new();
        while recorded.left() > 1 {
            seen.push((recorded.next_due(), recorded.take().place.offset));
        }
        assert_eq!(seen, [(0, 8192), (7, 8192), (7, 8192)]);
        assert_eq!((recorded.skip(30), recorded.skip(31), recorded.next_due()), (0, 1, u64::MAX));
    }

    #[test]
    fn a_row_waits_for_the_end_of_another_and_then_for_its_pause() {
        let mut recorded = Recorded::new(&replay("dependent"), &rows(&[0, 50, 60, 5], &[NONE, 0, 0, 1]));
        assert_eq!((recorded.take().row, recorded.next_due(), recorded.waits()), (0, u64::MAX, true));
        recorded.ended(0, 1000);
        assert_eq!((recorded.next_due(), recorded.take().row), (1050, 1));
        recorded.ended(1, 1051);
        assert_eq!(
            (recorded.next_due(), recorded.take().row),
            (1056, 3),
            "before the row that was ready later"
        );
        assert_eq!((recorded.next_due(), recorded.take().row, recorded.left()), (1060, 2, 0));
        assert!(!recorded.waits());
    }
}
