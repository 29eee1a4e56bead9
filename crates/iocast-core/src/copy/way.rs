//! A copy under way: its two files, how far it is, and why it ended before its end.

use std::io;
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::error::errno_name;

/// The window of a mapped copy, and the buffer of a copy in large pieces: that of cp8M.
pub const WINDOW_BYTES: usize = 8 << 20;
/// The pieces of a pipelined copy, and how many there are: together one window.
pub const PIECE_BYTES: usize = 1 << 20;
/// How many I/Os a pipelined copy has outstanding.
pub const PIECES: usize = WINDOW_BYTES / PIECE_BYTES;

const BETWEEN_TICKS: Duration = Duration::from_millis(100);

/// Where a way of copying was refused.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Refusal {
    /// The system call: "copy_file_range".
    pub call: String,
    /// Why; 0: the source ended before its size.
    pub errno: i32,
    /// Its symbolic name.
    pub name: String,
    /// How much had been copied.
    pub at_bytes: u64,
}

/// Why a copy ended early.
#[derive(Debug)]
pub enum End {
    /// A call was refused.
    Refused(Refusal),
    /// As was asked.
    Stopped,
}

/// See the module.
pub struct Way<'a> {
    /// Is read.
    pub from: RawFd,
    /// Is written.
    pub to: RawFd,
    /// How much is to be copied.
    pub size: u64,
    /// How much is.
    pub done: u64,
    /// By so many calls.
    pub calls: u64,
    tick: &'a mut dyn FnMut(u64) -> bool,
    told: Instant,
}

impl<'a> Way<'a> {
    /// At its beginning.
    pub fn new(from: RawFd, to: RawFd, size: u64, tick: &'a mut dyn FnMut(u64) -> bool) -> Way<'a> {
        Way { from, to, size, done: 0, calls: 0, tick, told: Instant::now() }
    }

    /// How much of `most` bytes is still to be copied.
    pub fn next(&self, most: usize) -> usize {
        (self.size - self.done).min(most as u64) as usize
    }

    /// `bytes` more are copied.
    pub fn moved(&mut self, bytes: usize) -> Result<(), End> {
        self.done += bytes as u64;
        if self.told.elapsed() < BETWEEN_TICKS {
            return Ok(());
        }
        self.told = Instant::now();
        if (self.tick)(self.done) { Ok(()) } else { Err(End::Stopped) }
    }

    /// Calls until it is not interrupted; the bytes it returned, of which there is one at least.
    pub fn call(&mut self, name: &str, call: impl Fn() -> isize) -> Result<usize, End> {
        loop {
            self.calls += 1;
            match call() {
                0 => return Err(self.refused(name, 0)),
                moved if moved > 0 => return Ok(moved as usize),
                _ => match io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO) {
                    libc::EINTR => {}
                    errno => return Err(self.refused(name, errno)),
                },
            }
        }
    }

    /// A call was refused here.
    pub fn refused(&self, call: &str, errno: i32) -> End {
        End::Refused(Refusal { call: call.into(), errno, name: errno_name(errno), at_bytes: self.done })
    }

    /// Sets or clears O_DIRECT on one of the files.
    pub fn set_direct(&self, file: RawFd, direct: bool) -> Result<(), End> {
        // SAFETY: plain numbers.
        let set = unsafe {
            let flags = libc::fcntl(file, libc::F_GETFL);
            let wanted = if direct { flags | libc::O_DIRECT } else { flags & !libc::O_DIRECT };
            libc::fcntl(file, libc::F_SETFL, wanted)
        };
        match set {
            0 => Ok(()),
            _ => Err(self.failed(if file == self.from {
                "O_DIRECT on SOURCE"
            } else {
                "O_DIRECT on DESTINATION"
            })),
        }
    }

    /// Makes the copy durable.
    pub fn sync(&self) -> Result<(), End> {
        // SAFETY: a plain number.
        match unsafe { libc::fsync(self.to) } {
            0 => Ok(()),
            _ => Err(self.failed("fsync")),
        }
    }

    fn failed(&self, call: &str) -> End {
        self.refused(call, io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
    }
}
