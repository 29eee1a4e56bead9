//! Tables that anybody may have made, read in bounded memory: whatever their bytes are, what comes out is rows or an error.
//!
//! Footers and page headers are walked before the `parquet` crate decodes them ([`thrift_walk`]); each page is measured
//! before it is unpacked ([`guarded_pages`]); a panic of a decoder is an error of the table ([`batches`]). [`new_file`]:
//! how a table is begun.

mod batches;
#[cfg(test)]
mod damaged_tests;
mod decoder_panics;
mod guarded_pages;
pub mod new_file;
mod table_footers;
mod thrift_walk;

pub use self::batches::Batches;
pub use self::table_footers::{Tables, reason};
