//! Units of a trace read by several threads, each of which makes row groups of its own.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::thread;

use arrow_array::RecordBatch;

use crate::error::{Error, Result};
use crate::trace::call_rows::CallRows;
use crate::trace::columns::{Rows, Table, hand_on};
use crate::trace::names::Names;
use crate::trace::reader::Options;
use crate::trace::table_file::{Group, GroupMaker, Groups};
use crate::trace::trace_units::{Unit, UnitReport, fault, read_unit};

/// Row groups that wait to be written: a thread that is far ahead waits.
const GROUPS_WAITING: usize = 2;

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
    next: AtomicUsize,
    stopped: AtomicBool,
    targets: Arc<Mutex<Names>>,
    actors: Arc<Mutex<Names>>,
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
    threads: usize,
    append: &mut dyn FnMut(Table, Group) -> Result<()>,
) -> Result<Outcome> {
    let shared = Shared {
        units,
        options,
        tables,
        next: AtomicUsize::new(0),
        stopped: AtomicBool::new(false),
        targets: Arc::default(),
        actors: Arc::default(),
    };
    let done = if threads < 2 { vec![work(&shared, append)] } else { spread(&shared, threads, append)? };
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
    reports.sort_by_key(|(at, _)| *at);
    outcome.units = reports.into_iter().map(|(_, report)| report).collect();
    Ok(outcome)
}

fn all(names: &Mutex<Names>) -> Vec<String> {
    names.lock().map(|names| names.all().to_vec()).unwrap_or_default()
}

fn spread(
    shared: &Shared<'_>,
    threads: usize,
    append: &mut dyn FnMut(Table, Group) -> Result<()>,
) -> Result<Vec<Done>> {
    let (sender, receiver) = sync_channel::<(Table, Group)>(GROUPS_WAITING);
    thread::scope(|scope| {
        let mut hired = Vec::new();
        for _ in 0..threads {
            let sender = sender.clone();
            let send = move |table, group| {
                sender.send((table, group)).map_err(|_| fault(&"the table is not written any more"))
            };
            let at_work = move || work(shared, &mut { send });
            hired.push(thread::Builder::new().spawn_scoped(scope, at_work).map_err(Error::Thread)?);
        }
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

/// One thread: unit after unit, until there is none or one has failed.
fn work(shared: &Shared<'_>, append: &mut dyn FnMut(Table, Group) -> Result<()>) -> Done {
    let mut rows = Rows::default();
    rows.targets = Names::sharing(&shared.targets);
    rows.actors = Names::sharing(&shared.actors);
    rows.calls = shared.tables.calls.as_ref().map(|_| CallRows::default());
    let mut makers = Makers {
        events: shared.tables.events.maker(),
        calls: shared.tables.calls.as_ref().map(Groups::maker),
    };
    let mut done = Done::default();
    let mut at;
    let ended = loop {
        if shared.stopped.load(Ordering::Relaxed) {
            return done;
        }
        at = shared.next.fetch_add(1, Ordering::Relaxed);
        let Some(unit) = shared.units.get(at) else { break Ok(()) };
        let mut taker = |table, batch: &RecordBatch| makers.write(table, batch, append);
        match read_unit(unit, shared.options, &mut rows, &mut taker) {
            Ok(report) => done.units.push((at, report)),
            Err(error) => break Err(error),
        }
    };
    let ended = ended
        .and_then(|()| hand_on(&mut rows, &mut |table, batch| makers.write(table, batch, append)))
        .and_then(|()| makers.finish(append));
    if let Err(error) = ended {
        shared.stopped.store(true, Ordering::Relaxed);
        done.failed = Some((at, error));
    }
    if let Some(calls) = rows.calls {
        (done.calls, done.texts) = (calls.calls, calls.texts);
    }
    done
}

struct Makers {
    events: GroupMaker,
    calls: Option<GroupMaker>,
}

impl Makers {
    fn write(
        &mut self,
        table: Table,
        batch: &RecordBatch,
        append: &mut dyn FnMut(Table, Group) -> Result<()>,
    ) -> Result<()> {
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

    fn finish(&mut self, append: &mut dyn FnMut(Table, Group) -> Result<()>) -> Result<()> {
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
