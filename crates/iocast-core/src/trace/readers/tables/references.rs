//! Traces of block numbers only, one a line: what the research on caches uses (LIRS and others).

use crate::error::Error;
use crate::trace::columns::Rows;
use crate::trace::event::{Event, Layer, Op};
use crate::trace::fields::whole;
use crate::trace::line_verdict::{Broken, Taken, Verdict};
use crate::trace::reader::{Clock, Format, LineReader, Reading};

/// A number a line; `*` divides the parts of some.
pub const FORMAT: Format = Format {
    name: "references",
    says: "block numbers, one a line (LIRS); needs block_size_bytes",
    sniff: |head| {
        let mut lines = head.lines().filter(|line| !line.is_empty()).take(100).peekable();
        lines.peek().is_some()
            && lines.all(|line| line.trim_ascii() == b"*" || whole(line.trim_ascii()).is_some())
    },
    open: |options, head| match options.block_size_bytes.filter(|size| *size > 0) {
        Some(block_bytes) => Ok(Reading::Lines(Box::new(ReferenceReader { block_bytes }))),
        None => Err(Error::Trace {
            why: format!("{}: block numbers without the size of a block", head.path.display()),
            hint: "give block_size_bytes",
        }),
    },
};

struct ReferenceReader {
    block_bytes: i64,
}

impl LineReader for ReferenceReader {
    fn line(&mut self, line: &[u8], number: u64, rows: &mut Rows) -> Verdict {
        let text = line.trim_ascii();
        if text.is_empty() || text == b"*" {
            return Ok(Taken::Ignored("blank line or mark"));
        }
        let broken = Broken { column: 1, rule: "not a block number" };
        let mut event = Event::new(Op::Other, Layer::Array, number);
        let block = whole(text).ok_or(broken)?;
        event.offset = Some(block.checked_mul(self.block_bytes).ok_or(broken)?);
        event.size = Some(self.block_bytes);
        rows.push(&event);
        Ok(Taken::Accepted)
    }

    fn clock(&self) -> Clock {
        Clock { origin: None, epoch_ns: None, tick_ns: 1 }
    }

    fn part(&self) -> Option<Box<dyn LineReader>> {
        Some(Box::new(ReferenceReader { block_bytes: self.block_bytes }))
    }
}
