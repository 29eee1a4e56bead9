//! All ways of copying, by the names that a plan and a result give them.

use serde::{Deserialize, Serialize};

use super::by_calls;
use super::by_ring;
use super::way::{End, PIECE_BYTES, PIECES, WINDOW_BYTES, Way};
use crate::error::Result;
use crate::workload::buffers::Buffers;

/// A way of copying.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// The source is mapped 8 MiB by 8 MiB and written from the mapping, as cp8M does.
    MmapWindow,
    /// read and write of 8 MiB.
    ReadWriteLarge,
    /// read and write of st_blksize.
    ReadWriteBlock,
    /// copy_file_range: the file system may share blocks, the storage may copy.
    CopyFileRange,
    /// sendfile.
    Sendfile,
    /// splice through a pipe of 1 MiB.
    Splice,
    /// read and write of 8 MiB past the page cache.
    Direct,
    /// 8 outstanding I/Os of 1 MiB: a piece is written as soon as it is read.
    UringBuffered,
    /// The same past the page cache.
    UringDirect,
    /// FICLONE: the copy shares all blocks of its source.
    Reflink,
}

/// What a way needs, made before the clock runs.
pub enum Tool {
    /// Nothing.
    Bare(fn(&mut Way) -> std::result::Result<(), End>),
    /// One buffer of so many bytes.
    Buffer(Buffers, usize, bool),
    /// A buffer for each piece.
    Pieces(Buffers, bool),
}

impl Method {
    /// Gets the memory that it needs.
    pub fn prepare(self, block_bytes: usize) -> Result<Tool> {
        Ok(match self {
            Method::MmapWindow => Tool::Bare(by_calls::mapped),
            Method::CopyFileRange => Tool::Bare(by_calls::copy_file_range),
            Method::Sendfile => Tool::Bare(by_calls::sendfile),
            Method::Splice => Tool::Bare(by_calls::splice),
            Method::Reflink => Tool::Bare(by_calls::reflink),
            Method::ReadWriteLarge => buffer(WINDOW_BYTES, false)?,
            Method::ReadWriteBlock => buffer(block_bytes.clamp(512, WINDOW_BYTES), false)?,
            Method::Direct => buffer(WINDOW_BYTES, true)?,
            Method::UringBuffered => Tool::Pieces(Buffers::new(PIECES, PIECE_BYTES)?, false),
            Method::UringDirect => Tool::Pieces(Buffers::new(PIECES, PIECE_BYTES)?, true),
        })
    }
}

fn buffer(bytes: usize, direct: bool) -> Result<Tool> {
    Ok(Tool::Buffer(Buffers::new(1, bytes)?, bytes, direct))
}

impl Tool {
    /// Copies.
    pub fn copy(&self, way: &mut Way) -> std::result::Result<(), End> {
        match self {
            Tool::Bare(copy) => copy(way),
            Tool::Buffer(buffers, bytes, direct) => by_calls::read_write(way, buffers, *bytes, *direct),
            Tool::Pieces(buffers, direct) => by_ring::pipelined(way, buffers, *direct),
        }
    }
}
