//! Phases under load: the one door, who is hired and watched, the loop of each worker, and what all did together.
//!
//! The one door ([`perform`]), who is hired ([`hire`]) and watched ([`crew`]), the loop of each ([`worker`]), its
//! [`part`] in a phase with one [`lane`] a user and its [`slots`], how these are refilled ([`refill`]), what they
//! share ([`control`]), where each leaves its counts while it waits ([`handoff`]), when they did not run
//! ([`attendance`]), and what all did together ([`merge`]); what memory they need ([`memory_needs`]).

pub mod attendance;
pub mod control;
mod cpu_usage;
mod crew;
pub mod handoff;
mod hire;
pub mod lane;
pub(crate) mod memory_needs;
mod merge;
pub mod part;
pub mod perform;
pub mod phase;
mod refill;
pub(crate) mod signals;
mod slots;
pub mod worker;
