//! How the kernel writes a request down: a device as `major,minor`, the operation as letters such as `FWS`.

use crate::blk::BlkOp;
use crate::trace::event::{Op, flags};
use crate::trace::fields::leading;

/// The kernel's number of `8,16`.
pub fn device_number(field: &[u8]) -> Option<u32> {
    leading_device(field).filter(|(_, length)| *length == field.len()).map(|(number, _)| number)
}

/// The kernel's number of the device that a text begins with, and how long its name is.
#[inline(always)]
pub fn leading_device(text: &[u8]) -> Option<(u32, usize)> {
    let (major, digits) = leading(text);
    let (minor, more) = leading(text[digits..].strip_prefix(b",")?);
    let known = digits > 0 && more > 0 && major < 1 << 12 && minor < 1 << 20;
    known.then_some((((major as u32) << 20) | minor as u32, digits + 1 + more))
}

/// The operation and flags of letters such as `FWS`, `RA`, `DS`.
pub fn asked(letters: &[u8]) -> (Op, u16) {
    let op = match BlkOp::from_letters(letters) {
        BlkOp::Read => Op::Read,
        BlkOp::Write => Op::Write,
        BlkOp::Trim => Op::Trim,
        BlkOp::Flush => Op::Flush,
        BlkOp::Other => Op::Other,
    };
    let leading = letters.first() == Some(&b'F');
    let mut bits = if leading && op != Op::Flush { flags::PREFLUSH } else { 0 };
    for letter in letters.iter().skip(if leading { 2 } else { 1 }) {
        bits |= match letter {
            b'F' => flags::FUA,
            b'A' => flags::AHEAD,
            b'S' => flags::SYNC,
            b'M' => flags::META,
            _ => 0,
        };
    }
    (op, bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_an_operation_and_flags() {
        assert_eq!(asked(b"R"), (Op::Read, 0));
        assert_eq!(asked(b"RM"), (Op::Read, flags::META));
        assert_eq!(asked(b"FWFSM").0, Op::Write);
        assert_eq!(asked(b"FWFSM").1, flags::PREFLUSH | flags::FUA | flags::SYNC | flags::META);
        assert_eq!(asked(b"FF").0, Op::Flush);
        assert_eq!(asked(b"N").0, Op::Other);
        assert_eq!(device_number(b"8,16"), Some(8 << 20 | 16));
        for bad in [&b"8:16"[..], b"8,", b",16", b"8", b"8,16 ", b"4096,0", b"8,1048576", b""] {
            assert_eq!(device_number(bad), None, "{bad:?}");
        }
    }
}
