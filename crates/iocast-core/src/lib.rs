//! iocast's load engine. It knows no Python, and it has one door: a [`plan::PhasePlan`] goes in, a
//! [`result::PhaseResult`] comes out.
//!
//! How an I/O lives: a [`stream`] says what comes next, where ([`offsets`]) and when it is due
//! ([`pacing`]); a [`worker`] pushes it into an [`engine`] (io_uring, threads, or a simulated device on
//! virtual time), submits the batch, reaps what has ended and hands it to its [`tally`], which counts it
//! in a [`histogram`] and, if it failed or was slow, by name. A [`phase`] is the workers of all users
//! from a common start to the end, merged.
//!
//! *Response* time counts from when the I/O was due, *service* time from its submission, the submitting
//! system call included. In a closed loop without think time an I/O is due when it is submitted.

pub mod absence;
pub mod buffers;
pub mod control;
pub mod device;
pub mod engine;
pub mod error;
pub mod histogram;
pub mod memory;
mod merge;
pub mod offsets;
pub mod pacing;
pub mod phase;
pub mod plan;
pub mod result;
pub mod scatter;
mod signals;
pub mod stream;
pub mod tally;
#[cfg(test)]
mod testing;
mod trim;
pub mod worker;
