//! Rows of a series on disk, in a file without a name: it is gone when its process is.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::Arc;

use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;

use super::interval_batch::batch;
use super::interval_row::IntervalRow;

/// Rows of a batch: some MiB.
const BATCH_ROWS: usize = 2048;

/// Takes rows, and writes them down as an Arrow stream.
pub struct Spool {
    directory: Option<PathBuf>,
    interval_ns: u64,
    writer: Option<StreamWriter<BufWriter<File>>>,
    rows: usize,
}

/// What was written down.
#[derive(Clone, Debug)]
pub struct Spooled {
    file: Arc<File>,
    rows: usize,
}

impl Spool {
    /// Without a directory it takes nothing.
    pub fn new(directory: Option<PathBuf>, interval_ns: u64) -> Spool {
        Spool { directory, interval_ns, writer: None, rows: 0 }
    }

    /// Writes rows down. Gives back those that it could not; after that it takes none any more.
    pub fn append(&mut self, mut rows: Vec<IntervalRow>) -> Result<(), Vec<IntervalRow>> {
        while !rows.is_empty() && self.directory.is_some() {
            let piece = rows.len().min(BATCH_ROWS);
            if self.write(&rows[..piece]).is_err() {
                // What is whole in the file stays readable: a stream ends where nothing more can be read.
                self.directory = None;
                break;
            }
            rows.drain(..piece);
            self.rows += piece;
        }
        if rows.is_empty() { Ok(()) } else { Err(rows) }
    }

    fn write(&mut self, rows: &[IntervalRow]) -> io::Result<()> {
        let batch = batch(rows, self.interval_ns).map_err(io::Error::other)?;
        if self.writer.is_none() {
            let directory = self.directory.as_deref().ok_or(io::ErrorKind::NotFound)?;
            let unnamed = OpenOptions::new()
                .read(true)
                .write(true)
                .custom_flags(libc::O_TMPFILE | libc::O_CLOEXEC)
                .mode(0o600)
                .open(directory)?;
            let writer =
                StreamWriter::try_new_buffered(unnamed, &batch.schema()).map_err(io::Error::other)?;
            self.writer = Some(writer);
        }
        let writer = self.writer.as_mut().ok_or(io::ErrorKind::NotFound)?;
        writer.write(&batch).and_then(|()| writer.flush()).map_err(io::Error::other)
    }

    /// All that was written down; `None` where nothing was.
    pub fn finish(self) -> Option<Spooled> {
        let file = self.writer?.into_inner().ok()?.into_inner().ok()?;
        Some(Spooled { file: Arc::new(file), rows: self.rows })
    }
}

impl Spooled {
    /// How many rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The batches, from the first on; several may read at the same time.
    pub fn read(
        &self,
    ) -> Result<StreamReader<BufReader<impl Read + Send + 'static>>, arrow_schema::ArrowError> {
        StreamReader::try_new_buffered(FromStart { file: Arc::clone(&self.file), at: 0 }, None)
    }
}

/// Reads a file from its start, wherever others read it.
struct FromStart {
    file: Arc<File>,
    at: u64,
}

impl Read for FromStart {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read_at(into, self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}
