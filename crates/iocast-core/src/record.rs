//! What is counted of a load: tallies and histograms, intervals over time, the generator itself, all in one result.
//!
//! In a [`histogram`], by a worker's [`tally`], of the [`generator`] itself, over time in an
//! [`interval_log`] of [`interval_row`]s (columns in an [`interval_batch`], on disk in a [`spool`]), all in one [`result`].

pub mod generator;
pub mod histogram;
pub mod interval_batch;
pub mod interval_log;
pub mod interval_row;
pub mod lateness;
pub mod result;
pub mod spool;
pub mod tally;
