//! A second process that outlives the device: takes the mount away when the device was killed, and, as a client
//! of its own, measures what the way through kernel and wake-ups adds to an answer.
//!
//! A thread of the device could do neither: it would die with it, and a process that waits for its own
//! FUSE file cannot be ended.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::Instant;

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::setsid;
use rustix::thread::set_name;

use crate::place::Place;

const MEASURE: u8 = b'm';
const LEAVE: u8 = b'l';
const PROBE_BYTES: usize = 4096;
/// A measurement has so many reads, and takes about so long.
const PROBES: u64 = 200;
const PROBE_BUDGET_NS: u64 = 300_000_000;

/// The device's end.
pub struct Guard {
    to: File,
    from: File,
}

impl Guard {
    /// Forks: to be called before there are threads.
    pub fn start(place: &Place) -> io::Result<Guard> {
        let ((guard_in, to), (from, guard_out)) = (pipe()?, pipe()?);
        // SAFETY: there is one thread only, so the child may do all that its parent may.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                drop((to, from));
                live(place, guard_in, guard_out);
                // SAFETY: ends this process without what the parent set up for its own end.
                unsafe { libc::_exit(0) }
            }
            _ => Ok(Guard { to, from }),
        }
    }

    /// Lower quartile of the times of reads through the mounted file, in ns; `probe_ns` is what the device will take.
    pub fn read_ns(&mut self, probe_ns: u64) -> io::Result<u64> {
        self.to.write_all(&[MEASURE])?;
        self.to.write_all(&probe_ns.to_ne_bytes())?;
        let mut answer = [0; 8];
        self.from.read_exact(&mut answer)?;
        match u64::from_ne_bytes(answer) {
            u64::MAX => Err(io::Error::other("its own reads failed")),
            typical_ns => Ok(typical_ns),
        }
    }

    /// Lets the guard go: the mount is no more.
    pub fn dismiss(mut self) {
        let _ = self.to.write_all(&[LEAVE]);
    }
}

fn pipe() -> io::Result<(File, File)> {
    let (from, to) = pipe_with(PipeFlags::CLOEXEC)?;
    Ok((from.into(), to.into()))
}

/// The guard's life: commands until its pipe ends.
fn live(place: &Place, mut commands: File, mut answers: File) {
    // A terminal's signals are for the device.
    let _ = setsid();
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGPIPE] {
        // SAFETY: a property of this process alone.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    let _ = set_name(c"lab-guard");
    let mut command = [0];
    while commands.read_exact(&mut command).is_ok() {
        let mut probe_ns = [0; 8];
        if command[0] != MEASURE || commands.read_exact(&mut probe_ns).is_err() {
            return;
        }
        let typical_ns = typical_read_ns(place.path(), u64::from_ne_bytes(probe_ns)).unwrap_or(u64::MAX);
        let _ = answers.write_all(&typical_ns.to_ne_bytes());
    }
    place.leave();
}

#[repr(align(4096))]
struct Page([u8; PROBE_BYTES]);

fn typical_read_ns(path: &Path, probe_ns: u64) -> io::Result<u64> {
    let file = std::fs::OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(path)?;
    let mut page = Box::new(Page([0; PROBE_BYTES]));
    let probes = (PROBE_BUDGET_NS / probe_ns.max(1)).clamp(11, PROBES);
    let mut times_ns = Vec::with_capacity(probes as usize);
    for _ in 0..probes {
        let began = Instant::now();
        if file.read_at(&mut page.0, 0)? != PROBE_BYTES {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        times_ns.push(began.elapsed().as_nanos() as u64);
    }
    times_ns.sort_unstable();
    // Other work on the machine only ever makes a read longer.
    Ok(times_ns[times_ns.len() / 4])
}
