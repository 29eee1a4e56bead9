//! The words of a line: its blanks are found eight bytes at a time, and then no word costs a loop.

use crate::trace::fields::{leading, word};

/// Longer lines are cut word by word.
const LONGEST: usize = 128;
const SEVEN_BITS: u64 = 0x7f7f_7f7f_7f7f_7f7f;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
const EACH: u64 = 0x0101_0101_0101_0101;

/// A word of a line.
#[derive(Clone, Copy, Debug)]
pub struct Word<'a> {
    /// What it says.
    pub text: &'a [u8],
    /// The line from its first byte on.
    pub onward: &'a [u8],
}

impl Word<'_> {
    /// The whole number that it is.
    #[inline(always)]
    pub fn number(&self) -> Option<u64> {
        let (value, digits) = leading(self.onward);
        (digits == self.text.len()).then_some(value)
    }
}

/// The words of a line that are left.
#[derive(Clone, Copy)]
pub struct Words<'a> {
    /// The line, or what is left of one that is cut word by word.
    line: &'a [u8],
    /// A bit for the first byte of each word, and for the byte behind its last; None where words are cut one by one.
    edges: Option<(u128, u128)>,
}

impl<'a> Words<'a> {
    /// Those of a line.
    #[inline(always)]
    pub fn of(line: &'a [u8]) -> Words<'a> {
        Words { line, edges: (line.len() < LONGEST).then(|| edges(line)).flatten() }
    }

    #[cold]
    fn cut(&mut self) -> Option<Word<'a>> {
        let (text, rest) = word(self.line)?;
        let onward = &self.line[self.line.len() - rest.len() - text.len()..];
        self.line = rest;
        Some(Word { text, onward })
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    #[inline(always)]
    fn next(&mut self) -> Option<Word<'a>> {
        let Some((starts, ends)) = &mut self.edges else { return self.cut() };
        if *starts == 0 {
            return None;
        }
        let (start, end) = (starts.trailing_zeros() as usize, ends.trailing_zeros() as usize);
        (*starts, *ends) = (*starts & (*starts - 1), *ends & (*ends - 1));
        let onward = &self.line[start..];
        Some(Word { text: &onward[..end - start], onward })
    }
}

/// Where the words of a line begin and end; None where other blanks than spaces, or control characters, are in it.
#[inline(always)]
fn edges(line: &[u8]) -> Option<(u128, u128)> {
    let (first, second) = line.split_at(line.len().min(64));
    let ((low, controls), (high, others)) = (filled(first), filled(second));
    let filled = u128::from(low) | u128::from(high) << 64;
    (controls | others == 0).then_some((filled & !(filled << 1), !filled & (filled << 1)))
}

/// A bit for each of up to 64 bytes that is no blank; and whether there are control characters.
#[inline(always)]
fn filled(bytes: &[u8]) -> (u64, u64) {
    let mut eights = bytes.chunks_exact(8);
    let (mut filled, mut controls, mut at) = (0, 0, 0);
    let mut add = |eight: &[u8; 8]| {
        let word = u64::from_le_bytes(*eight);
        controls |= below(word, 0x20);
        filled |= u64::from(!low_byte(below(word, 0x21))) << at;
        at += 8;
    };
    while let Some(eight) = eights.next().and_then(|eight| eight.first_chunk()) {
        add(eight);
    }
    let left = eights.remainder();
    if !left.is_empty() {
        let mut last = [b' '; 8];
        last[..left.len()].copy_from_slice(left);
        add(&last);
    }
    (filled, controls)
}

/// The high bit of each byte below `limit`, exactly: no sum of two bytes carries.
#[inline]
fn below(word: u64, limit: u64) -> u64 {
    !(((word & SEVEN_BITS) + EACH * (0x80 - limit)) | word) & HIGH_BITS
}

/// The high bits of eight bytes as one byte: the product has each at its place in the highest byte.
#[inline]
fn low_byte(high_bits: u64) -> u8 {
    ((high_bits >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(line: &[u8]) -> Vec<(usize, Vec<u8>)> {
        Words::of(line).map(|word| (line.len() - word.onward.len(), word.text.to_vec())).collect()
    }

    proptest::proptest! {
        #[test]
        fn words_are_those_that_a_loop_finds(line in "([ ]{0,3}[!-~\u{e9}]{1,12}){0,12}[ ]{0,9}[\t\u{1}\r]?[a-z ]{0,9}") {
            let line = line.as_bytes();
            let (mut rest, mut looped) = (line, Vec::new());
            while let Some((text, after)) = word(rest) {
                looped.push((line.len() - after.len() - text.len(), text.to_vec()));
                rest = after;
            }
            proptest::prop_assert_eq!(all(line), looped);
        }

        #[test]
        fn every_byte_is_told_apart(word in proptest::prelude::any::<u64>(), limit in 1_u64..0x80) {
            let looped = word.to_le_bytes().iter().enumerate()
                .fold(0, |bits, (at, byte)| bits | u8::from(u64::from(*byte) < limit) << at);
            proptest::prop_assert_eq!(low_byte(below(word, limit)), looped);
        }
    }

    #[test]
    fn lines_as_long_as_the_limit_are_cut_alike() {
        for length in LONGEST - 10..LONGEST + 10 {
            for blank in [0, 1, length / 2, length - 1] {
                let mut line = vec![b'7'; length];
                line[blank] = b' ';
                let parts: Vec<usize> = all(&line).iter().map(|(_, text)| text.len()).collect();
                let looped: Vec<usize> =
                    line.split(|byte| *byte == b' ').map(<[u8]>::len).filter(|length| *length > 0).collect();
                assert_eq!(parts, looped, "{length} {blank}");
            }
        }
    }

    #[test]
    fn a_number_is_the_whole_word() {
        let words = Words::of(b"12 1x 18446744073709551616 7");
        let numbers: Vec<Option<u64>> = words.map(|word| word.number()).collect();
        assert_eq!(numbers, [Some(12), None, None, Some(7)]);
    }
}
