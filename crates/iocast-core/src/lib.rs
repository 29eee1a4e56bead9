//! iocast's load engine. It knows no Python, and it has one door, [`run::perform`]: a [`plan::PhasePlan`] goes in (or
//! several that run at once), a [`record::result::PhaseResult`] comes out of each.
//!
//! How an I/O lives: a user's [`workload::stream`] says what comes next, where and when it is due; a
//! [`run::worker`] pushes it into an [`engine`] (io_uring, threads, or a simulated device on virtual time), submits
//! the batch, reaps what has ended and hands it to the [`record::tally`] of the [`run::part`] that the phase has in
//! it, which counts it in a [`record::histogram`] and, if it failed or was slow, by name. A [`run::phase`] is the
//! workers of all users from a common start to the end, merged; several phases that run at once share start,
//! clock and end. Which engine a phase gets is decided before it runs, by [`choose`].
//!
//! A [`replay`] makes the I/Os of a phase of a trace. Apart from that, [`blk`] watches what the kernel's block layer
//! does with the requests of a device, and [`verify`] makes writes that can be told again when they are read back.
//! [`trace`] reads what other tools recorded, and [`profile`] says what that is like.
//!
//! *Response* time counts from when the I/O was due, *service* time from its submission, the submitting
//! system call included. In a closed loop without think time an I/O is due when it is submitted.

pub mod blk;
pub mod capture;
mod choose;
pub mod copy;
pub mod engine;
pub mod error;
pub mod guarded_tables;
pub mod host;
pub mod layers;
pub mod plan;
pub mod profile;
pub mod record;
pub mod replay;
pub mod run;
#[cfg(test)]
mod testing;
pub mod trace;
pub mod tree;
pub mod verify;
pub mod workload;
