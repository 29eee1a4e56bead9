//! One file that several threads read: its pieces are handed out in order, and what they came to is put in order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::error::Result;
use crate::trace::columns::{Rows, Table};
use crate::trace::input::{Bytes, unreadable};
use crate::trace::pieces::{Piece, Pieces};
use crate::trace::reader::{Learned, LineReader};
use crate::trace::report::FileReport;
use crate::trace::table_file::Group;
use crate::trace::trace_units::{LineFile, SoFar, UnitReport};

/// A file whose first lines were read.
pub struct SplitFile {
    /// Its place among the units.
    pub unit: usize,
    /// The number of the file.
    pub source: u32,
    path: String,
    piece_bytes: usize,
    /// Pieces that may be under way, or wait for those before them.
    ahead: u64,
    /// Whether there is nothing left to take.
    handed_out: AtomicBool,
    left: Mutex<Left>,
    written: Mutex<Written>,
    changed: Condvar,
}

struct Left {
    pieces: Pieces<Bytes>,
    lines: u64,
    next: u64,
}

struct Written {
    /// Pieces that threads have asked for.
    asked: u64,
    /// The piece that is written next.
    next: u64,
    /// Those that wait for it.
    waiting: BTreeMap<u64, ReadPiece>,
    so_far: SoFar,
}

/// What one piece came to.
pub struct ReadPiece {
    /// Its lines.
    pub report: FileReport,
    /// What its reader knows now.
    pub learned: Learned,
    /// Whether its last line has an end.
    pub is_ended: bool,
    /// Its rows.
    pub groups: Vec<(Table, Group)>,
}

/// The right to read a piece. Where it is dropped and nothing was delivered, nobody waits for it.
pub struct Turn<'a> {
    file: &'a SplitFile,
    number: u64,
    done: bool,
}

impl SplitFile {
    /// A file of which some lines were read, to be read by so many threads.
    pub fn new(unit: usize, source: u32, file: LineFile, piece_bytes: usize, threads: usize) -> SplitFile {
        let LineFile { pieces, so_far } = file;
        let left = Left { pieces, lines: so_far.report.lines, next: 0 };
        let path = so_far.report.path.clone();
        let written = Written { asked: 0, next: 0, waiting: BTreeMap::new(), so_far };
        SplitFile {
            unit,
            source,
            path,
            piece_bytes,
            ahead: 2 * threads as u64,
            handed_out: AtomicBool::new(false),
            left: Mutex::new(left),
            written: Mutex::new(written),
            changed: Condvar::new(),
        }
    }

    /// Whether there is nothing left to take: all of it was taken, or a piece failed.
    pub fn is_handed_out(&self) -> bool {
        self.handed_out.load(Ordering::Relaxed)
    }

    /// The next piece, once enough of those before it are written; None where there is none left.
    pub fn take(&self, piece: &mut Piece) -> Result<Option<Turn<'_>>> {
        let mut written = held(&self.written);
        while !self.is_handed_out() && written.asked >= written.next + self.ahead {
            written = self.changed.wait(written).unwrap_or_else(PoisonError::into_inner);
        }
        written.asked += 1;
        drop(written);
        let mut left = held(&self.left);
        if self.is_handed_out() {
            return Ok(None);
        }
        let mut turn = Turn { file: self, number: left.next, done: false };
        let found = left.pieces.next(self.piece_bytes, piece);
        if found.map_err(|error| unreadable(&self.path, error))? {
            piece.lines_before = left.lines;
            left.lines += piece.lines();
            left.next += 1;
            return Ok(Some(turn));
        }
        turn.done = true;
        self.end();
        Ok(None)
    }

    fn end(&self) {
        // Under the lock: who has found that there is more to take does not miss it.
        let _written = held(&self.written);
        self.handed_out.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// A reader for one piece.
    pub fn reader(&self) -> Option<Box<dyn LineReader>> {
        held(&self.written).so_far.reader.part()
    }

    /// What a piece came to: it and those that have waited for it go to `append`, in the order of the file.
    pub fn deliver(
        &self,
        mut turn: Turn<'_>,
        read: ReadPiece,
        append: &mut dyn FnMut(Table, Group) -> Result<()>,
    ) -> Result<()> {
        let mut written = held(&self.written);
        let Written { next, waiting, so_far, .. } = &mut *written;
        waiting.insert(turn.number, read);
        while let Some(read) = waiting.remove(next) {
            *next += 1;
            so_far.report.add(read.report);
            so_far.reader.learn(&read.learned);
            so_far.is_ended = read.is_ended;
            read.groups.into_iter().try_for_each(|(table, group)| append(table, group))?;
        }
        turn.done = true;
        self.changed.notify_all();
        drop(written);
        Ok(())
    }

    /// What the whole file came to.
    pub fn finish(self) -> UnitReport {
        let Left { pieces, .. } = self.left.into_inner().unwrap_or_else(PoisonError::into_inner);
        let Written { so_far, .. } = self.written.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut rows = Rows::default();
        rows.events = so_far.report.events;
        LineFile { pieces, so_far }.end(&mut rows)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if !self.done {
            self.file.end();
        }
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
