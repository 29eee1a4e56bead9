//! A reel of a tape that is no table yet, as rows: moments, a line of JSON each, that say what changed since the line before.
//!
//! `archive/tapes/open_reel.py` writes them. Who is killed in the middle of a line leaves it without an end: it is left
//! out. Whatever the bytes are, what comes out is rows or an error, in bounded memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use parquet::errors::{ParquetError, Result};
use serde::Deserialize;

use super::table_footers::{reason, refused, regular};
use crate::error::Error;

/// Rows of a batch, at least; a moment is never split.
const ROWS: usize = 16_384;
/// Bytes of a line, and samples of a moment: more than any machine has.
const MOST_BYTES: usize = 32 << 20;
const MOST_SAMPLES: usize = 1 << 21;

/// The file, opened once: it may become a table and be removed while it is read.
pub struct OpenReel {
    file: Arc<File>,
    schema: SchemaRef,
}

impl OpenReel {
    /// Opens a regular file.
    pub fn open(path: &Path) -> std::result::Result<OpenReel, Error> {
        let (file, _) = regular(path).map_err(|error| Error::Table(reason(&error)))?;
        let column = |name: &str, kind: DataType| Field::new(name, kind, false);
        let schema = Schema::new(vec![
            column("time_ns", DataType::Int64),
            column("observer", DataType::Utf8),
            column("subject", DataType::Utf8),
            column("metric", DataType::Utf8),
            column("value", DataType::Float64),
        ]);
        Ok(OpenReel { file: Arc::new(file), schema: Arc::new(schema) })
    }

    /// Of its rows.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// All rows, from the first.
    pub fn rows(&self) -> Rows {
        let lines = BufReader::with_capacity(1 << 16, Whole { file: self.file.clone(), at: 0 });
        Rows {
            lines,
            line: Vec::new(),
            schema: self.schema(),
            moment: Moment::default(),
            batch: Batch::default(),
            over: false,
        }
    }
}

/// The file from its beginning, wherever others read it.
struct Whole {
    file: Arc<File>,
    at: u64,
}

impl Read for Whole {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(into, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// A line; one without `at` is a note, and no moment.
#[derive(Deserialize)]
struct Line {
    at: Option<i64>,
    /// None: the same as those before.
    rows: Option<Vec<Part>>,
    /// Since `at`, and how many rows have it.
    #[serde(default)]
    times: Vec<(i64, usize)>,
    /// How many rows have the value that they had, before each of `values`.
    #[serde(default)]
    skip: Vec<usize>,
    #[serde(default)]
    values: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Part {
    /// So many rows of the moment before, from a number on.
    Kept(usize, usize),
    /// Observer, subject, and a row for each metric.
    New(Arc<str>, Arc<str>, Vec<Arc<str>>),
}

type Name = (Arc<str>, Arc<str>, Arc<str>);

/// The rows of a moment as they stand. A value that is not known yet is not a number.
#[derive(Default)]
struct Moment {
    names: Vec<Name>,
    values: Vec<f64>,
}

impl Moment {
    fn follow(&mut self, line: &Line) -> Result<()> {
        if let Some(parts) = &line.rows {
            *self = self.rearranged(parts)?;
        }
        if line.skip.len() != line.values.len() {
            return Err(refused("a moment has values without places"));
        }
        let mut next = 0_usize;
        for (skip, value) in line.skip.iter().zip(&line.values) {
            let place = next.checked_add(*skip).and_then(|at| self.values.get_mut(at));
            *place.ok_or_else(|| refused("a moment has more values than rows"))? = *value;
            next += skip + 1;
        }
        if self.values.iter().any(|value| value.is_nan()) {
            return Err(refused("a value is missing"));
        }
        Ok(())
    }

    fn rearranged(&self, parts: &[Part]) -> Result<Moment> {
        let mut next = Moment::default();
        for part in parts {
            match part {
                Part::Kept(from, count) => {
                    let kept = from.checked_add(*count).map(|end| *from..end);
                    let known = kept.filter(|kept| kept.end <= self.names.len());
                    let kept = known.ok_or_else(|| refused("a moment refers to rows that are not there"))?;
                    next.names.extend_from_slice(&self.names[kept.clone()]);
                    next.values.extend_from_slice(&self.values[kept]);
                }
                Part::New(observer, subject, metrics) => {
                    let name = |metric: &Arc<str>| (observer.clone(), subject.clone(), metric.clone());
                    next.names.extend(metrics.iter().map(name));
                    next.values.resize(next.names.len(), f64::NAN);
                }
            }
            if next.names.len() > MOST_SAMPLES {
                return Err(refused(&format!("a moment has more than {MOST_SAMPLES} samples")));
            }
        }
        Ok(next)
    }
}

/// Rows that wait until they are a batch.
#[derive(Default)]
struct Batch {
    times: Vec<i64>,
    names: [StringBuilder; 3],
    values: Vec<f64>,
}

impl Batch {
    fn add(&mut self, at: i64, times: &[(i64, usize)], moment: &Moment) -> Result<()> {
        let rows = times.iter().try_fold(0_usize, |sum, (_, count)| sum.checked_add(*count));
        if rows != Some(moment.names.len()) {
            return Err(refused("a moment has times for other rows than it has"));
        }
        for (since, count) in times {
            let time = at.checked_add(*since).ok_or_else(|| refused("a time is out of range"))?;
            self.times.resize(self.times.len() + count, time);
        }
        let [observers, subjects, metrics] = &mut self.names;
        for (observer, subject, metric) in &moment.names {
            observers.append_value(observer);
            subjects.append_value(subject);
            metrics.append_value(metric);
        }
        self.values.extend_from_slice(&moment.values);
        Ok(())
    }

    fn taken(&mut self, schema: &SchemaRef) -> Result<RecordBatch> {
        let Batch { times, names, values } = std::mem::take(self);
        let names = names.map(|mut name| Arc::new(name.finish()) as ArrayRef);
        let times = std::iter::once(Arc::new(Int64Array::from(times)) as ArrayRef);
        let values = std::iter::once(Arc::new(Float64Array::from(values)) as ArrayRef);
        Ok(RecordBatch::try_new(schema.clone(), times.chain(names).chain(values).collect())?)
    }
}

/// The rows of [`OpenReel`], batch by batch.
pub struct Rows {
    lines: BufReader<Whole>,
    line: Vec<u8>,
    schema: SchemaRef,
    moment: Moment,
    batch: Batch,
    over: bool,
}

impl Rows {
    fn step(&mut self) -> Result<Option<RecordBatch>> {
        while self.batch.values.len() < ROWS {
            if !self.next_line()? {
                self.over = true;
                break;
            }
            let line: Line = serde_json::from_slice(&self.line)
                .map_err(|error| refused(&format!("a line is no moment: {error}")))?;
            if let Some(at) = line.at {
                self.moment.follow(&line)?;
                self.batch.add(at, &line.times, &self.moment)?;
            }
        }
        if self.batch.values.is_empty() { Ok(None) } else { self.batch.taken(&self.schema).map(Some) }
    }

    /// False at the end, and before a line without one.
    fn next_line(&mut self) -> Result<bool> {
        self.line.clear();
        let mut limited = (&mut self.lines).take(MOST_BYTES as u64 + 1);
        limited.read_until(b'\n', &mut self.line).map_err(|error| ParquetError::External(Box::new(error)))?;
        if self.line.len() > MOST_BYTES {
            return Err(refused(&format!("a line is longer than {} MiB", MOST_BYTES >> 20)));
        }
        Ok(self.line.pop() == Some(b'\n'))
    }
}

impl Iterator for Rows {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let step = self.step().transpose();
        self.over |= !matches!(step, Some(Ok(_)));
        step.map(|batch| batch.map_err(|error| ArrowError::ParquetError(reason(&error))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int64Type};
    use proptest::prelude::*;

    const FIRST: &str = r#"{"at":100,"rows":[["cpu","",["user","idle"]],["processes","7|sh",["rchar"]]],"times":[[0,2],[5,1]],"skip":[0,0,0],"values":[1.0,2,3.5]}"#;

    fn rows(text: &str) -> std::result::Result<Vec<String>, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let reel = OpenReel::open(file.path()).unwrap();
        let mut found = Vec::new();
        for batch in reel.rows() {
            let batch = batch.map_err(|error| error.to_string())?;
            let text = |column: usize| batch.column(column).as_string::<i32>();
            for at in 0..batch.num_rows() {
                let time = batch.column(0).as_primitive::<Int64Type>().value(at);
                let value = batch.column(4).as_primitive::<Float64Type>().value(at);
                let (observer, subject, metric) = (text(1).value(at), text(2).value(at), text(3).value(at));
                found.push(format!("{time} {observer} {subject} {metric} {value}"));
            }
        }
        Ok(found)
    }

    #[test]
    fn a_moment_is_what_changed_since_the_one_before() {
        let text = format!(
            "{FIRST}\n{}\n{}\n{}\n",
            r#"{"at":200,"times":[[0,3]],"skip":[1],"values":[20]}"#,
            r#"{"texts":{"sql|1":"select 1"}}"#,
            r#"{"at":300,"rows":[[1,2],["processes","8|sh",["rchar"]]],"times":[[-1,3]],"skip":[2],"values":[9]}"#,
        );
        let expected = [
            "100 cpu  user 1",
            "100 cpu  idle 2",
            "105 processes 7|sh rchar 3.5",
            "200 cpu  user 1",
            "200 cpu  idle 20",
            "200 processes 7|sh rchar 3.5",
            "299 cpu  idle 20",
            "299 processes 7|sh rchar 3.5",
            "299 processes 8|sh rchar 9",
        ];
        assert_eq!(rows(&text).unwrap(), expected);
    }

    #[test]
    fn a_line_without_an_end_is_left_out() {
        let (before, cut) = (format!("{FIRST}\n"), r#"{"at":200,"times":[[0,3]],"skip":[],"values":[]}"#);
        let whole = rows(&format!("{before}{cut}\n")).unwrap();
        assert_eq!(whole.len(), 6);
        for end in 0..=cut.len() {
            assert_eq!(rows(&format!("{before}{}", &cut[..end])).unwrap(), whole[..3], "cut after {end}");
        }
        assert!(rows("").unwrap().is_empty());
    }

    #[test]
    fn many_moments_come_in_batches() {
        let line = "{\"at\":200,\"times\":[[0,3]]}\n";
        let all = rows(&format!("{FIRST}\n{}", line.repeat(20_000))).unwrap();
        assert_eq!(all.len(), 60_003);
    }

    #[test]
    fn every_value_comes_back_bit_for_bit() {
        for value in
            [1e300, 5e-324, 9_007_199_254_740_993.0, 0.1 + 0.2, 6.02214076e23, 1.7976931348623157e308]
        {
            let text = format!(
                r#"{{"at":0,"rows":[["x","",["y"]]],"times":[[0,1]],"skip":[0],"values":[{value:?}]}}"#
            );
            assert_eq!(rows(&format!("{text}\n")).unwrap(), [format!("0 x  y {value}")]);
        }
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        for (line, why) in [
            (r#"{"at":200,"times":[[0,2]]}"#, "times for other rows"),
            (r#"{"at":200,"rows":[[2,2]],"times":[[0,2]]}"#, "rows that are not there"),
            (r#"{"at":200,"rows":[["x","",["y"]]],"times":[[0,1]]}"#, "a value is missing"),
            (r#"{"at":200,"times":[[0,3]],"skip":[3],"values":[1]}"#, "more values than rows"),
            (r#"{"at":200,"times":[[0,3]],"skip":[1]}"#, "values without places"),
            (r#"{"at":9223372036854775807,"times":[[1,3]]}"#, "out of range"),
            (r#"{"at":200,"rows":[[18446744073709551615,2]],"times":[[0,2]]}"#, "rows that are not there"),
            ("nothing", "no moment"),
        ] {
            let error = rows(&format!("{FIRST}\n{line}\n")).unwrap_err();
            assert!(error.contains(why), "{line}: {error}");
        }
        let doubled = "{\"at\":1,\"rows\":[[0,3],[0,3]],\"times\":[],\"skip\":[],\"values\":[]}";
        let error = rows(&format!("{FIRST}\n{doubled}\n")).unwrap_err();
        assert!(error.contains("times for other rows"), "{error}");
    }

    #[test]
    fn a_moment_that_swells_is_refused() {
        let parts = vec!["[0,3]"; 1 << 20].join(",");
        let line = format!("{{\"at\":1,\"rows\":[{parts}],\"times\":[]}}");
        let error = rows(&format!("{FIRST}\n{line}\n")).unwrap_err();
        assert!(error.contains("more than 2097152 samples"), "{error}");
    }

    #[test]
    fn a_fifo_is_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("000.jsonl");
        let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: the name is terminated by a zero byte.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        assert!(OpenReel::open(&path).is_err());
    }

    proptest! {
        #[test]
        fn damaged_bytes_are_rows_or_an_error(at in 0_usize..1000, byte: u8) {
            let mut text = format!("{FIRST}\n{}\n", r#"{"at":200,"rows":[[0,3]],"times":[[0,3]],"skip":[1],"values":[20]}"#).into_bytes();
            let at = at % text.len();
            text[at] = byte;
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), &text).unwrap();
            let count: usize = OpenReel::open(file.path()).unwrap().rows().flatten().map(|batch| batch.num_rows()).sum();
            prop_assert!(count <= 9);
        }
    }
}
