//! `TreePlan`: the tree of files that the operations of a phase go to, as vdbench describes trees, and how they are chosen.

use serde::{Deserialize, Serialize};

/// Which directories have files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FilesIn {
    /// Those of the lowest level.
    #[default]
    Leaves,
    /// All but the top.
    All,
}

/// The order in which files and directories are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Select {
    /// Each user goes through its share, again and again.
    #[default]
    Sequential,
    /// Any.
    Random,
}

/// What of the tree is there when the phase begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Present {
    /// Every file, and nothing but files.
    #[default]
    All,
    /// No file.
    None,
    /// Its directories are read to know.
    Look,
}

/// A size of files and its weight.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeSize {
    /// Bytes of a file.
    pub size_bytes: u64,
    /// Relative weight.
    pub weight: f64,
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreePlan {
    /// Levels of directories below the top; 0: all files are in the top itself.
    pub depth: u32,
    /// Directories in each directory but the lowest.
    pub width: u32,
    /// Files in each directory that has files.
    pub files: u64,
    /// Which have.
    #[serde(default)]
    pub files_in: FilesIn,
    /// Sizes of files, by weight; none: all are empty.
    #[serde(default)]
    pub sizes: Vec<TreeSize>,
    /// Trees of that shape: 1 is shared by all users, more are one for each.
    #[serde(default = "one")]
    pub trees: u32,
    /// In which order.
    #[serde(default)]
    pub select: Select,
    /// Reads and writes of a file before the next one's turn; `None`: sequential ones go through all of it, random ones
    /// are each in another file.
    #[serde(default)]
    pub stop_after: Option<u64>,
    /// What is there.
    #[serde(default)]
    pub present: Present,
    /// The kernel was told to forget its names: nothing reads them before the phase begins.
    #[serde(default)]
    pub cold: bool,
}

fn one() -> u32 {
    1
}

impl TreePlan {
    /// Directories of one tree, its top among them; more than any plan may have where that is no number.
    pub fn directories(&self) -> u64 {
        let levels = (1..=self.depth).map(|level| u64::from(self.width).saturating_pow(level));
        levels.fold(1, u64::saturating_add)
    }
}
