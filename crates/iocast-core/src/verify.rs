//! Writes that can be verified: what each sector carries, a journal of what was sent and acknowledged, and reading back.
//!
//! What each sector carries ([`seal`]), what was sent and acknowledged ([`journal`]),
//! the engine around an engine that sees to both ([`signed`]), reading back ([`read_back`]) and the [`verdict`].

pub mod journal;
pub mod read_back;
pub mod seal;
pub mod signed;
pub mod verdict;
