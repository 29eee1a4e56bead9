//! `Source`: where a user's next I/O comes from: what it does and where it goes, not when it is due.
//!
//! A source stands in front of pacing: the drawn workload, or the rows of a trace. Another kind is one more variant, in
//! its own file. It is an enum and not a trait object, so that the loop calls it directly.

use rand::rngs::SmallRng;

use super::drawn::Drawn;
use super::recorded::Recorded;
use super::stepped::Stepped;
use super::tree_drawn::TreeDrawn;
use crate::plan::PhasePlan;

/// See the module.
pub enum Source {
    /// Drawn from the mix and the locality of a plan.
    Drawn(Drawn),
    /// The rows of a trace.
    Recorded(Box<Recorded>),
    /// From step to step of a session.
    Stepped(Box<Stepped>),
    /// Operations on the files of a tree.
    Tree(Box<TreeDrawn>),
}

impl Source {
    /// What `user` draws, all at one time or step by step.
    pub fn new(plan: &PhasePlan, user: u32, rng: &mut SmallRng) -> Source {
        match plan.steps.is_empty() {
            true => Source::Drawn(Drawn::new(plan, user)),
            false => Source::Stepped(Box::new(Stepped::new(plan, user, rng))),
        }
    }

    /// True when the next I/O belongs to the one before and follows it at once, without a pause and without an
    /// arrival of its own: the sync after a write.
    #[inline]
    pub fn follows_on(&self) -> bool {
        match self {
            Source::Drawn(drawn) => drawn.syncs_next(),
            Source::Recorded(_) | Source::Stepped(_) | Source::Tree(_) => false,
        }
    }
}
