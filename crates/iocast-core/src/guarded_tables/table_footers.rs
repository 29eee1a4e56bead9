//! Tables by their footers: opened, measured, and what of them is read.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::{FieldLevels, parquet_to_arrow_field_levels, parquet_to_arrow_schema};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use super::decoder_panics::caught;
use super::thrift_walk::is_sound;

/// Bytes of a footer: the names of a trace's targets are in it.
const MOST_FOOTER: u64 = 64 << 20;
const MAGIC: &[u8; 4] = b"PAR1";
/// The column that says which table a row is of.
const NUMBER: &str = "phase";

/// Tables of one schema, one after the other.
pub struct Tables {
    pub(super) tables: Vec<Table>,
    pub(super) schema: SchemaRef,
}

/// One of them, of which the footer was read.
pub(super) struct Table {
    pub(super) path: PathBuf,
    pub(super) number: Option<i32>,
    pub(super) metadata: Arc<ParquetMetaData>,
    /// Positions of the columns that are read.
    pub(super) roots: Vec<usize>,
    /// With strings as views, which share the bytes of a dictionary.
    pub(super) fields: Fields,
}

impl Tables {
    /// Reads their footers. `columns`: those that are read, without them all of known types; `number`s become the first column, `phase`.
    pub fn open(tables: &[(Option<i32>, PathBuf)], columns: Option<&[String]>) -> Result<Tables> {
        let opened = caught(|| {
            tables
                .iter()
                .map(|(number, path)| Table::open(path, *number, columns))
                .collect::<Result<Vec<_>>>()
        })??;
        let schema = opened.first().map_or_else(Schema::empty, |first| first.schema());
        if opened.iter().any(|table| table.schema() != schema) {
            return Err(refused("its columns are not those of the other tables"));
        }
        Ok(Tables { tables: opened, schema: Arc::new(schema) })
    }

    /// Rows, as the footers say; no more than these are read.
    pub fn rows(&self) -> u64 {
        self.tables.iter().map(Table::rows).fold(0, u64::saturating_add)
    }

    /// What the first table says of itself: keys and values.
    pub fn facts(&self) -> Vec<(String, String)> {
        let said = self.tables.first().and_then(|first| first.metadata.file_metadata().key_value_metadata());
        let facts = said.into_iter().flatten();
        facts.map(|fact| (fact.key.clone(), fact.value.clone().unwrap_or_default())).collect()
    }

    /// The columns that are read.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

impl Table {
    pub(super) fn open(path: &Path, number: Option<i32>, columns: Option<&[String]>) -> Result<Table> {
        let (file, length) = regular(path)?;
        let metadata = footer(&file, length)?;
        let known = parquet_to_arrow_schema(metadata.file_metadata().schema_descr(), None)?;
        let kind = |root: &usize| known.field(*root).data_type();
        let mut roots = match columns {
            None => (0..known.fields().len()).filter(|root| readable(kind(root))).collect(),
            Some(names) => names
                .iter()
                .map(|name| known.index_of(name).map_err(|_| refused(&format!("it has no column `{name}`"))))
                .collect::<Result<Vec<_>>>()?,
        };
        roots.sort_unstable();
        roots.dedup();
        if let Some(other) = roots.iter().find(|root| !readable(kind(root))) {
            let name = known.field(*other).name();
            return Err(refused(&format!("the column `{name}` has another type")));
        }
        let fields = known.fields().iter().map(|field| Arc::new(viewed(field))).collect();
        Ok(Table { path: path.to_path_buf(), number, metadata: Arc::new(metadata), roots, fields })
    }

    /// Of its row groups, not what the footer says of all: the groups are what is read.
    pub(super) fn rows(&self) -> u64 {
        let groups = self.metadata.row_groups().iter();
        groups.map(|group| u64::try_from(group.num_rows()).unwrap_or(u64::MAX)).fold(0, u64::saturating_add)
    }

    pub(super) fn schema(&self) -> Schema {
        let number = self.number.map(|_| Field::new(NUMBER, DataType::Int32, false));
        let read = self.roots.iter().map(|root| self.fields[*root].as_ref().clone());
        Schema::new(number.into_iter().chain(read).collect::<Vec<_>>())
    }

    /// What the decoder is told of the columns that are read.
    pub(super) fn levels(&self) -> Result<FieldLevels> {
        let schema = self.metadata.file_metadata().schema_descr();
        let mask = ProjectionMask::roots(schema, self.roots.iter().copied());
        parquet_to_arrow_field_levels(schema, mask, Some(&self.fields))
    }
}

/// Opens what is a regular file; nothing else of that name is waited for.
pub(crate) fn regular(path: &Path) -> Result<(File, u64)> {
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(unread)?;
    let about = file.metadata().map_err(unread)?;
    if about.is_file() { Ok((file, about.len())) } else { Err(refused("it is not a regular file")) }
}

fn footer(file: &File, length: u64) -> Result<ParquetMetaData> {
    let mut end = [0; 8];
    let Some(before) = length.checked_sub(12) else { return Err(refused("it is too short for a table")) };
    file.read_exact_at(&mut end, before + 4).map_err(unread)?;
    let size = u64::from(u32::from_le_bytes([end[0], end[1], end[2], end[3]]));
    if end[4..] != *MAGIC {
        return Err(refused("it does not end as a Parquet file"));
    }
    if size > before || size > MOST_FOOTER {
        return Err(refused(&format!("its footer claims {size} bytes")));
    }
    let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
    file.read_exact_at(&mut bytes, length - 8 - size).map_err(unread)?;
    if !is_sound(&bytes) {
        return Err(refused("its footer is damaged"));
    }
    ParquetMetaDataReader::decode_metadata(&bytes)
}

/// What iocast's tables are made of.
fn readable(kind: &DataType) -> bool {
    match kind {
        DataType::List(item) => is_plain(item.data_type()),
        plain => is_plain(plain),
    }
}

fn is_plain(kind: &DataType) -> bool {
    kind.is_integer()
        || matches!(kind, DataType::Float32 | DataType::Float64 | DataType::Utf8 | DataType::Boolean)
}

fn viewed(field: &Field) -> Field {
    let kind = match field.data_type() {
        DataType::Utf8 => DataType::Utf8View,
        DataType::List(item) => DataType::List(Arc::new(viewed(item))),
        other => other.clone(),
    };
    field.clone().with_data_type(kind)
}

pub(crate) fn refused(why: &str) -> ParquetError {
    ParquetError::General(why.to_string())
}

pub(super) fn unread(error: io::Error) -> ParquetError {
    ParquetError::General(error.to_string())
}

/// An error as people read it, without the names of its kinds.
pub fn reason(error: &ParquetError) -> String {
    let text = error.to_string();
    let mut rest = text.as_str();
    while let Some(inner) = ["Parquet error: ", "Parquet argument error: ", "Arrow: "]
        .iter()
        .find_map(|kind| rest.strip_prefix(kind))
    {
        rest = inner;
    }
    rest.to_string()
}
