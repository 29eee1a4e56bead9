//! How long bios take: from when one was handed to the block layer until the last of its sectors is done.
//!
//! No tracepoint says which bios a request carries: several bios may be merged into one, and one may be cut into several. So
//! a completion is credited to the bios whose sectors it covers. Of two at the same sectors the older one is meant.

use std::collections::BTreeMap;

use crate::blk::{BlkOp, Event};

/// More than this are never on their way: what is left over is given up.
const MOST_OPEN: usize = 1 << 17;
/// Older than this one is left over from an end that was not seen.
const PATIENCE_NS: u64 = 120_000_000_000;

/// (device, operation, first sector, number)
type Key = (u32, BlkOp, u64, u32);

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
    open: BTreeMap<Key, Open>,
    number: u32,
    given_up: u64,
}

impl BioClock {
    /// One came in.
    pub fn begun(&mut self, event: &Event) {
        if self.open.len() >= MOST_OPEN {
            self.give_up_older_than(event.at_ns.saturating_sub(PATIENCE_NS));
        }
        if self.open.len() >= MOST_OPEN {
            self.give_up();
        }
        self.number = self.number.wrapping_add(1);
        let fresh = Open { at_ns: event.at_ns, sectors: event.sectors, left: event.sectors };
        self.open.insert((event.device, event.op, event.sector, self.number), fresh);
    }

    /// Sectors are done; the bios that end with them go to `tell`. False when none of those that came in was meant.
    pub fn completed(&mut self, event: &Event, tell: &mut dyn FnMut(DoneBio)) -> bool {
        let (first, end) = (event.sector, event.sector + u64::from(event.sectors));
        let (least, most) = ((event.device, event.op, 0, 0), (event.device, event.op, first, 0));
        // One that begins before, if it reaches so far: it was cut, and its first part is done or still on its way.
        let before = self.open.range(least..most).next_back().map(|(key, _)| *key);
        let within = self.open.range(most..(event.device, event.op, end, 0)).map(|(key, _)| *key);
        let mut meant: Vec<Key> = before.into_iter().chain(within).collect();
        meant.dedup_by_key(|key| key.2); // of the same sector the oldest
        let mut found = false;
        for key in meant {
            found |= self.credit(key, (first, end), event.at_ns, tell);
        }
        found
    }

    fn credit(
        &mut self,
        key: Key,
        (first, end): (u64, u64),
        at_ns: u64,
        tell: &mut dyn FnMut(DoneBio),
    ) -> bool {
        let Some(open) = self.open.get_mut(&key) else { return false };
        let shared = end.min(key.2 + u64::from(open.sectors)).saturating_sub(first.max(key.2));
        if shared == 0 {
            return false;
        }
        open.left = open.left.saturating_sub(shared as u32);
        if open.left == 0 {
            tell(DoneBio { time_ns: at_ns.saturating_sub(open.at_ns), sectors: open.sectors });
            self.open.remove(&key);
        }
        true
    }

    /// Forgets all that is on its way: records of ends were lost.
    pub fn give_up(&mut self) {
        self.give_up_older_than(u64::MAX);
    }

    fn give_up_older_than(&mut self, before_ns: u64) {
        let held = self.open.len();
        self.open.retain(|_, open| open.at_ns >= before_ns);
        self.given_up += (held - self.open.len()) as u64;
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
            assert_eq!(told(&mut clock, &ends), (vec![(80, 100)], vec![true, true]));
        }
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
