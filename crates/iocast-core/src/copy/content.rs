//! What a file holds, as a digest of 128 bits.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use serde::Serialize;
use xxhash_rust::xxh3::Xxh3;

use super::way::{End, Way};
use crate::error::{Error, Result};
use crate::workload::buffers::Buffers;

const PIECE_BYTES: usize = 1 << 20;

/// The digest of a file, XXH3 with 128 bits in hexadecimal, and its length.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Content {
    /// 32 hexadecimal digits; "" where `tick` asked to stop.
    pub digest: String,
    /// Bytes that it was made from.
    pub bytes: u64,
}

/// Reads a file from its beginning to its end; `tick` is told how far it is about ten times a second, false stops.
pub fn content_of(file: BorrowedFd<'_>, tick: &mut dyn FnMut(u64) -> bool) -> Result<Content> {
    let buffers = Buffers::new(1, PIECE_BYTES)?;
    let memory = buffers.pointer(0, 0, PIECE_BYTES);
    let mut hash = Xxh3::new();
    let fd = file.as_raw_fd();
    let mut way = Way::new(fd, fd, u64::MAX, tick);
    loop {
        let at = way.done as libc::off_t;
        // SAFETY: the buffer has PIECE_BYTES bytes.
        let read = unsafe { libc::pread(fd, memory.cast(), PIECE_BYTES, at) };
        if read == 0 {
            break;
        }
        if read < 0 {
            let source = io::Error::last_os_error();
            if source.kind() == io::ErrorKind::Interrupted {
                continue;
            }
            return Err(Error::Open { path: "file".into(), how: "read back".into(), source });
        }
        // SAFETY: so much was read just now.
        hash.update(unsafe { std::slice::from_raw_parts(memory, read as usize) });
        if let Err(End::Stopped) = way.moved(read as usize) {
            return Ok(Content { digest: String::new(), bytes: way.done });
        }
    }
    Ok(Content { digest: format!("{:032x}", hash.digest128()), bytes: way.done })
}
