//! What the block layer of Linux did, by the tools that watch it.

pub mod blk_letters;
pub mod blkparse;
pub mod blktrace;
pub mod block_events;
pub mod snoop_table;
pub mod traced_requests;
