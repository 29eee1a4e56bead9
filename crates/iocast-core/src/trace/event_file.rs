//! The event table as a Parquet file: row groups of bounded size, and what the columns mean as metadata.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use crate::trace::columns::schema;

/// Rows of a row group: what is held in memory, compressed.
const GROUP_ROWS: usize = 1 << 20;

/// An event table being written. It has its name only when it is whole.
pub struct EventFile {
    path: PathBuf,
    part: PathBuf,
    writer: Option<ArrowWriter<File>>,
}

impl EventFile {
    /// A new file; an older one of that name stays until `finish`.
    pub fn create(path: &Path) -> Result<EventFile, ParquetError> {
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".part-{}", std::process::id()));
        let part = path.with_file_name(name);
        let file = File::create(&part)?;
        let writer = ArrowWriter::try_new(file, schema(), Some(properties()?))?;
        Ok(EventFile { path: path.to_path_buf(), part, writer: Some(writer) })
    }

    /// More rows.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), ParquetError> {
        match &mut self.writer {
            Some(writer) => writer.write(batch),
            None => Ok(()),
        }
    }

    /// The file under its name, with these facts in its metadata.
    pub fn finish(mut self, facts: Vec<(String, String)>) -> Result<(), ParquetError> {
        if let Some(mut writer) = self.writer.take() {
            for (key, value) in facts {
                writer.append_key_value_metadata(KeyValue::new(format!("iocast.{key}"), value));
            }
            writer.close()?;
            fs::rename(&self.part, &self.path)?;
        }
        Ok(())
    }
}

impl Drop for EventFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.part);
    }
}

fn properties() -> Result<WriterProperties, ParquetError> {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_statistics_enabled(EnabledStatistics::Chunk);
    for name in ["ts_ns", "lat_ns", "queue_ns", "offset", "src_line"] {
        properties = properties
            .set_column_dictionary_enabled(ColumnPath::from(name), false)
            .set_column_encoding(ColumnPath::from(name), Encoding::DELTA_BINARY_PACKED);
    }
    Ok(properties.build())
}
