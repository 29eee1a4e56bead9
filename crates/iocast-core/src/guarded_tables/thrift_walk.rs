//! Walks over Thrift's compact encoding without keeping anything: is it one whole structure, and what does a page claim?

/// Elements of a list: what reads it makes room for all of them first.
const MOST_ELEMENTS: u64 = 200_000;
const DEEPEST: u32 = 16;
const I32: u8 = 5;

/// What the header of a page claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageClaims {
    /// 0 data, 2 a dictionary, 3 data of version 2.
    pub kind: i64,
    /// Bytes when unpacked.
    pub unpacked: i64,
    /// Bytes in the file.
    pub packed: i64,
    /// Bytes of the header itself.
    pub header: usize,
}

/// Whether the bytes begin with one structure, all of whose lists and texts lie within.
pub fn is_sound(bytes: &[u8]) -> bool {
    Walk { bytes, at: 0 }.structure(0, &mut |_, _, _| {}).is_some()
}

/// The claims of a page's header at the beginning of `bytes`; None where there is no such header.
pub fn page_claims(bytes: &[u8]) -> Option<PageClaims> {
    let mut walk = Walk { bytes, at: 0 };
    let mut found = [None; 3];
    walk.structure(0, &mut |field, kind, value| {
        if let (1..=3, I32) = (field, kind) {
            found[field as usize - 1] = Some(value);
        }
    })?;
    Some(PageClaims { kind: found[0]?, unpacked: found[1]?, packed: found[2]?, header: walk.at })
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Walk<'_> {
    /// Tells each field of a structure: its number, its type, and its value where it is an integer. Numbers ascend, so
    /// that no field is said twice.
    fn structure(&mut self, depth: u32, tell: &mut dyn FnMut(i64, u8, i64)) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        let mut field = 0;
        loop {
            let head = self.byte()?;
            let (step, kind) = (i64::from(head >> 4), head & 15);
            if kind == 0 {
                return (step == 0).then_some(());
            }
            let next = if step == 0 { self.signed()? } else { field + step };
            if next <= field || next > i64::from(i16::MAX) {
                return None;
            }
            field = next;
            let value = if kind <= 2 { 0 } else { self.value(kind, depth)? };
            tell(field, kind, value);
        }
    }

    fn value(&mut self, kind: u8, depth: u32) -> Option<i64> {
        match kind {
            1..=3 => self.byte().map(i64::from),
            4..=6 => self.signed(),
            7 => self.over(8),
            8 => {
                let length = self.unsigned()?;
                self.over(length)
            }
            9 | 10 => self.list(depth + 1),
            12 => self.structure(depth + 1, &mut |_, _, _| {}).map(|()| 0),
            _ => None, // no Parquet file has maps or identifiers in it
        }
    }

    fn list(&mut self, depth: u32) -> Option<i64> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.unsigned()? } else { u64::from(head >> 4) };
        if depth > DEEPEST || count > MOST_ELEMENTS {
            return None;
        }
        for _ in 0..count {
            self.value(head & 15, depth)?;
        }
        Some(0)
    }

    fn byte(&mut self) -> Option<u8> {
        let found = self.bytes.get(self.at).copied();
        self.at += 1;
        found
    }

    fn over(&mut self, length: u64) -> Option<i64> {
        let end = self.at.checked_add(usize::try_from(length).ok()?)?;
        self.at = end;
        (end <= self.bytes.len()).then_some(0)
    }

    fn unsigned(&mut self) -> Option<u64> {
        let mut found = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            found |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(found);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let found = self.unsigned()?;
        Some((found >> 1) as i64 ^ -((found & 1) as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kind 0, 100 bytes unpacked, 40 packed; a structure of its own with 7 values.
    const HEADER: [u8; 12] = [0x15, 0, 0x15, 200, 1, 0x15, 80, 0x2c, 0x15, 14, 0, 0];

    #[test]
    fn the_claims_of_a_page_are_read() {
        let found = page_claims(&HEADER).unwrap();
        assert_eq!(found, PageClaims { kind: 0, unpacked: 100, packed: 40, header: 12 });
        for end in 0..HEADER.len() {
            assert_eq!(page_claims(&HEADER[..end]), None, "{end}");
        }
    }

    #[test]
    fn a_field_that_is_said_twice_is_refused() {
        let mut twice = HEADER[..7].to_vec();
        twice.extend([0x05, 4, 200, 1, 0]); // field 2 again, by its number
        assert_eq!(page_claims(&twice), None);
    }

    #[test]
    fn lists_and_nests_without_end_are_refused() {
        let many = [0x19, 0xf3, 0xff, 0xff, 0xff, 0xff, 0x0f];
        assert!(!is_sound(&[&many[..], &[0; 400]].concat()));
        assert!(!is_sound(&[0x1c; 100_000]));
        assert!(!is_sound(&[0x19; 100_000]));
        assert!(!is_sound(&[0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]));
        assert!(is_sound(&HEADER));
    }
}
