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
    /// A worker thread could not be started.
    Thread(io::Error),
}

impl Error {
    /// The errno behind it, if there is one.
    pub fn errno(&self) -> Option<i32> {
        match self {
            Error::Plan(_) => None,
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
            (Error::Open { how, .. }, Some(libc::EINVAL)) if how.contains("O_DIRECT") => {
                "this file system refuses O_DIRECT; set direct = false, and read the result as one of the page cache"
            }
            (Error::Open { .. }, Some(libc::EACCES | libc::EPERM)) => {
                "run as a user who may open it, or choose another path"
            }
            (Error::Open { .. }, Some(libc::ENOENT)) => "check the path",
            (Error::Open { .. }, Some(libc::EROFS)) => {
                "the file system is read-only: choose a job that only reads"
            }
            (Error::Open { .. }, Some(libc::EMFILE | libc::ENFILE)) => {
                "raise the limit of open files (ulimit -n), or ask for fewer users or files"
            }
            (Error::Memory { .. }, _) => "ask for a smaller size, depth or number of users",
            (Error::Ring { .. }, Some(libc::EOPNOTSUPP)) => {
                "this device has no queues to poll (io_poll is 0 in /sys/block/DEVICE/queue): leave polling out"
            }
            (Error::Ring { .. }, Some(libc::ENOMEM)) => {
                "raise the limit of locked memory (ulimit -l), or ask for a smaller depth"
            }
            (Error::Journal { .. }, _) => {
                "the run folder must stay as it was while the run, and what verifies it, needs it"
            }
            (Error::Tracing { .. }, Some(libc::EACCES | libc::EPERM)) => {
                "the kernel's tracing belongs to root: run as root, or as a user who may write in its `instances`"
            }
            (Error::Tracing { .. }, Some(libc::ENOMEM)) => "free some memory: the rings of the trace need it",
            (Error::Tracing { .. }, _) => "a kernel with CONFIG_BLK_DEV_IO_TRACE and tracefs is needed",
            (Error::Ring { .. }, _) => "try engine = \"sync\"",
            (Error::Thread(_), _) => "raise the limit of processes (ulimit -u), or ask for fewer users",
            _ => "",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Plan(why) => write!(f, "the phase plan is not valid: {why}"),
            Error::Open { path, how, source } => write!(f, "{path}: cannot open ({how}): {source}"),
            Error::Memory { size_bytes, source } => {
                write!(f, "no memory for {size_bytes} bytes of I/O buffers: {source}")
            }
            Error::Ring { doing, source } => write!(f, "io_uring: {doing}: {source}"),
            Error::Journal { path, source } => write!(f, "the journal {path} cannot be used: {source}"),
            Error::Tracing { what, source } => write!(f, "block tracepoints: {what}: {source}"),
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
        _ => return format!("errno {errno}"),
    };
    name.to_string()
}
