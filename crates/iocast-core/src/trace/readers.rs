//! One reader a format.

pub mod blk_pairing;
pub mod blkparse;
pub mod blktrace;
pub mod csv;
pub mod csv_maps;
pub mod fio_iolog;
pub mod fio_log;
pub mod oracle_10046;
