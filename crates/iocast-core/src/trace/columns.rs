//! The events of a trace as Arrow columns, and the names that two of them are numbers of.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::builder::{Int16Builder, Int64Builder, UInt8Builder, UInt16Builder, UInt32Builder};
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
    held: usize,
    times: [Int64Builder; 3],
    op: UInt8Builder,
    place: [Int64Builder; 2],
    names: [UInt32Builder; 2],
    flags: UInt16Builder,
    layer: UInt8Builder,
    err: Int16Builder,
    origin: [UInt32Builder; 2],
}

impl Rows {
    /// One more event.
    pub fn push(&mut self, event: &Event) {
        self.times[0].append_option(event.ts_ns);
        self.times[1].append_option(event.lat_ns);
        self.times[2].append_option(event.queue_ns);
        self.op.append_value(event.op as u8);
        self.place[0].append_option(event.offset);
        self.place[1].append_option(event.size);
        self.names[0].append_option(event.target);
        self.names[1].append_option(event.actor);
        self.flags.append_value(event.flags);
        self.layer.append_value(event.layer as u8);
        self.err.append_option(event.err);
        self.origin[0].append_value(self.source);
        self.origin[1].append_option(u32::try_from(event.src_line).ok());
        self.held += 1;
        self.events += 1;
    }

    /// Whether there are enough to hand on.
    pub fn full(&self) -> bool {
        self.held >= BATCH_ROWS || self.calls.as_ref().is_some_and(|calls| calls.held() >= BATCH_ROWS)
    }

    /// What was collected, taken out.
    pub fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        self.held = 0;
        let [ts, lat, queue] = &mut self.times;
        let [offset, size] = &mut self.place;
        let [target, actor] = &mut self.names;
        let [source, line] = &mut self.origin;
        RecordBatch::try_new(
            schema(),
            vec![
                Arc::new(ts.finish()),
                Arc::new(lat.finish()),
                Arc::new(queue.finish()),
                Arc::new(self.op.finish()),
                Arc::new(offset.finish()),
                Arc::new(size.finish()),
                Arc::new(target.finish()),
                Arc::new(actor.finish()),
                Arc::new(self.flags.finish()),
                Arc::new(self.layer.finish()),
                Arc::new(self.err.finish()),
                Arc::new(source.finish()),
                Arc::new(line.finish()),
            ],
        )
    }

    /// Rows that were not taken yet.
    pub fn held(&self) -> usize {
        self.held
    }
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
