//! How many different keys were used since a key was last used: the stack distance of Mattson, exactly.
//!
//! Each key has the position of its last use; a Fenwick tree counts the positions that are one. Positions that are none
//! any more are squeezed out when the tree is full. A cache of C keys that drops the least recently used one holds a key
//! exactly when its distance is at most C.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::workload::random::mix64;

/// A block: a target and a number in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Block {
    /// Its target.
    pub target: u32,
    /// Its number, or the place of a request where requests are not cut into blocks.
    pub number: i64,
}

impl Block {
    /// 64 well mixed bits of it.
    #[inline]
    pub fn mixed(&self) -> u64 {
        mix64(self.number as u64 ^ mix64(u64::from(self.target)))
    }
}

/// A quick hasher for numbers of our own: nobody chooses them to collide.
#[derive(Default)]
pub struct Mixing(u64);

impl Hasher for Mixing {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_i64(&mut self, value: i64) {
        self.write_u64(value as u64);
    }

    fn write_u64(&mut self, value: u64) {
        let bits = (self.0.rotate_left(26) ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = bits ^ (bits >> 32);
    }
}

/// A map of our own numbers.
pub type MixingMap<K, V> = HashMap<K, V, BuildHasherDefault<Mixing>>;

/// What is kept of a block besides its place among the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    at: u32,
    /// The farthest that it was away since it was last written; 0 where it never was.
    pub farthest: u64,
    /// Time of its last use.
    pub last_ns: i64,
    /// Whether that was a write.
    pub last_write: bool,
    /// Whether it was written at all.
    pub written: bool,
}

/// All blocks that were used, in the order of their last use.
pub struct StackDistance {
    blocks: MixingMap<Block, Kept>,
    tree: Vec<u32>,
    next: usize,
}

const LEAST_POSITIONS: usize = 1 << 12;

impl Default for StackDistance {
    fn default() -> StackDistance {
        StackDistance { blocks: MixingMap::default(), tree: vec![0; LEAST_POSITIONS + 1], next: 0 }
    }
}

impl StackDistance {
    /// Uses a block: the different blocks since its last use, itself included, and what was kept of it; None where it is
    /// new. What is to be kept is left to `keep`.
    pub fn reference(
        &mut self,
        block: Block,
        keep: impl FnOnce(&mut Kept, Option<u64>),
    ) -> Option<(u64, Kept)> {
        if self.next + 1 >= self.tree.len() {
            self.squeeze();
        }
        let at = self.next as u32;
        self.next += 1;
        let live = self.blocks.len() as u64;
        let entry = self.blocks.entry(block);
        let found = match entry {
            std::collections::hash_map::Entry::Vacant(new) => {
                let mut kept = Kept { at, ..Kept::default() };
                keep(&mut kept, None);
                new.insert(kept);
                None
            }
            std::collections::hash_map::Entry::Occupied(mut known) => {
                let before = *known.get();
                let distance = live - u64::from(prefix(&self.tree, before.at)) + 1;
                change(&mut self.tree, before.at, -1);
                let kept = known.get_mut();
                kept.at = at;
                keep(kept, Some(distance));
                Some((distance, before))
            }
        };
        change(&mut self.tree, at, 1);
        found
    }

    /// Forgets a block.
    pub fn forget(&mut self, block: &Block) -> Option<Kept> {
        let gone = self.blocks.remove(block)?;
        change(&mut self.tree, gone.at, -1);
        Some(gone)
    }

    /// Different blocks.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// What was kept of each of them.
    pub fn kept(&self) -> impl Iterator<Item = &Kept> {
        self.blocks.values()
    }

    fn squeeze(&mut self) {
        let mut order: Vec<&mut Kept> = self.blocks.values_mut().collect();
        order.sort_unstable_by_key(|kept| kept.at);
        let positions = LEAST_POSITIONS.max(4 * order.len());
        self.tree.clear();
        self.tree.resize(positions + 1, 0);
        self.next = order.len();
        for (at, kept) in order.into_iter().enumerate() {
            kept.at = at as u32;
        }
        // A tree over n ones at the front: built from below in one pass.
        for at in 1..=positions {
            self.tree[at] += u32::from(at <= self.next);
            let above = at + (at & at.wrapping_neg());
            if above <= positions {
                self.tree[above] += self.tree[at];
            }
        }
    }
}

/// Ones at positions up to `at`, itself included.
#[inline]
fn prefix(tree: &[u32], at: u32) -> u32 {
    let (mut at, mut sum) = (at as usize + 1, 0);
    while at > 0 {
        sum += tree[at];
        at &= at - 1;
    }
    sum
}

#[inline]
fn change(tree: &mut [u32], at: u32, by: i32) {
    let mut at = at as usize + 1;
    while at < tree.len() {
        tree[at] = tree[at].wrapping_add_signed(by);
        at += at & at.wrapping_neg();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lists_agree(cases: u32) {
        proptest!(ProptestConfig::with_cases(cases), |(numbers in prop::collection::vec(0i64..3000, 1..20_000))| {
            let (mut stack, mut list) = (StackDistance::default(), Vec::<i64>::new());
            for number in numbers {
                let block = Block { target: 1, number };
                let found = stack.reference(block, |_, _| {}).map(|(distance, _)| distance);
                let place = list.iter().rposition(|known| *known == number);
                prop_assert_eq!(found, place.map(|place| (list.len() - place) as u64));
                place.map(|place| list.remove(place));
                list.push(number);
            }
            prop_assert_eq!(stack.blocks(), list.len());
        });
    }

    #[test]
    fn distances_are_those_of_a_list() {
        lists_agree(4);
    }

    #[test]
    #[ignore = "long: `make test-rust` runs it"]
    fn distances_are_those_of_many_lists() {
        lists_agree(40);
    }

    #[test]
    fn a_forgotten_block_counts_no_more() {
        let mut stack = StackDistance::default();
        let block = |number| Block { target: 0, number };
        for number in [1, 2, 3] {
            stack.reference(block(number), |_, _| {});
        }
        stack.forget(&block(2));
        assert_eq!(stack.reference(block(1), |_, _| {}).unwrap().0, 2);
        assert!(stack.reference(block(2), |_, _| {}).is_none());
    }
}
