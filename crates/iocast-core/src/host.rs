//! What this process has from the kernel: clocks that no setting of the clock disturbs, threads as its limits allow.
//!
//! [`clocks`] and [`threads`].

pub mod clocks;
pub(crate) mod threads;
