//! The rows of an event table, read in batches: what the mathematics of a profile needs of them.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt8Type, UInt16Type, UInt32Type};
use arrow_array::{Array, PrimitiveArray, RecordBatch};

use crate::error::{Error, Result};
use crate::guarded_tables::{Batches, Tables, reason};

const COLUMNS: [&str; 8] = ["ts_ns", "lat_ns", "op", "offset", "size", "target", "actor", "flags"];
/// The number of a target, or an actor, that has no name.
pub const UNNAMED: u32 = u32::MAX;

/// One row. None is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRow {
    /// Time of issue.
    pub ts_ns: Option<i64>,
    /// Service time; a negative one is none.
    pub lat_ns: Option<i64>,
    /// The number of the operation (trace/event.rs).
    pub op: u8,
    /// First byte.
    pub offset: Option<i64>,
    /// Bytes.
    pub size: Option<i64>,
    /// Device or file, [`UNNAMED`] where it is unknown.
    pub target: u32,
    /// Process or cursor, [`UNNAMED`] where it is unknown.
    pub actor: u32,
    /// Bits of trace/event.rs.
    pub flags: u16,
}

/// A request that is larger is a fault of its trace: no tool makes one, and its blocks would be countless.
pub const MOST_BYTES: i64 = 1 << 30;
/// `read`, as the column `op` has it.
pub const READ: u8 = 0;
/// `write`, as the column `op` has it.
pub const WRITE: u8 = 1;

impl EventRow {
    /// Whether it moves data.
    pub fn moves_data(&self) -> bool {
        self.op == READ || self.op == WRITE
    }

    /// First byte and length of a read or write whose place is known; none of one larger than [`MOST_BYTES`].
    pub fn extent(&self) -> Option<(i64, i64)> {
        match (self.moves_data(), self.offset, self.size) {
            (true, Some(offset), Some(size)) if offset >= 0 && (1..=MOST_BYTES).contains(&size) => {
                Some((offset, size))
            }
            _ => None,
        }
    }
}

/// Hands over every row of the table at `path`, in order.
pub fn for_each_row(path: &Path, mut take: impl FnMut(&EventRow) -> Result<()>) -> Result<()> {
    let refused = |why: String| Error::Trace {
        why: format!("{}: {why}", path.display()),
        hint: "give an event table that `iocast profile` wrote",
    };
    let columns = COLUMNS.map(String::from);
    let table = Tables::open(&[(None, path.to_path_buf())], Some(&columns));
    let batches = Batches::new(Arc::new(table.map_err(|error| refused(reason(&error)))?));
    for batch in batches {
        let batch = batch.map_err(|error| refused(error.to_string()))?;
        let columns = Columns::of(&batch).ok_or_else(|| refused("a column of events is missing".into()))?;
        for at in 0..batch.num_rows() {
            take(&columns.row(at))?;
        }
    }
    Ok(())
}

struct Columns<'a> {
    ts: &'a PrimitiveArray<Int64Type>,
    lat: &'a PrimitiveArray<Int64Type>,
    op: &'a PrimitiveArray<UInt8Type>,
    offset: &'a PrimitiveArray<Int64Type>,
    size: &'a PrimitiveArray<Int64Type>,
    target: &'a PrimitiveArray<UInt32Type>,
    actor: &'a PrimitiveArray<UInt32Type>,
    flags: &'a PrimitiveArray<UInt16Type>,
}

impl<'a> Columns<'a> {
    fn of(batch: &'a RecordBatch) -> Option<Columns<'a>> {
        let column = |name: &str| batch.column_by_name(name);
        Some(Columns {
            ts: column("ts_ns")?.as_primitive_opt()?,
            lat: column("lat_ns")?.as_primitive_opt()?,
            op: column("op")?.as_primitive_opt()?,
            offset: column("offset")?.as_primitive_opt()?,
            size: column("size")?.as_primitive_opt()?,
            target: column("target")?.as_primitive_opt()?,
            actor: column("actor")?.as_primitive_opt()?,
            flags: column("flags")?.as_primitive_opt()?,
        })
    }

    fn row(&self, at: usize) -> EventRow {
        let number = |array: &PrimitiveArray<Int64Type>| array.is_valid(at).then(|| array.value(at));
        let name =
            |array: &PrimitiveArray<UInt32Type>| if array.is_valid(at) { array.value(at) } else { UNNAMED };
        EventRow {
            ts_ns: number(self.ts),
            lat_ns: number(self.lat).filter(|lat| *lat >= 0),
            op: self.op.value(at),
            offset: number(self.offset),
            size: number(self.size),
            target: name(self.target),
            actor: name(self.actor),
            flags: self.flags.value(at),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A row of the tests: a read or write of an unnamed session.
    pub fn row(ts_ns: i64, op: u8, offset: i64, size: i64) -> EventRow {
        EventRow {
            ts_ns: Some(ts_ns),
            lat_ns: None,
            op,
            offset: Some(offset),
            size: Some(size),
            target: 0,
            actor: 0,
            flags: 0,
        }
    }

    #[test]
    fn a_request_of_a_terabyte_has_no_place() {
        assert_eq!(row(0, READ, 0, MOST_BYTES).extent(), Some((0, MOST_BYTES)));
        assert_eq!(row(0, READ, 0, 1 << 40).extent(), None);
        assert_eq!(row(0, 4, 0, 4096).extent(), None);
    }
}
