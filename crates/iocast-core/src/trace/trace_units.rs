//! What is read in one piece: a file by its reader, or the files of all CPUs of a block trace together.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::trace::columns::{Rows, Taker, hand_on};
use crate::trace::format_list::format_of;
use crate::trace::input::{Bytes, Input, STDIN, unreadable};
use crate::trace::line_verdict::{Taken, Verdict};
use crate::trace::pieces::{BLOCK_BYTES, Found, Piece, Pieces};
use crate::trace::reader::{Clock, Head, LineReader, Options, Reading, RecordReader};
use crate::trace::readers::block::blktrace;
use crate::trace::report::FileReport;

/// Files that are read together, in the order of the column `source`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The number of the first file.
    pub first_source: u32,
    /// The files.
    pub paths: Vec<PathBuf>,
}

/// What one unit came to.
pub struct UnitReport {
    /// Of each file.
    pub files: Vec<FileReport>,
    /// What its times count from.
    pub clock: Clock,
}

/// Puts the files of one block trace together; all others stand alone.
pub fn units(paths: &[PathBuf], options: &Options) -> Result<Vec<Unit>> {
    let mut done = vec![false; paths.len()];
    let mut found = Vec::new();
    let mut first_source = 0;
    for (index, path) in paths.iter().enumerate() {
        if std::mem::replace(&mut done[index], true) {
            continue;
        }
        let mut together = vec![path.clone()];
        if blktrace::of_one_cpu(path) && is_block_records(path, options)? {
            for (other, later) in paths.iter().enumerate().skip(index + 1) {
                if !done[other] && blktrace::same_trace(path, later) {
                    done[other] = true;
                    together.push(later.clone());
                }
            }
        }
        let next = first_source + together.len() as u32;
        found.push(Unit { first_source, paths: together });
        first_source = next;
    }
    Ok(found)
}

fn is_block_records(path: &Path, options: &Options) -> Result<bool> {
    let input = Input::open(path)?;
    let head = Head { path, bytes: &input.head, whole: input.whole };
    Ok(format_of(options, &head)?.name == blktrace::FORMAT.name)
}

/// Bytes of all files as they lie there; None where that is not known (stdin, a pipe).
pub fn bytes_of(units: &[Unit]) -> Option<u64> {
    let of =
        |path: &PathBuf| std::fs::metadata(path).ok().filter(|meta| meta.is_file()).map(|meta| meta.len());
    units.iter().flat_map(|unit| &unit.paths).map(of).sum()
}

/// A unit that was opened.
pub enum Begun {
    /// It is a file of lines, and none of them was read yet.
    Lines(Box<LineFile>),
    /// It was read.
    Read(UnitReport),
}

/// Opens one unit. What is no file of lines is read; batches of rows go to `taker` as they come.
pub fn begin_unit(unit: &Unit, options: &Options, rows: &mut Rows, taker: &mut Taker<'_>) -> Result<Begun> {
    (rows.source, rows.events) = (unit.first_source, 0);
    let first = &unit.paths[0];
    let input = Input::open(first)?;
    let head = Head { path: first, bytes: &input.head, whole: input.whole };
    let format = format_of(options, &head)?;
    let mut files: Vec<_> = unit.paths.iter().map(|path| begun(path, format.name)).collect();
    let clock = match (format.open)(options, &head)? {
        Reading::Lines(reader) => {
            let so_far = SoFar { reader, report: files.remove(0), is_ended: true };
            let pieces = Pieces::new(input.into_bytes());
            return Ok(Begun::Lines(Box::new(LineFile { pieces, so_far })));
        }
        Reading::Records(reader) => records_of(input, reader, rows, &mut files[0], taker)?,
        Reading::BlockRecords => {
            let mut inputs = vec![input.into_bytes()];
            for later in &unit.paths[1..] {
                inputs.push(Input::open(later)?.into_bytes());
            }
            blktrace::read_together(inputs, rows, &mut files, taker)?
        }
    };
    Ok(Begun::Read(UnitReport { files, clock }))
}

/// Reads one unit; batches of rows go to `taker` as they come.
pub fn read_unit(
    unit: &Unit,
    options: &Options,
    rows: &mut Rows,
    taker: &mut Taker<'_>,
) -> Result<UnitReport> {
    match begin_unit(unit, options, rows, taker)? {
        Begun::Lines(file) => file.read_all(rows, taker),
        Begun::Read(report) => Ok(report),
    }
}

fn begun(path: &Path, format: &str) -> FileReport {
    let path = if path.as_os_str() == STDIN { "stdin".to_string() } else { path.display().to_string() };
    FileReport { path, format: format.to_string(), ..FileReport::default() }
}

fn judged(report: &mut FileReport, number: u64, verdict: Verdict) {
    match verdict {
        Ok(Taken::Accepted) => report.accepted += 1,
        Ok(Taken::Ignored(rule)) => report.ignore(rule),
        Err(broken) => report.reject(number, broken.column as u64, broken.rule),
    }
}

/// A file of lines that is being read.
pub struct LineFile {
    /// What was not read yet.
    pub pieces: Pieces<Bytes>,
    /// What was.
    pub so_far: SoFar,
}

/// What the lines of a file came to so far.
pub struct SoFar {
    /// Has read them.
    pub reader: Box<dyn LineReader>,
    /// What became of them.
    pub report: FileReport,
    /// Whether the last of them has an end.
    pub is_ended: bool,
}

impl LineFile {
    /// Reads about so many bytes more; false at the end.
    pub fn read_some(
        &mut self,
        bytes: usize,
        piece: &mut Piece,
        rows: &mut Rows,
        taker: &mut Taker<'_>,
    ) -> Result<bool> {
        let SoFar { reader, report, is_ended } = &mut self.so_far;
        if !self.pieces.next(bytes, piece).map_err(|error| unreadable(&report.path, error))? {
            return Ok(false);
        }
        piece.lines_before = report.lines;
        read_piece(piece, reader.as_mut(), rows, report, taker)?;
        *is_ended = piece.is_ended();
        Ok(true)
    }

    /// Reads all that is left.
    pub fn read_all(mut self, rows: &mut Rows, taker: &mut Taker<'_>) -> Result<UnitReport> {
        let mut piece = Piece::default();
        while self.read_some(BLOCK_BYTES, &mut piece, rows, taker)? {}
        Ok(self.end(rows))
    }

    /// After the last line.
    pub fn end(self, rows: &mut Rows) -> UnitReport {
        let SoFar { mut reader, mut report, is_ended } = self.so_far;
        if !is_ended {
            report.notes.push(format!("line {} has no end: it may be cut", report.lines));
        }
        after_last(&mut report, self.pieces.source());
        reader.end(rows, &mut report);
        report.events = rows.events;
        UnitReport { files: vec![report], clock: reader.clock() }
    }
}

/// What the input of a file knows when it was read.
fn after_last(report: &mut FileReport, bytes: &Bytes) {
    report.notes.extend(bytes.note());
    report.bytes = bytes.bytes;
    debug_assert_eq!(report.accounted(), report.lines);
}

/// Reads the lines of a piece; `report` has as many of them, and `rows` as many events, as it makes more.
pub fn read_piece(
    piece: &Piece,
    reader: &mut dyn LineReader,
    rows: &mut Rows,
    report: &mut FileReport,
    taker: &mut Taker<'_>,
) -> Result<()> {
    piece.each_line(|found, number| {
        report.lines += 1;
        match found {
            Found::Line(line) => judged(report, number, reader.line(line, number, rows)),
            Found::TooLong => report.reject(number, 1, "longer than 1 MiB"),
        }
        if rows.full() { hand_on(rows, taker) } else { Ok(()) }
    })?;
    report.events = rows.events;
    Ok(())
}

fn records_of(
    input: Input,
    mut reader: Box<dyn RecordReader>,
    rows: &mut Rows,
    report: &mut FileReport,
    taker: &mut Taker<'_>,
) -> Result<Clock> {
    let mut bytes = input.into_bytes();
    let length = reader.length();
    let mut room = vec![0; length << 12];
    let mut filled = 0;
    loop {
        match bytes.read(&mut room[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(unreadable(&report.path, error)),
        }
        let whole = filled - filled % length;
        for record in room[..whole].chunks_exact(length) {
            report.lines += 1;
            let verdict = reader.record(record, report.lines, rows);
            let before = (report.lines - 1) * length as u64;
            let in_file = |mut broken: crate::trace::line_verdict::Broken| {
                broken.column += before as usize;
                broken
            };
            judged(report, report.lines, verdict.map_err(in_file));
            if rows.full() {
                hand_on(rows, taker)?;
            }
        }
        room.copy_within(whole..filled, 0);
        filled -= whole;
    }
    if filled > 0 {
        report.lines += 1;
        report.reject(report.lines, bytes.bytes - filled as u64 + 1, "the last record is cut");
    }
    after_last(report, &bytes);
    report.events = rows.events;
    Ok(reader.clock())
}

/// The error of an unknown fault of our own tables.
pub fn fault(error: &dyn std::fmt::Display) -> Error {
    Error::Trace { why: error.to_string(), hint: "this is a fault of iocast" }
}
