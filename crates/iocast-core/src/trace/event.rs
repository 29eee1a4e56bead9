//! One I/O of a trace: the canonical row that every reader makes.

use serde::{Deserialize, Serialize};

/// What an I/O asked for. The numbers are those of the column `op`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Op {
    /// Data to the caller.
    Read = 0,
    /// Data from the caller.
    Write = 1,
    /// The write cache made durable; of files: data and metadata.
    Flush = 2,
    /// Data of a file made durable.
    Datasync = 3,
    /// Room given back.
    Trim = 4,
    /// About files, not their data: open, seek, stat.
    Meta = 5,
    /// Anything else.
    Other = 6,
}

/// The names of [`Op`] in the order of their numbers.
pub const OPS: [&str; 7] = ["read", "write", "flush", "datasync", "trim", "meta", "other"];

/// Where an I/O was seen. The numbers are those of the column `layer`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Layer {
    /// By a database.
    Db = 0,
    /// At a system call, or by a program that does I/O.
    Syscall = 1,
    /// By an NFS client.
    Nfs = 2,
    /// At the block layer, from queueing on.
    BlockQueue = 3,
    /// At the block layer, from the driver on.
    BlockDevice = 4,
    /// By a volume or an array.
    Array = 5,
}

/// The names of [`Layer`] in the order of their numbers.
pub const LAYERS: [&str; 6] = ["db", "syscall", "nfs", "block_q", "block_d", "array"];

/// The bits of the column `flags`.
pub mod flags {
    /// The caller waits.
    pub const SYNC: u16 = 1;
    /// Past the page cache.
    pub const DIRECT: u16 = 2;
    /// Durable when it returns.
    pub const FUA: u16 = 4;
    /// A flush comes before it.
    pub const PREFLUSH: u16 = 8;
    /// Metadata of a file system.
    pub const META: u16 = 16;
    /// Read ahead of need.
    pub const AHEAD: u16 = 32;
    /// At the end of a file.
    pub const APPEND: u16 = 64;
    /// Submitted here, waited for elsewhere: there is no service time.
    pub const ASYNC_SUBMIT_ONLY: u16 = 128;
    /// Their names in the order of their bits.
    pub const NAMES: [&str; 8] =
        ["sync", "direct", "fua", "preflush", "meta", "ahead", "append", "async_submit_only"];
}

/// One I/O. None is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When it was issued.
    pub ts_ns: Option<i64>,
    /// How long it was served.
    pub lat_ns: Option<i64>,
    /// How long it waited before that.
    pub queue_ns: Option<i64>,
    /// What it asked for.
    pub op: Op,
    /// Where it begins, in bytes.
    pub offset: Option<i64>,
    /// How long it is, in bytes.
    pub size: Option<i64>,
    /// Device, file or volume: a number of the list `targets`.
    pub target: Option<u32>,
    /// Process, session or cursor: a number of the list `actors`.
    pub actor: Option<u32>,
    /// Bits of [`flags`].
    pub flags: u16,
    /// Where it was seen.
    pub layer: Layer,
    /// Errno, 0 where it is known to have succeeded.
    pub err: Option<i16>,
    /// Line (or record) of the file that it comes from, from 1.
    pub src_line: u64,
}

impl Event {
    /// An event of which nothing but this is known.
    pub fn new(op: Op, layer: Layer, src_line: u64) -> Event {
        Event {
            ts_ns: None,
            lat_ns: None,
            queue_ns: None,
            op,
            offset: None,
            size: None,
            target: None,
            actor: None,
            flags: 0,
            layer,
            err: None,
            src_line,
        }
    }
}
