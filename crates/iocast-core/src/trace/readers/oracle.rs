//! Oracle's extended SQL trace.

pub mod oracle_10046;
pub mod oracle_calls;
pub mod oracle_clock;
pub mod oracle_waits;
pub mod wait_forms;
