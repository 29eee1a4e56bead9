//! The pages of the kernel's trace ring, as `trace_pipe_raw` gives them: times and records of one processor.
//!
//! The format is the kernel's (include/linux/ring_buffer.h): a 32-bit word of 5 bits of kind and 27 of time since
//! the record before; longer times have a record of their own.

use super::layout::PageHead;

const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
const MISSED: u64 = 1 << 31;
const MISSED_STORED: u64 = 1 << 30;
const LENGTH: u64 = (1 << 20) - 1;
/// An absolute time has 59 bits; those above are of the time before it.
const ABSOLUTE_BITS: u32 = 59;

/// Hands every record of a page to `take` with its time. Returns how many the kernel says are missing before it
/// (1 where it does not say how many).
pub fn read_page(page: &[u8], head: &PageHead, mut take: impl FnMut(u64, &[u8])) -> u64 {
    let Some((mut at_ns, commit)) = head.read(page) else { return 0 };
    let length = (commit & LENGTH) as usize;
    let Some(data) = page.get(head.data..head.data + length) else { return 0 };
    let mut at = 0;
    while let Some(word) = word(data, at) {
        let (kind, delta) = (word & 31, u64::from(word >> 5));
        let mut size = 4;
        match kind {
            TIME_EXTEND | TIME_STAMP => {
                let Some(high) = self::word(data, at + 4) else { break };
                let time = u64::from(high) << 27 | delta;
                at_ns = if kind == TIME_EXTEND { at_ns + time } else { absolute(at_ns, time) };
                size = 8;
            }
            PADDING if delta == 0 => break, // the rest of the page is empty
            PADDING | 0 => {
                let Some(length) = self::word(data, at + 4) else { break };
                at_ns += delta;
                size += length as usize;
                if kind == 0 && size > 8 {
                    let Some(record) = data.get(at + 8..at + size) else { break };
                    take(at_ns, record);
                }
            }
            words => {
                at_ns += delta;
                size += words as usize * 4;
                let Some(record) = data.get(at + 4..at + size) else { break };
                take(at_ns, record);
            }
        }
        at += size;
    }
    missed(page, head, commit, length)
}

fn word(data: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(data.get(at..at + 4)?.try_into().ok()?))
}

fn absolute(before_ns: u64, time: u64) -> u64 {
    let high = before_ns >> ABSOLUTE_BITS << ABSOLUTE_BITS;
    let full = high | time;
    if high > 0 && full + (1 << (ABSOLUTE_BITS - 1)) < before_ns { full + (1 << ABSOLUTE_BITS) } else { full }
}

fn missed(page: &[u8], head: &PageHead, commit: u64, length: usize) -> u64 {
    if commit & MISSED == 0 {
        return 0;
    }
    let stored = page.get(head.data + length..head.data + length + 8);
    match stored {
        Some(bytes) if commit & MISSED_STORED != 0 => {
            u64::from_le_bytes(bytes.try_into().expect("8 bytes")).max(1)
        }
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::tests::HEAD;
    use super::*;
    use proptest::prelude::*;

    fn page(begins: u64, words: &[u32], flags: u64) -> Vec<u8> {
        let mut page = vec![0; 4096];
        page[..8].copy_from_slice(&begins.to_le_bytes());
        page[8..16].copy_from_slice(&((words.len() as u64 * 4) | flags).to_le_bytes());
        for (number, word) in words.iter().enumerate() {
            page[16 + number * 4..][..4].copy_from_slice(&word.to_le_bytes());
        }
        page
    }

    fn seen(page: &[u8]) -> (Vec<(u64, usize)>, u64) {
        let mut seen = Vec::new();
        let missed =
            read_page(page, &PageHead::parse(HEAD).unwrap(), |at, record| seen.push((at, record.len())));
        (seen, missed)
    }

    #[test]
    fn times_add_up_over_all_kinds() {
        let words = [
            10 << 5 | 2,
            7,
            8, // two words of data, 10 ns later
            3 << 5 | TIME_EXTEND,
            1, // 2^27 + 3 ns
            5 << 5,
            12,
            1,
            2, // length in a word of its own, which it includes: 8 bytes of data
            9 << 5 | PADDING,
            8,
            0, // a record that was thrown away
            1 << 5 | 1,
            5,
            7 << 5 | TIME_STAMP,
            2, // absolute: 2 * 2^27 + 7
            1,
            5,
            PADDING,
            99, // nothing more
        ];
        let long = 1 << 27;
        let expected = vec![(110, 8), (118 + long, 8), (128 + long, 4), (2 * long + 7, 4)];
        assert_eq!(seen(&page(100, &words, 0)), (expected, 0));
    }

    #[test]
    fn what_is_missing_is_said() {
        assert_eq!(seen(&page(0, &[1, 5], MISSED)).1, 1);
        let mut counted = page(0, &[1, 5], MISSED | MISSED_STORED);
        counted[24..32].copy_from_slice(&42u64.to_le_bytes());
        assert_eq!(seen(&counted), (vec![(0, 4)], 42));
    }

    proptest! {
        #[test]
        fn no_page_makes_it_stumble(bytes in prop::collection::vec(any::<u8>(), 0..4200)) {
            seen(&bytes);
        }
    }
}
