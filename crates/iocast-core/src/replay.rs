//! A trace becomes the I/Os of a phase: its rows are selected, placed, made to wait for each other, and dealt to users.
//!
//! They are selected and rounded ([`selection`]), get their places on the
//! target ([`placing`]) and what they wait for ([`dependencies`]), and are dealt to users ([`replay_schedule`]).
//! [`survey`] says what a replay would be before there is one.

pub mod dependencies;
pub mod facts;
pub mod placing;
pub mod replay_schedule;
pub mod selection;
pub mod survey;
