//! What each device did since it is there, as the kernel counts it by itself, traced or not: /proc/diskstats.

use std::collections::HashMap;
use std::fs;
use std::hash::BuildHasherDefault;

use crate::blk::pairing::Quick;
use crate::blk::{BlkOp, Device};

/// Requests done, by device and operation.
pub type Done = HashMap<(u32, BlkOp), u64, BuildHasherDefault<Quick>>;

/// Operations whose requests are counted, and which number of a line that is, from 0 (flushes: Linux 5.5).
const COUNTED: [(BlkOp, usize); 3] = [(BlkOp::Read, 3), (BlkOp::Write, 7), (BlkOp::Flush, 18)];

/// Empty where it cannot be read.
pub fn read() -> Done {
    fs::read_to_string("/proc/diskstats").map(|text| parse(&text)).unwrap_or_default()
}

fn parse(text: &str) -> Done {
    let mut done = Done::default();
    for line in text.lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
        let (Some(major), Some(minor)) = (number(0), number(1)) else { continue };
        let device = Device { major: major as u32, minor: minor as u32 }.to_kernel();
        done.extend(COUNTED.iter().filter_map(|&(op, at)| Some(((device, op), number(at)?))));
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_writes_and_flushes_of_each_device() {
        let text = " 254 0 vda 10 0 80 5 20 0 160 6 0 9 11 0 0 0 0 7 1\n   7 0 loop0 3 0 0 0 4 0 0 0 0 0 0\nnonsense\n";
        let done = parse(text);
        let of = |major, minor, op| done.get(&(Device { major, minor }.to_kernel(), op)).copied();
        assert_eq!(
            [BlkOp::Read, BlkOp::Write, BlkOp::Flush].map(|op| of(254, 0, op)),
            [Some(10), Some(20), Some(7)]
        );
        assert_eq!([BlkOp::Read, BlkOp::Flush].map(|op| of(7, 0, op)), [Some(3), None]);
        assert_eq!(done.len(), 5);
    }
}
