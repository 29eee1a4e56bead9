//! What this process has from the kernel: [`clocks`] that no clock setting disturbs, and [`threads`], as many as its
//! limits allow.

pub mod clocks;
pub(crate) mod threads;
