//! What I/Os are: operations, their sizes and weights, and where they go.

use serde::{Deserialize, Serialize};

/// What an I/O does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// Read `size_bytes` at an offset.
    Read,
    /// Write `size_bytes` at an offset.
    Write,
    /// fsync(2) of the file written last by this user.
    Fsync,
    /// fdatasync(2) of the file written last by this user.
    Fdatasync,
    /// Give `size_bytes` at an offset back to the storage: a hole in a file, a discard on a device.
    Trim,
    /// Of a tree: openat(2) of a new file (O_CREAT, O_EXCL), and the writing of what it is to contain.
    Create,
    /// mkdirat(2) of a directory beside a file.
    Mkdir,
    /// unlinkat(2) of such a directory.
    Rmdir,
    /// openat(2) of a file.
    Open,
    /// close(2) of a file.
    Close,
    /// fstatat(2) of a name.
    Stat,
    /// statx(2) of a name.
    Statx,
    /// faccessat(2) of a name.
    Access,
    /// getdents64(2) of a directory, to its end.
    Readdir,
    /// The same, and statx(2) of each name in it.
    Readdirplus,
    /// renameat2(2) of a file in its directory, never over another.
    Rename,
    /// linkat(2): a second name.
    Link,
    /// symlinkat(2) beside a file.
    Symlink,
    /// unlinkat(2) of a second name or a symbolic link if there are any, else of a file.
    Unlink,
    /// fsync(2) of a directory.
    Fsyncdir,
    /// futimens(2) of an open file.
    Setattr,
    /// fsetxattr(2) of an open file: 16 bytes as user.iocast.
    Setxattr,
    /// fgetxattr(2) of it.
    Getxattr,
    /// fstatfs(2).
    Statfs,
}

impl Op {
    /// The first in order.
    pub const FIRST: Op = Op::Read;
}

impl Op {
    /// True for the operations that move data.
    pub fn moves_data(self) -> bool {
        matches!(self, Op::Read | Op::Write)
    }

    /// True for the operations that go to a range of bytes.
    pub fn has_place(self) -> bool {
        self.moves_data() || self == Op::Trim
    }

    /// True for the operations that only a tree of files has.
    pub fn of_trees_only(self) -> bool {
        self > Op::Trim
    }

    /// True for the operations that go to a directory of a tree, and not to a file.
    pub fn of_directories(self) -> bool {
        matches!(self, Op::Readdir | Op::Readdirplus | Op::Fsyncdir | Op::Statfs)
    }

    /// True for the operations after which a tree has other names.
    pub fn changes_names(self) -> bool {
        matches!(self, Op::Create | Op::Mkdir | Op::Rmdir | Op::Rename | Op::Link | Op::Symlink | Op::Unlink)
    }

    /// The name used in JSON and in columns.
    pub fn name(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Fsync => "fsync",
            Op::Fdatasync => "fdatasync",
            Op::Trim => "trim",
            Op::Create => "create",
            Op::Mkdir => "mkdir",
            Op::Rmdir => "rmdir",
            Op::Open => "open",
            Op::Close => "close",
            Op::Stat => "stat",
            Op::Statx => "statx",
            Op::Access => "access",
            Op::Readdir => "readdir",
            Op::Readdirplus => "readdirplus",
            Op::Rename => "rename",
            Op::Link => "link",
            Op::Symlink => "symlink",
            Op::Unlink => "unlink",
            Op::Fsyncdir => "fsyncdir",
            Op::Setattr => "setattr",
            Op::Setxattr => "setxattr",
            Op::Getxattr => "getxattr",
            Op::Statfs => "statfs",
        }
    }
}

/// Op × size: the key of every figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// Operation.
    pub op: Op,
    /// Size asked for.
    pub size_bytes: u64,
}

/// One op × size of the mix; weights are relative.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixItem {
    /// What it does.
    pub op: Op,
    /// Bytes an I/O; 0 for what moves no data.
    pub size_bytes: u64,
    /// Relative weight.
    #[serde(default = "one")]
    pub weight: f64,
}

fn one() -> f64 {
    1.0
}

/// Where sequential users begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// Each user has its own part of the region and stays in it.
    #[default]
    OwnRegion,
    /// Each user begins at its share and goes on through the whole region.
    OwnOffset,
    /// All users begin at the beginning of the region, and go through all of it.
    Same,
}

/// Where I/Os go.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Locality {
    /// Block after block.
    Sequential {
        /// Where each user begins.
        #[serde(default)]
        start: Start,
        /// From the end towards the beginning.
        #[serde(default)]
        backwards: bool,
    },
    /// From the start of one I/O to the start of the next is `stride_bytes`.
    Stride {
        /// Distance in bytes.
        stride_bytes: u64,
    },
    /// All blocks equally likely.
    Uniform {
        /// False: a block comes again only when all others have been visited.
        #[serde(default = "yes")]
        repeats: bool,
    },
    /// Rank k with probability ∝ k^-theta, ranks scattered over the region.
    Zipf {
        /// Skew.
        #[serde(default = "theta")]
        theta: f64,
    },
    /// `access_percent` of the I/Os go to the first `space_percent` of the region.
    Hotspot {
        /// Size of the hot part.
        space_percent: f64,
        /// Share of I/Os that go there.
        access_percent: f64,
    },
    /// Where the rows of a trace say (`replay`).
    Recorded {},
    /// Only of a step: where the I/O before it ended, of those that share its end; the last block of it again by a share.
    Append {
        /// How much is written again: a block that was not full.
        #[serde(default)]
        again_bytes: u64,
        /// Share of the I/Os that do.
        #[serde(default)]
        again_percent: f64,
    },
}

fn yes() -> bool {
    true
}

fn theta() -> f64 {
    0.99
}
