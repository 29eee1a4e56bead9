//! `Setup`: what an engine is built from, and the files that it may open.

use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;

use super::sim::world::SimWorld;
use crate::error::{Error, Result};
use crate::plan::{Op, PhasePlan, SyncMode};
use crate::tree::work::TreeWork;

/// The engine of a phase, and what is known of how its I/Os will end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// A name of the table.
    pub engine: &'static str,
    /// I/Os end while they are submitted.
    pub inline: bool,
    /// What the report says of the set-up.
    pub flags: Vec<String>,
    /// What the report says was refused, or is to be kept in mind.
    pub notes: Vec<String>,
}

impl Choice {
    /// An engine, without a look at the target.
    pub fn of(engine: &'static str, plan: &PhasePlan) -> Choice {
        Choice { engine, inline: !plan.direct, flags: Vec::new(), notes: Vec::new() }
    }

    /// With one more flag.
    pub fn flag(mut self, said: &str) -> Choice {
        self.flags.push(said.into());
        self
    }

    /// With one more note.
    pub fn note(mut self, said: &str) -> Choice {
        self.notes.push(said.into());
        self
    }
}

/// Everything that an engine may know when it is built, on the thread that will use it.
pub struct Setup {
    /// The phase; all that run at once where one worker serves them all, in the order of their slots.
    pub plans: Vec<Arc<PhasePlan>>,
    /// Why this engine.
    pub choice: Choice,
    /// What simulated devices remember from phase to phase.
    pub world: SimWorld,
    /// The tree of files that the phase works in.
    pub tree: Option<Arc<TreeWork>>,
}

impl Setup {
    /// The phase, the first of them if there are several.
    pub fn plan(&self) -> &PhasePlan {
        &self.plans[0]
    }

    /// The plan's files, opened as the plan wants them.
    pub fn open_files(&self) -> Result<Vec<File>> {
        let plan = self.plan();
        let writes = plan.mix.iter().any(|m| m.op != Op::Read) || plan.fsync_every > 0;
        let mut flags = 0;
        let mut how = String::from(if writes { "read and write" } else { "read" });
        if plan.direct {
            flags |= libc::O_DIRECT;
            how.push_str(", O_DIRECT");
        }
        match plan.sync {
            SyncMode::None | SyncMode::RwfDsync => {}
            SyncMode::Sync => flags |= libc::O_SYNC,
            SyncMode::Dsync => flags |= libc::O_DSYNC,
        }
        let open = |path: &str, flags: i32| {
            OpenOptions::new().read(true).write(writes).custom_flags(flags).open(path)
        };
        plan.files
            .iter()
            .map(|region| {
                // Without O_NOATIME a read can cost the device a write; only a file's owner may ask for it.
                open(&region.place(), flags | libc::O_NOATIME)
                    .or_else(|_| open(&region.place(), flags))
                    .map_err(|source| Error::Open { path: region.path.clone(), how: how.clone(), source })
            })
            .collect()
    }
}

/// The raw descriptors of open files.
pub fn descriptors(files: &[File]) -> Vec<RawFd> {
    files.iter().map(AsRawFd::as_raw_fd).collect()
}
