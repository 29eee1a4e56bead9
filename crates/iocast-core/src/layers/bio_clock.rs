//! How long bios take: from when one was handed to the block layer until the last of its sectors is done.
//!
//! No tracepoint says which bios a request carries: several may be merged into one, and one may be cut into several. So a
//! completion goes along its sectors from the first one: to the bio, or the part of one, that begins there, then to the
//! one that begins where that ends. Bios of others that merely overlap it are left alone.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use crate::blk::pairing::Quick;
use crate::blk::{BlkOp, Event};

/// More than this are never on their way: what is left over is given up.
const MOST_OPEN: usize = 1 << 17;

/// (device, operation, first sector)
type Key = (u32, BlkOp, u64);

/// A piece of a bio that is still to come: all of it, until it is cut, or is done in part.
#[derive(Clone, Copy, Debug)]
struct Part {
    bio: u64,
    sectors: u32,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    at_ns: u64,
    sectors: u32,
    left: u32,
}

/// A bio that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoneBio {
    /// From its arrival to its end.
    pub time_ns: u64,
    /// Its length in 512 bytes.
    pub sectors: u32,
}

/// See the module.
#[derive(Default)]
pub struct BioClock {
    parts: HashMap<Key, Vec<Part>, BuildHasherDefault<Quick>>,
    open: HashMap<u64, Open, BuildHasherDefault<Quick>>,
    number: u64,
    given_up: u64,
}

impl BioClock {
    /// One came in.
    pub fn begun(&mut self, event: &Event) {
        if self.open.len() >= MOST_OPEN {
            self.give_up();
        }
        self.number += 1;
        let (at_ns, sectors) = (event.at_ns, event.sectors);
        self.open.insert(self.number, Open { at_ns, sectors, left: sectors });
        let key = (event.device, event.op, event.sector);
        self.parts.entry(key).or_default().push(Part { bio: self.number, sectors });
    }

    /// The one that begins there was cut: `event.sectors` is how long its first part is.
    pub fn cut(&mut self, event: &Event) {
        let key = (event.device, event.op, event.sector);
        let found =
            self.parts.get_mut(&key).and_then(|all| all.iter_mut().rfind(|one| one.sectors > event.sectors));
        let Some(first) = found else { return };
        let rest = Part { bio: first.bio, sectors: first.sectors - event.sectors };
        first.sectors = event.sectors;
        let behind = (event.device, event.op, event.sector + u64::from(event.sectors));
        self.parts.entry(behind).or_default().push(rest);
    }

    /// Sectors are done; the bios that end with them go to `tell`. False when none of those that came in was meant.
    pub fn completed(&mut self, event: &Event, tell: &mut dyn FnMut(DoneBio)) -> bool {
        let (mut sector, mut left) = (event.sector, event.sectors);
        while left > 0 {
            let Some(part) = self.take_part((event.device, event.op, sector), left) else { break };
            let done = part.sectors.min(left);
            (sector, left) = (sector + u64::from(done), left - done);
            if part.sectors > done {
                let rest = Part { sectors: part.sectors - done, ..part };
                self.parts.entry((event.device, event.op, sector)).or_default().push(rest);
            }
            self.credit(part.bio, done, event.at_ns, tell);
        }
        left < event.sectors
    }

    /// The oldest that fits, or the oldest.
    fn take_part(&mut self, key: Key, most: u32) -> Option<Part> {
        let all = self.parts.get_mut(&key)?;
        let part = all.remove(all.iter().position(|one| one.sectors <= most).unwrap_or(0));
        if all.is_empty() {
            self.parts.remove(&key);
        }
        Some(part)
    }

    fn credit(&mut self, bio: u64, done: u32, at_ns: u64, tell: &mut dyn FnMut(DoneBio)) {
        let Some(open) = self.open.get_mut(&bio) else { return };
        open.left = open.left.saturating_sub(done);
        if open.left == 0 {
            tell(DoneBio { time_ns: at_ns.saturating_sub(open.at_ns), sectors: open.sectors });
            self.open.remove(&bio);
        }
    }

    /// Forgets all that is on its way: records of ends were lost.
    pub fn give_up(&mut self) {
        self.given_up += self.open.len() as u64;
        self.open.clear();
        self.parts.clear();
    }

    /// Bios that were given up, since the beginning.
    pub fn given_up(&self) -> u64 {
        self.given_up
    }

    /// Bios on their way.
    pub fn on_their_way(&self) -> usize {
        self.open.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blk::Step;

    fn event(at_ns: u64, sector: u64, sectors: u32) -> Event {
        Event { at_ns, step: Step::Bio, device: 7, sector, sectors, op: BlkOp::Read, failed: false }
    }

    fn told(clock: &mut BioClock, ends: &[Event]) -> (Vec<(u64, u32)>, Vec<bool>) {
        let mut done = Vec::new();
        let found = ends
            .iter()
            .map(|end| clock.completed(end, &mut |bio| done.push((bio.time_ns, bio.sectors))))
            .collect();
        (done, found)
    }

    #[test]
    fn a_bio_of_one_request_ends_with_it() {
        let mut clock = BioClock::default();
        clock.begun(&event(10, 8, 16));
        assert_eq!(told(&mut clock, &[event(150, 8, 16)]), (vec![(140, 16)], vec![true]));
        assert_eq!(clock.on_their_way(), 0);
    }

    #[test]
    fn merged_bios_all_end_with_their_request() {
        let mut clock = BioClock::default();
        clock.begun(&event(10, 8, 8));
        clock.begun(&event(20, 16, 8));
        clock.begun(&event(30, 32, 8)); // beyond it
        assert_eq!(told(&mut clock, &[event(100, 8, 16)]), (vec![(90, 8), (80, 8)], vec![true]));
        assert_eq!(clock.on_their_way(), 1);
    }

    #[test]
    fn a_cut_bio_ends_with_its_last_part_in_any_order() {
        for ends in [[event(50, 100, 60), event(90, 160, 40)], [event(50, 160, 40), event(90, 100, 60)]] {
            let mut clock = BioClock::default();
            clock.begun(&event(10, 100, 100));
            clock.cut(&event(11, 100, 60));
            assert_eq!(told(&mut clock, &ends), (vec![(80, 100)], vec![true, true]));
            assert_eq!((clock.on_their_way(), clock.parts.len()), (0, 0));
        }
    }

    #[test]
    fn a_request_may_be_done_in_parts() {
        let mut clock = BioClock::default();
        clock.begun(&event(10, 100, 100));
        let ends = [event(50, 100, 60), event(90, 160, 40)];
        assert_eq!(told(&mut clock, &ends), (vec![(80, 100)], vec![true, true]));
    }

    #[test]
    fn what_overlaps_ends_with_its_own_request() {
        let mut clock = BioClock::default();
        clock.begun(&event(10, 100, 64));
        clock.begun(&event(20, 132, 64)); // its second half and beyond
        clock.begun(&event(30, 140, 8)); // within both
        let ends = [event(100, 132, 64), event(110, 140, 8), event(120, 100, 64)];
        assert_eq!(told(&mut clock, &ends), (vec![(80, 64), (80, 8), (110, 64)], vec![true; 3]));
    }

    #[test]
    fn two_at_the_same_sectors_end_one_after_the_other() {
        let mut clock = BioClock::default();
        clock.begun(&event(10, 8, 8));
        clock.begun(&event(30, 8, 8));
        let ends = [event(100, 8, 8), event(110, 8, 8)];
        assert_eq!(told(&mut clock, &ends), (vec![(90, 8), (80, 8)], vec![true, true]));
    }

    #[test]
    fn what_came_in_before_is_not_found_and_what_is_lost_is_given_up() {
        let mut clock = BioClock::default();
        assert_eq!(told(&mut clock, &[event(100, 8, 8)]), (vec![], vec![false]));
        clock.begun(&event(10, 8, 8));
        clock.give_up();
        assert_eq!((clock.given_up(), clock.on_their_way()), (1, 0));
    }

    #[test]
    fn another_operation_at_the_same_sectors_is_another_bio() {
        let mut clock = BioClock::default();
        clock.begun(&event(10, 8, 8));
        let write = Event { op: BlkOp::Write, ..event(100, 8, 8) };
        assert_eq!(told(&mut clock, &[write]).1, [false]);
        assert_eq!(clock.on_their_way(), 1);
    }
}
