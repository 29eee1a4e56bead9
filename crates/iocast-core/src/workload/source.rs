//! `Source`: where a user's next I/O comes from: what it does and where it goes, not when it is due.
//!
//! A source stands in front of pacing. There is one so far, the drawn workload; another kind is one more variant,
//! in its own file. It is an enum and not a trait object, so that the loop calls it directly.

use rand::rngs::SmallRng;

use super::drawn::Drawn;
use super::next_io::NextIo;
use crate::plan::PhasePlan;

/// See the module.
pub enum Source {
    /// Drawn from the mix and the locality of a plan.
    Drawn(Drawn),
}

impl Source {
    /// The source of `user`'s I/Os.
    pub fn new(plan: &PhasePlan, user: u32) -> Source {
        Source::Drawn(Drawn::new(plan, user))
    }

    /// True when the next I/O belongs to the one before and follows it at once, without a pause and without an
    /// arrival of its own: the sync after a write.
    #[inline]
    pub fn follows_on(&self) -> bool {
        match self {
            Source::Drawn(drawn) => drawn.syncs_next(),
        }
    }

    /// The next I/O.
    #[inline]
    pub fn take(&mut self, rng: &mut SmallRng) -> NextIo {
        match self {
            Source::Drawn(drawn) => drawn.take(rng),
        }
    }
}
