//! Which field of a line is what, in which unit: what a format of text tables, or the person who has one, says.

use serde::Deserialize;

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Seconds.
    S,
    /// Milliseconds.
    Ms,
    /// Microseconds.
    Us,
    /// Steps of 100 ns.
    #[serde(rename = "100ns")]
    HundredNs,
    /// Nanoseconds.
    Ns,
    /// Steps of 100 ns since 1601 (Windows).
    Filetime,
    /// s, ms, us or ns since 1970: the number of digits says which.
    Unix,
}

impl Unit {
    /// How long one is.
    pub fn ns(self) -> i64 {
        match self {
            Unit::S => 1_000_000_000,
            Unit::Ms => 1_000_000,
            Unit::Us => 1_000,
            Unit::HundredNs | Unit::Filetime => 100,
            Unit::Ns | Unit::Unix => 1,
        }
    }
}

/// What stands between fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Separator {
    /// One comma.
    Comma,
    /// One semicolon.
    Semicolon,
    /// One tab.
    Tab,
    /// Any number of blanks and tabs.
    Blanks,
}

/// How a field says the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpCode {
    /// R, W, read, write in any case; empty is another operation.
    Words,
    /// 0 is a read, 1 a write.
    ZeroReads,
    /// 0 is a write, 1 a read.
    ZeroWrites,
    /// An odd number is a read (bit 0, as DiskSim has it).
    OddReads,
    /// The SCSI command in hex: 28, 2a, 88, 8a, ...
    Scsi,
}

/// Which field is what; fields count from 0.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Map {
    /// What stands between fields.
    pub separator: Separator,
    /// Fields of a line, at least.
    pub fields_at_least: usize,
    /// Fields of a line, at most.
    pub fields_at_most: usize,
    /// Time of issue, and its unit; None where a line has none.
    pub time: Option<(usize, Unit)>,
    /// Whether times count from 1970.
    #[serde(default)]
    pub unix: bool,
    /// Where the I/O begins, and bytes of a unit.
    pub offset: (usize, i64),
    /// How long it is, and bytes of a unit.
    pub size: (usize, i64),
    /// What it is.
    pub op: (usize, OpCode),
    /// Fields that name the target: first and last.
    pub target: Option<(usize, usize)>,
    /// How long it took, and the unit.
    pub latency: Option<(usize, Unit)>,
    /// A heading: the first line when its first field is this.
    pub heading: Option<String>,
}
