//! `Shape`: which directories and files a tree has, as numbers: their parents, names and sizes.
//!
//! Directories are numbered level by level: the top of tree t is t × (directories of a tree), its children follow from
//! left to right. Files are numbered through: the first ones are in the first directory that has files.

use crate::plan::tree_plan::{FilesIn, TreePlan};
use crate::workload::random::mix64;

/// Of a place: which of a file's names.
const KIND_BITS: u32 = 2;

/// Where an operation goes: the number of a file or a directory, which of a file's names (an index into `ours::KINDS`), and
/// the byte in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spot {
    /// Of the file, or of the directory.
    pub number: u64,
    /// Of its name.
    pub kind: u8,
    /// Of a read or a write.
    pub position: u64,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Shape {
    width: u64,
    /// The number of the first directory of each level within a tree, and of the end.
    levels: Vec<u64>,
    /// The first directory of a tree that has files.
    first_holder: u64,
    files: u64,
    trees: u64,
    /// Upper edge of each size on 0..2^32, and the size.
    sizes: Vec<(u64, u64)>,
    shift: u32,
}

impl Shape {
    /// The shape that a plan describes.
    pub fn new(plan: &TreePlan) -> Shape {
        let mut levels = vec![0u64, 1];
        for level in 1..=plan.depth {
            let more = u64::from(plan.width).saturating_pow(level);
            levels.push(levels[levels.len() - 1].saturating_add(more));
        }
        let first_holder = match (plan.depth, plan.files_in) {
            (0, _) => 0,
            (_, FilesIn::All) => 1,
            (depth, FilesIn::Leaves) => levels[depth as usize],
        };
        let all: f64 = plan.sizes.iter().map(|size| size.weight).sum();
        let mut sum = 0.0;
        let sizes: Vec<(u64, u64)> = plan
            .sizes
            .iter()
            .map(|size| {
                sum += size.weight / all;
                ((sum * f64::from(u32::MAX)).round() as u64, size.size_bytes)
            })
            .collect();
        let largest = sizes.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
        let shift = largest.max(1).next_power_of_two().trailing_zeros();
        let (width, files, trees) = (u64::from(plan.width), plan.files, u64::from(plan.trees));
        Shape { width, levels, first_holder, files, trees, sizes, shift }
    }

    /// Directories of one tree.
    pub fn directories_each(&self) -> u64 {
        self.levels[self.levels.len() - 1]
    }

    /// Directories of all trees, their tops among them.
    pub fn directories(&self) -> u64 {
        self.directories_each().saturating_mul(self.trees)
    }

    /// Directories of one tree that have files.
    pub fn holders_each(&self) -> u64 {
        self.directories_each() - self.first_holder
    }

    /// Files of one tree.
    pub fn files_each(&self) -> u64 {
        self.holders_each().saturating_mul(self.files)
    }

    /// Files of all trees.
    pub fn files(&self) -> u64 {
        self.files_each().saturating_mul(self.trees)
    }

    /// Files in each directory that has files.
    pub fn files_a_directory(&self) -> u64 {
        self.files
    }

    /// Trees.
    pub fn trees(&self) -> u64 {
        self.trees
    }

    /// The directory of a file.
    #[inline]
    pub fn directory_of(&self, file: u64) -> u64 {
        self.holder(file / self.files)
    }

    /// The directory with files of that number, counted through all trees.
    #[inline]
    pub fn holder(&self, number: u64) -> u64 {
        if self.trees == 1 {
            return self.first_holder + number;
        }
        let each = self.holders_each();
        number / each * self.directories_each() + self.first_holder + number % each
    }

    /// The number of a directory among those with files; `None` for one that has none.
    pub fn holder_number(&self, directory: u64) -> Option<u64> {
        let (tree, local) = (directory / self.directories_each(), directory % self.directories_each());
        (local >= self.first_holder).then(|| tree * self.holders_each() + local - self.first_holder)
    }

    /// The parent of a directory and its name there; `None` for the top of all.
    pub fn parent(&self, directory: u64) -> Option<(u64, String)> {
        let (tree, local) = (directory / self.directories_each(), directory % self.directories_each());
        let base = directory - local;
        if local == 0 {
            // With several trees their tops are the children of the place, which has no number.
            return (self.trees > 1).then(|| (u64::MAX, format!("u{tree}")));
        }
        let level = self.levels.partition_point(|first| *first <= local) - 1;
        let index = local - self.levels[level];
        let parent = self.levels[level - 1] + index / self.width;
        Some((base + parent, format!("d{}", index % self.width)))
    }

    /// Bytes of a file.
    #[inline]
    pub fn size_bytes(&self, file: u64) -> u64 {
        match &self.sizes[..] {
            [] => 0,
            [(_, only)] => *only,
            sizes => {
                let drawn = mix64(file) >> 32;
                sizes[sizes.partition_point(|(edge, _)| *edge < drawn).min(sizes.len() - 1)].1
            }
        }
    }

    /// The largest file.
    pub fn largest_bytes(&self) -> u64 {
        self.sizes.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0)
    }

    /// How far places reach: see `Spot`.
    pub fn span(&self) -> u128 {
        u128::from(self.files().max(self.directories())) << (self.shift + KIND_BITS)
    }

    /// Where something is, as the place of an I/O.
    #[inline]
    pub fn place(&self, spot: Spot) -> u64 {
        (spot.number << KIND_BITS | u64::from(spot.kind)) << self.shift | spot.position
    }

    /// The reverse.
    #[inline]
    pub fn spot(&self, place: u64) -> Spot {
        let above = place >> self.shift;
        Spot {
            number: above >> KIND_BITS,
            kind: (above & ((1 << KIND_BITS) - 1)) as u8,
            position: place & ((1 << self.shift) - 1),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn tree(changes: serde_json::Value) -> TreePlan {
        let mut json = serde_json::json!({"depth": 1, "width": 2, "files": 10});
        for (key, value) in changes.as_object().expect("an object") {
            json[key] = value.clone();
        }
        serde_json::from_value(json).expect("a tree")
    }

    #[test]
    fn vdbench_counts_its_directories_and_files_like_that() {
        let deep = Shape::new(&tree(serde_json::json!({"depth": 5, "width": 5, "files": 2})));
        // Without the top: vdbench calls it the anchor.
        assert_eq!((deep.directories() - 1, deep.files()), (3905, 6250));
        let flat = Shape::new(&tree(serde_json::json!({"depth": 1, "width": 1, "files": 1000})));
        assert_eq!((flat.directories() - 1, flat.files()), (1, 1000));
        let all = serde_json::json!({"depth": 2, "width": 3, "files": 7, "files_in": "all"});
        assert_eq!(Shape::new(&tree(all)).files(), 12 * 7);
    }

    #[test]
    fn every_directory_has_a_parent_before_it_and_no_two_the_same_place() {
        for trees in [1, 3] {
            let shape = Shape::new(&tree(serde_json::json!({"depth": 3, "width": 3, "trees": trees})));
            let mut places = std::collections::HashSet::new();
            for directory in 0..shape.directories() {
                if let Some((parent, name)) = shape.parent(directory) {
                    assert!(parent == u64::MAX || parent < directory);
                    assert!(places.insert((parent, name)), "{directory}");
                } else {
                    assert_eq!((directory, trees), (0, 1));
                }
            }
            let holders: Vec<u64> = (0..shape.files() / 10).map(|at| shape.holder(at)).collect();
            assert!(holders.windows(2).all(|two| two[0] < two[1]));
            assert!(
                holders.iter().enumerate().all(|(at, held)| shape.holder_number(*held) == Some(at as u64))
            );
            assert_eq!(holders.len(), 27 * trees);
        }
    }

    #[test]
    fn sizes_have_their_shares() {
        let sizes =
            serde_json::json!([{"size_bytes": 4096, "weight": 3}, {"size_bytes": 100_000, "weight": 1}]);
        let shape = Shape::new(&tree(serde_json::json!({"sizes": sizes})));
        let large = (0..100_000).filter(|file| shape.size_bytes(*file) == 100_000).count();
        assert!(large.abs_diff(25_000) < 500, "{large}");
        assert_eq!((shape.largest_bytes(), shape.shift), (100_000, 17));
        let spot = Spot { number: 19, kind: 3, position: 99_999 };
        assert_eq!(shape.spot(shape.place(spot)), spot);
        assert!(u128::from(shape.place(spot)) < shape.span());
    }
}
