//! A whole log of fio as counts: single I/Os in histograms, bins added up, means of intervals kept; job by job.
//!
//! What one line says is read by `fio_log`; here logs of every kind are taken (bandwidth, rates, averages, histograms
//! too), and where time goes back the next job of the same file begins.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::fio_log::value_of;
use crate::record::histogram::SUB_BITS;

/// What a log may have of columns.
const COLUMNS: std::ops::RangeInclusive<usize> = 4..=7;
/// By which lines of one job may come out of order.
const BACK_MS: i128 = 10;
/// 1856 bins of 20 digits are 40 KB.
const LONGEST_LINE: usize = 1 << 17;
const MOST_JOBS: usize = 100_000;
/// Bins of fio's own histograms, of ns and of us, and by how many powers of two they may be joined.
const BINS: [usize; 2] = [1856, 1216];
const JOINED: usize = 7;
const BOM: &[u8] = b"\xef\xbb\xbf";

/// The I/Os of one direction that have a line each.
#[derive(Debug, Default, Serialize)]
pub struct Ios {
    direction: u64,
    count: u64,
    #[serde(serialize_with = "halves")]
    bytes: u128,
    smallest: u64,
    largest: u64,
    #[serde(serialize_with = "halves")]
    sum: u128,
    #[serde(serialize_with = "halves")]
    squares: u128,
    least: u64,
    most: u64,
    /// Of the core's histogram, of values as they were logged, and the I/Os in them.
    buckets: BTreeMap<usize, u64>,
}

/// The bins of one direction, all lines added up.
#[derive(Debug, Default, Serialize)]
pub struct Bins {
    direction: u64,
    bins: usize,
    counts: BTreeMap<usize, u64>,
    sizes: Vec<u64>,
}

/// The lines of one job.
#[derive(Debug, Default, Serialize)]
pub struct JobLog {
    columns: usize,
    averaged: bool,
    first_ms: u64,
    last_ms: u64,
    /// Time, value and direction.
    means: Vec<(u64, u64, u64)>,
    ios: Vec<Ios>,
    bins: Vec<Bins>,
    bin_times_ms: Vec<u64>,
    /// A value that in microseconds would have begun before the run.
    beyond_start: bool,
}

/// All jobs of a log, in its order; what is wrong with it, and in which line (0: in all).
#[derive(Debug, Default, Serialize)]
pub struct Counted {
    jobs: Vec<JobLog>,
    /// The last line, where it was left out because it has no end.
    truncated: Option<u64>,
    refused: Option<(u64, String)>,
}

/// Takes a log piece by piece.
pub struct FioLogCounts {
    kind: String,
    histogram: bool,
    line: u64,
    rest: Vec<u8>,
    columns: usize,
    /// Its lines hold mean and largest; only the mean is read.
    both: bool,
    averaged: bool,
    values: Vec<u64>,
    /// Of each direction in this job.
    latest: [Option<u64>; 3],
    /// The longest between two lines of one direction.
    step_ms: i128,
    found: Counted,
}

impl FioLogCounts {
    /// Of the kind that its name says: `lat`, `bw`, `clat_hist` ...
    pub fn new(kind: &str) -> FioLogCounts {
        FioLogCounts {
            kind: kind.to_string(),
            histogram: kind == "clat_hist",
            line: 0,
            rest: Vec::new(),
            columns: 0,
            both: false,
            averaged: false,
            values: Vec::new(),
            latest: [None; 3],
            step_ms: 0,
            found: Counted::default(),
        }
    }

    /// More of its bytes; false where nothing more is to be read.
    pub fn feed(&mut self, mut bytes: &[u8]) -> bool {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            if self.found.refused.is_some() {
                return false;
            }
            let (line, after) = bytes.split_at(end + 1);
            if self.rest.is_empty() {
                self.whole_line(line);
            } else {
                let mut joined = std::mem::take(&mut self.rest);
                joined.extend_from_slice(line);
                self.whole_line(&joined);
            }
            bytes = after;
        }
        self.rest.extend_from_slice(bytes);
        if self.rest.len() >= LONGEST_LINE {
            self.line += 1;
            self.too_long();
        }
        self.found.refused.is_none()
    }

    /// What is in it.
    pub fn finish(mut self) -> Counted {
        let last = std::mem::take(&mut self.rest);
        let text = trimmed(&last);
        if self.found.refused.is_none() && !last.is_empty() {
            self.line += 1;
            if !text.is_empty() {
                self.last_line(text);
            }
        }
        if self.found.refused.is_none() && self.found.jobs.is_empty() {
            self.refuse(0, "it has no complete line".to_string());
        }
        self.found
    }

    fn refuse(&mut self, line: u64, why: String) {
        self.found.refused = Some((line, why));
    }

    fn too_long(&mut self) {
        let why = format!("a line of more than {} KiB: not a log of fio", LONGEST_LINE >> 10);
        self.refuse(self.line, why);
    }

    fn whole_line(&mut self, line: &[u8]) {
        self.line += 1;
        if line.len() > LONGEST_LINE {
            return self.too_long();
        }
        let text = trimmed(line);
        if text.is_empty() {
            return;
        }
        match self.take(text) {
            Ok(()) => self.keep(),
            Err(why) => self.refuse(self.line, why),
        }
    }

    /// Even a last line of the right width may have lost digits, where it has no end.
    fn last_line(&mut self, text: &[u8]) {
        let taken = self.take(text);
        if !self.found.jobs.is_empty() && (taken.is_err() || !self.histogram) {
            self.found.truncated = Some(self.line);
            return;
        }
        match taken {
            Ok(()) => self.keep(),
            Err(why) => self.refuse(self.line, why),
        }
    }

    /// Reads a line, or says what is wrong with it.
    fn take(&mut self, text: &[u8]) -> Result<(), String> {
        if !numbers(text, &mut self.values) {
            self.values.clear();
        }
        let values = &mut self.values;
        if self.columns == 0 && !self.histogram {
            // log_window_value=both puts the largest value of an interval behind its mean.
            self.both = values.len() > 5 && values[2] > 2 && values[3] <= 2 && values[2] >= values[1];
        }
        if self.both && values.len() > 2 {
            values.remove(2);
        }
        let count = values.len();
        if count == 0 {
            return Err("not all of these are whole numbers".to_string());
        }
        let fits = if self.histogram { is_binning(count.wrapping_sub(3)) } else { COLUMNS.contains(&count) };
        if !fits {
            return Err(format!("{count} numbers; not a line of fio's {} log", self.kind));
        }
        if !self.histogram && self.columns > 0 && (values[3] != 0) == self.averaged {
            return Err("interval means (size 0) and single I/Os in one log".to_string());
        }
        if self.columns != 0 && self.columns != count {
            return Err(format!("{count} numbers after lines of {}", self.columns));
        }
        if values[if self.histogram { 1 } else { 2 }] > 2 {
            return Err("not a read, write or trim".to_string());
        }
        Ok(())
    }

    /// Adds the line that was read last.
    fn keep(&mut self) {
        if self.columns == 0 {
            self.columns = self.values.len();
            self.averaged = !self.histogram && self.values[3] == 0;
        }
        let (time_ms, direction) = (self.values[0], self.values[if self.histogram { 1 } else { 2 }]);
        if self.found.jobs.last().is_none_or(|job| self.goes_back(job, time_ms, direction))
            && !self.begin(time_ms)
        {
            return;
        }
        let latest = &mut self.latest[direction as usize];
        self.step_ms = self.step_ms.max(i128::from(time_ms) - i128::from(latest.unwrap_or(time_ms)));
        *latest = Some(time_ms);
        let Some(job) = self.found.jobs.last_mut() else { return };
        job.last_ms = job.last_ms.max(time_ms);
        job.first_ms = job.first_ms.min(time_ms);
        let value = self.values[1];
        if self.histogram {
            job.add_bins(direction, &self.values);
            return;
        }
        if self.averaged {
            job.means.push((time_ms, value, direction));
        } else {
            job.add_io(direction, value, self.values[3]);
        }
        job.beyond_start |= u128::from(value) > (u128::from(time_ms) + 1) * 1000;
    }

    /// Single I/Os of all directions come in order, means of intervals in the order of each direction.
    fn goes_back(&self, job: &JobLog, time_ms: u64, direction: u64) -> bool {
        let (time, latest) = (i128::from(time_ms), i128::from(job.last_ms));
        if !self.averaged && !self.histogram {
            return time < latest - BACK_MS;
        }
        let own = i128::from(self.latest[direction as usize].unwrap_or(0));
        // The first line ends the first interval.
        let interval_ms = if self.step_ms > 0 { self.step_ms } else { i128::from(job.first_ms) };
        time < own - BACK_MS || time < latest - BACK_MS.max(2 * interval_ms)
    }

    fn begin(&mut self, time_ms: u64) -> bool {
        if self.found.jobs.len() == MOST_JOBS {
            self.refuse(0, format!("time goes back more than {MOST_JOBS} times: not a log of fio"));
            return false;
        }
        let (columns, averaged) = (self.columns, self.averaged);
        let job = JobLog { columns, averaged, first_ms: time_ms, last_ms: time_ms, ..JobLog::default() };
        self.found.jobs.push(job);
        (self.latest, self.step_ms) = ([None; 3], 0);
        true
    }
}

impl JobLog {
    fn add_io(&mut self, direction: u64, value: u64, size_bytes: u64) {
        let at = self.ios.iter().position(|ios| ios.direction == direction).unwrap_or_else(|| {
            self.ios.push(Ios { direction, smallest: size_bytes, least: value, ..Ios::default() });
            self.ios.len() - 1
        });
        let ios = &mut self.ios[at];
        ios.count += 1;
        ios.bytes += u128::from(size_bytes);
        ios.smallest = ios.smallest.min(size_bytes);
        ios.largest = ios.largest.max(size_bytes);
        ios.sum += u128::from(value);
        ios.squares = ios.squares.saturating_add(u128::from(value) * u128::from(value));
        ios.least = ios.least.min(value);
        ios.most = ios.most.max(value);
        *ios.buckets.entry(bucket_index(value)).or_default() += 1;
    }

    fn add_bins(&mut self, direction: u64, values: &[u64]) {
        let counts = &values[3..];
        let at = self.bins.iter().position(|bins| bins.direction == direction).unwrap_or_else(|| {
            self.bins.push(Bins { direction, bins: counts.len(), ..Bins::default() });
            self.bins.len() - 1
        });
        let bins = &mut self.bins[at];
        for (index, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let sum = bins.counts.entry(index).or_default();
            *sum = sum.saturating_add(*count);
        }
        if !bins.sizes.contains(&values[2]) {
            bins.sizes.push(values[2]);
        }
        self.bin_times_ms.push(values[0]);
    }
}

/// The upper and the lower 64 bits: JSON has no longer numbers.
fn halves<S: Serializer>(value: &u128, to: S) -> Result<S::Ok, S::Error> {
    ((value >> 64) as u64, *value as u64).serialize(to)
}

/// The bucket of our histograms; that of the core ends at an hour, and a log may say anything.
fn bucket_index(value: u64) -> usize {
    let least = 1 << SUB_BITS;
    let exponent = (value | least).ilog2() - SUB_BITS;
    ((exponent as usize) << SUB_BITS) + (value >> exponent) as usize
}

/// Whether fio has histograms of so many bins.
fn is_binning(bins: usize) -> bool {
    BINS.iter().any(|full| (0..JOINED).any(|power| full >> power == bins))
}

/// A line without what stands around it.
fn trimmed(line: &[u8]) -> &[u8] {
    let line = line.strip_prefix(BOM).unwrap_or(line);
    blank_apart(line)
}

fn blank_apart(text: &[u8]) -> &[u8] {
    let blank = |byte: &u8| {
        byte.is_ascii_whitespace() || (0x0b..=0x0c).contains(byte) || (0x1c..=0x1f).contains(byte)
    };
    let start = text.iter().position(|byte| !blank(byte)).unwrap_or(text.len());
    let end = text.iter().rposition(|byte| !blank(byte)).map_or(start, |last| last + 1);
    &text[start..end]
}

/// Trims the blanks around a field. Other control characters stay, and make it an invalid number.
fn field_apart(field: &[u8]) -> &[u8] {
    let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0b;
    let start = field.iter().position(|byte| !blank(byte)).unwrap_or(field.len());
    let end = field.iter().rposition(|byte| !blank(byte)).map_or(start, |last| last + 1);
    &field[start..end]
}

/// The numbers of a line; false when it holds anything else. A comma at its end says nothing.
fn numbers(text: &[u8], found: &mut Vec<u64>) -> bool {
    found.clear();
    let last = text.iter().rposition(|byte| *byte != b',').map_or(0, |at| at + 1);
    let text = &text[..last];
    for field in text.split(|byte| *byte == b',') {
        match value_of(field_apart(field)) {
            Some(value) => found.push(value),
            None => return false,
        }
    }
    text.last().is_some_and(u8::is_ascii_hexdigit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(text: &str) -> Counted {
        let mut log = FioLogCounts::new("lat");
        text.as_bytes().chunks(7).for_each(|part| {
            log.feed(part);
        });
        log.finish()
    }

    #[test]
    fn single_ios_are_counted_however_their_bytes_come() {
        let found = counted("0, 600, 0, 4096, 0\n1, 1000, 0, 8192, 0x10,\n\n2, 5, 1, 512, 0\n");
        let [job] = &found.jobs[..] else { panic!("one job") };
        let ios = &job.ios[0];
        assert_eq!((ios.count, ios.bytes, ios.smallest, ios.largest), (2, 12_288, 4096, 8192));
        assert_eq!((ios.sum, ios.squares, ios.least, ios.most), (1600, 1_360_000, 600, 1000));
        assert_eq!(ios.buckets, BTreeMap::from([(bucket_index(600), 1), (bucket_index(1000), 1)]));
        assert_eq!((job.ios[1].direction, job.columns, job.first_ms, job.last_ms), (1, 5, 0, 2));
        assert!(found.refused.is_none() && found.truncated.is_none());
    }

    #[test]
    fn time_that_goes_back_begins_the_next_job() {
        let found = counted("0, 6, 0, 4096\n90, 6, 0, 4096\n5, 6, 0, 4096\n");
        assert_eq!(found.jobs.iter().map(|job| job.last_ms).collect::<Vec<_>>(), [90, 5]);
        let means = counted("100, 6, 0, 0\n100, 7, 1, 0\n200, 6, 0, 0\n100, 9, 0, 0\n");
        assert_eq!(means.jobs.iter().map(|job| job.means.len()).collect::<Vec<_>>(), [3, 1]);
    }

    #[test]
    fn what_is_no_log_is_refused_with_its_line() {
        let why = |text: &str| {
            counted(text).refused.map(|(line, why)| format!("{line}: {why}")).unwrap_or_default()
        };
        assert_eq!(why("0, 6, 0, 4096\n1, x, 0, 4096\n"), "2: not all of these are whole numbers");
        assert_eq!(why("0, 6, 0, 4096\n1, 6, 0, 4096, 1\n"), "2: 5 numbers after lines of 4");
        assert_eq!(
            why("0, 6, 0, 4096\n1, 6, 0, 0\n"),
            "2: interval means (size 0) and single I/Os in one log"
        );
        assert_eq!(why("0, 6, 3, 4096\n"), "1: not a read, write or trim");
        assert_eq!(why(""), "0: it has no complete line");
        assert_eq!(counted("0, 6, 0, 4096\n1, 6, 0, 40").truncated, Some(2));
    }
}
