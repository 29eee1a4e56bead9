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
    /// Bytes.
    pub size: u64,
    /// Where.
    pub place: Place,
}
