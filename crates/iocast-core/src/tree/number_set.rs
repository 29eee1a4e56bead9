//! `NumberSet`: which of the numbers 0..n are in it, a bit each, and the next one in or out from any place.
//!
//! Above the bits lie two summaries, a bit for each word that has a number in it and for each that lacks one, so that a
//! set that is nearly full or nearly empty is searched in a 64th of the time.

/// See the module.
#[derive(Clone, Debug)]
pub struct NumberSet {
    words: Vec<u64>,
    some: Vec<u64>,
    lack: Vec<u64>,
    size: u64,
    count: u64,
}

fn mask(size: u64, word: usize) -> u64 {
    let left = size - word as u64 * 64;
    if left >= 64 { u64::MAX } else { (1 << left) - 1 }
}

impl NumberSet {
    /// All of `size` numbers, or none.
    pub fn new(size: u64, full: bool) -> NumberSet {
        let count = size.div_ceil(64) as usize;
        let words = (0..count).map(|word| if full { mask(size, word) } else { 0 }).collect();
        let summary = |on: bool| {
            let each = |at: usize| if on { mask(count as u64, at) } else { 0 };
            (0..count.div_ceil(64)).map(each).collect()
        };
        NumberSet {
            words,
            some: summary(full),
            lack: summary(!full),
            size,
            count: if full { size } else { 0 },
        }
    }

    /// How many numbers there could be.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// How many are in it.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether a number is in it.
    #[inline]
    pub fn has(&self, number: u64) -> bool {
        self.words[(number / 64) as usize] >> (number % 64) & 1 == 1
    }

    /// Puts a number in, or takes it out.
    #[inline]
    pub fn set(&mut self, number: u64, on: bool) {
        let (word, bit) = ((number / 64) as usize, 1u64 << (number % 64));
        let before = self.words[word];
        let after = if on { before | bit } else { before & !bit };
        if before == after {
            return;
        }
        self.count = if on { self.count + 1 } else { self.count - 1 };
        self.words[word] = after;
        let (at, one) = (word / 64, 1u64 << (word % 64));
        let put = |summary: &mut u64, on: bool| *summary = if on { *summary | one } else { *summary & !one };
        put(&mut self.some[at], after != 0);
        put(&mut self.lack[at], after != mask(self.size, word));
    }

    /// The first number from `from` on, and round the end, that is in it (`present`) or out of it.
    #[inline]
    pub fn next(&self, from: u64, present: bool) -> Option<u64> {
        let there = if present { self.count } else { self.size - self.count };
        if there == 0 {
            return None;
        }
        let from = if from < self.size { from } else { 0 };
        self.search(from, present).or_else(|| self.search(0, present))
    }

    #[inline]
    fn suiting(&self, word: usize, present: bool) -> u64 {
        let bits = self.words[word];
        if present { bits } else { !bits & mask(self.size, word) }
    }

    fn search(&self, from: u64, present: bool) -> Option<u64> {
        let word = (from / 64) as usize;
        let here = self.suiting(word, present) & (u64::MAX << (from % 64));
        if here != 0 {
            return Some(word as u64 * 64 + u64::from(here.trailing_zeros()));
        }
        let summary = if present { &self.some } else { &self.lack };
        let next = word + 1;
        for (at, summary) in summary.iter().enumerate().skip(next / 64) {
            let from = if at == next / 64 { u64::MAX << (next % 64) } else { u64::MAX };
            let words = summary & from;
            if words != 0 {
                let word = at * 64 + words.trailing_zeros() as usize;
                return Some(word as u64 * 64 + u64::from(self.suiting(word, present).trailing_zeros()));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_is_a_set_of_numbers(
            size in 1u64..20_000, full: bool, changes in prop::collection::vec((0u64..20_000, any::<bool>()), 0..300),
            from in 0u64..20_000, present: bool,
        ) {
            let mut set = NumberSet::new(size, full);
            let mut known: BTreeSet<u64> = if full { (0..size).collect() } else { BTreeSet::new() };
            for (number, on) in changes {
                let number = number % size;
                set.set(number, on);
                if on { known.insert(number); } else { known.remove(&number); }
            }
            prop_assert_eq!(set.count(), known.len() as u64);
            let from = from % size;
            let wanted = (from..size).chain(0..from).find(|at| known.contains(at) == present);
            prop_assert_eq!(set.next(from, present), wanted);
        }
    }
}
