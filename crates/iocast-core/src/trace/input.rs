//! A file of a trace, plain or compressed (gzip, zstd, xz, by its first bytes), and its lines in bounded memory.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use liblzma::read::XzDecoder;
use memchr::memchr;

use crate::error::{Error, Result};

/// What a format is recognised by.
pub const HEAD_BYTES: usize = 1 << 16;
/// A longer line is rejected.
pub const LINE_BYTES: usize = 1 << 20;
const BLOCK_BYTES: usize = 1 << 18;
/// The name of the standard input.
pub const STDIN: &str = "-";

/// An opened file.
pub struct Input {
    /// Its first bytes, decompressed.
    pub head: Vec<u8>,
    /// Whether they are all of it.
    pub whole: bool,
    /// Whether it is compressed.
    pub packed: bool,
    source: Box<dyn Read + Send>,
    broken: Option<io::Error>,
}

impl Input {
    /// The file, its first bytes read.
    pub fn open(path: &Path) -> Result<Input> {
        let why = |source| Error::Open { path: path.display().to_string(), how: "read".into(), source };
        let mut file: Box<dyn Read + Send> = if path.as_os_str() == STDIN {
            Box::new(io::stdin())
        } else {
            Box::new(File::open(path).map_err(why)?)
        };
        let mut magic = [0u8; 6];
        let read = fill(&mut file, &mut magic).map_err(why)?;
        let plain = Cursor::new(magic[..read].to_vec()).chain(file);
        let (source, packed): (Box<dyn Read + Send>, bool) = match &magic[..read] {
            [0x1f, 0x8b, ..] => (Box::new(MultiGzDecoder::new(plain)), true),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => (Box::new(zstd::Decoder::new(plain).map_err(why)?), true),
            [0xfd, b'7', b'z', b'X', b'Z', 0] => (Box::new(XzDecoder::new_multi_decoder(plain)), true),
            _ => (Box::new(plain), false),
        };
        let mut input = Input { head: Vec::new(), whole: false, packed, source, broken: None };
        let mut head = vec![0; HEAD_BYTES];
        let mut filled = 0;
        while filled < head.len() {
            match input.source.read(&mut head[filled..]) {
                Ok(0) => {
                    input.whole = true;
                    break;
                }
                Ok(more) => filled += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if packed => {
                    input.broken = Some(error);
                    break;
                }
                Err(error) => return Err(why(error)),
            }
        }
        head.truncate(filled);
        input.head = head;
        Ok(input)
    }

    /// The bytes from the beginning. Damage of compressed data ends them; `note` says so afterwards.
    pub fn into_bytes(self) -> Bytes {
        Bytes {
            head: Cursor::new(self.head),
            source: self.source,
            packed: self.packed,
            broken: self.broken,
            bytes: 0,
        }
    }
}

fn fill(source: &mut impl Read, room: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < room.len() {
        match source.read(&mut room[filled..]) {
            Ok(0) => break,
            Ok(more) => filled += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// All bytes of an input.
pub struct Bytes {
    head: Cursor<Vec<u8>>,
    source: Box<dyn Read + Send>,
    packed: bool,
    broken: Option<io::Error>,
    /// How many were read.
    pub bytes: u64,
}

impl Bytes {
    /// What is wrong with the compressed data, if anything.
    pub fn note(&self) -> Option<String> {
        let error = self.broken.as_ref()?;
        Some(format!("the compressed data is cut or damaged after {} bytes of text ({error})", self.bytes))
    }
}

impl Read for Bytes {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let mut read = self.head.read(room)?;
        if read == 0 && !room.is_empty() && self.broken.is_none() {
            read = match self.source.read(room) {
                Ok(read) => read,
                Err(error) if self.packed && error.kind() != io::ErrorKind::Interrupted => {
                    self.broken = Some(error);
                    0
                }
                Err(error) => return Err(error),
            };
        }
        self.bytes += read as u64;
        Ok(read)
    }
}

/// A line as it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found<'a> {
    /// Without its end (LF or CR LF).
    Line(&'a [u8]),
    /// Longer than [`LINE_BYTES`]: its text was skipped.
    TooLong,
}

/// Calls `each(line, number)` for every line; returns whether the last one had an end.
pub fn each_line(
    source: &mut impl Read,
    mut each: impl FnMut(Found<'_>, u64) -> Result<()>,
    failed: impl Fn(io::Error) -> Error,
) -> Result<bool> {
    let mut room = vec![0u8; LINE_BYTES + BLOCK_BYTES];
    let (mut filled, mut number, mut skipping) = (0, 0u64, false);
    loop {
        let end = (filled + BLOCK_BYTES).min(room.len());
        let read = match source.read(&mut room[filled..end]) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(failed(error)),
        };
        if read == 0 {
            let ended = filled == 0 && !skipping;
            if !ended {
                let rest = clean(&room[..filled], number == 0);
                each(if skipping { Found::TooLong } else { Found::Line(rest) }, number + 1)?;
            }
            return Ok(ended);
        }
        let mut searched = filled;
        let all = filled + read;
        let mut start = 0;
        while let Some(at) = memchr(b'\n', &room[searched..all]) {
            let line = clean(&room[start..searched + at], number == 0);
            number += 1;
            each(if skipping { Found::TooLong } else { Found::Line(line) }, number)?;
            skipping = false;
            start = searched + at + 1;
            searched = start;
        }
        room.copy_within(start..all, 0);
        filled = all - start;
        if skipping || filled > LINE_BYTES {
            skipping = true;
            filled = 0;
        }
    }
}

fn clean(line: &[u8], first: bool) -> &[u8] {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if first { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line }
}

/// What a read that failed is told as.
pub fn unreadable(path: &str, source: io::Error) -> Error {
    Error::Open { path: path.to_string(), how: "read".into(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> (Vec<Option<Vec<u8>>>, bool) {
        let mut found = Vec::new();
        let each = |line: Found<'_>, number: u64| {
            found.push(match line {
                Found::Line(text) => Some(text.to_vec()),
                Found::TooLong => None,
            });
            assert_eq!(number as usize, found.len());
            Ok(())
        };
        let ended = each_line(&mut Cursor::new(bytes), each, Error::Thread).expect("memory does not fail");
        (found, ended)
    }

    #[test]
    fn lines_lose_their_ends_and_the_mark_of_utf8() {
        let (found, ended) = lines(b"\xef\xbb\xbfa\r\n\nb\xff\0c");
        assert_eq!(found, [Some(b"a".to_vec()), Some(vec![]), Some(b"b\xff\0c".to_vec())]);
        assert!(!ended);
        assert!(lines(b"a\n").1);
        assert_eq!(lines(b"").0.len(), 0);
    }

    #[test]
    fn a_line_of_ten_megabytes_is_one_line_and_costs_no_memory() {
        let mut bytes = b"short\n".to_vec();
        bytes.resize(10_000_000, b'x');
        bytes.extend_from_slice(b"\nafter\n");
        let (found, ended) = lines(&bytes);
        assert_eq!(found, [Some(b"short".to_vec()), None, Some(b"after".to_vec())]);
        assert!(ended);
        bytes.truncate(9_000_000);
        let (found, ended) = lines(&bytes);
        assert_eq!((found.len(), found[1].is_none(), ended), (2, true, false));
    }
}
