//! Where the fields of a tracepoint's record lie: read from the kernel's `format` files, never assumed.

use super::{BlkOp, Event, Step};

/// Where one field lies in a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Field {
    offset: usize,
    size: usize,
}

impl Field {
    pub(crate) fn bytes<'a>(&self, record: &'a [u8]) -> Option<&'a [u8]> {
        record.get(self.offset..self.offset + self.size)
    }

    pub(crate) fn number(&self, record: &[u8]) -> Option<u64> {
        let bytes = self.bytes(record)?;
        let mut whole = [0u8; 8];
        whole.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(u64::from_le_bytes(whole))
    }
}

/// What the records of one block tracepoint look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The number that the kernel gave the tracepoint since it booted.
    pub id: u16,
    step: Step,
    device: Field,
    sector: Field,
    sectors: Field,
    letters: Field,
    error: Option<Field>,
}

impl Layout {
    /// From the text of a `format` file; None when a field is missing that is needed.
    pub fn parse(text: &str, step: Step) -> Option<Layout> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID:"))?.trim().parse().ok()?;
        let named = |name: &str| text.lines().find_map(|line| field(line, name));
        Some(Layout {
            id,
            step,
            device: named("dev")?,
            sector: named("sector")?,
            sectors: named(if step == Step::Split { "new_sector" } else { "nr_sector" })?,
            letters: named("rwbs")?,
            // "errors" until Linux 5.x; only completions have it.
            error: if step == Step::Complete { named("error").or_else(|| named("errors")) } else { None },
        })
    }

    /// The event in a record; None when the record is too short.
    pub fn event(&self, at_ns: u64, record: &[u8]) -> Option<Event> {
        let letters = self.letters.bytes(record)?;
        let end = letters.iter().position(|&letter| letter == 0).unwrap_or(letters.len());
        let sector = self.sector.number(record)?;
        let sectors = self.sectors.number(record)?;
        let sectors = if self.step == Step::Split { sectors.saturating_sub(sector) } else { sectors };
        Some(Event {
            at_ns,
            step: self.step,
            device: self.device.number(record)? as u32,
            // A flush is issued at sector 0 and completed at -1.
            sector: if sector == u64::MAX { 0 } else { sector },
            sectors: sectors as u32,
            op: BlkOp::from_letters(&letters[..end]),
            failed: self.error.and_then(|error| error.number(record)).is_some_and(|number| number != 0),
        })
    }
}

/// The field of that name, if the line describes it: `field:char rwbs[10]; offset:34; size:10; signed:0;`.
pub(crate) fn field(line: &str, name: &str) -> Option<Field> {
    let mut parts = line.trim().strip_prefix("field:")?.split(';');
    let declared = parts.next()?.rsplit(' ').next()?;
    if declared.split('[').next() != Some(name) {
        return None;
    }
    let mut number = |key: &str| parts.next()?.trim().strip_prefix(key)?.parse().ok();
    Some(Field { offset: number("offset:")?, size: number("size:")? })
}

/// What the pages of the ring look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageHead {
    /// Where the length of the data stands, and in how many bytes.
    commit: Field,
    /// Where the data begin.
    pub data: usize,
    /// How long a page is.
    pub size: usize,
}

impl PageHead {
    /// From the text of `events/header_page`.
    pub fn parse(text: &str) -> Option<PageHead> {
        let data = text.lines().find_map(|line| field(line, "data"))?;
        let commit = text.lines().find_map(|line| field(line, "commit"))?;
        Some(PageHead { commit, data: data.offset, size: data.offset + data.size })
    }

    /// The time at which the page begins, and its word on length and losses.
    pub fn read(&self, page: &[u8]) -> Option<(u64, u64)> {
        let begins = Field { offset: 0, size: 8 }.number(page)?;
        Some((begins, self.commit.number(page)?))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub const COMPLETE: &str = include_str!("../../tests/fixtures/blk/block_rq_complete.format");
    pub const ISSUE: &str = include_str!("../../tests/fixtures/blk/block_rq_issue.format");
    pub const HEAD: &str = include_str!("../../tests/fixtures/blk/header_page");

    #[test]
    fn a_format_file_says_where_fields_lie() {
        let layout = Layout::parse(COMPLETE, Step::Complete).unwrap();
        assert_eq!(layout.id, 2107);
        assert_eq!(layout.sector, Field { offset: 16, size: 8 });
        assert_eq!(layout.letters, Field { offset: 34, size: 10 });
        assert_eq!(layout.error, Some(Field { offset: 28, size: 4 }));
    }

    #[test]
    fn older_kernels_call_the_error_otherwise() {
        let text = COMPLETE.replace("int error;", "int errors;").replace("rwbs[10]", "rwbs[8]");
        assert!(Layout::parse(&text, Step::Complete).unwrap().error.is_some());
    }

    #[test]
    fn what_lacks_a_field_is_no_layout() {
        assert_eq!(Layout::parse(&COMPLETE.replace("sector_t sector;", "x y;"), Step::Complete), None);
        assert_eq!(Layout::parse("", Step::Issue), None);
    }

    #[test]
    fn a_short_record_is_no_event() {
        let layout = Layout::parse(ISSUE, Step::Issue).unwrap();
        assert_eq!(layout.event(1, &[0; 20]), None);
        assert!(layout.event(1, &[0; 64]).is_some());
    }

    #[test]
    fn the_head_of_a_page() {
        let head = PageHead::parse(HEAD).unwrap();
        assert_eq!((head.data, head.size), (16, 4096));
    }
}
