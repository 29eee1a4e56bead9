//! What is counted: in a [`histogram`], by a worker's [`tally`], of the [`generator`] itself, all in one [`result`].

pub mod generator;
pub mod histogram;
pub mod lateness;
pub mod result;
pub mod tally;
