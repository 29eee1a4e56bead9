//! What each system call does with a file, by its number on this machine.

use libc::c_long;

use crate::trace::event::Op;

/// What a call is. Arguments count from 0; the descriptor is argument 0 unless said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Moves data at the file's own place, or at argument 3; argument 5 may hold flags of this one I/O.
    Data {
        /// Read or write.
        op: Op,
        /// Argument 3 is the place; -1 there is the file's own.
        placed: bool,
        /// Argument 5 holds RWF flags.
        flagged: bool,
    },
    /// Makes a file durable.
    Sync(Op),
    /// Opens a file: the result is its descriptor; flags are this argument, where they are one.
    Open(Option<usize>),
    /// Closes it.
    Close,
    /// Closes all from argument 0 to argument 1.
    CloseRange,
    /// The result, or argument 1, is the same open file.
    Duplicate,
    /// Moves the file's own place: the result.
    Seek,
    /// fcntl: may duplicate, or change flags.
    Control,
    /// fallocate: may punch a hole.
    Allocate,
    /// Hands over I/Os whose own calls are not seen.
    Asynchronous,
    /// Moves data in a way that is not told: sendfile, splice, copy_file_range.
    Untold,
}

const READ: Op = Op::Read;
const WRITE: Op = Op::Write;

/// All calls that are listened to.
pub const CALLS: &[(c_long, Call)] = &[
    (libc::SYS_read, Call::Data { op: READ, placed: false, flagged: false }),
    (libc::SYS_write, Call::Data { op: WRITE, placed: false, flagged: false }),
    (libc::SYS_pread64, Call::Data { op: READ, placed: true, flagged: false }),
    (libc::SYS_pwrite64, Call::Data { op: WRITE, placed: true, flagged: false }),
    (libc::SYS_readv, Call::Data { op: READ, placed: false, flagged: false }),
    (libc::SYS_writev, Call::Data { op: WRITE, placed: false, flagged: false }),
    (libc::SYS_preadv, Call::Data { op: READ, placed: true, flagged: false }),
    (libc::SYS_pwritev, Call::Data { op: WRITE, placed: true, flagged: false }),
    (libc::SYS_preadv2, Call::Data { op: READ, placed: true, flagged: true }),
    (libc::SYS_pwritev2, Call::Data { op: WRITE, placed: true, flagged: true }),
    (libc::SYS_fsync, Call::Sync(Op::Flush)),
    (libc::SYS_fdatasync, Call::Sync(Op::Datasync)),
    (libc::SYS_openat, Call::Open(Some(2))),
    (libc::SYS_openat2, Call::Open(None)),
    (libc::SYS_close, Call::Close),
    (libc::SYS_close_range, Call::CloseRange),
    (libc::SYS_dup, Call::Duplicate),
    (libc::SYS_dup3, Call::Duplicate),
    (libc::SYS_lseek, Call::Seek),
    (libc::SYS_fcntl, Call::Control),
    (libc::SYS_fallocate, Call::Allocate),
    (libc::SYS_io_submit, Call::Asynchronous),
    (libc::SYS_io_uring_enter, Call::Asynchronous),
    (libc::SYS_sendfile, Call::Untold),
    (libc::SYS_splice, Call::Untold),
    (libc::SYS_copy_file_range, Call::Untold),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, Call::Open(Some(1))),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, Call::Open(None)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_dup2, Call::Duplicate),
];

/// The calls that move data, or make them durable, by the names that people know them by.
pub const NAMED: &[(c_long, &str)] = &[
    (libc::SYS_read, "read"),
    (libc::SYS_write, "write"),
    (libc::SYS_pread64, "pread64"),
    (libc::SYS_pwrite64, "pwrite64"),
    (libc::SYS_readv, "readv"),
    (libc::SYS_writev, "writev"),
    (libc::SYS_preadv, "preadv"),
    (libc::SYS_pwritev, "pwritev"),
    (libc::SYS_preadv2, "preadv2"),
    (libc::SYS_pwritev2, "pwritev2"),
    (libc::SYS_fsync, "fsync"),
    (libc::SYS_fdatasync, "fdatasync"),
    (libc::SYS_sync_file_range, "sync_file_range"),
    (libc::SYS_msync, "msync"),
];

/// What a call of this number is; None for one that is not listened to.
pub fn call_of(number: c_long) -> Option<Call> {
    CALLS.iter().find(|(known, _)| *known == number).map(|(_, call)| *call)
}

/// The kernel's filter that lets only these pass.
pub fn filter() -> String {
    passing(CALLS.iter().map(|(number, _)| *number))
}

/// The kernel's filter that lets only calls of these numbers pass.
pub fn passing(numbers: impl Iterator<Item = c_long>) -> String {
    numbers.map(|number| format!("id == {number}")).collect::<Vec<_>>().join(" || ")
}
