//! Logs of fio with one line an I/O (`write_lat_log`): what each took, and where it was with `log_offset`.

use crate::error::{Error, Result};
use crate::trace::columns::Rows;
use crate::trace::event::{Event, Layer, Op};
use crate::trace::field_map::Unit;
use crate::trace::fields::unsigned;
use crate::trace::line_verdict::{Broken, Taken, Verdict};
use crate::trace::reader::{Clock, Format, Head, LineReader, Options, Reading};

/// `time_ms, value, direction, size[, offset][, priority][, issue_ns]`.
pub const FORMAT: Format = Format {
    name: "fio_log",
    says: "logs of fio, one line an I/O (`_lat`, `_clat`)",
    sniff: |head| measure(head.name()).is_some() && numbers(head).is_some(),
    open,
};

/// Later than this in ms is a time of day and not of the run.
const UNIX_FROM_MS: i64 = 1_000_000_000_000;

struct LogReader {
    columns: usize,
    unit_ns: i64,
    unix: Option<bool>,
}

/// What a log is of, by its name: `NAME_clat.1.log`.
fn measure(name: &str) -> Option<&str> {
    let kinds = ["clat_hist", "slat", "clat", "lat", "bw", "iops"];
    let name = ["", ".gz", ".zst", ".xz"]
        .iter()
        .find_map(|packed| name.strip_suffix(packed)?.strip_suffix(".log"))?;
    let stem = match name.rsplit_once('.') {
        Some((stem, job)) if !job.is_empty() && job.bytes().all(|byte| byte.is_ascii_digit()) => stem,
        _ => name,
    };
    let said = |kind: &&&str| {
        stem == **kind || stem.strip_suffix(**kind).is_some_and(|before| before.ends_with('_'))
    };
    kinds.iter().find(said).copied()
}

/// How many columns of numbers the first line has.
fn numbers(head: &Head<'_>) -> Option<usize> {
    let line = head.lines().find(|line| !line.is_empty())?;
    let fields = line.split(|byte| *byte == b',');
    let mut count = 0;
    for field in fields {
        value_of(field.trim_ascii())?;
        count += 1;
    }
    (4..=7).contains(&count).then_some(count)
}

/// A number of a log; priorities are hexadecimal.
pub fn value_of(field: &[u8]) -> Option<u64> {
    match field.strip_prefix(b"0x") {
        Some(hex) if hex.iter().all(u8::is_ascii_hexdigit) => {
            u64::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()
        }
        Some(_) => None,
        None => unsigned(field),
    }
}

fn open(options: &Options, head: &Head<'_>) -> Result<Reading> {
    let path = head.path.display();
    let refused = |why: String, hint| Err(Error::Trace { why, hint });
    match measure(head.name()) {
        Some("lat" | "clat") => {}
        Some(kind) => {
            return refused(
                format!("{path}: a log of {kind} has no latency of single I/Os"),
                "give the _lat or _clat log of the same run",
            );
        }
        None => {
            return refused(
                format!("{path}: the name does not say what the values are"),
                "name it as fio does: NAME_lat.1.log or NAME_clat.1.log",
            );
        }
    }
    let Some(columns) = numbers(head) else {
        return refused(format!("{path}:1: not 4 to 7 numbers"), "give a log that fio wrote");
    };
    let unit = match options.latency_unit {
        Some(unit @ (Unit::Us | Unit::Ns)) => unit,
        Some(_) => return refused(format!("{path}: fio logs ns (3.x) or us (2.x)"), "give ns or us"),
        None if columns > 4 => Unit::Ns,
        None => {
            return refused(
                format!("{path}: four columns were written by fio 2 in us and by fio 3.0 and 3.1 in ns"),
                "say which: latency_unit = \"us\" or \"ns\"",
            );
        }
    };
    Ok(Reading::Lines(Box::new(LogReader { columns, unit_ns: unit.ns(), unix: None })))
}

impl LineReader for LogReader {
    fn line(&mut self, line: &[u8], number: u64, rows: &mut Rows) -> Verdict {
        if line.trim_ascii().is_empty() {
            return Ok(Taken::Ignored("blank line"));
        }
        let mut values = [0u64; 7];
        let (mut count, mut start) = (0, 0);
        for field in line.split(|byte| *byte == b',') {
            let broken = |rule| Broken { column: start + 1, rule };
            if count == self.columns {
                return Err(broken("too many fields"));
            }
            values[count] = value_of(field.trim_ascii()).ok_or(broken("not a number"))?;
            count += 1;
            start += field.len() + 1;
        }
        let broken = |rule| Broken { column: line.len() + 1, rule };
        if count < self.columns {
            return Err(broken("too few fields"));
        }
        let event = self.event(&values, number)?;
        rows.push(&event);
        Ok(Taken::Accepted)
    }

    fn clock(&self) -> Clock {
        let unix = self.unix == Some(true);
        Clock {
            origin: self.unix.map(|unix| if unix { "unix" } else { "trace" }),
            epoch_ns: unix.then_some(0),
            tick_ns: if self.columns == 7 { 1 } else { 1_000_000 },
        }
    }

    fn part(&self) -> Option<Box<dyn LineReader>> {
        // The first time says the clock of all.
        self.unix?;
        Some(Box::new(LogReader { columns: self.columns, unit_ns: self.unit_ns, unix: self.unix }))
    }
}

impl LogReader {
    fn event(&mut self, values: &[u64; 7], number: u64) -> std::result::Result<Event, Broken> {
        let broken = |rule| Broken { column: 1, rule };
        let op = match values[2] {
            0 => Op::Read,
            1 => Op::Write,
            2 => Op::Trim,
            3..=5 => Op::Other,
            _ => return Err(broken("not a direction")),
        };
        if values[3] == 0 {
            return Err(broken("an average of several I/Os (size 0: log_avg_msec)"));
        }
        let signed = |value: u64, unit: i64, rule| {
            i64::try_from(value).ok().and_then(|value| value.checked_mul(unit)).ok_or(broken(rule))
        };
        let latency = signed(values[1], self.unit_ns, "not a latency")?;
        let end_ms = signed(values[0], 1, "not a time")?;
        let unix = end_ms >= UNIX_FROM_MS;
        if *self.unix.get_or_insert(unix) != unix {
            return Err(broken("a time of another clock than the first"));
        }
        let mut event = Event::new(op, Layer::Syscall, number);
        event.lat_ns = Some(latency);
        let end_ns = end_ms.checked_mul(1_000_000).ok_or(broken("not a time"))?;
        event.ts_ns = Some(end_ns - latency);
        if self.columns == 7 && values[6] > 0 {
            event.ts_ns = Some(signed(values[6], 1, "not a time")?);
        }
        event.size = Some(signed(values[3], 1, "not a size")?);
        if self.columns >= 5 {
            // Without log_offset fio writes the priority here, or 0: only six columns have an offset for certain.
            event.offset =
                if self.columns >= 6 { Some(signed(values[4], 1, "not an offset")?) } else { None };
        }
        Ok(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_says_what_is_logged() {
        assert_eq!(measure("fl_clat.2.log"), Some("clat"));
        assert_eq!(measure("a_lat.log.gz"), Some("lat"));
        assert_eq!(measure("x_clat_hist.1.log"), Some("clat_hist"));
        assert_eq!(measure("flat.log"), None);
        assert_eq!(measure("oracle.trc"), None);
    }
}
