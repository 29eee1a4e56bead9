//! Copies a file in one of several ways, and says what that took: time, CPU, calls, and where a way was refused.
//!
//! Both files come as descriptors that nobody else uses: a way may set O_DIRECT on them and moves their positions. The
//! source is only read. CPU is that of the whole process, because io_uring's own threads work for a copy too.

mod by_calls;
mod by_ring;
mod content;
pub mod copy_speed;
mod method;
mod usage;
mod way;

pub use content::{Content, content_of};
pub use method::Method;
pub use way::Refusal;

use std::os::fd::{AsRawFd, BorrowedFd};

use serde::{Deserialize, Serialize};

use crate::error::Result;
use usage::Usage;
use way::{End, Way};

/// How a file is to be copied.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// By which calls.
    pub method: Method,
    /// How much of the source: its size when the copy was planned.
    pub size_bytes: u64,
    /// `st_blksize` of the destination.
    pub block_bytes: usize,
}

/// What a copy took. The first figures are those until the last byte was handed over, the `sync_` ones those of the
/// fsync after it.
#[derive(Clone, Debug, Serialize)]
pub struct Copied {
    /// How much was copied.
    pub bytes: u64,
    /// System calls that moved data, or I/Os of a ring.
    pub calls: u64,
    /// Until the last byte was handed over.
    pub elapsed_ns: u64,
    /// CPU in user mode.
    pub user_ns: u64,
    /// CPU in the kernel.
    pub system_ns: u64,
    /// How long the fsync took.
    pub sync_ns: u64,
    /// CPU in user mode during the fsync.
    pub sync_user_ns: u64,
    /// CPU in the kernel during the fsync.
    pub sync_system_ns: u64,
    /// Where it was refused; the figures are then of no whole copy.
    pub refused: Option<Refusal>,
    /// `tick` asked to stop.
    pub stopped: bool,
}

/// Copies `from` to the empty file `to` and makes it durable. `tick` is told the bytes copied about ten times a second;
/// false stops. Fails where there is no memory for buffers.
pub fn copy_file(
    from: BorrowedFd<'_>,
    to: BorrowedFd<'_>,
    order: &Order,
    tick: &mut dyn FnMut(u64) -> bool,
) -> Result<Copied> {
    let mut way = Way::new(from.as_raw_fd(), to.as_raw_fd(), order.size_bytes, tick);
    let tool = order.method.prepare(order.block_bytes)?;
    let begun = Usage::now();
    let end = tool.copy(&mut way);
    let copied = Usage::now();
    let whole = end.is_ok();
    let synced = if whole { way.sync() } else { Ok(()) };
    let over = Usage::now();
    let (spent, syncing) = (copied.since(&begun), over.since(&copied));
    let end = end.and(synced).err();
    Ok(Copied {
        bytes: way.done,
        calls: way.calls,
        elapsed_ns: spent.elapsed_ns,
        user_ns: spent.user_ns,
        system_ns: spent.system_ns,
        sync_ns: syncing.elapsed_ns,
        sync_user_ns: syncing.user_ns,
        sync_system_ns: syncing.system_ns,
        stopped: matches!(end, Some(End::Stopped)),
        refused: match end {
            Some(End::Refused(refusal)) => Some(refusal),
            _ => None,
        },
    })
}

#[cfg(test)]
mod copy_tests;
