//! The rows of tables, batch by batch; a fault of a table ends them with an error, also one on which a decoder panics.

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use arrow_array::{ArrayRef, Int32Array, RecordBatch};
use arrow_schema::{ArrowError, DataType};
use parquet::arrow::FieldLevels;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, RowGroups};
use parquet::column::page::PageIterator;
use parquet::errors::Result;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

use super::decoder_panics::caught;
use super::guarded_pages::{Chunk, GuardedPages, OnlyOne};
use super::table_footers::{Table, Tables, reason, refused, regular};

/// Rows at a time: as many as stay in a cache, fewer where each has lists.
const ROWS: usize = 16_384;
const ROWS_WITH_LISTS: usize = 2_048;
/// Bytes of a batch: a list, or a text, has no other bound.
const MOST_BYTES: usize = 256 << 20;

/// All rows of [`Tables`].
pub struct Batches {
    tables: Arc<Tables>,
    table: usize,
    group: usize,
    open: Option<(File, u64, FieldLevels)>,
    rows: Option<ParquetRecordBatchReader>,
    over: bool,
}

impl Batches {
    /// All rows, from the first.
    pub fn new(tables: Arc<Tables>) -> Batches {
        Batches { tables, table: 0, group: 0, open: None, rows: None, over: false }
    }

    fn step(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(rows) = &mut self.rows {
                if let Some(batch) = rows.next() {
                    return self.numbered(&batch?).map(Some);
                }
                self.rows = None;
                self.group += 1;
            }
            let tables = self.tables.clone();
            let Some(table) = tables.tables.get(self.table) else { return Ok(None) };
            if self.group < table.metadata.num_row_groups() {
                self.rows = Some(self.group_of(table)?);
            } else {
                (self.table, self.group, self.open) = (self.table + 1, 0, None);
            }
        }
    }

    fn group_of(&mut self, table: &Table) -> Result<ParquetRecordBatchReader> {
        let opened = match self.open.take() {
            Some(opened) => opened,
            None => {
                let (file, length) = regular(&table.path)?;
                (file, length, table.levels()?)
            }
        };
        let (file, length, levels) = self.open.insert(opened);
        let (metadata, held) = (&table.metadata, Arc::new(AtomicUsize::new(0)));
        let group = OneGroup { file, length: *length, metadata, number: self.group, held };
        let listed =
            table.roots.iter().any(|root| matches!(table.fields[*root].data_type(), DataType::List(_)));
        let at_a_time = if listed { ROWS_WITH_LISTS } else { ROWS };
        ParquetRecordBatchReader::try_new_with_row_groups(levels, &group, at_a_time, None)
    }

    /// With the number of its table, where tables have one.
    fn numbered(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let bytes = batch.get_array_memory_size();
        if bytes > MOST_BYTES {
            return Err(refused(&format!("{} of its rows take {} MiB", batch.num_rows(), bytes >> 20)));
        }
        let number = self.tables.tables[self.table].number;
        let first =
            number.map(|number| Arc::new(Int32Array::from(vec![number; batch.num_rows()])) as ArrayRef);
        let columns = first.into_iter().chain(batch.columns().iter().cloned()).collect();
        Ok(RecordBatch::try_new(self.tables.schema(), columns)?)
    }
}

impl Iterator for Batches {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let step = caught(|| self.step()).and_then(|found| found).transpose();
        self.over = !matches!(step, Some(Ok(_)));
        step.map(|found| found.map_err(|error| ArrowError::ParquetError(reason(&error))))
    }
}

/// One row group of a table, as the decoder asks for it.
struct OneGroup<'a> {
    file: &'a File,
    length: u64,
    metadata: &'a ParquetMetaData,
    number: usize,
    held: Arc<AtomicUsize>,
}

impl RowGroups for OneGroup<'_> {
    fn num_rows(&self) -> usize {
        usize::try_from(self.metadata.row_group(self.number).num_rows()).unwrap_or(0)
    }

    fn column_chunks(&self, column: usize) -> Result<Box<dyn PageIterator>> {
        let (about, rows) = (self.metadata.row_group(self.number).column(column), self.num_rows() as u64);
        let chunk = Chunk::read(self.file, self.length, about)?;
        Ok(Box::new(OnlyOne(Some(GuardedPages::new(chunk, about, rows, self.held.clone())?))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(std::iter::once(self.metadata.row_group(self.number)))
    }

    fn metadata(&self) -> &ParquetMetaData {
        self.metadata
    }
}
