//! The `uring` engine: io_uring with registered files, one registered buffer in huge pages and a
//! registered ring (uring/ring.rs says with which flags). Polling only on request.

use std::fs::File;
use std::io;
use std::os::fd::RawFd;
use std::thread;
use std::time::{Duration, Instant};

use io_uring::types::{CancelBuilder, Fd, Fixed, FsyncFlags, Timespec};
use io_uring::{IoUring, opcode, squeue};

use self::ring::ENTER_GETEVENTS;
use super::setup::{Setup, descriptors};
use super::{Clock, Completion, Engine, Request, trim};
use crate::error::{Error, Result};
use crate::plan::Polling;
use crate::plan::{Op, PhasePlan};
use crate::record::result::EngineReport;
use crate::workload::buffers::Buffers;

pub mod ring;

const ENTER_SQ_WAKEUP: u32 = 1 << 1;
/// The kernel takes at most 1 GiB a registered buffer.
const LARGEST_REGISTERED: usize = 1 << 30;
/// How long a ring that is dropped waits for I/Os that it has cancelled: less than a crew waits for a worker.
const SETTLES: Duration = Duration::from_millis(100);
const LOOKS_AGAIN: Duration = Duration::from_millis(1);

/// See the module.
pub struct UringEngine {
    clock: Clock,
    ring: IoUring,
    descriptors: Vec<RawFd>,
    block_devices: Vec<bool>,
    files: Vec<File>,
    buffers: std::mem::ManuallyDrop<Buffers>,
    fixed_files: bool,
    fixed_buffers: bool,
    write_flags: i32,
    wait_flags: u32,
    sqpoll: bool,
    pushed: u32,
    /// Pushed, and not reaped yet: the kernel may write to their buffers.
    outstanding: u32,
    abandoned: bool,
    flags: Vec<String>,
    notes: Vec<String>,
}

impl UringEngine {
    /// A ring with a slot and a buffer for each outstanding I/O of one user. Fails with `Error::Ring` where the kernel
    /// forbids io_uring; smaller things that it refuses are done without and noted.
    pub fn new(setup: &Setup) -> Result<UringEngine> {
        let (plan, choice, files) = (setup.plan(), &setup.choice, setup.open_files()?);
        let (ring, mut flags) = ring::build(plan, choice.inline)?;
        let buffers = Buffers::new(plan.depth as usize, plan.largest_moved_bytes() as usize)?;
        let descriptors = descriptors(&files);
        let mut notes = choice.notes.clone();
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
            notes.push("without registered buffers: more than 1 GiB outstanding".to_string());
            false
        };
        match ring.submitter().register_ring_fd() {
            Ok(()) => flags.push("registered ring".into()),
            Err(why) => notes.push(format!("without registered ring: {why}")),
        }
        let block_devices = trim::block_devices(&files);
        flags.extend(Some(trim::described(plan, &block_devices).to_string()).filter(|said| !said.is_empty()));
        let wait_flags = ENTER_GETEVENTS | ring::no_iowait(&ring, &mut flags);
        flags.extend(choice.flags.iter().cloned());
        let buffers = std::mem::ManuallyDrop::new(buffers);
        let mut engine = UringEngine {
            clock: Clock::start(),
            ring,
            descriptors,
            block_devices,
            files,
            buffers,
            fixed_files,
            fixed_buffers,
            write_flags: if plan.dsync_each() { libc::RWF_DSYNC } else { 0 },
            wait_flags,
            sqpoll: plan.polling == Polling::Sqpoll,
            pushed: 0,
            outstanding: 0,
            abandoned: false,
            flags,
            notes,
        };
        if plan.polling == Polling::Iopoll {
            engine.try_polling(plan)?;
        }
        Ok(engine)
    }

    /// Whether the device can be polled is known when it was: one read, before anything is measured.
    fn try_polling(&mut self, plan: &PhasePlan) -> Result<()> {
        let (region, len) = (&plan.files[0], plan.largest_moved_bytes() as u32);
        let offset = region.start_bytes;
        self.push(Request { slot: 0, op: Op::Read, file: 0, offset, len, done: 0, durable: false });
        let mut completions = Vec::new();
        while completions.is_empty() {
            self.submit(1, None)?;
            self.reap(&mut completions);
        }
        match completions[0].result {
            result if result < 0 => Err(Error::Ring {
                doing: "polling for completions",
                source: io::Error::from_raw_os_error(-result as i32),
            }),
            _ => Ok(()),
        }
    }

    fn entry(&self, request: &Request) -> squeue::Entry {
        let flags = self.write_flags;
        let (offset, len) = (request.offset + u64::from(request.done), request.len - request.done);
        let pointer = || self.buffers.pointer(request.slot, request.done as usize, request.len as usize);
        macro_rules! build {
            ($fd:expr) => {
                match (request.op, self.fixed_buffers) {
                    (Op::Read, true) => opcode::ReadFixed::new($fd, pointer(), len, 0).offset(offset).build(),
                    (Op::Read, false) => opcode::Read::new($fd, pointer(), len).offset(offset).build(),
                    (Op::Write, true) => {
                        opcode::WriteFixed::new($fd, pointer(), len, 0).offset(offset).rw_flags(flags).build()
                    }
                    (Op::Write, false) => {
                        opcode::Write::new($fd, pointer(), len).offset(offset).rw_flags(flags).build()
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
                    // Of trees: never handed to this engine.
                    _ => opcode::Nop::new().build(),
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
        self.outstanding += 1;
    }

    #[inline]
    fn submit(&mut self, wait: u32, until: Option<u64>) -> Result<()> {
        let mut flags = self.wait_flags;
        if self.sqpoll && self.ring.submission().need_wakeup() {
            flags |= ENTER_SQ_WAKEUP;
        }
        let asked = (self.pushed, wait);
        self.pushed = ring::enter(&mut self.ring, self.clock, asked, flags, until)?;
        Ok(())
    }

    #[inline]
    fn reap(&mut self, out: &mut Vec<Completion>) {
        let before = out.len();
        out.extend(
            self.ring
                .completion()
                .map(|c| Completion { slot: c.user_data() as u32, result: i64::from(c.result()) }),
        );
        self.outstanding -= (out.len() - before) as u32;
    }

    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.buffers.slice(slot, len)
    }

    fn abandon(&mut self) {
        self.abandoned = true;
        self.buffers.leak();
        // To close a file of storage that does not answer can hang as well (NFS and FUSE flush it).
        std::mem::forget(std::mem::take(&mut self.files));
    }

    fn report(&self) -> EngineReport {
        EngineReport {
            name: "uring".into(),
            flags: self.flags.clone(),
            buffers: self.buffers.described(self.fixed_buffers),
            notes: self.notes.clone(),
        }
    }
}

impl UringEngine {
    /// Cancels what is outstanding and waits for its end, for a short time; true when the kernel knows of no I/O any
    /// more. False for what cannot be cancelled, and where the ring takes no calls from this thread.
    fn settled(&mut self) -> bool {
        if !self.sqpoll {
            // What was pushed and not sent nobody will send any more.
            self.outstanding = self.outstanding.saturating_sub(self.ring.submission().len() as u32);
        }
        if self.outstanding == 0 {
            return true;
        }
        let patience = Timespec::from(SETTLES);
        // Since Linux 6.0; before it, and after it where an I/O ended well meanwhile, the loop below looks for the ends.
        let _ = self.ring.submitter().register_sync_cancel(Some(patience), CancelBuilder::any());
        let until = Instant::now() + SETTLES;
        loop {
            self.outstanding = self.outstanding.saturating_sub(self.ring.completion().count() as u32);
            if self.outstanding == 0 || Instant::now() >= until {
                return self.outstanding == 0;
            }
            let wake = if self.sqpoll { ENTER_SQ_WAKEUP } else { 0 };
            // SAFETY: submits nothing and waits for nothing: ends that were put off are told.
            let told =
                unsafe { self.ring.submitter().enter::<libc::sigset_t>(0, 0, ENTER_GETEVENTS | wake, None) };
            match told.err().and_then(|why| why.raw_os_error()) {
                None | Some(libc::EINTR | libc::EAGAIN | libc::EBUSY) => thread::sleep(LOOKS_AGAIN),
                Some(_) => return false,
            }
        }
    }
}

impl Drop for UringEngine {
    /// Whatever the way out (the end of a phase, a failed submission, a panic): memory that the kernel may still write
    /// to is never given back, as it would be somebody else's by then. What the kernel reads of a ring is its own.
    fn drop(&mut self) {
        if self.abandoned || !self.settled() {
            return self.abandon();
        }
        // The ring must let go of the memory before it is unmapped.
        let _ = self.ring.submitter().unregister_buffers();
        // SAFETY: dropped once, here; leaked instead when I/Os are still in flight.
        unsafe { std::mem::ManuallyDrop::drop(&mut self.buffers) };
    }
}

#[cfg(test)]
mod drop_tests;
