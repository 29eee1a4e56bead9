//! Traces in, tables out: each file by its reader, every line accounted for, several files side by side.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::trace::call_rows::{CALL_KINDS, CallRows, call_schema};
use crate::trace::columns::{Rows, Table, Taker, hand_on, schema};
use crate::trace::reader::Options;
use crate::trace::report::{FileReport, Report};
use crate::trace::side_by_side::{Outcome, Sharing, Tables, read_side_by_side};
use crate::trace::table_file::TableFile;
use crate::trace::trace_units::{Unit, UnitReport, bytes_of, read_unit, units};

/// Less than this is read by one thread.
const WORTH_THREADS_BYTES: u64 = 4 << 20;
/// What a thread reads of a file that is split: its text, and the row groups that are made of it, are in memory.
const PIECE_BYTES: usize = 8 << 20;

/// Reads all files into Parquet: the events, and the calls of databases where a place for them is given. Nothing is
/// written where it fails.
pub fn read_to_parquet(
    paths: &[PathBuf],
    options: &Options,
    to: &Path,
    calls_to: Option<&Path>,
) -> Result<Report> {
    read_shared(paths, options, to, calls_to, None)
}

/// The same, the work shared in this way; None shares large files among all cores.
pub fn read_shared(
    paths: &[PathBuf],
    options: &Options,
    to: &Path,
    calls_to: Option<&Path>,
    sharing: Option<Sharing>,
) -> Result<Report> {
    let failed = |path: &Path, why: &dyn std::fmt::Display| {
        let why = why.to_string();
        let why = why.trim_start_matches("External: ").split(" (os error ").next().unwrap_or_default();
        Error::Trace {
            why: format!("cannot write {}: {why}", path.display()),
            hint: "free some space, or choose another directory with --out DIR",
        }
    };
    let mut events = TableFile::create(to, schema()).map_err(|error| failed(to, &error))?;
    let mut calls = match calls_to {
        Some(path) => {
            Some((path, TableFile::create(path, call_schema()).map_err(|error| failed(path, &error))?))
        }
        None => None,
    };
    let units = units(paths, options)?;
    let sharing = sharing.unwrap_or_else(|| usual_sharing(&units));
    let tables = Tables { events: events.groups(), calls: calls.as_ref().map(|(_, file)| file.groups()) };
    let mut append = |table: Table, group| match (table, &mut calls) {
        (Table::Events, _) => events.append(group).map_err(|error| failed(to, &error)),
        (Table::Calls, Some((path, file))) => file.append(group).map_err(|error| failed(path, &error)),
        (Table::Calls, None) => Ok(()),
    };
    let outcome = read_side_by_side(&units, options, &tables, sharing, &mut append)?;
    let Outcome { targets, actors, calls: called, texts, .. } = outcome;
    let mut report = Report { targets, actors, calls: called, ..Report::default() };
    for unit in outcome.units {
        settle(&mut report, unit)?;
    }
    if report.events == 0 && report.calls.is_none_or(|calls| calls == 0) {
        return Err(nothing(&report));
    }
    if let Some((path, file)) = calls {
        file.finish(call_facts(&report, &texts)).map_err(|error| failed(path, &error))?;
    }
    events.finish(facts(&report)).map_err(|error| failed(to, &error))?;
    Ok(report)
}

/// A thread for each core, as far as there are files or pieces for them.
fn usual_sharing(units: &[Unit]) -> Sharing {
    let bytes = bytes_of(units).filter(|bytes| *bytes >= WORTH_THREADS_BYTES);
    let pieces = bytes.map_or(1, |bytes| bytes / PIECE_BYTES as u64) as usize;
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if bytes.is_some() { cpus.min(units.len().max(pieces)) } else { 1 };
    Sharing { threads, piece_bytes: PIECE_BYTES }
}

fn nothing(report: &Report) -> Error {
    let of_file = |each: &FileReport| {
        let ignored: u64 = each.ignored.values().sum();
        let rejected: u64 = each.rejected.values().sum();
        let first = each.first_rejects.first().map_or(String::new(), |reject| {
            format!("; first rejected at {}:{}: {}", reject.line, reject.column, reject.rule)
        });
        let notes: String = each.notes.iter().map(|note| format!("; {note}")).collect();
        format!(
            "{}: no I/O in {} lines of {} ({ignored} ignored, {rejected} rejected{first}{notes})",
            each.path, each.lines, each.format
        )
    };
    Error::Trace {
        why: report.files.iter().map(of_file).collect::<Vec<_>>().join("; "),
        hint: "give a trace with I/O in it, or name its format",
    }
}

fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn clock_facts(report: &Report) -> Vec<(String, String)> {
    let known = [
        ("clock", report.clock.clone()),
        ("epoch_ns", report.epoch_ns.map(|ns| ns.to_string())),
        ("tick_ns", report.tick_ns.map(|ns| ns.to_string())),
        ("files", Some(json(&report.files))),
    ];
    known.into_iter().filter_map(|(key, value)| Some((key.to_string(), value?))).collect()
}

/// What the metadata of an event table says.
pub(crate) fn facts(report: &Report) -> Vec<(String, String)> {
    use crate::trace::event::{LAYERS, OPS, flags};
    let units = "ts_ns, lat_ns, queue_ns: ns; offset, size: bytes; ts_ns is the time of issue";
    let mut facts = vec![
        ("schema".to_string(), "1".to_string()),
        ("units".into(), units.into()),
        ("ops".into(), json(&OPS)),
        ("layers".into(), json(&LAYERS)),
        ("flags".into(), json(&flags::NAMES)),
        ("targets".into(), json(&report.targets)),
        ("actors".into(), json(&report.actors)),
    ];
    facts.extend(clock_facts(report));
    facts
}

fn call_facts(report: &Report, texts: &BTreeMap<String, String>) -> Vec<(String, String)> {
    let mut facts = vec![
        ("schema".to_string(), "1".to_string()),
        ("units".into(), "start_ns, elapsed_ns, cpu_ns: ns; start_ns is the beginning".into()),
        ("kinds".into(), json(&CALL_KINDS)),
        ("statements".into(), json(texts)),
    ];
    facts.extend(clock_facts(report));
    facts
}

/// Reads all files one after the other; batches of rows go to `taker` as they come.
pub fn read(paths: &[PathBuf], options: &Options, calls: bool, taker: &mut Taker<'_>) -> Result<Report> {
    let mut rows = Rows::default();
    rows.calls = calls.then(CallRows::default);
    let mut report = Report::default();
    for unit in units(paths, options)? {
        settle(&mut report, read_unit(&unit, options, &mut rows, taker)?)?;
    }
    hand_on(&mut rows, taker)?;
    report.targets = rows.targets.all().to_vec();
    report.actors = rows.actors.all().to_vec();
    report.calls = rows.calls.map(|calls| calls.calls);
    Ok(report)
}

/// Adds what one unit came to; all must count time from the same start.
fn settle(report: &mut Report, unit: UnitReport) -> Result<()> {
    let path = unit.files.first().map_or("", |file| file.path.as_str());
    let clock = unit.clock;
    if let Some(origin) = clock.origin {
        let differs = report.clock.as_deref().is_some_and(|known| known != origin)
            || (report.clock.is_some() && report.epoch_ns != clock.epoch_ns);
        if differs {
            return Err(Error::Trace {
                why: format!("{path}: its times do not count from where those of the files before it do"),
                hint: "read these traces into separate tables",
            });
        }
        report.clock = Some(origin.to_string());
        report.epoch_ns = clock.epoch_ns;
        report.tick_ns = Some(report.tick_ns.unwrap_or(0).max(clock.tick_ns));
    }
    report.events += unit.files.iter().map(|file| file.events).sum::<u64>();
    report.files.extend(unit.files);
    Ok(())
}
