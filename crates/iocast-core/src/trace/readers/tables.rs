//! One I/O a line or record, in fields that a map names.

pub mod csv;
pub mod csv_maps;
pub mod references;
pub mod vscsi;
