//! A cache of lines that keeps what was used last.

use std::collections::HashMap;

use super::hash::Mixed;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Line {
    number: u64,
    newer: u32,
    older: u32,
}

/// At most so many lines; the one that was not used for the longest time makes room.
#[derive(Clone, Debug)]
pub struct Lru {
    most: usize,
    lines: Vec<Line>,
    places: HashMap<u64, u32, Mixed>,
    newest: u32,
    oldest: u32,
}

impl Lru {
    /// An empty cache of `most` lines.
    pub fn new(most: usize) -> Lru {
        Lru { most, lines: Vec::new(), places: HashMap::default(), newest: NONE, oldest: NONE }
    }

    /// True when the line is there; it becomes the newest.
    pub fn touch(&mut self, number: u64) -> bool {
        let Some(place) = self.places.get(&number).copied() else { return false };
        self.unlink(place);
        self.link(place);
        true
    }

    /// Puts the line in, or makes it the newest.
    pub fn keep(&mut self, number: u64) {
        if self.touch(number) {
            return;
        }
        let place = if self.lines.len() < self.most {
            self.lines.push(Line { number, newer: NONE, older: NONE });
            self.lines.len() as u32 - 1
        } else {
            let place = self.oldest;
            self.unlink(place);
            self.places.remove(&self.lines[place as usize].number);
            self.lines[place as usize].number = number;
            place
        };
        self.places.insert(number, place);
        self.link(place);
    }

    fn link(&mut self, place: u32) {
        let old = self.newest;
        self.lines[place as usize].older = old;
        self.lines[place as usize].newer = NONE;
        match old {
            NONE => self.oldest = place,
            _ => self.lines[old as usize].newer = place,
        }
        self.newest = place;
    }

    fn unlink(&mut self, place: u32) {
        let Line { newer, older, .. } = self.lines[place as usize];
        match newer {
            NONE => self.newest = older,
            _ => self.lines[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            _ => self.lines[older as usize].newer = newer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_was_not_used_for_longest_makes_room() {
        let mut lru = Lru::new(3);
        [1, 2, 3].into_iter().for_each(|line| lru.keep(line));
        assert!(lru.touch(1));
        lru.keep(4);
        assert_eq!([1, 2, 3, 4].map(|line| lru.touch(line)), [true, false, true, true]);
        lru.keep(5);
        assert_eq!([1, 3, 4, 5].map(|line| lru.touch(line)), [false, true, true, true]);
    }
}
