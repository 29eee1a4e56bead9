//! What a tree of files must be, and what a phase in one can do.

use super::checks::refuse;
use super::tree_plan::{Present, TreePlan};
use super::{Arrival, Locality, Op, PhasePlan, SyncMode};
use crate::error::Result;
use crate::tree::shape::Shape;

/// Files of a phase are numbered by a u32.
const MOST_FILES: u64 = u32::MAX as u64;
const MOST_DIRECTORIES: u64 = 1 << 28;

impl TreePlan {
    fn check(&self) -> Result<()> {
        refuse(self.files >= 1, "tree: files is at least 1")?;
        refuse(self.depth <= 64, "tree: depth is at most 64")?;
        refuse(self.depth == 0 || self.width >= 1, "tree: width is at least 1")?;
        refuse((1..=4096).contains(&self.trees), "tree: from 1 to 4096 trees")?;
        let all = self.directories().saturating_mul(u64::from(self.trees));
        refuse(all <= MOST_DIRECTORIES, "tree: at most 2^28 directories")?;
        let most = all.saturating_mul(self.files);
        refuse(most <= MOST_FILES, "tree: at most 4,294,967,295 files")?;
        refuse(self.sizes.len() <= 64, "tree: at most 64 sizes")?;
        let well = self.sizes.iter().all(|size| size.weight.is_finite() && size.weight > 0.0);
        refuse(well, "tree: the weights of sizes are above 0")?;
        refuse(self.stop_after != Some(0), "tree: stop_after is 1 or more")?;
        refuse(self.sizes.iter().all(|size| size.size_bytes <= 1 << 40), "tree: a file has at most 1 TiB")?;
        refuse(Shape::new(self).span() <= 1 << 62, "tree: its files have more than 2^60 bytes")
    }
}

impl PhasePlan {
    /// True when an operation gives the tree other names.
    pub fn changes_names(&self) -> bool {
        self.mix.iter().any(|item| item.op.changes_names())
    }

    /// True when all operations that give the tree other names remove files.
    pub fn only_removes_files(&self) -> bool {
        let mut changes = self.mix.iter().filter(|item| item.op.changes_names()).peekable();
        changes.peek().is_some() && changes.all(|item| item.op == Op::Unlink)
    }

    /// True when its users must know which files are there.
    pub fn counts_names(&self) -> bool {
        self.tree.as_ref().is_some_and(|tree| tree.present != Present::All || self.changes_names())
    }

    /// Refuses operations without their tree, and trees with what they do not have.
    pub(super) fn check_tree(&self) -> Result<()> {
        let Some(tree) = &self.tree else {
            let trees_only = self.mix.iter().find(|item| item.op.of_trees_only());
            let said = trees_only.map(|item| format!("mix: {} needs a tree of files", item.op.name()));
            return said.map_or(Ok(()), |said| refuse(false, &said));
        };
        tree.check()?;
        refuse(self.files.len() == 1, "tree: it lies in one directory")?;
        refuse(tree.trees == 1 || tree.trees >= self.users, "tree: a tree of its own for each user")?;
        refuse(self.mix.iter().all(|item| item.op != Op::Trim), "tree: its files are not trimmed")?;
        let moves = self.mix.iter().any(|item| item.op.moves_data());
        refuse(
            !moves || Shape::new(tree).largest_bytes() > 0,
            "tree: reads and writes need files with a size",
        )?;
        let plain =
            self.fsync_every == 0 && self.steps.is_empty() && self.replay.is_none() && self.verify.is_none();
        refuse(plain, "tree: without fsync_every, steps, replay and verify")?;
        refuse(self.sync == SyncMode::None || moves, "tree: sync is for writes")?;
        refuse(self.sync != SyncMode::RwfDsync, "tree: sync is none, sync or dsync")?;
        refuse(!self.polls(), "tree: nothing can be polled")?;
        let drawn = !matches!(self.arrival, Arrival::Recorded { .. } | Arrival::Stepped { .. });
        refuse(drawn, "tree: arrivals are closed, constant, poisson or bursts")?;
        let known = matches!(self.locality, Locality::Sequential { .. } | Locality::Uniform { .. });
        refuse(known, "tree: within a file I/O is sequential or uniform")
    }
}
