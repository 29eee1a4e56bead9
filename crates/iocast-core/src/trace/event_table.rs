//! The event table read back: its rows in batches, and the names behind its numbers.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int16Type, Int64Type, UInt8Type, UInt16Type, UInt32Type};
use arrow_array::{Array, PrimitiveArray, RecordBatch};

use crate::error::{Error, Result};
use crate::guarded_tables::{Batches, Tables, reason};
use crate::trace::event::{Layer, Op, flags};

const COLUMNS: [&str; 10] =
    ["ts_ns", "lat_ns", "op", "offset", "size", "target", "actor", "err", "flags", "layer"];
const OPS: [Op; 7] = [Op::Read, Op::Write, Op::Flush, Op::Datasync, Op::Trim, Op::Meta, Op::Other];

/// What of an event says how to make it again. None is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableRow {
    /// Issue.
    pub ts_ns: Option<i64>,
    /// Service time.
    pub lat_ns: Option<i64>,
    /// What.
    pub op: Op,
    /// Where, in bytes.
    pub offset: Option<i64>,
    /// How much.
    pub size: Option<i64>,
    /// A number of `targets`.
    pub target: Option<u32>,
    /// A number of `actors`.
    pub actor: Option<u32>,
    /// Errno, 0 of success.
    pub err: Option<i16>,
    /// A system call that is not known to be direct: the page cache may have answered it.
    pub may_be_cached: bool,
}

/// An event table that is open.
pub struct EventTable {
    path: String,
    /// Rows.
    pub rows: u64,
    /// Names of devices, files, volumes.
    pub targets: Vec<String>,
    table: Tables,
}

impl EventTable {
    /// Opens it. Fails for a file that is no event table.
    pub fn open(path: &Path) -> Result<EventTable> {
        let path_text = path.display().to_string();
        let columns = COLUMNS.map(String::from);
        let table = Tables::open(&[(None, path.to_path_buf())], Some(&columns));
        let table = table.map_err(|error| refused(&path_text, &reason(&error)))?;
        let targets = table.facts().into_iter().find(|(key, _)| key == "iocast.targets");
        let targets = targets.map(|(_, names)| serde_json::from_str(&names)).transpose();
        let targets: Option<Vec<String>> = targets.map_err(|error| refused(&path_text, &error))?;
        let targets =
            targets.ok_or_else(|| refused(&path_text, &"it has no `iocast.targets` in its metadata"))?;
        Ok(EventTable { path: path_text, rows: table.rows(), targets, table })
    }

    /// Hands over every row, in the order of the table.
    pub fn each(self, take: &mut dyn FnMut(TableRow)) -> Result<()> {
        let path = self.path;
        for batch in Batches::new(Arc::new(self.table)) {
            let batch = batch.map_err(|error| refused(&path, &error))?;
            rows_of(&batch, take)
                .ok_or_else(|| refused(&path, &"a column has another type than in an event table"))?;
        }
        Ok(())
    }
}

fn rows_of(batch: &RecordBatch, take: &mut dyn FnMut(TableRow)) -> Option<()> {
    let times = (column::<Int64Type>(batch, "ts_ns")?, column::<Int64Type>(batch, "lat_ns")?);
    let place = (column::<Int64Type>(batch, "offset")?, column::<Int64Type>(batch, "size")?);
    let names = (column::<UInt32Type>(batch, "target")?, column::<UInt32Type>(batch, "actor")?);
    let (op, err) = (column::<UInt8Type>(batch, "op")?, column::<Int16Type>(batch, "err")?);
    let (flags, layer) = (column::<UInt16Type>(batch, "flags")?, column::<UInt8Type>(batch, "layer")?);
    for row in 0..batch.num_rows() {
        take(TableRow {
            ts_ns: value(times.0, row),
            lat_ns: value(times.1, row),
            op: value(op, row).and_then(|op| OPS.get(usize::from(op)).copied()).unwrap_or(Op::Other),
            offset: value(place.0, row),
            size: value(place.1, row),
            target: value(names.0, row),
            actor: value(names.1, row),
            err: value(err, row),
            may_be_cached: value(layer, row) == Some(Layer::Syscall as u8)
                && value(flags, row).is_none_or(|flags| flags & flags::DIRECT == 0),
        });
    }
    Some(())
}

fn column<'a, T: ArrowPrimitiveType>(batch: &'a RecordBatch, name: &str) -> Option<&'a PrimitiveArray<T>> {
    batch.column_by_name(name)?.as_primitive_opt::<T>()
}

fn value<T: ArrowPrimitiveType>(column: &PrimitiveArray<T>, row: usize) -> Option<T::Native> {
    column.is_valid(row).then(|| column.value(row))
}

fn refused(path: &str, why: &dyn std::fmt::Display) -> Error {
    Error::Trace {
        why: format!("{path} cannot be read as an event table: {why}"),
        hint: "give a trace, or a table that iocast made of one",
    }
}
