//! The events of a trace as Arrow columns, and the names that two of them are numbers of.

use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Int16Type, Int64Type, UInt8Type, UInt16Type, UInt32Type};
use arrow_array::{ArrayRef, PrimitiveArray, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use crate::error::{self, Error};
use crate::trace::call_rows::CallRows;
use crate::trace::event::{Event, Op};
use crate::trace::names::Names;

/// Rows collected before they are handed on: their columns stay in the cache of a core.
pub const BATCH_ROWS: usize = 8_192;
/// The columns of the event table, in order.
pub fn schema() -> SchemaRef {
    let column = |name: &str, kind: DataType, nullable| Field::new(name, kind, nullable);
    Arc::new(Schema::new(vec![
        column("ts_ns", DataType::Int64, true),
        column("lat_ns", DataType::Int64, true),
        column("queue_ns", DataType::Int64, true),
        column("op", DataType::UInt8, false),
        column("offset", DataType::Int64, true),
        column("size", DataType::Int64, true),
        column("target", DataType::UInt32, true),
        column("actor", DataType::UInt32, true),
        column("flags", DataType::UInt16, false),
        column("layer", DataType::UInt8, false),
        column("err", DataType::Int16, true),
        column("source", DataType::UInt32, false),
        column("src_line", DataType::UInt32, true),
    ]))
}

/// Events on their way into a table.
#[derive(Debug, Default)]
pub struct Rows {
    /// Devices, files, volumes.
    pub targets: Names,
    /// Processes, sessions, cursors.
    pub actors: Names,
    /// The number of the file that is read.
    pub source: u32,
    /// Events of this file so far.
    pub events: u64,
    /// The calls of databases, where they are wanted.
    pub calls: Option<CallRows>,
    /// Which values of a row are known: a bit for each column that may be NULL.
    known: Vec<u16>,
    times: [Vec<i64>; 3],
    op: Vec<u8>,
    place: [Vec<i64>; 2],
    names: [Vec<u32>; 2],
    flags: Vec<u16>,
    layer: Vec<u8>,
    err: Vec<i16>,
    origin: [Vec<u32>; 2],
}

impl Rows {
    /// One more event.
    #[inline]
    pub fn push(&mut self, event: &Event) {
        let line = u32::try_from(event.src_line).ok();
        let known = [
            event.ts_ns.is_some(),
            event.lat_ns.is_some(),
            event.queue_ns.is_some(),
            event.offset.is_some(),
            event.size.is_some(),
            event.target.is_some(),
            event.actor.is_some(),
            event.err.is_some(),
            line.is_some(),
        ];
        self.known.push(known.iter().enumerate().fold(0, |all, (bit, known)| all | u16::from(*known) << bit));
        self.times[0].push(event.ts_ns.unwrap_or(0));
        self.times[1].push(event.lat_ns.unwrap_or(0));
        self.times[2].push(event.queue_ns.unwrap_or(0));
        self.op.push(event.op as u8);
        self.place[0].push(event.offset.unwrap_or(0));
        self.place[1].push(event.size.unwrap_or(0));
        self.names[0].push(event.target.unwrap_or(0));
        self.names[1].push(event.actor.unwrap_or(0));
        self.flags.push(event.flags);
        self.layer.push(event.layer as u8);
        self.err.push(event.err.unwrap_or(0));
        self.origin[0].push(self.source);
        self.origin[1].push(line.unwrap_or(0));
        self.events += 1;
    }

    /// Whether there are enough to hand on.
    #[inline]
    pub fn full(&self) -> bool {
        self.known.len() >= BATCH_ROWS || self.calls.as_ref().is_some_and(|calls| calls.held() >= BATCH_ROWS)
    }

    /// What was collected, taken out.
    pub fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        let known = Known::of(emptied(&mut self.known));
        let [ts, lat, queue] = &mut self.times;
        let [offset, size] = &mut self.place;
        let [target, actor] = &mut self.names;
        let [source, line] = &mut self.origin;
        RecordBatch::try_new(
            schema(),
            vec![
                known.column::<Int64Type>(0, ts),
                known.column::<Int64Type>(1, lat),
                known.column::<Int64Type>(2, queue),
                whole::<UInt8Type>(&mut self.op),
                known.column::<Int64Type>(3, offset),
                known.column::<Int64Type>(4, size),
                known.column::<UInt32Type>(5, target),
                known.column::<UInt32Type>(6, actor),
                whole::<UInt16Type>(&mut self.flags),
                whole::<UInt8Type>(&mut self.layer),
                known.column::<Int16Type>(7, &mut self.err),
                whole::<UInt32Type>(source),
                known.column::<UInt32Type>(8, line),
            ],
        )
    }

    /// Rows that were not taken yet.
    pub fn held(&self) -> usize {
        self.known.len()
    }
}

/// Which values of the collected rows are known, and the bits that are the same in all rows.
struct Known {
    rows: Vec<u16>,
    by_all: u16,
    by_any: u16,
}

impl Known {
    fn of(rows: Vec<u16>) -> Known {
        let by_all = rows.iter().fold(u16::MAX, |all, row| all & row);
        let by_any = rows.iter().fold(0, |any, row| any | row);
        Known { rows, by_all, by_any }
    }

    /// The column whose values are known where this bit is set.
    fn column<T: ArrowPrimitiveType>(&self, bit: u32, values: &mut Vec<T::Native>) -> ArrayRef {
        let mask = 1 << bit;
        if self.by_all & mask != 0 {
            return whole::<T>(values);
        }
        if self.by_any & mask == 0 {
            values.clear();
            return Arc::new(PrimitiveArray::<T>::new_null(self.rows.len()));
        }
        let known: Vec<bool> = self.rows.iter().map(|row| row & mask != 0).collect();
        Arc::new(PrimitiveArray::<T>::new(emptied(values).into(), Some(known.into())))
    }
}

fn whole<T: ArrowPrimitiveType>(values: &mut Vec<T::Native>) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(emptied(values).into(), None))
}

/// What is in it; room for as much again stays.
fn emptied<T>(values: &mut Vec<T>) -> Vec<T> {
    let room = Vec::with_capacity(values.len());
    std::mem::replace(values, room)
}

/// Whether an operation moves data, so that it has an offset and a size.
pub fn has_extent(op: Op) -> bool {
    matches!(op, Op::Read | Op::Write | Op::Trim)
}

/// Which table a batch belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// One row an I/O.
    Events,
    /// One row a call or wait of a database.
    Calls,
}

/// Where batches of rows go.
pub type Taker<'a> = dyn FnMut(Table, &RecordBatch) -> error::Result<()> + 'a;

/// Hands on what was collected.
pub fn hand_on(rows: &mut Rows, taker: &mut Taker<'_>) -> error::Result<()> {
    let fault =
        |error: ArrowError| Error::Trace { why: error.to_string(), hint: "this is a fault of iocast" };
    let mut batches = Vec::new();
    if rows.held() > 0 {
        batches.push((Table::Events, rows.take().map_err(fault)?));
    }
    if let Some(calls) = &mut rows.calls
        && calls.held() > 0
    {
        batches.push((Table::Calls, calls.take().map_err(fault)?));
    }
    for (table, batch) in batches {
        for start in (0..batch.num_rows()).step_by(BATCH_ROWS) {
            taker(table, &batch.slice(start, BATCH_ROWS.min(batch.num_rows() - start)))?;
        }
    }
    Ok(())
}
