//! The polling modes of a ring, and which plans cannot have them.

use serde::{Deserialize, Serialize};

use crate::plan::{EngineName, PhasePlan};

/// Who looks for completions; only on request, because polling burns a processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Polling {
    /// Nobody: the kernel tells.
    #[default]
    None,
    /// A kernel thread polls the ring for submissions.
    Sqpoll,
    /// The worker polls the device's own queue; only O_DIRECT, and only devices that have polling queues.
    Iopoll,
}

impl PhasePlan {
    /// True when a polling mode is asked for.
    pub fn polls(&self) -> bool {
        self.polling != Polling::None
    }
}

/// Why this plan cannot poll as it asks to; `None` when it can try.
pub fn refused(plan: &PhasePlan) -> Option<&'static str> {
    let flushes = plan.fsync_every > 0 || !plan.mix.iter().all(|m| m.op.moves_data());
    match plan.polling {
        Polling::None => None,
        _ if plan.engine == EngineName::Sync => Some("polling: needs io_uring, not the sync engine"),
        Polling::Iopoll if !plan.direct => {
            Some("polling: iopoll needs direct I/O, the page cache has no queue to poll")
        }
        Polling::Iopoll if flushes => Some("polling: iopoll has reads and writes only"),
        _ => None,
    }
}
