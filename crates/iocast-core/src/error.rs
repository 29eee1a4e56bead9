//! What can go wrong before or during a phase; each variant names the place, the errno and the way out.

use std::fmt;
use std::io;

/// The core's result.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a phase could not be run.
#[derive(Debug)]
pub enum Error {
    /// The plan is not one that can be run.
    Plan(String),
    /// A file or device could not be opened as asked.
    Open {
        /// Which.
        path: String,
        /// How: "read, O_DIRECT".
        how: String,
        /// Why.
        source: io::Error,
    },
    /// A buffer could not be had.
    Memory {
        /// How much.
        size_bytes: usize,
        /// Why.
        source: io::Error,
    },
    /// io_uring failed in a way that is not the I/O's own error.
    Ring {
        /// During what.
        doing: &'static str,
        /// Why.
        source: io::Error,
    },
    /// The journal of what is verified cannot be used.
    Journal {
        /// Which.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// The kernel's tracing cannot be used.
    Tracing {
        /// Which file, or what is missing.
        what: String,
        /// Why.
        source: io::Error,
    },
    /// A trace of another tool cannot be read, or its events cannot be written.
    Trace {
        /// What, with file and line.
        why: String,
        /// The way out.
        hint: &'static str,
    },
    /// A table of a folder cannot be read: why.
    Table(String),
    /// A worker thread could not be started.
    Thread(io::Error),
    /// A worker thread ended in the middle of its work.
    Panicked,
}

impl Error {
    /// The errno behind it, if there is one.
    pub fn errno(&self) -> Option<i32> {
        match self {
            Error::Plan(_) | Error::Trace { .. } | Error::Table(_) | Error::Panicked => None,
            Error::Open { source, .. } | Error::Memory { source, .. } | Error::Ring { source, .. } => {
                source.raw_os_error()
            }
            Error::Thread(source) | Error::Journal { source, .. } | Error::Tracing { source, .. } => {
                source.raw_os_error()
            }
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match (self, self.errno()) {
            (Error::Plan(_), _) => "correct the job file; `iocast plan JOB` shows what would run",
            (Error::Trace { hint, .. }, _) => hint,
            (Error::Open { how, .. }, Some(libc::EINVAL)) if how.contains("O_DIRECT") => {
                "this file system refuses O_DIRECT; set direct = false; the results then include the page cache"
            }
            (Error::Open { .. }, Some(libc::EACCES | libc::EPERM)) => {
                "run as a user with access, or choose another path"
            }
            (Error::Open { .. }, Some(libc::ENOENT)) => "check the path",
            (Error::Open { .. }, Some(libc::EROFS)) => "the file system is read-only: choose a read-only job",
            (Error::Open { .. }, Some(libc::EMFILE | libc::ENFILE)) => {
                "raise the limit of open files (ulimit -n), or use fewer users or files"
            }
            (Error::Memory { .. }, _) => "reduce the I/O size, the queue depth or the number of users",
            (Error::Ring { .. }, Some(libc::EOPNOTSUPP)) => {
                "this device has no poll queues (io_poll is 0 in /sys/block/DEVICE/queue): omit polling"
            }
            (Error::Ring { .. }, Some(libc::ENOMEM)) => {
                "raise the limit of locked memory (ulimit -l), or reduce the queue depth"
            }
            (Error::Journal { .. }, _) => "keep the run folder unchanged during the run and its verification",
            (Error::Tracing { .. }, Some(libc::EACCES | libc::EPERM)) => {
                "kernel tracing needs root: run as root, or as a user with write permission in its `instances`"
            }
            (Error::Tracing { .. }, Some(libc::ENOMEM)) => "free some memory for the trace buffers",
            (Error::Tracing { .. }, _) => "use a kernel with CONFIG_BLK_DEV_IO_TRACE and tracefs",
            (Error::Ring { .. }, _) => "try engine = \"sync\"",
            (Error::Panicked, _) => "this is a fault of iocast: report it with the lines above",
            (Error::Thread(_), _) => {
                "raise the limit (TasksMax= of the systemd unit, pids.max of the control group, ulimit -u), or use fewer users"
            }
            _ => "",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Plan(why) => write!(f, "invalid phase plan: {why}"),
            Error::Open { path, how, source } => write!(f, "{path}: cannot open ({how}): {source}"),
            Error::Memory { size_bytes, source } => {
                write!(f, "no memory for {size_bytes} bytes of I/O buffers: {source}")
            }
            Error::Ring { doing, source } => write!(f, "io_uring: {doing}: {source}"),
            Error::Journal { path, source } => write!(f, "cannot use the journal {path}: {source}"),
            Error::Tracing { what, source } => write!(f, "block tracepoints: {what}: {source}"),
            Error::Trace { why, .. } => write!(f, "{why}"),
            Error::Table(why) => write!(f, "{why}"),
            Error::Panicked => write!(f, "a thread of the load engine failed"),
            Error::Thread(source) => write!(f, "cannot start a worker thread: {source}"),
        }
    }
}

impl std::error::Error for Error {}

/// The symbolic name of an errno, as errno(3) gives it.
pub fn errno_name(errno: i32) -> String {
    let name = match errno {
        0 => "end of file",
        libc::EIO => "EIO",
        libc::ENOSPC => "ENOSPC",
        libc::EINVAL => "EINVAL",
        libc::EAGAIN => "EAGAIN",
        libc::EFBIG => "EFBIG",
        libc::EDQUOT => "EDQUOT",
        libc::EROFS => "EROFS",
        libc::EOPNOTSUPP => "EOPNOTSUPP",
        libc::ENXIO => "ENXIO",
        libc::ENODEV => "ENODEV",
        libc::ETIMEDOUT => "ETIMEDOUT",
        libc::ECANCELED => "ECANCELED",
        libc::EBADF => "EBADF",
        libc::EPERM => "EPERM",
        libc::ENOMEM => "ENOMEM",
        libc::EFAULT => "EFAULT",
        libc::ENOTCONN => "ENOTCONN",
        libc::ESTALE => "ESTALE",
        libc::EREMOTEIO => "EREMOTEIO",
        libc::EILSEQ => "EILSEQ",
        libc::ENODATA => "ENODATA",
        libc::EBUSY => "EBUSY",
        libc::EINTR => "EINTR",
        libc::EXDEV => "EXDEV",
        libc::ENOSYS => "ENOSYS",
        libc::EACCES => "EACCES",
        libc::ENOTTY => "ENOTTY",
        _ => return format!("errno {errno}"),
    };
    name.to_string()
}
