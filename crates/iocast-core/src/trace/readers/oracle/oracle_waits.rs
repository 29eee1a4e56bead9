//! A `WAIT` line of Oracle's SQL trace, and which waits are I/O.

use memchr::{memchr, memmem};

use crate::trace::event::Op;
use crate::trace::fields::{leading, signed, unsigned};
use crate::trace::line_verdict::Broken;

/// What the parameters of a wait say of its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug)]
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
fn kind_of(event: &[u8]) -> Option<Kind> {
    let kind = |op, place, timed, target| Some(Kind { op, place, timed, target });
    // Since 19c the cache that answered stands behind: "cell single block physical read: flash cache".
    match &event[..memmem::find(event, b": ").unwrap_or(event.len())] {
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

/// A parameter of a wait.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parameter<'a> {
    /// As it is written.
    pub text: &'a [u8],
    /// None where it is negative, or an address beyond 63 bits.
    pub value: Option<i64>,
}

/// The parts of a `WAIT` line.
#[derive(Debug)]
pub struct Wait<'a> {
    /// Its number.
    pub cursor: &'a [u8],
    /// Its name.
    pub event: &'a [u8],
    /// The I/O that it is.
    pub kind: Option<Kind>,
    /// How long, in ticks.
    pub ela: i64,
    /// The three parameters.
    pub parameters: [Option<Parameter<'a>>; 3],
    /// `p1=`, `p2=`, `p3=`: up to 10.1, and where an event names none.
    pub numbered: bool,
    /// When it ended, in ticks.
    pub tim: Option<i64>,
}

impl<'a> Wait<'a> {
    /// All of a line, or the rule that it breaks.
    pub fn of(line: &'a [u8]) -> Result<Wait<'a>, Broken> {
        let at_end = |rule| Broken { column: line.len() + 1, rule };
        let colon = memchr(b':', line).ok_or(at_end("no cursor"))?;
        let cursor = &line[6..colon.max(6)];
        unsigned(cursor).ok_or(Broken { column: 7, rule: "not a cursor" })?;
        let name = if line[colon..].starts_with(b": nam='") {
            colon + 7
        } else {
            memmem::find(&line[colon..], b"nam='").ok_or(at_end("no name of an event"))? + colon + 5
        };
        let length = memchr(b'\'', &line[name..]).ok_or(at_end("a name without its end"))?;
        let event = &line[name..name + length];
        let (kind, parameters) = (kind_of(event), [None; 3]);
        let mut wait = Wait { cursor, event, kind, ela: 0, parameters, numbered: false, tim: None };
        let (mut pairs, mut at) = (0, name + length + 1);
        while let Some(pair) = Pair::next(line, at)? {
            let column = pair.start + 1;
            let number = || pair.number.ok_or(Broken { column, rule: "not a whole number" });
            match (pairs, pair.key) {
                (0, b"ela") => {
                    wait.ela = number()?;
                    if wait.ela < 0 {
                        return Err(Broken { column, rule: "a negative time" });
                    }
                }
                (0, _) => return Err(Broken { column: at + 1, rule: "no ela= after the name" }),
                (_, b"tim") => wait.tim = Some(number()?),
                (_, b"obj#") => drop(number()?),
                (1..=3, key) => {
                    wait.numbered |= key == b"p1";
                    let text = &line[pair.start..pair.end];
                    // Some parameters are addresses beyond 63 bits.
                    if pair.number.is_none() && unsigned(text).is_none() {
                        number()?;
                    }
                    let value = pair.number.filter(|value| *value >= 0);
                    wait.parameters[pairs - 1] = Some(Parameter { text, value });
                }
                _ => return Err(Broken { column: at + 1, rule: "more than three parameters" }),
            }
            pairs += 1;
            at = pair.end;
        }
        if pairs == 0 {
            return Err(at_end("no ela="));
        }
        Ok(wait)
    }
}

/// `name=value` of a line: names may hold blanks, values may follow a blank.
pub struct Pair<'a> {
    /// Its name.
    pub key: &'a [u8],
    /// Where its value begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// What it is; None where it is no whole number of 63 bits.
    pub number: Option<i64>,
}

impl Pair<'_> {
    /// The next one from a place on; None at the end of the line.
    #[inline]
    pub fn next(line: &[u8], from: usize) -> Result<Option<Pair<'_>>, Broken> {
        let blanks = |from: usize| line[from..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let at = from + blanks(from);
        if at == line.len() {
            return Ok(None);
        }
        let text = Broken { column: at + 1, rule: "text after the last pair" };
        let equals = line[at..].iter().position(|byte| *byte == b'=').ok_or(text)? + at;
        let key = &line[at..equals];
        let start = equals + 1 + line[equals + 1..].iter().take_while(|byte| **byte == b' ').count();
        let (number, digits) = leading(&line[start..]);
        if digits > 0 && line.get(start + digits).is_none_or(u8::is_ascii_whitespace) {
            return Ok(Some(Pair { key, start, end: start + digits, number: i64::try_from(number).ok() }));
        }
        let length = line[start..].iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
        Ok(Some(Pair { key, start, end: start + length, number: signed(&line[start..start + length]) }))
    }
}
