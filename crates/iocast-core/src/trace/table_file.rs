//! A table as a Parquet file: row groups of bounded size, made wherever there is a thread for it, and metadata.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves,
};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;

/// Rows of a row group: what is held in memory, compressed.
const GROUP_ROWS: usize = 1 << 20;

/// A table being written. Who asked for it gives it its name when it is whole.
pub struct TableFile {
    writer: SerializedFileWriter<File>,
    groups: Groups,
}

/// What row groups of a table are made by; a copy for each thread.
#[derive(Clone)]
pub struct Groups {
    schema: SchemaRef,
    factory: Arc<ArrowRowGroupWriterFactory>,
}

/// A row group that is complete.
pub struct Group(Vec<ArrowColumnChunk>);

/// A row group in the making.
pub struct GroupMaker {
    groups: Groups,
    columns: Vec<ArrowColumnWriter>,
    rows: usize,
}

impl TableFile {
    /// Writes into a file that the caller made, by the path of its descriptor, or into a new one; what has the name
    /// already is neither written to nor followed.
    pub fn create(path: &Path, schema: SchemaRef) -> Result<TableFile, ParquetError> {
        let file = opened(path)?;
        let properties = properties(&schema)?;
        let writer = ArrowWriter::try_new(file, schema.clone(), Some(properties))?;
        let (writer, factory) = writer.into_serialized_writer()?;
        let groups = Groups { schema, factory: Arc::new(factory) };
        Ok(TableFile { writer, groups })
    }

    /// What makes its row groups.
    pub fn groups(&self) -> Groups {
        self.groups.clone()
    }

    /// The next row group.
    pub fn append(&mut self, group: Group) -> Result<(), ParquetError> {
        let mut next = self.writer.next_row_group()?;
        for chunk in group.0 {
            chunk.append_to_row_group(&mut next)?;
        }
        next.close().map(drop)
    }

    /// The whole file, with these facts in its metadata.
    pub fn finish(mut self, facts: Vec<(String, String)>) -> Result<(), ParquetError> {
        for (key, value) in facts {
            self.writer.append_key_value_metadata(KeyValue::new(format!("iocast.{key}"), value));
        }
        self.writer.finish().map(drop)
    }
}

/// By the descriptor that the path names, or a file that was not there.
fn opened(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true);
    if is_descriptor(path) {
        options.truncate(true).open(path)
    } else {
        options.create_new(true).custom_flags(libc::O_NOFOLLOW).open(path)
    }
}

/// Whether a path is `/proc/PID/fd/N`, whose last part the kernel resolves to an open file.
fn is_descriptor(path: &Path) -> bool {
    let parts: Vec<&str> = path.to_str().unwrap_or_default().split('/').collect();
    let number = |text: &str| text.parse::<u32>().is_ok();
    matches!(parts[..], ["", "proc", process, "fd", descriptor] if (process == "self" || number(process)) && number(descriptor))
}

impl Groups {
    /// An empty row group.
    pub fn maker(&self) -> GroupMaker {
        GroupMaker { groups: self.clone(), columns: Vec::new(), rows: 0 }
    }
}

impl GroupMaker {
    /// More rows; the group, if it is full with them.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<Option<Group>, ParquetError> {
        if self.columns.is_empty() {
            self.columns = self.groups.factory.create_column_writers(0)?;
        }
        let mut columns = self.columns.iter_mut();
        for (field, array) in self.groups.schema.fields().iter().zip(batch.columns()) {
            for leaf in compute_leaves(field.as_ref(), array)? {
                if let Some(column) = columns.next() {
                    column.write(&leaf)?;
                }
            }
        }
        self.rows += batch.num_rows();
        if self.rows >= GROUP_ROWS { self.finish() } else { Ok(None) }
    }

    /// The group, if there are rows in it.
    pub fn finish(&mut self) -> Result<Option<Group>, ParquetError> {
        self.rows = 0;
        let columns = std::mem::take(&mut self.columns);
        if columns.is_empty() {
            return Ok(None);
        }
        let chunks: Result<Vec<_>, _> = columns.into_iter().map(ArrowColumnWriter::close).collect();
        Ok(Some(Group(chunks?)))
    }
}

fn properties(schema: &SchemaRef) -> Result<WriterProperties, ParquetError> {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_statistics_enabled(EnabledStatistics::Chunk);
    for name in ["ts_ns", "lat_ns", "queue_ns", "offset", "src_line", "start_ns", "elapsed_ns", "cpu_ns"] {
        if schema.column_with_name(name).is_some() {
            properties = properties
                .set_column_dictionary_enabled(ColumnPath::from(name), false)
                .set_column_encoding(ColumnPath::from(name), Encoding::DELTA_BINARY_PACKED);
        }
    }
    Ok(properties.build())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::trace::columns::schema;

    #[test]
    fn what_has_the_name_is_not_written_to() {
        let room = tempfile::tempdir().unwrap();
        let (theirs, link) = (room.path().join("theirs"), room.path().join("link"));
        fs::write(&theirs, "theirs").unwrap();
        symlink(&theirs, &link).unwrap();
        assert!(TableFile::create(&theirs, schema()).is_err());
        assert!(TableFile::create(&link, schema()).is_err());
        assert!(TableFile::create(&room.path().join("fd/7"), schema()).is_err());
        assert_eq!(fs::read_to_string(&theirs).unwrap(), "theirs");
    }

    #[test]
    fn a_descriptor_is_written_to() {
        let file = tempfile::tempfile().unwrap();
        let place = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
        TableFile::create(Path::new(&place), schema()).unwrap().finish(Vec::new()).unwrap();
        assert!(file.metadata().unwrap().len() > 0);
    }
}
