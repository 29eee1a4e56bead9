//! What programs did, by themselves (fio) or by strace.

pub mod descriptors;
pub mod fio_iolog;
pub mod fio_log;
pub mod fio_log_counts;
pub mod strace;
pub mod strace_aio;
pub mod strace_calls;
pub mod strace_line;
