//! One reader a format, by what they read.

pub mod block;
pub mod oracle;
pub mod programs;
pub mod tables;
pub mod words;
