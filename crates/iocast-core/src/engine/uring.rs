//! The `uring` engine: io_uring with registered files, one registered buffer in huge pages and a
//! registered ring; deferred task work where completions come by interrupt (O_DIRECT), not where they are
//! inline (page cache): measured in docs/performance.md.

use std::fs::File;
use std::io;
use std::os::fd::RawFd;

use io_uring::types::{Fd, Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};

use super::{Clock, Completion, Engine, Request, descriptors};
use crate::buffers::{Buffers, HUGE_FROM_BYTES};
use crate::error::{Error, Result};
use crate::plan::{Op, PhasePlan};
use crate::result::EngineReport;
use crate::trim;

const ENTER_GETEVENTS: u32 = 1;
const ENTER_EXT_ARG: u32 = 1 << 3;
/// Do not count this wait as iowait: saves its book-keeping at each sleep (Linux 6.15).
const ENTER_NO_IOWAIT: u32 = 1 << 7;
/// Deferred task work saves CPU when completions come in numbers; a lone one is noticed later by it.
const DEFER_FROM_DEPTH: u32 = 16;
/// The kernel takes at most 1 GiB a registered buffer.
const LARGEST_REGISTERED: usize = 1 << 30;

/// See the module.
pub struct UringEngine {
    clock: Clock,
    ring: IoUring,
    descriptors: Vec<RawFd>,
    block_devices: Vec<bool>,
    _files: Vec<File>,
    buffers: std::mem::ManuallyDrop<Buffers>,
    fixed_files: bool,
    fixed_buffers: bool,
    write_flags: i32,
    wait_flags: u32,
    pushed: u32,
    flags: Vec<String>,
    notes: Vec<String>,
}

impl UringEngine {
    /// A ring with a slot and a buffer for each outstanding I/O of one user. Fails with `Error::Ring` where the kernel
    /// forbids io_uring; smaller things that it refuses are done without and noted.
    pub fn new(plan: &PhasePlan, files: Vec<File>) -> Result<UringEngine> {
        let (ring, mut flags) = build_ring(plan.depth, plan.direct)?;
        let buffers = Buffers::new(plan.depth as usize, plan.largest_moved_bytes() as usize)?;
        let descriptors = descriptors(&files);
        let mut notes = Vec::new();
        let mut note = |what: &str, result: io::Result<()>| match result {
            Ok(()) => {
                flags.push(what.to_string());
                true
            }
            Err(why) => {
                notes.push(format!("without {what}: {why}"));
                false
            }
        };
        let fixed_files = note("registered files", ring.submitter().register_files(&descriptors));
        let (memory, bytes) = buffers.mapping();
        let fixed_buffers = if bytes <= LARGEST_REGISTERED {
            let whole = [libc::iovec { iov_base: memory.cast(), iov_len: bytes }];
            // SAFETY: the mapping outlives the ring (see Drop).
            note("registered buffers", unsafe { ring.submitter().register_buffers(&whole) })
        } else {
            notes.push("without registered buffers: more than 1 GiB in flight".to_string());
            false
        };
        match ring.submitter().register_ring_fd() {
            Ok(()) => flags.push("registered ring".into()),
            Err(why) => notes.push(format!("without registered ring: {why}")),
        }
        let block_devices = trim::block_devices(&files);
        flags.extend(Some(trim::described(plan, &block_devices).to_string()).filter(|said| !said.is_empty()));
        let wait_flags = ENTER_GETEVENTS | no_iowait(&ring, &mut flags);
        let buffers = std::mem::ManuallyDrop::new(buffers);
        Ok(UringEngine {
            clock: Clock::start(),
            ring,
            descriptors,
            block_devices,
            _files: files,
            buffers,
            fixed_files,
            fixed_buffers,
            write_flags: if plan.dsync_each() { libc::RWF_DSYNC } else { 0 },
            wait_flags,
            pushed: 0,
            flags,
            notes,
        })
    }

    fn entry(&self, request: &Request) -> squeue::Entry {
        let pointer = self.buffers.pointer(request.slot).wrapping_add(request.done as usize);
        let flags = self.write_flags;
        let (offset, len) = (request.offset + u64::from(request.done), request.len - request.done);
        macro_rules! build {
            ($fd:expr) => {
                match (request.op, self.fixed_buffers) {
                    (Op::Read, true) => opcode::ReadFixed::new($fd, pointer, len, 0).offset(offset).build(),
                    (Op::Read, false) => opcode::Read::new($fd, pointer, len).offset(offset).build(),
                    (Op::Write, true) => {
                        opcode::WriteFixed::new($fd, pointer, len, 0).offset(offset).rw_flags(flags).build()
                    }
                    (Op::Write, false) => {
                        opcode::Write::new($fd, pointer, len).offset(offset).rw_flags(flags).build()
                    }
                    (Op::Fsync, _) => opcode::Fsync::new($fd).build(),
                    (Op::Fdatasync, _) => opcode::Fsync::new($fd).flags(FsyncFlags::DATASYNC).build(),
                    (Op::Trim, _) if self.block_devices[request.file as usize] => {
                        let mut command = [0; 16];
                        command[..8].copy_from_slice(&u64::from(len).to_ne_bytes());
                        opcode::UringCmd16::new($fd, trim::RING_DISCARD)
                            .addr(Some(offset))
                            .cmd(command)
                            .build()
                    }
                    (Op::Trim, _) => {
                        opcode::Fallocate::new($fd, u64::from(len)).offset(offset).mode(trim::PUNCH).build()
                    }
                }
            };
        }
        let entry = if self.fixed_files {
            build!(Fixed(request.file))
        } else {
            build!(Fd(self.descriptors[request.file as usize]))
        };
        entry.user_data(u64::from(request.slot))
    }
}

/// The ring with the flags this kernel takes: the best set first, plain at last.
fn build_ring(depth: u32, direct: bool) -> Result<(IoUring, Vec<String>)> {
    let entries = depth.next_power_of_two().max(4);
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
        let deferred = level <= 1 && direct && depth >= DEFER_FROM_DEPTH;
        if deferred {
            builder.setup_defer_taskrun();
            names.push("deferred task work".into());
        } else if level <= 1 {
            // Without it each completion interrupts the worker wherever it is: 100 us at depth 8 was 124.
            builder.setup_coop_taskrun();
            names.push("cooperative task work".into());
        }
        match builder.setup_clamp().build(entries) {
            Ok(ring) => return Ok((ring, names)),
            Err(why) if why.raw_os_error() == Some(libc::EINVAL) => last = why,
            Err(why) => return Err(Error::Ring { doing: "set-up", source: why }),
        }
    }
    Err(Error::Ring { doing: "set-up", source: last })
}

/// `ENTER_NO_IOWAIT` where the kernel knows it.
fn no_iowait(ring: &IoUring, names: &mut Vec<String>) -> u32 {
    // SAFETY: submits nothing and waits for nothing.
    let tried =
        unsafe { ring.submitter().enter::<libc::sigset_t>(0, 0, ENTER_GETEVENTS | ENTER_NO_IOWAIT, None) };
    if tried.is_err() {
        return 0;
    }
    names.push("no iowait".into());
    ENTER_NO_IOWAIT
}

/// How the I/O memory turned out, for the report.
pub(super) fn describe_buffers(buffers: &Buffers, registered: bool) -> String {
    let (_, bytes) = buffers.mapping();
    let pages = match () {
        () if bytes < HUGE_FROM_BYTES => "4 KiB pages (small enough for them)",
        () if buffers.huge_bytes() == bytes => "huge pages",
        () => "4 KiB pages (no huge pages to be had)",
    };
    if registered { format!("registered, {pages}") } else { pages.to_string() }
}

impl Engine for UringEngine {
    fn start(&mut self, clock: Clock) {
        self.clock = clock;
    }

    #[inline(always)]
    fn now(&self) -> u64 {
        self.clock.now()
    }

    #[inline]
    fn push(&mut self, request: Request) {
        let entry = self.entry(&request);
        // SAFETY: the entry's buffer and file live as long as the ring; the ring has a place for each slot.
        unsafe { self.ring.submission().push(&entry) }.expect("a place in the ring for each slot");
        self.pushed += 1;
    }

    #[inline]
    fn submit(&mut self, wait: u32, until: Option<u64>) -> Result<()> {
        let submitter = self.ring.submitter();
        // Deferred completions are run only by an enter that asks for events: it always does.
        // SAFETY: the arguments live across the call; flags are those that the kernel was asked for.
        let result = match until {
            Some(until) => {
                let left = until.saturating_sub(self.clock.now());
                let timespec = Timespec::new().sec(left / 1_000_000_000).nsec((left % 1_000_000_000) as u32);
                let args = SubmitArgs::new().timespec(&timespec);
                unsafe {
                    submitter.enter(self.pushed, wait.max(1), self.wait_flags | ENTER_EXT_ARG, Some(&args))
                }
            }
            None => unsafe { submitter.enter::<libc::sigset_t>(self.pushed, wait, self.wait_flags, None) },
        };
        match result {
            Ok(sent) => self.pushed = self.pushed.saturating_sub(sent as u32),
            Err(why) => match why.raw_os_error() {
                // The kernel could not take all now, or the wait ended early: the caller comes again.
                Some(libc::EINTR | libc::ETIME | libc::EAGAIN | libc::EBUSY) => {
                    self.pushed = self.ring.submission().len() as u32;
                }
                _ => return Err(Error::Ring { doing: "submission", source: why }),
            },
        }
        Ok(())
    }

    #[inline]
    fn reap(&mut self, out: &mut Vec<Completion>) {
        out.extend(
            self.ring
                .completion()
                .map(|c| Completion { slot: c.user_data() as u32, result: i64::from(c.result()) }),
        );
    }

    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.buffers.slice(slot, len)
    }

    fn abandon(&mut self) {
        self.buffers.leak();
    }

    fn report(&self) -> EngineReport {
        EngineReport {
            name: "uring".into(),
            flags: self.flags.clone(),
            buffers: describe_buffers(&self.buffers, self.fixed_buffers),
            notes: self.notes.clone(),
        }
    }
}

impl Drop for UringEngine {
    fn drop(&mut self) {
        // The ring must let go of the memory before it is unmapped.
        let _ = self.ring.submitter().unregister_buffers();
        // SAFETY: dropped once, here; leaked instead when I/Os are still in flight.
        unsafe { std::mem::ManuallyDrop::drop(&mut self.buffers) };
    }
}
