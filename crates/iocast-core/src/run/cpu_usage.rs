//! The CPU time that a thread or the process has used.

/// See the module.
#[derive(Default)]
pub(crate) struct CpuUsage {
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
    pub(crate) involuntary_switches: u64,
}

impl CpuUsage {
    /// Of the calling thread.
    pub(crate) fn of_thread() -> CpuUsage {
        CpuUsage::of(libc::RUSAGE_THREAD)
    }

    /// Of all threads of the process together, the kernel's own workers of a ring included.
    pub(crate) fn of_process() -> CpuUsage {
        CpuUsage::of(libc::RUSAGE_SELF)
    }

    fn of(whom: libc::c_int) -> CpuUsage {
        // SAFETY: rusage is plain data and getrusage fills it.
        let usage = unsafe {
            let mut usage = std::mem::zeroed::<libc::rusage>();
            libc::getrusage(whom, &mut usage);
            usage
        };
        let ns = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1000;
        CpuUsage {
            user_ns: ns(usage.ru_utime),
            system_ns: ns(usage.ru_stime),
            involuntary_switches: usage.ru_nivcsw as u64,
        }
    }
}
