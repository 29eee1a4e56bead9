//! The series of a phase while it runs: closed intervals lie with the tallies, and what grows too large there is
//! merged over all users and spooled to disk, so that long runs and many users need bounded memory.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

use super::interval_row::IntervalRow;
use super::spool::{Spool, Spooled};
use crate::plan::Op;

/// Rows of a phase that lie with its tallies are left there up to this size: most phases are never merged while
/// they are measured.
const LEFT_BYTES: usize = 32 << 20;
/// Merged rows beyond this size go to disk.
const MERGED_BYTES: usize = 32 << 20;

/// Where a tally leaves the intervals that it has closed.
#[derive(Default)]
pub struct Outlet {
    closed: Mutex<Closed>,
    bytes: AtomicUsize,
}

#[derive(Default)]
struct Closed {
    rows: Vec<IntervalRow>,
    /// All intervals before this one are closed.
    before: u32,
}

impl Outlet {
    /// Leaves the rows of one interval; all before `before` are closed now.
    pub fn leave(&self, rows: impl Iterator<Item = IntervalRow>, before: u32) {
        let mut closed = self.closed.lock().expect("nobody panics with it");
        let known = closed.rows.len();
        closed.rows.extend(rows);
        let bytes = closed.rows[known..].iter().map(IntervalRow::memory_bytes).sum();
        self.bytes.fetch_add(bytes, Relaxed);
        closed.before = before;
    }

    /// The rows that nobody has taken yet, and the interval before which all are closed.
    pub fn take(&self) -> (Vec<IntervalRow>, u32) {
        let mut closed = self.closed.lock().expect("nobody panics with it");
        self.bytes.store(0, Relaxed);
        (std::mem::take(&mut closed.rows), closed.before)
    }
}

/// The series of a phase: what was merged, and what went to disk.
pub struct IntervalLog {
    outlets: Vec<Arc<Outlet>>,
    merged: BTreeMap<(u32, Op, u64), IntervalRow>,
    spool: Spool,
    left_bytes: usize,
    merged_bytes: usize,
}

impl IntervalLog {
    /// Nothing yet; `spool` is where rows go that are too many for memory.
    pub fn new(spool: Spool) -> IntervalLog {
        IntervalLog {
            outlets: Vec::new(),
            merged: BTreeMap::new(),
            spool,
            left_bytes: LEFT_BYTES,
            merged_bytes: MERGED_BYTES,
        }
    }

    /// Another tally of the phase.
    pub fn add(&mut self, outlet: Arc<Outlet>) {
        self.outlets.push(outlet);
    }

    /// Takes what the tallies left, if that is much, and spools what is whole, if that is much.
    pub fn collect(&mut self) {
        let left: usize = self.outlets.iter().map(|outlet| outlet.bytes.load(Relaxed)).sum();
        if left <= self.left_bytes {
            return;
        }
        let mut whole_before = u32::MAX;
        for outlet in &self.outlets {
            let (rows, before) = outlet.take();
            whole_before = whole_before.min(before);
            rows.into_iter().for_each(|row| add_row(&mut self.merged, row));
        }
        let bytes: usize = self.merged.values().map(IntervalRow::memory_bytes).sum();
        if bytes > self.merged_bytes {
            let later = self.merged.split_off(&(whole_before, Op::FIRST, 0));
            let whole = std::mem::replace(&mut self.merged, later);
            // What cannot be written stays.
            if let Err(rows) = self.spool.append(whole.into_values().collect()) {
                rows.into_iter().for_each(|row| add_row(&mut self.merged, row));
            }
        }
    }

    /// All of it: what went to disk, and the rows after it, together with `rest`.
    pub fn finish(mut self, rest: Vec<IntervalRow>) -> (Option<Spooled>, Vec<IntervalRow>) {
        rest.into_iter().for_each(|row| add_row(&mut self.merged, row));
        (self.spool.finish(), self.merged.into_values().collect())
    }
}

fn add_row(merged: &mut BTreeMap<(u32, Op, u64), IntervalRow>, row: IntervalRow) {
    match merged.entry((row.interval, row.op, row.size_bytes)) {
        std::collections::btree_map::Entry::Vacant(place) => {
            place.insert(row);
        }
        std::collections::btree_map::Entry::Occupied(mut place) => place.get_mut().add(&row),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::histogram::Recorder;

    fn row(interval: u32, op: Op, value_ns: u64) -> IntervalRow {
        let of = |value_ns| {
            let mut live = Recorder::default();
            live.record(value_ns);
            live.drain()
        };
        IntervalRow {
            interval,
            op,
            size_bytes: 512,
            bytes: value_ns,
            errors: 2 * value_ns,
            response: of(value_ns),
            service: of(value_ns + 1),
        }
    }

    fn log(left_bytes: usize, merged_bytes: usize) -> (tempfile::TempDir, IntervalLog) {
        let place = tempfile::tempdir().expect("a directory");
        let spool = Spool::new(Some(place.path().to_owned()), 1_000_000_000);
        (place, IntervalLog { left_bytes, merged_bytes, ..IntervalLog::new(spool) })
    }

    #[test]
    fn rows_of_one_interval_operation_and_size_are_added_in_order() {
        let (_place, log) = log(usize::MAX, usize::MAX);
        let rest = vec![row(1, Op::Read, 7), row(0, Op::Write, 1), row(1, Op::Read, 4), row(0, Op::Read, 2)];
        let (spooled, merged) = log.finish(rest);
        assert!(spooled.is_none());
        let seen: Vec<_> = merged.iter().map(|r| (r.interval, r.op, r.bytes, r.errors)).collect();
        assert_eq!(seen, [(0, Op::Read, 2, 4), (0, Op::Write, 1, 2), (1, Op::Read, 11, 22)]);
        assert_eq!((merged[2].response.total(), merged[2].response.sum_ns), (2, 11));
        assert_eq!((merged[2].service.total(), merged[2].service.sum_ns), (2, 13));
    }

    #[test]
    fn the_intervals_of_many_users_are_one_row() {
        let (_place, mut log) = log(0, usize::MAX);
        let users: Vec<_> = (0..256).map(|_| Arc::new(Outlet::default())).collect();
        users.iter().for_each(|user| log.add(Arc::clone(user)));
        for interval in 0..10 {
            for user in &users {
                user.leave([row(interval, Op::Read, 1000)].into_iter(), interval + 1);
            }
            log.collect();
            assert_eq!(log.merged.len(), interval as usize + 1);
        }
        let (_, rows) = log.finish(Vec::new());
        assert!(rows.iter().all(|row| row.service.total() == 256));
    }

    #[test]
    fn what_is_too_much_goes_to_disk_and_comes_back_in_order() {
        let (_place, mut log) = log(0, 0);
        let (quick, slow) = (Arc::new(Outlet::default()), Arc::new(Outlet::default()));
        log.add(Arc::clone(&quick));
        log.add(Arc::clone(&slow));
        for interval in 0..20 {
            quick.leave([row(interval, Op::Read, 1), row(interval, Op::Write, 1)].into_iter(), interval + 1);
            if interval % 5 == 4 {
                // It closes what was begun long ago.
                slow.leave([row(interval - 4, Op::Read, 1)].into_iter(), interval + 1);
            }
            log.collect();
        }
        quick.leave([row(20, Op::Read, 1)].into_iter(), u32::MAX);
        let rest = quick.take().0;
        let (spooled, rows) = log.finish(rest);
        let spooled = spooled.expect("something went to disk");
        let batches: Vec<_> = spooled.read().expect("it is there").map(|b| b.expect("a batch")).collect();
        let on_disk: usize = batches.iter().map(|batch| batch.num_rows()).sum();
        assert_eq!((on_disk, spooled.rows()), (40, 40));
        assert_eq!(rows.iter().map(|r| r.interval).collect::<Vec<_>>(), [20]);
        let ios = |batch: &arrow_array::RecordBatch| -> u64 {
            let column = batch.column_by_name("ios").expect("a column").clone();
            let numbers = column.as_any().downcast_ref::<arrow_array::UInt64Array>().expect("numbers");
            numbers.values().iter().sum()
        };
        assert_eq!(batches.iter().map(ios).sum::<u64>(), 44, "each of both users");
    }

    #[test]
    fn without_a_place_on_disk_all_stays_in_memory() {
        let mut log = IntervalLog { left_bytes: 0, merged_bytes: 0, ..IntervalLog::new(Spool::new(None, 1)) };
        let user = Arc::new(Outlet::default());
        log.add(Arc::clone(&user));
        for interval in 0..5 {
            user.leave([row(interval, Op::Read, 1)].into_iter(), interval + 1);
            log.collect();
        }
        let (spooled, rows) = log.finish(Vec::new());
        assert!(spooled.is_none());
        assert_eq!(rows.len(), 5);
    }
}
