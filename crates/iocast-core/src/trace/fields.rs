//! Strict numbers out of bytes: all of the field, checked, and nothing guessed.

use memchr::memchr;

/// Ten to the power of a place.
const TENS: [u64; 10] =
    [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];
const ZEROS: u64 = 0x3030_3030_3030_3030;
const SPACES: u64 = 0x2020_2020_2020_2020;

/// A whole number, digits only.
///
/// The lengths of the fields of a trace differ from line to line, and a loop over their digits would end where the
/// processor did not expect it: eight digits at a time have no loop.
#[inline]
pub fn unsigned(field: &[u8]) -> Option<u64> {
    let length = field.len();
    match length {
        0..=7 => eight_digits(padded(field)?),
        8..=16 => {
            let upper = eight_digits(u64::from_le_bytes(*field.first_chunk::<8>()?))?;
            Some(upper * TENS[length - 8] + last_digits(field, length - 8)?)
        }
        17..=19 => {
            let upper = eight_digits(u64::from_le_bytes(*field.first_chunk::<8>()?))?;
            let middle = eight_digits(u64::from_le_bytes(*field[8..].first_chunk::<8>()?))?;
            Some((upper * TENS[8] + middle) * TENS[length - 16] + last_digits(field, length - 16)?)
        }
        _ => long_unsigned(field),
    }
}

/// Up to seven bytes at the end of a word of zeros; None of none.
#[inline]
fn padded(field: &[u8]) -> Option<u64> {
    let length = field.len();
    let shift = 8 * (8 - length as u32);
    let text = match (field.first_chunk::<4>(), field.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first)) << shift | u64::from(u32::from_le_bytes(*last)) << 32
        }
        _ => {
            let at =
                |index: usize| field.get(index).map(|byte| u64::from(*byte) << (shift + 8 * index as u32));
            at(0)? | at(length / 2)? | at(length - 1)?
        }
    };
    Some(text | (ZEROS & !(u64::MAX << shift)))
}

/// The number of the last digits, eight at most, of a field that has eight bytes.
#[inline]
fn last_digits(field: &[u8], digits: usize) -> Option<u64> {
    let others = u64::MAX.checked_shr(8 * digits as u32).unwrap_or(0);
    let text = u64::from_le_bytes(*field.last_chunk::<8>()?);
    eight_digits((text & !others) | (ZEROS & others))
}

#[cold]
fn long_unsigned(field: &[u8]) -> Option<u64> {
    let mut value: u64 = 0;
    for &byte in field {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

/// Eight digits in the three multiplications of a word.
#[inline]
fn eight_digits(word: u64) -> Option<u64> {
    // A digit is 0x30 to 0x39: its upper half is 3, and stays 3 when 6 is added.
    let upper = 0xf0f0_f0f0_f0f0_f0f0;
    let digits = (word & upper) | ((word.wrapping_add(0x0606_0606_0606_0606) & upper) >> 4);
    if digits != 0x3333_3333_3333_3333 {
        return None;
    }
    Some(sum_of_eight(word & 0x0f0f_0f0f_0f0f_0f0f))
}

/// The number that eight digits are, a byte each.
#[inline]
fn sum_of_eight(ones: u64) -> u64 {
    let pairs = (ones.wrapping_mul(1 + (10 << 8)) >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(1 + (100 << 16)) >> 16) & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul(1 + (10_000 << 32)) >> 32
}

/// The whole number that a text begins with, and how many digits it has: none where there is none, or none that fits.
///
/// Where a field ends and what it says are found in the same step: fields of a few digits are cut from a word without a
/// loop over them.
#[inline(always)]
pub fn leading(text: &[u8]) -> (u64, usize) {
    let (ones, digits) = leading_digits(text);
    if digits < 8 { (sum_of_eight(ones), digits) } else { leading_long(text, sum_of_eight(ones)) }
}

/// The same of a text whose first eight digits are known.
fn leading_long(text: &[u8], upper: u64) -> (u64, usize) {
    let (ones, digits) = leading_digits(&text[8..]);
    let value = upper * TENS[digits] + sum_of_eight(ones);
    if digits < 8 {
        return (value, 8 + digits);
    }
    let rest = text[16..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    match unsigned(&text[..16 + rest]) {
        _ if rest == 0 => (value, 16),
        Some(longer) => (longer, 16 + rest),
        None => (0, 0),
    }
}

/// How many of the first eight bytes are digits before the first that is none, and those, a byte each, at the end of a
/// word of zeros.
#[inline(always)]
fn leading_digits(text: &[u8]) -> (u64, usize) {
    let word = match text.first_chunk::<8>() {
        Some(eight) => u64::from_le_bytes(*eight),
        None => text.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    // A digit less 0x30 is 0 to 9, and stays below 0x80 when 0x76 is added. What a sum carries over spoils only bytes
    // behind the first that is no digit.
    let ones = word ^ ZEROS;
    let others = (ones.wrapping_add(0x7676_7676_7676_7676) | ones) & 0x8080_8080_8080_8080;
    let digits = others.trailing_zeros() as usize / 8;
    (if digits < 8 { ones << (56 - 8 * digits) << 8 } else { ones }, digits)
}

/// A whole number that may be negative.
pub fn signed(field: &[u8]) -> Option<i64> {
    match field {
        [b'-', digits @ ..] => i64::try_from(unsigned(digits)?).ok()?.checked_neg(),
        digits => i64::try_from(unsigned(digits)?).ok(),
    }
}

/// A whole number that fits a column.
pub fn whole(field: &[u8]) -> Option<i64> {
    i64::try_from(unsigned(field)?).ok()
}

/// A decimal number of units of `unit_ns` each, as whole ns; digits below 1 ns are checked and dropped.
#[inline]
pub fn decimal_ns(field: &[u8], unit_ns: i64) -> Option<i64> {
    let (count, digits) = leading(field);
    if digits == 0 {
        return None;
    }
    let whole_ns = i64::try_from(count).ok()?.checked_mul(unit_ns)?;
    let fraction = match &field[digits..] {
        [] => return Some(whole_ns),
        [b'.', fraction @ ..] => fraction,
        _ => return None,
    };
    whole_ns.checked_add(fraction_ns(fraction, unit_ns)?)
}

/// What the digits behind the dot are, in whole ns.
#[inline(always)]
fn fraction_ns(fraction: &[u8], unit_ns: i64) -> Option<i64> {
    let (value, digits) = leading(fraction);
    if digits == fraction.len()
        && let Some(parts) = TENS.get(digits)
        && digits > 0
        && unit_ns as u64 % parts == 0
    {
        return i64::try_from(value * (unit_ns as u64 / parts)).ok();
    }
    long_fraction_ns(fraction, unit_ns)
}

/// The same, where there are more digits than the unit has.
#[cold]
fn long_fraction_ns(fraction: &[u8], unit_ns: i64) -> Option<i64> {
    let (mut value, mut step) = (0_i64, unit_ns);
    if fraction.is_empty() {
        return None;
    }
    for &byte in fraction {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        step /= 10;
        value = value.checked_add(i64::from(digit) * step)?;
    }
    Some(value)
}

/// The ns since midnight of `17:58:57.814`.
pub fn clock_ns(field: &[u8]) -> Option<i64> {
    if field.get(2) != Some(&b':') || field.get(5) != Some(&b':') {
        return None;
    }
    let (hours, minutes) = (whole(&field[..2])?, whole(&field[3..5])?);
    Some((hours * 60 + minutes) * 60 * 1_000_000_000 + decimal_ns(&field[6..], 1_000_000_000)?)
}

/// The step of a time by its digits behind the point, in ns; `unit_ns`: of its whole numbers.
pub fn step_ns(field: &[u8], unit_ns: i64) -> i64 {
    let dot = memchr(b'.', field).unwrap_or(field.len());
    let digits = field.len().saturating_sub(dot + 1).min(unit_ns.ilog10() as usize);
    unit_ns / 10_i64.pow(digits as u32)
}

/// The days from 1970 to a date of the Gregorian calendar, whose years begin in March here: leap days are their last.
pub fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 719_469
}

/// The next field up to a run of blanks, and what comes after; None at the end.
#[inline]
pub fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = &text[blanks(text)..];
    (!rest.is_empty()).then(|| rest.split_at(filled(rest)))
}

/// How many blanks a text begins with. Tools align their columns with runs of spaces: eight at a time have no loop.
#[inline]
fn blanks(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(eight) = text[at..].first_chunk::<8>() {
        let others = u64::from_le_bytes(*eight) ^ SPACES;
        at += others.trailing_zeros() as usize / 8;
        if others != 0 {
            break;
        }
    }
    at + text[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// How many bytes there are before the first blank.
#[inline]
fn filled(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(eight) = text[at..].first_chunk::<8>() {
        let word = u64::from_le_bytes(*eight);
        // Bytes below 0x21: all blanks are. What a difference borrows spoils only bytes behind the first of them.
        let low = word.wrapping_sub(0x2121_2121_2121_2121) & !word & 0x8080_8080_8080_8080;
        at += low.trailing_zeros() as usize / 8;
        if low != 0 {
            if text[at].is_ascii_whitespace() {
                return at;
            }
            at += 1;
        }
    }
    at + text[at..].iter().take_while(|byte| !byte.is_ascii_whitespace()).count()
}

/// The last field after a run of blanks, and what comes before; None where there is none.
pub fn last_word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.iter().rposition(|byte| !byte.is_ascii_whitespace())? + 1;
    let start = text[..end].iter().rposition(|byte| byte.is_ascii_whitespace()).map_or(0, |at| at + 1);
    Some((&text[start..end], &text[..start]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_all_digits_and_fits() {
        assert_eq!(unsigned(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(unsigned(b"18446744073709551616"), None);
        assert_eq!(unsigned(b"9999999999999999999"), Some(9_999_999_999_999_999_999));
        for bad in [&b""[..], b"-1", b"+1", b" 1", b"1 ", b"0x1", b"1.5", b"\xff"] {
            assert_eq!(unsigned(bad), None, "{bad:?}");
        }
        for length in 1..=19 {
            for value in [0_u64, 1, 9, 12_345_678, 98_765_432, 9_999_999_999_999_999_999] {
                let text = format!("{value:0length$}");
                assert_eq!(unsigned(text.as_bytes()), text.parse().ok(), "{text}");
                for at in 0..text.len() {
                    for bad in [b'/', b':', b' ', b'?', 0xb5] {
                        let mut broken = text.clone().into_bytes();
                        broken[at] = bad;
                        assert_eq!(unsigned(&broken), None);
                    }
                }
            }
        }
        assert_eq!(signed(b"-1"), Some(-1));
        assert_eq!(whole(b"9223372036854775808"), None);
    }

    #[test]
    fn a_leading_number_ends_where_its_digits_do() {
        for length in 1..=20 {
            for value in [0_u64, 1, 9, 12_345_678, 98_765_432, 9_999_999_999_999_999_999] {
                let text = format!("{value:0length$}");
                for after in
                    ["", " ", " obj#=1234567", "/", ":1", "\u{b5}", "\0\0\0\0\0\0\0\0\0", "x99999999"]
                {
                    let all = format!("{text}{after}");
                    assert_eq!(leading(all.as_bytes()), (value, text.len()), "{all:?}");
                }
            }
        }
        assert_eq!(leading(b"18446744073709551615"), (u64::MAX, 20));
        for bad in [
            &b"18446744073709551616"[..],
            b"",
            b" 1",
            b"-1",
            b"x",
            b"\xff1234567",
            b"99999999999999999999999",
        ] {
            assert_eq!(leading(bad), (0, 0), "{bad:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_leading_number_is_what_a_loop_finds(text in "[0-9]{0,21}[^0-9]{0,3}[0-9a-z/:]{0,9}") {
            let text = text.as_bytes();
            let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let looped = long_unsigned(&text[..digits]).map_or((0, 0), |value| (value, digits));
            proptest::prop_assert_eq!(leading(text), looped);
        }
    }

    #[test]
    fn decimals_are_exact() {
        assert_eq!(decimal_ns(b"0.551706", 1_000_000_000), Some(551_706_000));
        assert_eq!(decimal_ns(b"13.191135", 1_000_000), Some(13_191_135));
        assert_eq!(decimal_ns(b"1.0000000019", 1_000_000_000), Some(1_000_000_001));
        assert_eq!(decimal_ns(b"7", 100), Some(700));
        for bad in [&b"1."[..], b".5", b"1.5.0", b"1.x", b"99999999999.0"] {
            assert_eq!(decimal_ns(bad, 1_000_000_000), None, "{bad:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_decimal_is_what_a_loop_finds(text in "[0-9]{0,12}[.]?[0-9]{0,14}[x.]?", unit in 0_u32..10) {
            let (text, unit_ns) = (text.as_bytes(), 10_i64.pow(unit));
            let dot = text.iter().position(|byte| *byte == b'.').unwrap_or(text.len());
            let looped = whole(&text[..dot]).and_then(|count| count.checked_mul(unit_ns)).and_then(|whole_ns| {
                let fraction = text.get(dot + 1..).map_or(Some(0), |digits| long_fraction_ns(digits, unit_ns));
                whole_ns.checked_add(fraction?)
            });
            proptest::prop_assert_eq!(decimal_ns(text, unit_ns), looped);
        }

        #[test]
        fn a_word_is_what_a_loop_finds(text in "[ \\t]{0,12}[a-z0-9\u{1}\u{7f}\u{e9}]{0,20}[ \\r\u{1}]{0,3}[a-z ]{0,9}") {
            let text = text.as_bytes();
            let start = text.iter().position(|byte| !byte.is_ascii_whitespace());
            let looped = start.map(|start| {
                let rest = &text[start..];
                rest.split_at(rest.iter().position(|byte| byte.is_ascii_whitespace()).unwrap_or(rest.len()))
            });
            proptest::prop_assert_eq!(word(text), looped);
        }
    }

    #[test]
    fn words_come_from_either_end() {
        assert_eq!(word(b"  a b"), Some((&b"a"[..], &b" b"[..])));
        assert_eq!(last_word(b"my file read 0 512 "), Some((&b"512"[..], &b"my file read 0 "[..])));
        assert_eq!((word(b"  "), last_word(b"")), (None, None));
    }
}
