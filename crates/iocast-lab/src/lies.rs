//! What a device keeps that acknowledges writes and does not do them as it says: lost, torn, misplaced.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use crate::memory::Memory;
use crate::options::Options;

const SECTOR_BYTES: usize = 512;

/// See the module. Every so many-th write, in the order in which they came; the first that applies is done.
#[derive(Default)]
pub struct Lies {
    lose_every: Option<u64>,
    tear_every: Option<u64>,
    misplace_every: Option<u64>,
    writes: AtomicU64,
}

impl Lies {
    /// As told.
    pub fn new(options: &Options) -> Lies {
        Lies {
            lose_every: options.lose_every,
            tear_every: options.tear_every,
            misplace_every: options.misplace_every,
            writes: AtomicU64::new(0),
        }
    }

    /// The number of a write that has come, from 1 on.
    pub fn number(&self) -> u64 {
        self.writes.fetch_add(1, SeqCst) + 1
    }

    /// Keeps the write of this number, which fits, or what such a device makes of it.
    pub fn keep(&self, number: u64, memory: &Memory, offset: u64, data: &[u8]) {
        let meant = |every: Option<u64>| every.is_some_and(|every| number % every == 0);
        if meant(self.lose_every) {
            return;
        }
        if meant(self.tear_every) {
            return memory.put(offset, &data[..data.len() / 2 / SECTOR_BYTES * SECTOR_BYTES]);
        }
        if meant(self.misplace_every) {
            return memory.put(place_before(offset, data.len() as u64, memory.size_bytes()), data);
        }
        memory.put(offset, data);
    }
}

/// Where a misplaced write goes: just before its place, from the first place to the last one.
fn place_before(offset: u64, len: u64, size_bytes: u64) -> u64 {
    offset.checked_sub(len).unwrap_or(size_bytes - len)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(options: &Options) -> Vec<u8> {
        let (memory, lies) = (Memory::new(8192).unwrap(), Lies::new(options));
        for (number, offset) in (0..8192).step_by(1024).enumerate() {
            assert_eq!(lies.number(), number as u64 + 1);
            lies.keep(number as u64 + 1, &memory, offset, &[number as u8 + 1; 1024]);
        }
        memory.slice(0, 8192).iter().step_by(512).copied().collect()
    }

    #[test]
    fn each_lie_is_told_as_often_as_asked() {
        let told = |set: fn(&mut Options)| {
            let mut options = Options::default();
            set(&mut options);
            kept(&options)
        };
        assert_eq!(told(|_| ()), [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8]);
        assert_eq!(told(|o| o.lose_every = Some(4)), [1, 1, 2, 2, 3, 3, 0, 0, 5, 5, 6, 6, 7, 7, 0, 0]);
        assert_eq!(told(|o| o.tear_every = Some(3)), [1, 1, 2, 2, 3, 0, 4, 4, 5, 5, 6, 0, 7, 7, 8, 8]);
        assert_eq!(told(|o| o.misplace_every = Some(5)), [1, 1, 2, 2, 3, 3, 5, 5, 0, 0, 6, 6, 7, 7, 8, 8]);
    }

    #[test]
    fn a_write_at_the_start_goes_to_the_end() {
        assert_eq!(place_before(0, 512, 8192), 7680);
        assert_eq!(place_before(1024, 512, 8192), 512);
    }
}
