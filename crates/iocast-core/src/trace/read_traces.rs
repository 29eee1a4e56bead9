//! Traces in, one table of events out: each file by its reader, every line accounted for.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::trace::columns::{Rows, Taker, hand_on};
use crate::trace::event_file::EventFile;
use crate::trace::format_list::format_of;
use crate::trace::input::{Bytes, Found, Input, each_line, unreadable};
use crate::trace::line_verdict::Taken;
use crate::trace::reader::{Clock, Head, LineReader, Options, Reading};
use crate::trace::readers::blktrace;
use crate::trace::report::{FileReport, Report};

/// Reads all files into one Parquet file. Nothing is written where it fails.
pub fn read_to_parquet(paths: &[PathBuf], options: &Options, to: &Path) -> Result<Report> {
    let failed = |why: &dyn std::fmt::Display| Error::Trace {
        why: format!("{}: cannot write the event table: {why}", to.display()),
        hint: "check the folder and the room on its file system",
    };
    let mut file = EventFile::create(to).map_err(|error| failed(&error))?;
    let report = read(paths, options, &mut |batch| file.write(batch).map_err(|error| failed(&error)))?;
    if report.events == 0 {
        return Err(nothing(&report));
    }
    let facts = facts(&report).map_err(|error| failed(&error))?;
    file.finish(facts).map_err(|error| failed(&error))?;
    Ok(report)
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

fn facts(report: &Report) -> serde_json::Result<Vec<(String, String)>> {
    use crate::trace::event::{LAYERS, OPS, flags};
    let mut facts = vec![
        ("schema".to_string(), "1".to_string()),
        (
            "units".into(),
            "ts_ns, lat_ns, queue_ns: ns; offset, size: bytes; ts_ns is the time of issue".into(),
        ),
        ("ops".into(), serde_json::to_string(&OPS)?),
        ("layers".into(), serde_json::to_string(&LAYERS)?),
        ("flags".into(), serde_json::to_string(&flags::NAMES)?),
        ("targets".into(), serde_json::to_string(&report.targets)?),
        ("actors".into(), serde_json::to_string(&report.actors)?),
        ("files".into(), serde_json::to_string(&report.files)?),
    ];
    let known = [
        ("clock", report.clock.clone()),
        ("epoch_ns", report.epoch_ns.map(|ns| ns.to_string())),
        ("tick_ns", report.tick_ns.map(|ns| ns.to_string())),
    ];
    facts.extend(known.into_iter().filter_map(|(key, value)| Some((key.to_string(), value?))));
    Ok(facts)
}

/// Reads all files; batches of events go to `taker` as they come.
pub fn read(paths: &[PathBuf], options: &Options, taker: &mut Taker<'_>) -> Result<Report> {
    let mut rows = Rows::default();
    let mut report = Report::default();
    let mut done = vec![false; paths.len()];
    for (index, path) in paths.iter().enumerate() {
        if std::mem::replace(&mut done[index], true) {
            continue;
        }
        let input = Input::open(path)?;
        let head = Head { path, bytes: &input.head, whole: input.whole };
        let format = format_of(options, &head)?;
        match (format.open)(options, &head)? {
            Reading::Lines(reader) => {
                let mut of_file = begun(path, format.name);
                let clock = lines_of(path, input, reader, &mut rows, &mut of_file, taker)?;
                settle(&mut report, &mut rows, vec![of_file], clock)?;
            }
            Reading::BlockRecords => {
                let mut together = vec![(path.clone(), input)];
                for (other, later) in paths.iter().enumerate().skip(index + 1) {
                    if !done[other] && blktrace::same_trace(path, later) {
                        done[other] = true;
                        together.push((later.clone(), Input::open(later)?));
                    }
                }
                let mut files: Vec<_> = together.iter().map(|(path, _)| begun(path, format.name)).collect();
                let inputs = together.into_iter().map(|(_, input)| input.into_bytes()).collect();
                let clock = blktrace::read_together(inputs, &mut rows, &mut files, taker)?;
                settle(&mut report, &mut rows, files, clock)?;
            }
        }
    }
    hand_on(&mut rows, taker)?;
    report.targets = rows.targets.all().to_vec();
    report.actors = rows.actors.all().to_vec();
    Ok(report)
}

fn begun(path: &Path, format: &str) -> FileReport {
    FileReport { path: path.display().to_string(), format: format.to_string(), ..FileReport::default() }
}

fn settle(report: &mut Report, rows: &mut Rows, files: Vec<FileReport>, clock: Clock) -> Result<()> {
    let path = files.first().map_or("", |file| file.path.as_str());
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
    rows.source += files.len() as u32;
    report.events += files.iter().map(|file| file.events).sum::<u64>();
    report.files.extend(files);
    Ok(())
}

fn lines_of(
    path: &Path,
    input: Input,
    mut reader: Box<dyn LineReader>,
    rows: &mut Rows,
    report: &mut FileReport,
    taker: &mut Taker<'_>,
) -> Result<Clock> {
    rows.events = 0;
    let mut bytes: Bytes = input.into_bytes();
    let each = |found: Found<'_>, number: u64| {
        report.lines = number;
        let verdict = match found {
            Found::Line(line) => reader.line(line, number, rows),
            Found::TooLong => {
                report.reject(number, 1, "longer than 1 MiB");
                return Ok(());
            }
        };
        match verdict {
            Ok(Taken::Accepted) => report.accepted += 1,
            Ok(Taken::Ignored(rule)) => report.ignore(rule),
            Err(broken) => report.reject(number, broken.column as u64, broken.rule),
        }
        if rows.full() { hand_on(rows, taker) } else { Ok(()) }
    };
    let ended = each_line(&mut bytes, each, |error| unreadable(&path.display().to_string(), error))?;
    if !ended && report.lines > 0 {
        report.notes.push(format!("line {} has no end: it may be cut", report.lines));
    }
    report.notes.extend(bytes.note());
    report.bytes = bytes.bytes;
    reader.end(rows, report);
    report.events = rows.events;
    debug_assert_eq!(report.accounted(), report.lines);
    Ok(reader.clock())
}
