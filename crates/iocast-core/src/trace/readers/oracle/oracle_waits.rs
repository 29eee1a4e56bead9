//! A `WAIT` line of Oracle's SQL trace, and which waits are I/O.

use memchr::{memchr, memmem};

use crate::trace::event::Op;
use crate::trace::fields::{signed, unsigned};
use crate::trace::line_verdict::Broken;

/// What the parameters of a wait say of its place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// File number, block, number of blocks.
    FileBlockCount,
    /// The second parameter is the number of blocks.
    BlocksSecond,
    /// The third parameter is a number of bytes.
    BytesThird,
    /// They say neither.
    Unknown,
}

/// What a wait event is as an I/O.
pub struct Kind {
    /// What it does.
    pub op: Op,
    /// What its parameters say.
    pub place: Place,
    /// Whether `ela` is the time of one I/O: not of asynchronous ones and not of batches.
    pub timed: bool,
    /// What it works on, where no file is named.
    pub target: &'static [u8],
}

/// The I/O that a wait event is; None for other waits.
pub fn kind_of(event: &[u8]) -> Option<Kind> {
    let kind = |op, place, timed, target| Some(Kind { op, place, timed, target });
    match event {
        b"db file sequential read" | b"db file scattered read" => {
            kind(Op::Read, Place::FileBlockCount, true, b"")
        }
        b"db file parallel read" => kind(Op::Read, Place::BlocksSecond, false, b"data files"),
        b"direct path read" | b"direct path read temp" => kind(Op::Read, Place::FileBlockCount, false, b""),
        b"direct path write" | b"direct path write temp" => {
            kind(Op::Write, Place::FileBlockCount, false, b"")
        }
        b"db file single write" => kind(Op::Write, Place::FileBlockCount, true, b""),
        b"db file parallel write" => kind(Op::Write, Place::Unknown, false, b"data files"),
        // Redo blocks are of 512 or 4096 bytes, whatever the block of the database is.
        b"log file parallel write" | b"log file single write" => {
            kind(Op::Write, Place::Unknown, true, b"redo log")
        }
        b"log file sequential read" => kind(Op::Read, Place::Unknown, true, b"redo log"),
        b"control file sequential read" => kind(Op::Read, Place::Unknown, true, b"control file"),
        b"control file parallel write" | b"control file single write" => {
            kind(Op::Write, Place::Unknown, true, b"control file")
        }
        b"Disk file operations I/O" => kind(Op::Meta, Place::Unknown, true, b"data files"),
        b"cell single block physical read" | b"cell multiblock physical read" => {
            kind(Op::Read, Place::BytesThird, true, b"cells")
        }
        b"cell list of blocks physical read" => kind(Op::Read, Place::Unknown, false, b"cells"),
        _ => None,
    }
}

/// The parts of a `WAIT` line.
pub struct Wait<'a> {
    /// Its number.
    pub cursor: &'a [u8],
    /// Its name.
    pub event: &'a [u8],
    /// How long, in ticks.
    pub ela: i64,
    /// Values of the three parameters.
    pub parameters: [Option<&'a [u8]>; 3],
    /// `p1=`, `p2=`, `p3=`: up to 10.1, and where an event names none.
    pub numbered: bool,
    /// When it ended, in ticks.
    pub tim: Option<i64>,
}

impl<'a> Wait<'a> {
    /// All of a line, or the rule that it breaks.
    pub fn of(line: &'a [u8]) -> Result<Wait<'a>, Broken> {
        let at_end = |rule| Broken { column: line.len() + 1, rule };
        let colon = line.iter().position(|byte| *byte == b':').ok_or(at_end("no cursor"))?;
        let cursor = &line[6..colon.max(6)];
        unsigned(cursor).ok_or(Broken { column: 7, rule: "not a cursor" })?;
        let name = if line[colon..].starts_with(b": nam='") {
            colon + 7
        } else {
            memmem::find(&line[colon..], b"nam='").ok_or(at_end("no name of an event"))? + colon + 5
        };
        let length = memchr(b'\'', &line[name..]).ok_or(at_end("a name without its end"))?;
        let event = &line[name..name + length];
        let mut at = name + length + 1;
        let mut wait = Wait { cursor, event, ela: 0, parameters: [None; 3], numbered: false, tim: None };
        let mut pairs = 0;
        while let Some((key, value, after)) = pair(line, at)? {
            let number = signed(value);
            let column = after - value.len() + 1;
            let number = number.ok_or(Broken { column, rule: "not a whole number" });
            match (pairs, key) {
                (0, b"ela") => {
                    wait.ela = number?;
                    if wait.ela < 0 {
                        return Err(Broken { column, rule: "a negative time" });
                    }
                }
                (0, _) => return Err(Broken { column: at + 1, rule: "no ela= after the name" }),
                (_, b"tim") => wait.tim = Some(number?),
                (_, b"obj#") => drop(number?),
                (1..=3, key) => {
                    wait.numbered |= key == b"p1";
                    // Some parameters are addresses beyond 63 bits.
                    if number.is_err() && unsigned(value).is_none() {
                        number?;
                    }
                    wait.parameters[pairs - 1] = Some(value);
                }
                _ => return Err(Broken { column: at + 1, rule: "more than three parameters" }),
            }
            pairs += 1;
            at = after;
        }
        if pairs == 0 {
            return Err(at_end("no ela="));
        }
        Ok(wait)
    }
}

type Pair<'a> = Option<(&'a [u8], &'a [u8], usize)>;

/// The next `name=value` (names may hold blanks, values may follow a blank) and where it ends.
fn pair(line: &[u8], from: usize) -> Result<Pair<'_>, Broken> {
    let mut at = from;
    while at < line.len() && line[at].is_ascii_whitespace() {
        at += 1;
    }
    if at == line.len() {
        return Ok(None);
    }
    let text = Broken { column: at + 1, rule: "text after the last pair" };
    let equals = line[at..].iter().position(|byte| *byte == b'=').ok_or(text)? + at;
    let key = &line[at..equals];
    let mut start = equals + 1;
    while start < line.len() && line[start] == b' ' {
        start += 1;
    }
    let mut end = start;
    while end < line.len() && !line[end].is_ascii_whitespace() {
        end += 1;
    }
    Ok(Some((key, &line[start..end], end)))
}
