//! iocast's load engine. It knows no Python, and it has one door: a [`plan::PhasePlan`] goes in (or
//! several that run at once), a [`result::PhaseResult`] comes out of each.
//!
//! How an I/O lives: a [`stream`] says what comes next, where ([`offsets`]) and when it is due
//! ([`pacing`]); a [`worker`] pushes it into an [`engine`] (io_uring, threads, or a simulated device on
//! virtual time), submits the batch, reaps what has ended and hands it to the [`tally`] of the [`part`] that
//! the phase has in it, which counts it in a [`histogram`] and, if it failed or was slow, by name. A
//! [`phase`] is the workers of all users from a common start to the end, merged; several phases that run at
//! once share start, clock and end.
//!
//! Apart from that, [`blk`] watches what the kernel's block layer does with the requests of a device.
//!
//! *Response* time counts from when the I/O was due, *service* time from its submission, the submitting
//! system call included. In a closed loop without think time an I/O is due when it is submitted.

pub mod absence;
pub mod blk;
pub mod buffers;
mod checks;
pub mod control;
mod crew;
pub mod device;
pub mod engine;
pub mod error;
pub mod histogram;
pub mod journal;
pub mod lane;
pub mod memory;
mod merge;
pub mod offsets;
pub mod pacing;
pub mod part;
pub mod phase;
pub mod plan;
pub mod polling;
pub mod read_back;
pub mod result;
pub mod scatter;
pub mod seal;
mod signals;
mod signed;
mod slots;
pub mod span;
pub mod stream;
pub mod tally;
#[cfg(test)]
mod testing;
mod trim;
pub mod verdict;
pub mod worker;
