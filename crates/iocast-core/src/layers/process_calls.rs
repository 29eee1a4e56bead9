//! How often processes read and wrote, as the kernel counts it by itself, traced or not: /proc/PID/io.

use std::collections::HashMap;
use std::fs;

/// Of more processes only some are asked: an answer takes the kernel some 20 us, more with many threads.
const MOST: usize = 128;

/// Calls that read, and calls that write, on whatever descriptor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Made {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
}

/// By process, since it began.
pub type ProcessCalls = HashMap<u32, Made>;

/// Of these processes; those that are gone, or that this process may not ask about, are left out.
pub fn read(pids: impl Iterator<Item = u32>) -> ProcessCalls {
    pids.take(MOST)
        .filter_map(|pid| Some((pid, parse(&fs::read_to_string(format!("/proc/{pid}/io")).ok()?)?)))
        .collect()
}

fn parse(text: &str) -> Option<Made> {
    let number = |name: &str| text.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok();
    Some(Made { reads: number("syscr:")?, writes: number("syscw:")? })
}

/// What those who were there at all three times did from the first to the second, and from the first to the third.
pub fn done(first: &ProcessCalls, second: &ProcessCalls, third: &ProcessCalls) -> (Made, Made) {
    let (mut until_second, mut until_third) = (Made::default(), Made::default());
    for (pid, from) in first {
        let (Some(second), Some(third)) = (second.get(pid), third.get(pid)) else { continue };
        for (sum, until) in [(&mut until_second, second), (&mut until_third, third)] {
            sum.reads += until.reads.saturating_sub(from.reads);
            sum.writes += until.writes.saturating_sub(from.writes);
        }
    }
    (until_second, until_third)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_of_those_who_were_there_all_the_time() {
        let text = "rchar: 9\nwchar: 8\nsyscr: 70\nsyscw: 60\nread_bytes: 1\n";
        assert_eq!(parse(text), Some(Made { reads: 70, writes: 60 }));
        assert_eq!(parse("nothing"), None);
        let of = |reads: u64, writes: u64| Made { reads, writes };
        let first: ProcessCalls = [(1, of(10, 5)), (2, of(0, 0))].into();
        let second: ProcessCalls = [(1, of(110, 5)), (3, of(7, 7))].into();
        let third: ProcessCalls = [(1, of(1010, 9)), (2, of(9, 9)), (3, of(8, 8))].into();
        assert_eq!(done(&first, &second, &third), (of(100, 0), of(1000, 4)));
        assert!(read([std::process::id()].into_iter()).len() <= 1);
    }
}
