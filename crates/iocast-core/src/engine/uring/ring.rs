//! A ring with what this kernel takes: every capability is tried, none assumed.

use std::fs;
use std::io;
use std::time::Duration;

use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{IoUring, Probe, opcode};

use crate::engine::Clock;
use crate::error::{Error, Result};
use crate::plan::{PhasePlan, Polling};

/// Of io_uring_enter(2): completions are wanted.
pub const ENTER_GETEVENTS: u32 = 1;
const ENTER_EXT_ARG: u32 = 1 << 3;
/// Do not count this wait as iowait: saves its book-keeping at each sleep (Linux 6.15).
const ENTER_NO_IOWAIT: u32 = 1 << 7;
/// Deferred task work saves CPU when completions come in numbers; a lone one is noticed later by it.
const DEFER_FROM_DEPTH: u32 = 16;
/// The polling thread goes to sleep after so long without work.
const SQPOLL_IDLE_MS: u32 = 50;

/// The kernel gives the locked memory of a ring that was taken down back a moment later.
const PATIENCE: Duration = Duration::from_millis(50);

/// What `Error::Ring` says when no ring could be made.
pub const SET_UP: &str = "set-up";

/// The ring of one worker, and what was obtained: the best set of flags first, plain at last. `inline`
/// says that I/Os end while they are submitted, so that nothing is gained by deferring their ends.
pub(in crate::engine) fn build(plan: &PhasePlan, inline: bool) -> Result<(IoUring, Vec<String>)> {
    // The polling thread gives the places of a batch back when it has gone through all of it: until then
    // its I/Os may have ended and others may have taken their slots.
    let places = if plan.polling == Polling::Sqpoll { 2 * plan.depth } else { plan.depth };
    let entries = places.next_power_of_two().max(4);
    let mut last = io::Error::from_raw_os_error(libc::ENOSYS);
    for level in 0..3 {
        let mut builder = IoUring::builder();
        let mut names: Vec<String> = Vec::new();
        if level <= 1 {
            builder.setup_single_issuer();
            names.push("single issuer".into());
        }
        if level == 0 {
            builder.setup_no_sqarray();
            names.push("no SQ array".into());
        }
        let deferred = !inline && plan.depth >= DEFER_FROM_DEPTH;
        if plan.polling == Polling::Sqpoll {
            // Its completions never interrupt the worker: there is no task work to postpone.
            builder.setup_sqpoll(SQPOLL_IDLE_MS);
            names.push("SQPOLL".into());
        } else if level <= 1 && deferred {
            builder.setup_defer_taskrun();
            names.push("deferred task work".into());
        } else if level <= 1 {
            // Without it each completion interrupts the worker wherever it is: 100 us at depth 8 was 124.
            builder.setup_coop_taskrun();
            names.push("cooperative task work".into());
        }
        if plan.polling == Polling::Iopoll {
            builder.setup_iopoll();
            names.push("IOPOLL".into());
        }
        builder.setup_clamp();
        let mut built = builder.build(entries);
        if built.as_ref().is_err_and(|why| why.raw_os_error() == Some(libc::ENOMEM)) {
            std::thread::sleep(PATIENCE);
            built = builder.build(entries);
        }
        match built {
            Ok(ring) => return Ok((ring, names)),
            Err(why) if why.raw_os_error() == Some(libc::EINVAL) => last = why,
            Err(why) => return Err(Error::Ring { doing: SET_UP, source: why }),
        }
    }
    Err(Error::Ring { doing: SET_UP, source: last })
}

/// Enters a ring with what was `pushed` and waits for `wait` ends or, if given, until `until`; returns how many places are
/// still to be sent: the kernel could not take all now, or the wait ended early, and the caller comes again.
#[inline]
pub(in crate::engine) fn enter(
    ring: &mut IoUring,
    clock: Clock,
    (pushed, wait): (u32, u32),
    flags: u32,
    until: Option<u64>,
) -> Result<u32> {
    let submitter = ring.submitter();
    // Deferred completions are run only by an enter that asks for events: it always does.
    // SAFETY: the arguments live across the call; flags are those that the kernel was asked for.
    let result = match until {
        Some(until) => {
            let left = until.saturating_sub(clock.now());
            let timespec = Timespec::new().sec(left / 1_000_000_000).nsec((left % 1_000_000_000) as u32);
            let args = SubmitArgs::new().timespec(&timespec);
            unsafe { submitter.enter(pushed, wait.max(1), flags | ENTER_EXT_ARG, Some(&args)) }
        }
        None => unsafe { submitter.enter::<libc::sigset_t>(pushed, wait, flags, None) },
    };
    match result {
        Ok(sent) => Ok(pushed.saturating_sub(sent as u32)),
        Err(why) => match why.raw_os_error() {
            Some(libc::EINTR | libc::ETIME | libc::EAGAIN | libc::EBUSY) => {
                Ok(ring.submission().len() as u32)
            }
            _ => Err(Error::Ring { doing: "submission", source: why }),
        },
    }
}

/// What the kernel can do in a ring, or why io_uring cannot be used here for this plan.
pub(in crate::engine) fn known(plan: &PhasePlan) -> std::result::Result<Probe, String> {
    let ring = match build(plan, false) {
        Ok((ring, _)) => ring,
        Err(Error::Ring { source, .. }) => return Err(refusal(&source)),
        Err(why) => return Err(why.to_string()),
    };
    let mut known = Probe::new();
    match ring.submitter().register_probe(&mut known) {
        Ok(()) => Ok(known),
        Err(why) => Err(format!("cannot query the features of io_uring: {why}")),
    }
}

/// What the kernel says, and who refuses where that is known: an administrator, or the filter of a container.
fn refusal(why: &io::Error) -> String {
    let refused = matches!(why.raw_os_error(), Some(libc::EPERM | libc::EACCES | libc::ENOSYS));
    let said = |path: &str| fs::read_to_string(path).unwrap_or_default();
    if refused && !matches!(said("/proc/sys/kernel/io_uring_disabled").trim(), "" | "0") {
        return format!("switched off by the setting kernel.io_uring_disabled: {why}");
    }
    let filtered =
        said("/proc/self/status").lines().any(|line| line.split_whitespace().eq(["Seccomp:", "2"]));
    if refused && filtered {
        return format!("refused by seccomp, as containers do by default: {why}");
    }
    why.to_string()
}

/// Why io_uring cannot be used here for this plan; `None` when it can.
pub fn missing(plan: &PhasePlan) -> Option<String> {
    let known = match known(plan) {
        Ok(known) => known,
        Err(why) => return Some(why),
    };
    let needed = [
        ("read", opcode::Read::CODE),
        ("write", opcode::Write::CODE),
        ("fixed read", opcode::ReadFixed::CODE),
        ("fixed write", opcode::WriteFixed::CODE),
        ("fsync", opcode::Fsync::CODE),
    ];
    needed.iter().find(|(_, code)| !known.is_supported(*code)).map(|(name, _)| format!("no {name}"))
}

/// `ENTER_NO_IOWAIT` where the kernel knows it.
pub(super) fn no_iowait(ring: &IoUring, names: &mut Vec<String>) -> u32 {
    // SAFETY: submits nothing and waits for nothing.
    let tried =
        unsafe { ring.submitter().enter::<libc::sigset_t>(0, 0, ENTER_GETEVENTS | ENTER_NO_IOWAIT, None) };
    if tried.is_err() {
        return 0;
    }
    names.push("no iowait".into());
    ENTER_NO_IOWAIT
}
