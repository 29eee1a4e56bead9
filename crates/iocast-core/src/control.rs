//! `Control`: how the workers of a phase and whoever watches them talk while the load runs.

use std::sync::atomic::{AtomicBool, AtomicU64};

/// What the workers and whoever watches them share.
#[derive(Default)]
pub struct Control {
    /// Stop issuing, drain, return.
    pub stop: AtomicBool,
    /// Do not wait for what is in flight either.
    pub abandon: AtomicBool,
    /// Completed so far.
    pub ios: AtomicU64,
    /// Bytes so far.
    pub bytes: AtomicU64,
    /// Failures so far.
    pub errors: AtomicU64,
}
