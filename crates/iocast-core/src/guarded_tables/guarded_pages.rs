//! The pages of a column, each measured before it is unpacked.

use std::fs::File;
use std::io::Cursor;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use parquet::errors::Result;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;

use super::table_footers::{refused, unread};
use super::thrift_walk::page_claims;

/// Bytes of a header: those of known writers have some tens.
const MOST_HEADER: usize = 1 << 16;
/// Bytes of a column of a row group in the file.
const MOST_PACKED: u64 = 512 << 20;
/// Bytes of all pages of a row group that are unpacked at a time. DuckDB makes pages of 100 MB at most.
const MOST_UNPACKED: usize = 512 << 20;
/// Values of a column of lists in a row group; every other column has as many as rows.
const MOST_LISTED: u64 = 32_000_000;
const ENCODINGS: [Encoding; 5] = [
    Encoding::PLAIN,
    Encoding::PLAIN_DICTIONARY,
    Encoding::RLE_DICTIONARY,
    Encoding::RLE,
    Encoding::DELTA_BINARY_PACKED,
];

/// The bytes of one column of a row group, at their places in the file.
pub struct Chunk {
    start: u64,
    bytes: Bytes,
}

impl Chunk {
    /// Reads them from a file of `length` bytes.
    pub fn read(file: &File, length: u64, column: &ColumnChunkMetaData) -> Result<Chunk> {
        if !matches!(column.compression(), Compression::ZSTD(_) | Compression::UNCOMPRESSED) {
            return Err(refused(&format!("it is compressed with {}", column.compression())));
        }
        let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
        let (start, size) = (u64::try_from(start).ok(), u64::try_from(column.compressed_size()).ok());
        let place =
            start.zip(size).filter(|(start, size)| start.checked_add(*size).is_some_and(|end| end <= length));
        let Some((start, size)) = place.filter(|(_, size)| *size <= MOST_PACKED) else {
            return Err(refused("a column lies outside of it"));
        };
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
        file.read_exact_at(&mut bytes, start).map_err(unread)?;
        Ok(Chunk { start, bytes: Bytes::from(bytes) })
    }

    fn from(&self, place: u64) -> Result<Bytes> {
        let at = place.checked_sub(self.start).and_then(|at| usize::try_from(at).ok());
        match at {
            Some(at) if at <= self.bytes.len() => Ok(self.bytes.slice(at..)),
            _ => Err(refused("a page lies outside of its column")),
        }
    }
}

impl Length for Chunk {
    fn len(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

impl ChunkReader for Chunk {
    type T = Cursor<Bytes>;

    fn get_read(&self, start: u64) -> Result<Cursor<Bytes>> {
        Ok(Cursor::new(self.from(start)?))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let rest = self.from(start)?;
        if length > rest.len() {
            return Err(refused("a page is longer than its column"));
        }
        Ok(rest.slice(..length))
    }
}

/// The pages of a column of a row group.
pub struct GuardedPages {
    pages: SerializedPageReader<Chunk>,
    chunk: Arc<Chunk>,
    at: u64,
    values_left: u64,
    /// Unpacked bytes of all columns, and what of them is the dictionary and the last page of this one.
    held: Arc<AtomicUsize>,
    dictionary: usize,
    page: usize,
}

impl GuardedPages {
    /// Of a row group with `rows`.
    pub fn new(
        chunk: Chunk,
        column: &ColumnChunkMetaData,
        rows: u64,
        held: Arc<AtomicUsize>,
    ) -> Result<GuardedPages> {
        let values_left = if column.column_descr().max_rep_level() > 0 { MOST_LISTED } else { rows };
        let (at, chunk) = (chunk.start, Arc::new(chunk));
        let pages =
            SerializedPageReader::new(chunk.clone(), column, usize::try_from(rows).unwrap_or(0), None)?;
        Ok(GuardedPages { pages, chunk, at, values_left, held, dictionary: 0, page: 0 })
    }

    /// Looks at the next page before anything is made of it.
    fn admit(&mut self) -> Result<()> {
        let rest = self.chunk.from(self.at)?;
        if rest.is_empty() {
            return Ok(());
        }
        let Some(claims) = page_claims(&rest[..rest.len().min(MOST_HEADER)]) else {
            return Err(refused("the header of a page is damaged"));
        };
        let sizes = (usize::try_from(claims.unpacked), usize::try_from(claims.packed));
        let (Ok(unpacked), Ok(packed)) = sizes else {
            return Err(refused(&format!("a page claims {} bytes", claims.unpacked.min(claims.packed))));
        };
        if packed > rest.len() - claims.header {
            return Err(refused("a page is longer than its column"));
        }
        let former = match claims.kind {
            0 | 3 => &mut self.page,
            2 => &mut self.dictionary,
            _ => return Err(refused("a page is of another kind")),
        };
        self.held.fetch_sub(*former, Ordering::Relaxed);
        *former = 0;
        if unpacked > MOST_UNPACKED.saturating_sub(self.held.load(Ordering::Relaxed)) {
            return Err(refused(&format!("a page claims {unpacked} bytes")));
        }
        *former = unpacked;
        self.held.fetch_add(unpacked, Ordering::Relaxed);
        self.at += (claims.header + packed) as u64;
        Ok(())
    }

    fn count(&mut self, page: &Page) -> Result<()> {
        let values = u64::from(page.num_values());
        if !ENCODINGS.contains(&page.encoding()) {
            return Err(refused(&format!("a page is encoded as {}", page.encoding())));
        }
        if page.is_dictionary_page() {
            // Each takes a byte at least.
            return if values <= page.buffer().len() as u64 { Ok(()) } else { Err(too_many(values)) };
        }
        self.values_left = self.values_left.checked_sub(values).ok_or_else(|| too_many(values))?;
        Ok(())
    }
}

impl Drop for GuardedPages {
    fn drop(&mut self) {
        self.held.fetch_sub(self.dictionary + self.page, Ordering::Relaxed);
    }
}

fn too_many(values: u64) -> parquet::errors::ParquetError {
    refused(&format!("a page claims {values} values"))
}

impl PageReader for GuardedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        self.admit()?;
        let page = self.pages.get_next_page()?;
        if let Some(page) = &page {
            self.count(page)?;
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        Err(refused("no page is skipped"))
    }
}

impl Iterator for GuardedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

/// The pages of a column as the decoder takes them: one row group has one reader of pages.
pub struct OnlyOne(pub Option<GuardedPages>);

impl Iterator for OnlyOne {
    type Item = Result<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(|pages| Ok(Box::new(pages) as Box<dyn PageReader>))
    }
}

impl PageIterator for OnlyOne {}
