//! Strict numbers out of bytes: all of the field, checked, and nothing guessed.

/// A whole number, digits only.
pub fn unsigned(field: &[u8]) -> Option<u64> {
    if field.is_empty() {
        return None;
    }
    let mut value: u64 = 0;
    if field.len() <= 19 {
        for &byte in field {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                return None;
            }
            value = value * 10 + u64::from(digit);
        }
        return Some(value);
    }
    for &byte in field {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(value)
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
pub fn decimal_ns(field: &[u8], unit_ns: i64) -> Option<i64> {
    let Some(dot) = field.iter().position(|byte| *byte == b'.') else {
        return whole(field)?.checked_mul(unit_ns);
    };
    let (mut value, mut step) = (whole(&field[..dot])?.checked_mul(unit_ns)?, unit_ns);
    let fraction = &field[dot + 1..];
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

/// The next field up to a run of blanks, and what comes after; None at the end.
pub fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let start = text.iter().position(|byte| !byte.is_ascii_whitespace())?;
    let rest = &text[start..];
    let end = rest.iter().position(|byte| byte.is_ascii_whitespace()).unwrap_or(rest.len());
    Some((&rest[..end], &rest[end..]))
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
        assert_eq!(signed(b"-1"), Some(-1));
        assert_eq!(whole(b"9223372036854775808"), None);
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

    #[test]
    fn words_come_from_either_end() {
        assert_eq!(word(b"  a b"), Some((&b"a"[..], &b" b"[..])));
        assert_eq!(last_word(b"my file read 0 512 "), Some((&b"512"[..], &b"my file read 0 "[..])));
        assert_eq!((word(b"  "), last_word(b"")), (None, None));
    }
}
