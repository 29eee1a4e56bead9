//! Tables that anybody may have made, read in bounded memory: whatever their bytes are, what comes out is rows or an error.
//!
//! Footers and page headers are walked before the `parquet` crate decodes them ([`thrift_walk`]); each page is measured
//! before it is unpacked ([`guarded_pages`]); a panic of a decoder is an error of the table ([`batches`]).
//! [`open_reel`] reads the part of a tape that is still being written.

mod batches;
#[cfg(test)]
mod damaged_tests;
mod decoder_panics;
mod guarded_pages;
pub mod open_reel;
mod table_footers;
mod thrift_walk;

pub use self::batches::Batches;
pub use self::table_footers::{Tables, reason};
