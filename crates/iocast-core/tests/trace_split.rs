//! A file that several threads read in pieces, cut at any place, comes to what one thread makes of it: rows, order,
//! line numbers of rejects, and counts.

#[allow(dead_code)] // what its samples say of themselves is for the other tests
mod trace_texts;

use std::fs;
use std::fs::File;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int16Type, Int64Type, UInt8Type, UInt16Type, UInt32Type};
use arrow_array::{Array, RecordBatch};
use iocast_core::trace::read_traces::read_shared;
use iocast_core::trace::reader::Options;
use iocast_core::trace::report::Report;
use iocast_core::trace::side_by_side::Sharing;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use proptest::prelude::*;
use tempfile::TempDir;
use trace_texts::{asking_for_4_gib, samples};

/// What a reading came to: rows with names instead of numbers, the report without them, and the row groups.
#[derive(Debug, PartialEq)]
struct Outcome {
    rows: Vec<Vec<Option<String>>>,
    report: String,
}

fn values<T: ArrowPrimitiveType>(column: &dyn Array, row: usize) -> Option<Option<String>>
where
    T::Native: ToString,
{
    let column = column.as_primitive_opt::<T>()?;
    Some(column.is_valid(row).then(|| column.value(row).to_string()))
}

fn value(column: &dyn Array, row: usize) -> Option<String> {
    values::<Int64Type>(column, row)
        .or_else(|| values::<UInt32Type>(column, row))
        .or_else(|| values::<UInt16Type>(column, row))
        .or_else(|| values::<Int16Type>(column, row))
        .or_else(|| values::<UInt8Type>(column, row))
        .expect("a column of numbers")
}

fn rows(path: &Path, report: &Report) -> (Vec<Vec<Option<String>>>, usize) {
    let file = File::open(path).expect("it was written");
    let table = ParquetRecordBatchReaderBuilder::try_new(file).expect("Parquet");
    let groups = table.metadata().num_row_groups();
    let named = |names: &[String], number: Option<String>| {
        number.map(|number| names[number.parse::<usize>().expect("a number")].clone())
    };
    let row = |batch: &RecordBatch, at: usize| {
        let schema = batch.schema();
        let columns = schema.fields().iter().zip(batch.columns());
        let of = columns.map(|(field, column)| match (field.name().as_str(), value(column, at)) {
            ("target", number) => named(&report.targets, number),
            ("actor", number) => named(&report.actors, number),
            (_, number) => number,
        });
        of.collect::<Vec<_>>()
    };
    let mut all = Vec::new();
    for batch in table.build().expect("Parquet") {
        let batch = batch.expect("Parquet");
        all.extend((0..batch.num_rows()).map(|at| row(&batch, at)));
    }
    (all, groups)
}

/// Reads by so many threads; None where there is no I/O in it. The second is the number of row groups.
fn read_by(folder: &Path, paths: &[&str], options: &Options, sharing: Sharing) -> Option<(Outcome, usize)> {
    let to = folder.join("events.parquet");
    let paths: Vec<_> = paths.iter().map(|name| folder.join(name)).collect();
    let _ = std::fs::remove_file(&to); // of the reading before: what has the name is not written to
    let mut report = read_shared(&paths, options, &to, None, Some(sharing)).ok()?;
    let (rows, groups) = rows(&to, &report);
    // Numbers of names are in the order of their first use, which threads race for.
    report.targets.sort();
    report.actors.sort();
    Some((Outcome { rows, report: serde_json::to_string(&report).expect("a report") }, groups))
}

const ALONE: Sharing = Sharing { threads: 1, piece_bytes: 1 << 20 };

fn line_of(samples: &[u8], which: usize, how: u8, at: usize) -> Vec<u8> {
    let lines: Vec<&[u8]> = samples.split(|byte| *byte == b'\n').collect();
    let mut line = lines[which % lines.len()].to_vec();
    match how % 8 {
        0 if !line.is_empty() => {
            let at = at % line.len();
            line[at] = b'?';
        }
        1 => line.clear(),
        2 => line.push(b'\r'),
        3 => line.extend_from_slice(b",9"),
        _ => {}
    }
    line
}

fn cuts_come_to_the_same(cases: u32) {
    let one_line = (any::<usize>(), any::<u8>(), any::<usize>());
    proptest!(ProptestConfig::with_cases(cases), |(
        which in any::<prop::sample::Index>(),
        lines in prop::collection::vec(one_line, 1..120),
        piece_bytes in 1..400_usize,
        threads in 2..5_usize,
        is_ended in any::<bool>(),
        marked in any::<bool>(),
    )| {
        let folder = TempDir::new().expect("a temporary folder");
        let texts: Vec<_> = samples().into_iter().filter(|sample| sample.bytes.is_ascii()).collect();
        let sample = &texts[which.index(texts.len())];
        let made = lines.iter().map(|(which, how, at)| line_of(&sample.bytes, *which, *how, *at));
        let mut bytes = if marked { b"\xef\xbb\xbf".to_vec() } else { Vec::new() };
        bytes.extend(made.collect::<Vec<_>>().join(&b'\n'));
        bytes.extend(is_ended.then_some(b'\n'));
        fs::write(folder.path().join(sample.name), &bytes).expect("it can be written");
        let options = Options { format: Some(sample.format.into()), ..sample.options.clone() };
        let alone = read_by(folder.path(), &[sample.name], &options, ALONE).map(|found| found.0);
        let sharing = Sharing { threads, piece_bytes };
        let split = read_by(folder.path(), &[sample.name], &options, sharing).map(|found| found.0);
        prop_assert_eq!(alone, split);
    });
}

#[test]
fn any_cut_comes_to_the_same() {
    cuts_come_to_the_same(25);
}

#[test]
#[ignore = "long: `make test-rust` runs it"]
fn many_cuts_come_to_the_same() {
    cuts_come_to_the_same(300);
}

fn msr(lines: i64) -> String {
    let line = |at: i64| match at % 1_000 {
        17 => "128166477394345573,h,1,Read,?,4096,77\n".to_string(),
        at if at % 250 == 0 => "\r\n".to_string(),
        _ => format!("{},h,{},Write,{},4096,{at}\n", 128166477394345573 + at, at % 7, at * 4096),
    };
    (0..lines).map(line).collect()
}

#[test]
fn a_large_file_is_split_and_its_rows_are_in_order() {
    use std::io::Write;
    let folder = TempDir::new().expect("a temporary folder");
    let text = msr(30_000);
    fs::write(folder.path().join("a.csv"), &text).expect("it can be written");
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(text.as_bytes()).expect("memory");
    let gz = gz.finish().expect("memory");
    fs::write(folder.path().join("whole.gz"), &gz).expect("it can be written");
    fs::write(folder.path().join("cut.gz"), &gz[..gz.len() / 2]).expect("it can be written");
    let sharing = Sharing { threads: 3, piece_bytes: 50_000 };
    for name in ["a.csv", "whole.gz", "cut.gz"] {
        let read = |sharing| read_by(folder.path(), &[name], &Options::default(), sharing);
        let ((alone, one), (split, groups)) = (read(ALONE).expect("sound"), read(sharing).expect("sound"));
        assert_eq!(one, 1);
        assert!(groups > 10, "{name}: {groups} row groups");
        assert_eq!(alone, split, "{name}");
    }
}

#[test]
fn files_of_all_sizes_are_read_together_and_each_stays_in_order() {
    let folder = TempDir::new().expect("a temporary folder");
    let names = ["small.csv", "large.csv", "tiny.csv", "big.csv"];
    for (name, lines) in names.iter().zip([900, 20_000, 3, 9_000]) {
        fs::write(folder.path().join(name), msr(lines)).expect("it can be written");
    }
    let sharing = Sharing { threads: 3, piece_bytes: 30_000 };
    let read = |sharing| read_by(folder.path(), &names, &Options::default(), sharing).expect("sound").0;
    let (alone, shared) = (read(ALONE), read(sharing));
    assert_eq!(alone.report, shared.report);
    for (source, name) in names.iter().enumerate() {
        let of = |outcome: &Outcome| {
            let mine = |row: &&Vec<Option<String>>| row[11] == Some(source.to_string());
            outcome.rows.iter().filter(mine).cloned().collect::<Vec<_>>()
        };
        assert_eq!(of(&alone), of(&shared), "{name}");
    }
}

#[test]
fn a_file_that_fails_in_the_middle_fails_the_reading_and_nobody_waits() {
    use std::io::Write;
    let folder = TempDir::new().expect("a temporary folder");
    let packed = |text: &str| {
        let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 0);
        xz.write_all(text.as_bytes()).expect("memory");
        xz.finish().expect("memory")
    };
    let bad = [packed(&msr(30_000)), asking_for_4_gib(packed(&msr(10)))].concat();
    fs::write(folder.path().join("bad.xz"), bad).expect("it can be written");
    fs::write(folder.path().join("a.csv"), msr(30_000)).expect("it can be written");
    fs::write(folder.path().join("b.csv"), "no trace of anything\n".repeat(9_000))
        .expect("it can be written");
    let sharing = Sharing { threads: 3, piece_bytes: 10_000 };
    for names in [&["bad.xz"][..], &["bad.xz", "a.csv"], &["a.csv", "b.csv"]] {
        for sharing in [ALONE, sharing] {
            assert!(read_by(folder.path(), names, &Options::default(), sharing).is_none(), "{names:?}");
        }
    }
    // What was begun is the caller's to remove; nothing else is left.
    assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 4);
}
