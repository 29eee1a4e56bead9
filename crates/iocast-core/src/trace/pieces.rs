//! The lines of an input in pieces of bounded memory, each whole: for one thread, or to be handed out to several.

use std::io::{self, Read};

use memchr::{memchr, memchr_iter, memrchr};

use crate::error::{Error, Result};

/// A longer line is rejected.
pub const LINE_BYTES: usize = 1 << 20;
/// What one thread alone reads at a time: it stays in the cache of a core.
pub const BLOCK_BYTES: usize = 1 << 18;

/// A line as it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found<'a> {
    /// Without its end (LF or CR LF).
    Line(&'a [u8]),
    /// Longer than [`LINE_BYTES`]: its text was skipped.
    TooLong,
}

/// Cuts a source between its lines.
#[derive(Debug)]
pub struct Pieces<R> {
    source: R,
    /// The beginning of a line that goes on behind the last piece.
    rest: Vec<u8>,
    at_end: bool,
}

/// Lines that follow each other; its memory is used again for the next.
#[derive(Debug, Default)]
pub struct Piece {
    room: Vec<u8>,
    length: usize,
    /// Lines of the file in front of it.
    pub lines_before: u64,
}

impl<R: Read> Pieces<R> {
    /// From where the source stands.
    pub fn new(source: R) -> Pieces<R> {
        Pieces { source, rest: Vec::new(), at_end: false }
    }

    /// The source, with what it knows of what was read.
    pub fn source(&self) -> &R {
        &self.source
    }

    /// Whether there is nothing more to come.
    pub fn at_end(&self) -> bool {
        self.at_end
    }

    /// Reads the next lines, about as many bytes as asked for; false where there are none left.
    pub fn next(&mut self, bytes: usize, piece: &mut Piece) -> io::Result<bool> {
        let room = &mut piece.room;
        piece.length = 0;
        let mut filled = self.rest.len();
        let mut wanted = bytes.max(2 * filled).max(1);
        while !self.at_end {
            if room.len() < wanted {
                room.resize(wanted, 0);
            }
            if !self.rest.is_empty() {
                room[..filled].copy_from_slice(&self.rest);
                self.rest.clear();
            }
            let searched = filled;
            filled += read_full(&mut self.source, &mut room[filled..wanted])?;
            self.at_end = filled < wanted;
            if self.at_end {
                piece.length = filled;
            } else if let Some(at) = memrchr(b'\n', &room[searched..filled]) {
                piece.length = searched + at + 1;
                // Of a line that is too long only so much is kept that it stays too long.
                let kept = filled.min(piece.length + LINE_BYTES + 1);
                self.rest.extend_from_slice(&room[piece.length..kept]);
                break;
            } else {
                filled = filled.min(LINE_BYTES + 1);
                wanted = bytes.max(2 * filled);
            }
        }
        Ok(piece.length > 0)
    }
}

impl Piece {
    /// How many lines it has.
    pub fn lines(&self) -> u64 {
        let ends = memchr_iter(b'\n', &self.room[..self.length]).count() as u64;
        ends + u64::from(!self.is_ended())
    }

    /// Whether its last line has an end.
    pub fn is_ended(&self) -> bool {
        self.room[..self.length].last().is_none_or(|last| *last == b'\n')
    }

    /// Calls `each(line, number)` for every line; returns the number of the last.
    pub fn each_line(&self, mut each: impl FnMut(Found<'_>, u64) -> Result<()>) -> Result<u64> {
        let mut rest = &self.room[..self.length];
        let mut number = self.lines_before;
        while !rest.is_empty() {
            let (line, after) = match memchr(b'\n', rest) {
                Some(at) => (&rest[..at], &rest[at + 1..]),
                None => (rest, &[][..]),
            };
            rest = after;
            number += 1;
            let too_long = line.len() > LINE_BYTES;
            each(if too_long { Found::TooLong } else { Found::Line(clean(line, number == 1)) }, number)?;
        }
        Ok(number)
    }
}

/// Reads until the room is full, or the source at its end.
pub fn read_full(source: &mut impl Read, room: &mut [u8]) -> io::Result<usize> {
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

/// Calls `each(line, number)` for every line; returns whether the last one had an end.
pub fn each_line(
    source: &mut impl Read,
    mut each: impl FnMut(Found<'_>, u64) -> Result<()>,
    failed: impl Fn(io::Error) -> Error,
) -> Result<bool> {
    let (mut pieces, mut piece) = (Pieces::new(source), Piece::default());
    let mut ended = true;
    while pieces.next(BLOCK_BYTES, &mut piece).map_err(&failed)? {
        piece.lines_before = piece.each_line(&mut each)?;
        ended = piece.is_ended();
    }
    Ok(ended)
}

fn clean(line: &[u8], first: bool) -> &[u8] {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if first { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

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
        let (mut pieces, mut piece) = (Pieces::new(Cursor::new(&bytes)), Piece::default());
        while pieces.next(BLOCK_BYTES, &mut piece).expect("memory") {}
        assert!(piece.room.len() <= 2 * LINE_BYTES + 2);
    }

    #[test]
    fn the_longest_line_is_a_line_wherever_it_lies() {
        for before in [0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, LINE_BYTES] {
            for (length, taken) in [(LINE_BYTES, true), (LINE_BYTES + 1, false)] {
                let bytes = [vec![b'\n'; before], vec![b'x'; length], b"\nlast".to_vec()].concat();
                let (found, _) = lines(&bytes);
                assert_eq!((found.len(), found[before].is_some()), (before + 2, taken), "{before} {length}");
            }
        }
    }

    #[test]
    fn pieces_of_any_size_have_the_same_lines() {
        let text = b"\xef\xbb\xbfone\r\n\n\ntwo,three\nfour\r\n\nlast without an end";
        let whole = lines(text);
        for bytes in 1..text.len() + 2 {
            let (mut pieces, mut piece) = (Pieces::new(Cursor::new(text)), Piece::default());
            let (mut found, mut number) = (Vec::new(), 0);
            while pieces.next(bytes, &mut piece).expect("memory does not fail") {
                piece.lines_before = number;
                number += piece.lines();
                let each = |line: Found<'_>, at| {
                    let Found::Line(line) = line else { panic!("it is short") };
                    found.push(Some(line.to_vec()));
                    assert_eq!(at as usize, found.len());
                    Ok(())
                };
                assert_eq!(piece.each_line(each).expect("it takes all"), number);
            }
            assert_eq!((found, pieces.at_end()), (whole.0.clone(), true), "{bytes}");
        }
    }
}
