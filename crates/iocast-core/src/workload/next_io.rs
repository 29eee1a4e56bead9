//! `NextIo`: what a user does next, and where.

use super::span::Place;
use crate::plan::Op;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct NextIo {
    /// Index into the plan's classes.
    pub class: usize,
    /// Operation.
    pub op: Op,
    /// Of a trace: which of the user's rows.
    pub row: u32,
    /// Bytes.
    pub size: u64,
    /// Where.
    pub place: Place,
}
