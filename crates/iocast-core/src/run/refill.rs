//! `Refill`: how many of a user's free slots are submitted now.

/// A deep closed loop refills its queue in batches of at least this part of its depth: each submission may ring the
/// device's doorbell (a VM exit on virtio). It costs up to this share of the depth, which is reported as achieved
/// depth, and no accuracy: an I/O's time starts with its submission (docs/performance.md).
const LEAST_SHARE: usize = 8;
const LEAST_MOST: usize = 16;
/// And of at most this part, where I/Os end later: a device that ends all of them together begins with the first
/// batch while the next is made (decision 24).
const MOST_SHARE: usize = 4;

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refill {
    least: usize,
    most: usize,
}

impl Refill {
    /// Everything that is due is submitted when it is.
    pub(crate) const WHEN_DUE: Refill = Refill { least: 1, most: usize::MAX };

    /// Of a closed loop of this depth whose worker has so many slots; `inline`: I/Os end while they are submitted.
    pub(crate) fn closed(depth: usize, slots: usize, inline: bool) -> Refill {
        let least = (depth / LEAST_SHARE).clamp(1, LEAST_MOST).min(slots);
        let most = if inline || least == 1 { usize::MAX } else { depth / MOST_SHARE };
        Refill { least, most }
    }

    /// How many of `free` slots may be submitted now, while `outstanding` I/Os have not completed.
    #[inline]
    pub(crate) fn batch(self, free: usize, outstanding: u32) -> usize {
        if free < self.least && outstanding > 0 { 0 } else { free.min(self.most) }
    }

    /// How it is told, where that is worth a word.
    pub(crate) fn flag(self) -> Option<String> {
        match (self.least, self.most) {
            (1, _) => None,
            (least, usize::MAX) => Some(format!("refilled by {least}")),
            (least, most) => Some(format!("refilled by {least} to {most}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deep_queue_is_refilled_by_an_eighth_to_a_quarter() {
        let refill = Refill::closed(32, 32, false);
        let batches: Vec<usize> = [0, 3, 4, 7, 8, 9, 32].map(|free| refill.batch(free, 1)).to_vec();
        assert_eq!(batches, [0, 0, 4, 7, 8, 8, 8]);
        assert_eq!(refill.flag().as_deref(), Some("refilled by 4 to 8"));
        assert_eq!(Refill::closed(128, 128, false), Refill { least: 16, most: 32 });
        assert_eq!(Refill::closed(1024, 1024, false), Refill { least: 16, most: 256 });
    }

    #[test]
    fn with_nothing_outstanding_there_is_nothing_to_wait_for() {
        assert_eq!(Refill::closed(32, 32, false).batch(3, 0), 3);
    }

    #[test]
    fn what_ends_while_it_is_submitted_is_submitted_whole() {
        let refill = Refill::closed(32, 32, true);
        assert_eq!([3, 4, 32].map(|free| refill.batch(free, 1)), [0, 4, 32]);
        assert_eq!(refill.flag().as_deref(), Some("refilled by 4"));
    }

    #[test]
    fn a_shallow_queue_is_refilled_at_once() {
        for depth in [1, 8, 15] {
            let refill = Refill::closed(depth, depth, false);
            assert_eq!((refill, refill.flag()), (Refill::WHEN_DUE, None));
        }
        assert_eq!(Refill::closed(16, 16, false), Refill { least: 2, most: 4 });
        // A thread for each I/O has one slot, whatever the depth.
        assert_eq!(Refill::closed(32, 1, false), Refill::WHEN_DUE);
    }
}
