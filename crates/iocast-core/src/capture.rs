//! The I/Os of this machine become a trace: block requests of devices, system calls of processes.
//!
//! A [`recorder`] owns private tracing instances ([`rings`]), empties them in time and writes the event table. Records of
//! block tracepoints are paired by [`block_requests`], those of system calls ([`call_records`]) by [`system_calls`], which needs to know
//! which file a descriptor is ([`open_files`]; [`call_table`] says what each call does, [`family`] which threads a process is).

pub mod block_requests;
pub mod call_records;
pub mod call_table;
pub mod family;
pub mod open_files;
pub mod recorder;
pub mod rings;
pub mod system_calls;
