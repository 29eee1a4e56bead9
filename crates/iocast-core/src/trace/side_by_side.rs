//! Units of a trace read by several threads, each of which makes row groups of its own; a large file is split.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use arrow_array::RecordBatch;

use crate::error::{Error, Result};
use crate::host::threads;
use crate::trace::call_rows::CallRows;
use crate::trace::columns::{Rows, Table, hand_on};
use crate::trace::names::Names;
use crate::trace::pieces::{BLOCK_BYTES, Piece};
use crate::trace::reader::Options;
use crate::trace::report::FileReport;
use crate::trace::split_file::{ReadPiece, SplitFile, Turn};
use crate::trace::table_file::{Group, GroupMaker, Groups};
use crate::trace::trace_units::{Begun, LineFile, Unit, UnitReport, begin_unit, bytes_of, fault, read_piece};

/// Row groups that wait to be written: a thread that is far ahead waits.
const GROUPS_WAITING: usize = 2;

/// How the work is shared.
#[derive(Clone, Copy, Debug)]
pub struct Sharing {
    /// Threads that read.
    pub threads: usize,
    /// A file of more than two such pieces is split into them, if the lines of its format stand for themselves.
    pub piece_bytes: usize,
}

/// The tables that are made.
pub struct Tables {
    /// All I/Os.
    pub events: Groups,
    /// The calls of databases, where they are wanted.
    pub calls: Option<Groups>,
}

/// What all units came to.
pub struct Outcome {
    /// In the order of the units.
    pub units: Vec<UnitReport>,
    /// Names behind the column `target`.
    pub targets: Vec<String>,
    /// Names behind the column `actor`.
    pub actors: Vec<String>,
    /// Rows of the table of calls.
    pub calls: Option<u64>,
    /// Texts of statements.
    pub texts: BTreeMap<String, String>,
}

struct Shared<'a> {
    units: &'a [Unit],
    options: &'a Options,
    tables: &'a Tables,
    sharing: Sharing,
    board: Mutex<Board>,
    changed: Condvar,
    stopped: AtomicBool,
    targets: Arc<Mutex<Names>>,
    actors: Arc<Mutex<Names>>,
}

/// What there is to do.
#[derive(Default)]
struct Board {
    /// The next unit.
    next: usize,
    /// Threads at a unit that may yet be split.
    at_units: usize,
    /// Files that all may help to read.
    split: Vec<Arc<SplitFile>>,
}

enum Job<'a> {
    Unit(usize, AtUnit<'a>),
    Help(Arc<SplitFile>),
}

/// A thread is at a unit; dropped at its end, even a bad one.
struct AtUnit<'a>(&'a Shared<'a>);

impl Drop for AtUnit<'_> {
    fn drop(&mut self) {
        held(&self.0.board).at_units -= 1;
        self.0.changed.notify_all();
    }
}

impl<'a> Shared<'a> {
    /// What a thread does next; waits while a file may yet be split. None at the end.
    fn next_job(&'a self) -> Option<Job<'a>> {
        let mut board = held(&self.board);
        loop {
            if self.stopped.load(Ordering::Relaxed) {
                return None;
            }
            if board.next < self.units.len() {
                board.next += 1;
                board.at_units += 1;
                return Some(Job::Unit(board.next - 1, AtUnit(self)));
            }
            if let Some(file) = board.split.iter().find(|file| !file.is_handed_out()) {
                return Some(Job::Help(Arc::clone(file)));
            }
            if board.at_units == 0 {
                return None;
            }
            board = self.changed.wait(board).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether more than one thread could read a unit, by its size.
    fn worth_splitting(&self, unit: &Unit) -> bool {
        let Sharing { threads, piece_bytes } = self.sharing;
        let bytes = bytes_of(std::slice::from_ref(unit));
        threads > 1 && bytes.is_some_and(|bytes| bytes > 2 * piece_bytes as u64)
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Default)]
struct Done {
    units: Vec<(usize, UnitReport)>,
    calls: u64,
    texts: BTreeMap<String, String>,
    failed: Option<(usize, Error)>,
}

/// Reads all units; row groups are handed to `append` on this thread, those of one file in its order.
pub fn read_side_by_side(
    units: &[Unit],
    options: &Options,
    tables: &Tables,
    sharing: Sharing,
    append: &mut Append<'_>,
) -> Result<Outcome> {
    let shared = Shared {
        units,
        options,
        tables,
        sharing,
        board: Mutex::default(),
        changed: Condvar::new(),
        stopped: AtomicBool::new(false),
        targets: Arc::default(),
        actors: Arc::default(),
    };
    let done = if sharing.threads < 2 { vec![work(&shared, append)] } else { spread(&shared, append)? };
    let mut outcome = Outcome {
        units: Vec::new(),
        targets: all(&shared.targets),
        actors: all(&shared.actors),
        calls: tables.calls.as_ref().map(|_| 0),
        texts: BTreeMap::new(),
    };
    let mut reports = Vec::new();
    let mut failures = Vec::new();
    for each in done {
        reports.extend(each.units);
        failures.extend(each.failed);
        outcome.calls = outcome.calls.map(|calls| calls + each.calls);
        outcome.texts.extend(each.texts);
    }
    if let Some((_, error)) = failures.into_iter().min_by_key(|(at, _)| *at) {
        return Err(error);
    }
    for file in std::mem::take(&mut held(&shared.board).split) {
        // No thread has it any more.
        reports.extend(Arc::into_inner(file).map(|file| (file.unit, file.finish())));
    }
    reports.sort_by_key(|(at, _)| *at);
    outcome.units = reports.into_iter().map(|(_, report)| report).collect();
    Ok(outcome)
}

fn all(names: &Mutex<Names>) -> Vec<String> {
    names.lock().map(|names| names.all().to_vec()).unwrap_or_default()
}

fn spread(shared: &Shared<'_>, append: &mut Append<'_>) -> Result<Vec<Done>> {
    let (sender, receiver) = sync_channel::<(Table, Group)>(GROUPS_WAITING);
    std::thread::scope(|scope| {
        let hired = threads::hire(scope, shared.sharing.threads, || {
            let sender = sender.clone();
            let send = move |table, group| {
                sender.send((table, group)).map_err(|_| fault(&"the table is not written any more"))
            };
            move || work(shared, &mut { send })
        })?;
        drop(sender);
        let mut written = Ok(());
        for (table, group) in receiver {
            if written.is_ok() {
                written = append(table, group);
            }
            if written.is_err() {
                shared.stopped.store(true, Ordering::Relaxed);
            }
        }
        let ended = hired.into_iter().map(|each| each.join().map_err(|_| fault(&"a reader panicked")));
        let done: Result<Vec<Done>> = ended.collect();
        written.and(done)
    })
}

/// One thread: unit after unit, and what others have split, until there is none or one has failed.
fn work(shared: &Shared<'_>, append: &mut Append<'_>) -> Done {
    let mut rows = Rows::default();
    rows.targets = Names::sharing(&shared.targets);
    rows.actors = Names::sharing(&shared.actors);
    rows.calls = shared.tables.calls.as_ref().map(|_| CallRows::default());
    let makers = Makers {
        events: shared.tables.events.maker(),
        calls: shared.tables.calls.as_ref().map(Groups::maker),
    };
    let mut hand = Hand { shared, rows, makers, piece: Piece::default(), append };
    let mut done = Done::default();
    let mut at = shared.units.len();
    let ended = loop {
        let Some(job) = shared.next_job() else { break hand.flush() };
        let (read, _at_unit) = match job {
            Job::Unit(unit, at_unit) => {
                at = unit;
                (hand.unit(unit), Some(at_unit))
            }
            Job::Help(file) => {
                at = file.unit;
                (hand.help(&file).map(|()| None), None)
            }
        };
        match read {
            Ok(report) => done.units.extend(report.map(|report| (at, report))),
            Err(error) => {
                shared.stopped.store(true, Ordering::Relaxed);
                break Err(error);
            }
        }
    };
    if let Err(error) = ended {
        shared.stopped.store(true, Ordering::Relaxed);
        done.failed = Some((at, error));
    }
    if let Some(calls) = hand.rows.calls {
        (done.calls, done.texts) = (calls.calls, calls.texts);
    }
    done
}

/// Where complete row groups go.
type Append<'a> = dyn FnMut(Table, Group) -> Result<()> + 'a;

/// What a thread works with.
struct Hand<'a, 'b> {
    shared: &'a Shared<'a>,
    rows: Rows,
    makers: Makers,
    piece: Piece,
    append: &'a mut Append<'b>,
}

impl Hand<'_, '_> {
    /// A whole unit, or its beginning where others can help with the rest: that has its report later.
    fn unit(&mut self, at: usize) -> Result<Option<UnitReport>> {
        let (shared, unit) = (self.shared, &self.shared.units[at]);
        let splits = shared.worth_splitting(unit);
        if splits {
            // The rows of earlier units do not get between those of this one.
            self.flush()?;
        }
        let Hand { rows, makers, append, piece, .. } = self;
        let mut taker = |table, batch: &RecordBatch| makers.write(table, batch, append);
        let mut file = match begin_unit(unit, shared.options, rows, &mut taker)? {
            Begun::Lines(file) => *file,
            Begun::Read(report) => return Ok(Some(report)),
        };
        if splits {
            file.read_some(BLOCK_BYTES.min(shared.sharing.piece_bytes), piece, rows, &mut taker)?;
            if !file.pieces.at_end() && file.so_far.reader.part().is_some() {
                return self.split(at, file).map(|()| None);
            }
        }
        file.read_all(rows, &mut taker).map(Some)
    }

    fn split(&mut self, at: usize, file: LineFile) -> Result<()> {
        let (shared, Sharing { threads, piece_bytes }) = (self.shared, self.shared.sharing);
        let source = shared.units[at].first_source;
        let file = Arc::new(SplitFile::new(at, source, file, piece_bytes, threads));
        // The first lines and the first piece are this thread's, and go together.
        let first = file.take(&mut self.piece)?;
        held(&shared.board).split.push(Arc::clone(&file));
        shared.changed.notify_all();
        if let Some(turn) = first {
            self.piece_of(&file, turn)?;
        }
        self.help(&file)
    }

    fn help(&mut self, file: &SplitFile) -> Result<()> {
        self.flush()?;
        while let Some(turn) = file.take(&mut self.piece)? {
            self.piece_of(file, turn)?;
        }
        Ok(())
    }

    fn piece_of(&mut self, file: &SplitFile, turn: Turn<'_>) -> Result<()> {
        let Hand { rows, makers, append, piece, .. } = self;
        let mut reader = file.reader().ok_or_else(|| fault(&"a file that is split cannot be split"))?;
        let (mut report, mut groups) = (FileReport::default(), Vec::new());
        let mut collect = |table, group| {
            groups.push((table, group));
            Ok(())
        };
        (rows.source, rows.events) = (file.source, 0);
        let mut taker = |table, batch: &RecordBatch| makers.write(table, batch, &mut collect);
        read_piece(piece, reader.as_mut(), rows, &mut report, &mut taker)?;
        hand_on(rows, &mut taker)?;
        makers.finish(&mut collect)?;
        let (learned, is_ended) = (reader.learned(), piece.is_ended());
        file.deliver(turn, ReadPiece { report, learned, is_ended, groups }, append)
    }

    /// Ends the row groups that are not full.
    fn flush(&mut self) -> Result<()> {
        let Hand { rows, makers, append, .. } = self;
        hand_on(rows, &mut |table, batch| makers.write(table, batch, append))?;
        makers.finish(append)
    }
}

struct Makers {
    events: GroupMaker,
    calls: Option<GroupMaker>,
}

impl Makers {
    fn write(&mut self, table: Table, batch: &RecordBatch, append: &mut Append<'_>) -> Result<()> {
        let maker = match table {
            Table::Events => Some(&mut self.events),
            Table::Calls => self.calls.as_mut(),
        };
        let Some(maker) = maker else { return Ok(()) };
        match maker.write(batch).map_err(|error| fault(&error))? {
            Some(group) => append(table, group),
            None => Ok(()),
        }
    }

    fn finish(&mut self, append: &mut Append<'_>) -> Result<()> {
        if let Some(group) = self.events.finish().map_err(|error| fault(&error))? {
            append(Table::Events, group)?;
        }
        if let Some(calls) = &mut self.calls
            && let Some(group) = calls.finish().map_err(|error| fault(&error))?
        {
            append(Table::Calls, group)?;
        }
        Ok(())
    }
}
