//! `TreeWork`: what the users of a phase share of its tree: its shape, its directories, and what was there at the start.

use std::os::fd::AsRawFd;

use super::directories::Directories;
use super::look::{Names, look_in};
use super::name_watch::NameWatch;
use super::shape::Shape;
use crate::error::{Error, Result};
use crate::plan::PhasePlan;
use crate::plan::tree_plan::{Present, TreePlan};

/// See the module.
pub struct TreeWork {
    /// Its numbers.
    pub shape: Shape,
    /// How it is chosen from.
    pub plan: TreePlan,
    /// None on a simulated device.
    pub directories: Option<Directories>,
    /// What was there; `None`: all of it, and it stays so.
    pub names: Option<Names>,
    /// In phases that only remove files: all of them have been looked at.
    pub watch: Option<NameWatch>,
}

impl TreeWork {
    /// The tree of a plan, if it has one: its directories are opened by the descriptor that came with the plan; a
    /// simulated one has none.
    pub fn of(plan: &PhasePlan, simulated: bool) -> Result<Option<TreeWork>> {
        let Some(tree) = &plan.tree else { return Ok(None) };
        let shape = Shape::new(tree);
        if simulated {
            let all = tree.present != Present::None;
            let names = plan.counts_names().then(|| Names::new(shape.files(), all));
            let (plan, directories, watch) = (tree.clone(), None, None);
            return Ok(Some(TreeWork { shape, plan, directories, names, watch }));
        }
        let place = &plan.files[0];
        let failed = |source| Error::Open { path: place.path.clone(), how: "a tree of files".into(), source };
        let (opened, own) = match place.opened {
            Some(descriptor) => (descriptor, None),
            None => {
                let own = std::fs::File::open(&place.path).map_err(failed)?;
                (own.as_raw_fd(), Some(own))
            }
        };
        let directories = Directories::new(shape.clone(), opened, needed(plan)).map_err(failed)?;
        let names = match tree.present {
            Present::All if !plan.counts_names() => None,
            Present::Look => Some(look_in(&directories, opened, false, || true).map_err(failed)?.0),
            present => Some(Names::new(shape.files(), present == Present::All)),
        };
        let watch = names
            .as_ref()
            .filter(|names| names.only_files() && plan.only_removes_files() && !tree.cold)
            .and_then(|names| NameWatch::watched(&directories, opened, &names.files));
        drop(own);
        let (plan, directories) = (tree.clone(), Some(directories));
        Ok(Some(TreeWork { shape, plan, directories, names, watch }))
    }

    /// The held directories of a tree that is on this machine.
    pub fn held(&self) -> &Directories {
        self.directories.as_ref().expect("only simulated trees have none")
    }
}

/// Descriptors that users need beside the directories.
fn needed(plan: &PhasePlan) -> usize {
    plan.outstanding() as usize * 3 + plan.users as usize * 4
}
