//! The layers of this machine, live: how long system calls, bios, requests, the driver and runnable threads take.
//!
//! A [`layer_watch`] owns two private tracing instances, since the kernel's filter of processes holds for all of one, and
//! requests end in interrupts of whoever runs then: [`block_clocks`] of the devices (with [`bio_clock`] and [`ring_ios`]), and
//! [`timed_calls`] of the processes that are [`followed`] (with [`run_queue`]). Records are understood by what [`crate::blk`]
//! and [`crate::capture`] know of them. What is counted grows for ever, by powers of two of a microsecond ([`power_counts`]). Above a budget only windows are
//! counted ([`extrapolated`]), each for as much as the devices did meanwhile ([`standing`], [`device_counters`]).

pub mod bio_clock;
pub mod block_clocks;
pub mod device_counters;
pub mod extrapolated;
pub mod followed;
pub mod layer_watch;
pub mod power_counts;
pub mod process_calls;
pub mod ring_ios;
pub mod run_queue;
pub mod standing;
pub mod timed_calls;
