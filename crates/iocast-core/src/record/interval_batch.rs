//! A series as an Arrow batch: a row for each interval, operation and size.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder, UInt32Builder, UInt64Builder};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, UInt32Array, UInt64Array};
use arrow_schema::ArrowError;

use super::histogram::Histogram;
use super::interval_row::IntervalRow;

/// The rows of a series as columns; their order and types are those of the published table.
pub fn batch(rows: &[IntervalRow], interval_ns: u64) -> Result<RecordBatch, ArrowError> {
    let mut columns: Vec<(String, ArrayRef)> = Vec::new();
    let mut ops = StringBuilder::new();
    rows.iter().for_each(|row| ops.append_value(row.op.name()));
    let numbers = |get: &dyn Fn(&IntervalRow) -> u64| {
        Arc::new(rows.iter().map(get).collect::<UInt64Array>()) as ArrayRef
    };
    columns.push(("interval".into(), Arc::new(rows.iter().map(|r| r.interval).collect::<UInt32Array>())));
    columns.push(("start_ns".into(), numbers(&|r| u64::from(r.interval) * interval_ns)));
    columns.push(("op".into(), Arc::new(ops.finish())));
    columns.push(("size_bytes".into(), numbers(&|r| r.size_bytes)));
    columns.push(("ios".into(), numbers(&|r| r.service.total())));
    columns.push(("bytes".into(), numbers(&|r| r.bytes)));
    columns.push(("errors".into(), numbers(&|r| r.errors)));
    for (name, pick) in
        [("response", (|r| &r.response) as fn(&IntervalRow) -> &Histogram), ("service", |r| &r.service)]
    {
        let (mut index, mut count) =
            (ListBuilder::new(UInt32Builder::new()), ListBuilder::new(UInt64Builder::new()));
        for histogram in rows.iter().map(pick) {
            index.append_value(histogram.index.iter().copied().map(Some));
            count.append_value(histogram.count.iter().copied().map(Some));
        }
        columns.push((format!("{name}_index"), Arc::new(index.finish())));
        columns.push((format!("{name}_count"), Arc::new(count.finish())));
        columns.push((format!("{name}_sum_ns"), numbers(&|r| pick(r).sum_ns)));
        let squares = rows.iter().map(|r| pick(r).sum_squares).collect::<Float64Array>();
        columns.push((format!("{name}_sum_squares"), Arc::new(squares)));
        columns.push((format!("{name}_min_ns"), numbers(&|r| pick(r).min_ns)));
        columns.push((format!("{name}_max_ns"), numbers(&|r| pick(r).max_ns)));
    }
    RecordBatch::try_from_iter(columns)
}
