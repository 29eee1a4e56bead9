//! A moment on the clock with the CPU that the process has used until then.

use std::time::Instant;

/// See the module.
pub struct Usage {
    at: Instant,
    user_ns: u64,
    system_ns: u64,
}

/// What lies between two moments.
pub struct Spent {
    /// On the clock.
    pub elapsed_ns: u64,
    /// CPU in user mode, of all threads.
    pub user_ns: u64,
    /// CPU in the kernel, of all threads.
    pub system_ns: u64,
}

impl Usage {
    /// This moment.
    pub fn now() -> Usage {
        // SAFETY: an all-zero rusage is valid, and getrusage fills the one it is given.
        let used = unsafe {
            let mut used: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_SELF, &mut used);
            used
        };
        Usage {
            at: Instant::now(),
            user_ns: nanoseconds(used.ru_utime),
            system_ns: nanoseconds(used.ru_stime),
        }
    }

    /// What was spent between `earlier` and this.
    pub fn since(&self, earlier: &Usage) -> Spent {
        Spent {
            elapsed_ns: self.at.duration_since(earlier.at).as_nanos() as u64,
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
        }
    }
}

fn nanoseconds(time: libc::timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000
}
