//! What a reader of one format is, and the list of all of them.

use std::path::Path;

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::trace::columns::Rows;
use crate::trace::readers::{blkparse, blktrace, csv, csv_maps, fio_iolog, fio_log, oracle_10046};
use crate::trace::report::FileReport;

/// Why a line is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Byte of the line, from 1.
    pub column: usize,
    /// The rule it breaks.
    pub rule: &'static str,
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// An event, or part of one.
    Accepted,
    /// None, by this rule.
    Ignored(&'static str),
}

/// What a line is, or the rule that it breaks.
pub type Verdict = std::result::Result<Taken, Broken>;

/// Reads the lines of one file.
pub trait LineReader {
    /// The next line, without its end.
    fn line(&mut self, line: &[u8], number: u64, rows: &mut Rows) -> Verdict;

    /// After the last line: what is left over, and what should be known.
    fn end(&mut self, rows: &mut Rows, report: &mut FileReport) {
        let _ = (rows, report);
    }

    /// What its times count from, as far as its lines said.
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
    /// Oracle: the size of a block; offsets and sizes are unknown without it.
    pub block_size_bytes: Option<i64>,
    /// Oracle: the release, where the file does not say: "8.1.7", "9.2".
    pub oracle_release: Option<String>,
    /// Logs of fio: "ns" (3.x) or "us" (2.x), where the file does not show it.
    pub latency_unit: Option<csv::Unit>,
    /// Any table of text: what its columns are.
    pub columns: Option<csv::Map>,
}

/// How a format is read.
pub enum Reading {
    /// Line by line.
    Lines(Box<dyn LineReader>),
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

/// The first that knows a file reads it.
pub const READERS: &[Format] = &[
    blktrace::FORMAT,
    blkparse::FORMAT,
    oracle_10046::FORMAT,
    fio_iolog::FORMAT,
    // By its name; its numbers alone could be those of a volume.
    fio_log::FORMAT,
    csv_maps::MSR,
    csv_maps::SYSTOR,
    csv_maps::CLOUD_PHYSICS,
    csv_maps::ALIBABA,
    csv_maps::SPC,
    csv_maps::TENCENT,
    csv_maps::GENERIC,
];

/// The reader of a file: the one that was named, or the first that knows it.
pub fn format_of(options: &Options, head: &Head<'_>) -> Result<&'static Format> {
    let refused = |why: String, hint: &'static str| Error::Trace { why, hint };
    let path = head.path.display();
    if let Some(name) = &options.format {
        let names = || READERS.iter().map(|each| each.name).collect::<Vec<_>>().join(", ");
        let named = READERS.iter().find(|each| each.name == name);
        return named.ok_or_else(|| {
            refused(format!("there is no trace format `{name}`: {} are read", names()), "name one of them")
        });
    }
    if head.bytes.is_empty() {
        return Err(refused(format!("{path} is empty"), "give the trace that was captured"));
    }
    if options.columns.is_some() {
        return Ok(&csv_maps::GENERIC);
    }
    READERS.iter().find(|each| (each.sniff)(head)).ok_or_else(|| {
        refused(
            format!("{path} has no trace format that iocast knows"),
            "name the format, or say what its columns are; docs/guide/traces.md lists the formats",
        )
    })
}
