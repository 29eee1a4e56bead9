//! What a reader of one format is: how it knows a file, and how it reads it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::error::Result;
use crate::trace::columns::Rows;
use crate::trace::field_map::{Map, Unit};
use crate::trace::line_verdict::Verdict;
use crate::trace::little::Little;
use crate::trace::report::FileReport;

/// Reads the lines of one file.
pub trait LineReader: Send {
    /// The next line, without its end.
    fn line(&mut self, line: &[u8], number: u64, rows: &mut Rows) -> Verdict;

    /// After the last line: what is left over, and what should be known.
    fn end(&mut self, rows: &mut Rows, report: &mut FileReport) {
        let _ = (rows, report);
    }

    /// What its times count from, as far as its lines said.
    fn clock(&self) -> Clock;

    /// A reader for lines further down, which another thread reads meanwhile; None where what a line means depends on
    /// those before it. It is asked after the first lines.
    fn part(&self) -> Option<Box<dyn LineReader>> {
        None
    }

    /// What a reader of a part has to hand over.
    fn learned(&self) -> Learned {
        Learned::default()
    }

    /// Takes over what the reader of a part has learned.
    fn learn(&mut self, part: &Learned) {
        let _ = part;
    }
}

/// What is known of lines as a whole, in whatever order they were read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Learned {
    /// Their I/Os and latencies.
    pub little: Little,
    /// Whether there was a time.
    pub timed: bool,
    /// The most digits after the point of a time.
    pub digits: u32,
}

impl Learned {
    /// Both together.
    pub fn join(&mut self, other: &Learned) {
        self.little.join(&other.little);
        self.timed |= other.timed;
        self.digits = self.digits.max(other.digits);
    }
}

/// Reads the records of one file, all of one length.
pub trait RecordReader: Send {
    /// Bytes of a record.
    fn length(&self) -> usize;

    /// The next record.
    fn record(&mut self, record: &[u8], number: u64, rows: &mut Rows) -> Verdict;

    /// What its times count from, as far as its records said.
    fn clock(&self) -> Clock;
}

/// What `ts_ns` counts from, and how finely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// "unix", "monotonic" or "trace"; None while there was no time.
    pub origin: Option<&'static str>,
    /// Unix time of 0, where it is known.
    pub epoch_ns: Option<i64>,
    /// The step of the stamps.
    pub tick_ns: i64,
}

/// The first bytes of a file.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// Its name counts for formats that do not say in the text what they are.
    pub path: &'a Path,
    /// Decompressed.
    pub bytes: &'a [u8],
    /// Whether they are all of it.
    pub whole: bool,
}

impl<'a> Head<'a> {
    /// The lines that are not cut by the end of the head.
    pub fn lines(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let bytes = self.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(self.bytes);
        let end = if self.whole { bytes.len() } else { memchr::memrchr(b'\n', bytes).unwrap_or(bytes.len()) };
        bytes[..end].split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// The name of the file without folders.
    pub fn name(&self) -> &'a str {
        self.path.file_name().and_then(|name| name.to_str()).unwrap_or("")
    }
}

/// What the person who has a trace can say of it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// The name of a reader: no sniffing.
    pub format: Option<String>,
    /// Oracle, and traces of block numbers: the size of a block; offsets and sizes are unknown without it.
    pub block_size_bytes: Option<i64>,
    /// Oracle: the size of a block of single files, by number, where it differs.
    pub block_size_bytes_of_files: BTreeMap<i64, i64>,
    /// Oracle: the release, where the file does not say: "8.1.7", "9.2".
    pub oracle_release: Option<String>,
    /// Logs of fio: "ns" (3.x) or "us" (2.x), where the file does not show it.
    pub latency_unit: Option<Unit>,
    /// Any table of text: what its columns are.
    pub columns: Option<Map>,
}

/// How a format is read.
pub enum Reading {
    /// Line by line.
    Lines(Box<dyn LineReader>),
    /// As binary records of one length.
    Records(Box<dyn RecordReader>),
    /// As binary records of block traces, files of several CPUs together.
    BlockRecords,
}

/// One format.
pub struct Format {
    /// What it is called in reports and options.
    pub name: &'static str,
    /// What it is, for people.
    pub says: &'static str,
    /// Whether a file that begins so is of it.
    pub sniff: fn(&Head<'_>) -> bool,
    /// How to read it.
    pub open: fn(&Options, &Head<'_>) -> Result<Reading>,
}
