//! The calls of a database in Oracle's SQL trace (PARSE, EXEC, FETCH, CLOSE), and the statement of each cursor.

use std::collections::HashMap;

use memchr::{memchr, memmem};

use crate::trace::call_rows::{Call, CallKind, CallRows};
use crate::trace::fields::{signed, unsigned, whole};
use crate::trace::line_verdict::Broken;

/// Cursors whose statement is remembered.
const CURSORS_AT_MOST: usize = 1 << 16;
/// Text of a statement that is collected.
const TEXT_AT_MOST: usize = 1 << 13;

/// The fields of a call.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallLine<'a> {
    /// The number of the cursor.
    pub cursor: &'a [u8],
    /// CPU time, in us (in 1/100 s up to Oracle 8).
    pub cpu: Option<i64>,
    /// Elapsed, in ticks.
    pub elapsed: Option<i64>,
    /// Depth of recursion.
    pub dep: Option<i64>,
    /// Rows.
    pub rows: Option<i64>,
    /// Blocks read, got consistent, got current; library cache misses; plan.
    pub work: [Option<i64>; 5],
    /// When it ended, in ticks.
    pub tim: Option<i64>,
}

/// What a line is called that begins a call, and its kind; the other calls end a cursor's work without counting.
pub const CALLS: [(&[u8], Option<CallKind>); 6] = [
    (b"FETCH #", Some(CallKind::Fetch)),
    (b"EXEC #", Some(CallKind::Exec)),
    (b"PARSE #", Some(CallKind::Parse)),
    (b"CLOSE #", Some(CallKind::Close)),
    (b"UNMAP #", None),
    (b"SORT UNMAP #", None),
];

/// What a line is called that is a call for a LOB: `LOBREAD: type=PERSISTENT LOB,bytes=8,c=9,e=9,p=1,cr=2,cu=0,tim=99`.
pub const LOB_CALLS: [&[u8]; 10] = [
    b"LOBREAD:",
    b"LOBWRITE:",
    b"LOBGETLEN:",
    b"LOBPGSIZE:",
    b"LOBTMPCREATE:",
    b"LOBTMPFREE:",
    b"LOBAPPEND:",
    b"LOBARRREAD:",
    b"LOBARRTMPFRE:",
    b"LOBTRIM:",
];

impl<'a> CallLine<'a> {
    /// `12:c=0,e=42,p=0,...,tim=99`, which begins at `start` of its line.
    pub fn of(line: &'a [u8], start: usize) -> Result<CallLine<'a>, Broken> {
        let at = |column: usize, rule| Broken { column: column + 1, rule };
        let colon = memchr(b':', &line[start..]).ok_or(at(line.len(), "no cursor"))? + start;
        let cursor = &line[start..colon];
        unsigned(cursor).ok_or(at(start, "not a cursor"))?;
        let mut call = CallLine { cursor, ..CallLine::default() };
        call.fields(line, colon + 1, false)?;
        match (call.elapsed, call.dep) {
            (Some(elapsed), Some(_)) if elapsed >= 0 => Ok(call),
            (Some(_), Some(_)) => Err(at(start, "a negative time")),
            _ => Err(at(line.len(), "no e= and dep=: the line is cut")),
        }
    }

    /// ` type=TEMPORARY LOB,bytes=5,c=169,e=169,p=0,cr=0,cu=7,tim=99`, which begins at `start` of its line.
    pub fn of_lob(line: &'a [u8], start: usize) -> Result<CallLine<'a>, Broken> {
        let mut call = CallLine::default();
        call.fields(line, start, true)?;
        match (call.elapsed, call.tim) {
            (Some(elapsed), Some(_)) if elapsed >= 0 => Ok(call),
            (Some(_), Some(_)) => Err(Broken { column: start + 1, rule: "a negative time" }),
            _ => Err(Broken { column: line.len() + 1, rule: "no e= and tim=: the line is cut" }),
        }
    }

    /// The fields `name=value` from `from` on. Of a LOB the type is words.
    fn fields(&mut self, line: &'a [u8], mut from: usize, lob: bool) -> Result<(), Broken> {
        let at = |column: usize, rule| Broken { column: column + 1, rule };
        let call = self;
        loop {
            let end = memchr(b',', &line[from..]).map_or(line.len(), |comma| from + comma);
            let field = &line[from..end];
            let equals = memchr(b'=', field).ok_or(at(from, "no name=value"))?;
            let value = field[equals + 1..].trim_ascii();
            let name = field[..equals].trim_ascii();
            let number = signed(value);
            if number.is_none() && unsigned(value).is_none() && !(lob && name == b"type") {
                return Err(at(from + equals + 1, "not a whole number"));
            }
            match name {
                b"bytes" if lob => {}
                b"c" => call.cpu = number,
                b"e" => call.elapsed = number,
                b"p" => call.work[0] = number,
                b"cr" => call.work[1] = number,
                b"cu" => call.work[2] = number,
                b"mis" => call.work[3] = number,
                b"plh" => call.work[4] = number,
                b"r" => call.rows = number,
                b"dep" => call.dep = number,
                b"tim" => call.tim = number,
                b"og" | b"type" => {}
                _ => return Err(at(from, "not a field of a call")),
            }
            if end == line.len() {
                return Ok(());
            }
            from = end + 1;
        }
    }
}

/// Which statement a cursor is at present.
#[derive(Debug, Default)]
pub struct Cursors {
    statements: HashMap<Vec<u8>, u32>,
    parsing: Option<u32>,
    text: Vec<u8>,
    name: Vec<u8>,
}

impl Cursors {
    /// `PARSING IN CURSOR #7 len=.. hv=.. ad='..' sqlid='..'`: its text follows.
    pub fn parsing(&mut self, line: &[u8], calls: &mut CallRows) {
        self.text.clear();
        self.parsing = None;
        let Some(rest) = line.strip_prefix(b"PARSING IN CURSOR #") else { return };
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let quoted = memmem::find(rest, b"sqlid='").and_then(|at| {
            let id = &rest[at + 7..];
            Some(&id[..memchr(b'\'', id)?])
        });
        self.name.clear();
        match quoted {
            Some(id) => self.name.extend_from_slice(id),
            None => {
                let Some(at) = memmem::find(rest, b"hv=") else { return };
                let hash = rest[at + 3..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                self.name.extend_from_slice(&rest[at..at + 3 + hash]);
            }
        }
        let Ok(number) = calls.sqls.number(&self.name) else { return };
        if self.statements.len() >= CURSORS_AT_MOST {
            self.statements.clear();
        }
        self.statements.insert(rest[..digits].to_vec(), number);
        self.parsing = Some(number);
    }

    /// A line of the text of a statement.
    pub fn text(&mut self, line: &[u8]) {
        if self.parsing.is_some() && self.text.len() < TEXT_AT_MOST {
            if !self.text.is_empty() {
                self.text.push(b'\n');
            }
            self.text.extend_from_slice(&line[..line.len().min(TEXT_AT_MOST)]);
        }
    }

    /// The text of the statement is complete.
    pub fn end_of_text(&mut self, calls: &mut CallRows) {
        if let Some(number) = self.parsing.take() {
            calls.text(number, &self.text);
        }
    }

    /// A row of this cursor: its number and statement.
    pub fn call(&self, kind: CallKind, cursor: &[u8], line: u64) -> Call {
        let mut call = Call::new(kind, line);
        call.cursor = whole(cursor);
        call.sql = self.statements.get(cursor).copied();
        call
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_all_releases() {
        let fetch =
            b"FETCH #140386304541280:c=1483,e=3269,p=3,cr=6,cu=0,mis=0,r=1,dep=0,og=1,plh=2910,tim=70979";
        let call = CallLine::of(fetch, 7).unwrap();
        assert_eq!((call.cursor, call.cpu, call.elapsed), (&b"140386304541280"[..], Some(1483), Some(3269)));
        assert_eq!((call.rows, call.dep, call.tim), (Some(1), Some(0), Some(70979)));
        assert_eq!(call.work, [Some(3), Some(6), Some(0), Some(0), Some(2910)]);
        let close = CallLine::of(b"CLOSE #7:c=0,e=4,dep=1,type=3,tim=9", 7).unwrap();
        assert_eq!((close.rows, close.dep), (None, Some(1)));
        for (bad, column) in [
            (&b"EXEC #7:c=0,e=4,dep=1,ti"[..], 23),
            (b"EXEC #7:c=0,e=x,dep=1", 15),
            (b"EXEC #7:c=0", 12),
            (b"EXEC #:c=0", 7),
            (b"EXEC #7:c=0,e=4,dep=0,zz=1", 23),
        ] {
            assert_eq!(
                CallLine::of(bad, 6).unwrap_err().column,
                column,
                "{:?}",
                String::from_utf8_lossy(bad)
            );
        }
    }

    #[test]
    fn a_call_for_a_lob_has_words_as_its_type() {
        let line = b"LOBREAD: type=PERSISTENT LOB,bytes=8132,c=145,e=1450,p=1,cr=2,cu=7,tim=4696599891187";
        let call = CallLine::of_lob(line, 8).unwrap();
        assert_eq!((call.cpu, call.elapsed, call.tim), (Some(145), Some(1450), Some(4_696_599_891_187)));
        assert_eq!((call.dep, call.work), (None, [Some(1), Some(2), Some(7), None, None]));
        let cut = CallLine::of_lob(b"LOBREAD: type=PERSISTENT LOB,bytes=8132,c=145,e=14", 8).unwrap_err();
        assert_eq!(cut, Broken { column: 51, rule: "no e= and tim=: the line is cut" });
        assert_eq!(CallLine::of_lob(b"LOBREAD: type=X,bytes=many", 8).unwrap_err().column, 23);
    }

    #[test]
    fn a_cursor_is_another_statement_when_it_is_parsed_again() {
        let (mut cursors, mut calls) = (Cursors::default(), CallRows::default());
        cursors.parsing(b"PARSING IN CURSOR #7 len=6 dep=0 hv=12 ad='x' sqlid='abc'", &mut calls);
        cursors.text(b"select 1");
        cursors.text(b"from dual");
        cursors.end_of_text(&mut calls);
        let first = cursors.call(CallKind::Exec, b"7", 1).sql;
        cursors.parsing(b"PARSING IN CURSOR #7 len=6 dep=0 hv=12 ad='x'", &mut calls);
        let second = cursors.call(CallKind::Exec, b"7", 1).sql;
        assert_eq!((first, second), (Some(0), Some(1)));
        assert_eq!(calls.sqls.all(), ["abc", "hv=12"]);
        assert_eq!(calls.texts["abc"], "select 1\nfrom dual");
        assert_eq!(cursors.call(CallKind::Exec, b"8", 1).sql, None);
    }
}
