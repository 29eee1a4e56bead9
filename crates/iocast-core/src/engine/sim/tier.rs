//! The fast tier: which extents lie there.

use std::collections::HashMap;

use super::hash::Mixed;
use crate::plan::simulated::SimTier;

#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    uses: u32,
    fast: bool,
}

/// Extents are moved as they are used often, or at the end of each period.
#[derive(Clone, Debug)]
pub struct Tier {
    spec: SimTier,
    room: usize,
    extents: HashMap<u64, Extent, Mixed>,
    fast: Vec<u64>,
    hand: usize,
    period_ends: u64,
}

impl Tier {
    /// An empty tier.
    pub fn new(spec: &SimTier) -> Tier {
        Tier {
            room: (spec.size_bytes / spec.extent_bytes) as usize,
            spec: spec.clone(),
            extents: HashMap::default(),
            fast: Vec::new(),
            hand: 0,
            period_ends: spec.period_ns,
        }
    }

    /// The time of an I/O there, when its extent is a fast one. Counts it.
    pub fn hit(&mut self, now: u64, offset: u64) -> Option<u64> {
        if self.spec.period_ns > 0 && now >= self.period_ends {
            self.period_ends = (now / self.spec.period_ns + 1) * self.spec.period_ns;
            self.rank();
        }
        let number = offset / self.spec.extent_bytes;
        let extent = self.extents.entry(number).or_default();
        extent.uses = extent.uses.saturating_add(1);
        let Extent { uses, fast } = *extent;
        if !fast && self.spec.after > 0 && uses >= self.spec.after {
            self.promote(number, uses);
        }
        fast.then_some(self.spec.fast_ns)
    }

    /// Moves an extent up where there is room, or in place of one that is used less than half as much.
    fn promote(&mut self, number: u64, uses: u32) {
        if self.fast.len() < self.room {
            self.fast.push(number);
        } else {
            let place = self.hand;
            self.hand = (self.hand + 1) % self.room;
            let victim = self.extents.entry(self.fast[place]).or_default();
            if uses / 2 <= victim.uses {
                return;
            }
            victim.fast = false;
            self.fast[place] = number;
        }
        self.extents.entry(number).or_default().fast = true;
    }

    /// The extents that were used most in this period are the fast ones; what was used equally often stays.
    fn rank(&mut self) {
        let mut order: Vec<(u32, bool, u64)> =
            self.extents.iter().map(|(number, extent)| (extent.uses, extent.fast, *number)).collect();
        order.sort_unstable_by_key(|(uses, fast, number)| (!*uses, !*fast, *number));
        order.truncate(self.room);
        self.extents.clear();
        self.fast.clear();
        for (_, _, number) in order {
            self.fast.push(number);
            self.extents.insert(number, Extent { uses: 0, fast: true });
        }
    }
}
