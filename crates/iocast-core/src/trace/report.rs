//! What became of every line of a trace: accepted, ignored by a rule, or rejected with its place.

use std::collections::BTreeMap;

use serde::Serialize;

/// Rejects that are kept with their place; all are counted.
const PLACES_KEPT: usize = 20;

/// A line that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reject {
    /// From 1; of a binary file, the record.
    pub line: u64,
    /// Byte of the line where it went wrong, from 1; of a binary file, of the file.
    pub column: u64,
    /// What was broken.
    pub rule: String,
}

/// The reading of one file.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FileReport {
    /// As it was given.
    pub path: String,
    /// The name of its reader.
    pub format: String,
    /// Lines, or records, that were read.
    pub lines: u64,
    /// Those that are an event, or part of one.
    pub accepted: u64,
    /// Those that are none, by rule.
    pub ignored: BTreeMap<String, u64>,
    /// Those that are broken, by rule.
    pub rejected: BTreeMap<String, u64>,
    /// The first broken ones.
    pub first_rejects: Vec<Reject>,
    /// Rows that came of it.
    pub events: u64,
    /// Bytes read, after decompression.
    pub bytes: u64,
    /// What somebody should know before using it.
    pub notes: Vec<String>,
    /// Figures that belong to the format: pairs found, blocks.
    pub figures: BTreeMap<String, i64>,
}

impl FileReport {
    /// A line that is no event.
    pub fn ignore(&mut self, rule: &str) {
        count(&mut self.ignored, rule);
    }

    /// A broken line.
    pub fn reject(&mut self, line: u64, column: u64, rule: &str) {
        count(&mut self.rejected, rule);
        if self.first_rejects.len() < PLACES_KEPT {
            self.first_rejects.push(Reject { line, column, rule: rule.to_string() });
        }
    }

    /// What lines further down the file came to.
    pub fn add(&mut self, later: FileReport) {
        self.lines += later.lines;
        self.accepted += later.accepted;
        self.events += later.events;
        for (all, more) in [(&mut self.ignored, later.ignored), (&mut self.rejected, later.rejected)] {
            for (rule, count) in more {
                *all.entry(rule).or_default() += count;
            }
        }
        self.first_rejects.extend(later.first_rejects);
        self.first_rejects.truncate(PLACES_KEPT);
    }

    /// Accepted, ignored and rejected: all lines, or there is a bug.
    pub fn accounted(&self) -> u64 {
        self.accepted + self.ignored.values().sum::<u64>() + self.rejected.values().sum::<u64>()
    }
}

fn count(counts: &mut BTreeMap<String, u64>, rule: &str) {
    match counts.get_mut(rule) {
        Some(known) => *known += 1,
        None => {
            counts.insert(rule.to_string(), 1);
        }
    }
}

/// The reading of all files of a table.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// One for each file, in the order of the column `source`.
    pub files: Vec<FileReport>,
    /// Rows of the table.
    pub events: u64,
    /// What `ts_ns` counts from: "unix", "monotonic" (since a boot) or "trace" (its own start).
    pub clock: Option<String>,
    /// Unix time of `ts_ns` = 0, where it is known.
    pub epoch_ns: Option<i64>,
    /// The step of the coarsest clock among the files.
    pub tick_ns: Option<i64>,
    /// Rows of the table of calls, where it was wanted.
    pub calls: Option<u64>,
    /// Names behind the column `target`.
    pub targets: Vec<String>,
    /// Names behind the column `actor`.
    pub actors: Vec<String>,
}
