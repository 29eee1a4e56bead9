//! The `tree_ring` engine: operations on the names of a tree through io_uring, where the kernel has their opcodes.
//!
//! The kernel hands nearly all of them to its own workers (they may sleep), which costs more than a system call each: this
//! engine is used only where a plan asks for it (decision 37). What it needs open is opened by system calls first.

use io_uring::types::{Fd, FsyncFlags};
use io_uring::{IoUring, opcode, squeue};

use super::setup::Setup;
use super::tree_operation::{ATTRIBUTE, ATTRIBUTE_BYTES, CREATING, Operator, Prepared, attribute_read};
use super::uring::ring::{self, ENTER_GETEVENTS};
use super::{Clock, Completion, Engine, Request};
use crate::error::{Error, Result};
use crate::plan::{Op, PhasePlan};
use crate::record::result::EngineReport;
use crate::tree::ours::{DIRECTORY_MODE, FILE_MODE, LINK_TARGET};
use crate::tree::shape::Shape;

/// What an operation in the ring must keep still until it has ended.
struct InFlight {
    prepared: Prepared,
    status: libc::statx,
    value: [u8; ATTRIBUTE_BYTES],
}

/// See the module.
pub struct TreeRing {
    clock: Clock,
    ring: IoUring,
    operator: Operator,
    slots: Vec<Option<Box<InFlight>>>,
    /// What could not even be prepared.
    refused: Vec<Completion>,
    pushed: u32,
    abandoned: bool,
    flags: Vec<String>,
    notes: Vec<String>,
}

impl TreeRing {
    /// A ring with a slot for each outstanding operation of one user.
    pub fn new(setup: &Setup) -> Result<TreeRing> {
        let (plan, choice) = (setup.plan(), &setup.choice);
        let tree = setup.tree.as_ref().ok_or_else(|| Error::Plan("tree: it is missing".into()))?;
        let (ring, mut flags) = ring::build(plan, false)?;
        flags.extend(choice.flags.iter().cloned());
        Ok(TreeRing {
            clock: Clock::start(),
            ring,
            operator: Operator::new(plan, tree, plan.depth as usize)?,
            slots: (0..plan.depth).map(|_| None).collect(),
            refused: Vec::new(),
            pushed: 0,
            abandoned: false,
            flags,
            notes: choice.notes.clone(),
        })
    }

    fn entry(flight: &mut InFlight) -> squeue::Entry {
        let Prepared { op, directory, name, other, file, .. } = &flight.prepared;
        let (directory, name, other, file) = (Fd(*directory), name.pointer(), other.pointer(), Fd(*file));
        let status = (&raw mut flight.status).cast();
        match op {
            Op::Create => opcode::OpenAt::new(directory, name).flags(CREATING).mode(FILE_MODE).build(),
            Op::Open => {
                let flags = libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
                opcode::OpenAt::new(directory, name).flags(flags).build()
            }
            Op::Close => opcode::Close::new(file).build(),
            Op::Statx => opcode::Statx::new(directory, name, status)
                .flags(libc::AT_SYMLINK_NOFOLLOW)
                .mask(libc::STATX_BASIC_STATS)
                .build(),
            Op::Mkdir => opcode::MkDirAt::new(directory, name).mode(DIRECTORY_MODE).build(),
            Op::Rmdir => opcode::UnlinkAt::new(directory, name).flags(libc::AT_REMOVEDIR).build(),
            Op::Unlink => opcode::UnlinkAt::new(directory, name).build(),
            Op::Rename => {
                opcode::RenameAt::new(directory, name, directory, other).flags(libc::RENAME_NOREPLACE).build()
            }
            Op::Link => opcode::LinkAt::new(directory, name, directory, other).build(),
            Op::Symlink => opcode::SymlinkAt::new(directory, LINK_TARGET.as_ptr(), name).build(),
            Op::Fsync => opcode::Fsync::new(file).build(),
            Op::Fdatasync => opcode::Fsync::new(file).flags(FsyncFlags::DATASYNC).build(),
            Op::Fsyncdir => opcode::Fsync::new(directory).build(),
            Op::Setxattr => {
                let (value, length) = (flight.value.as_ptr().cast(), ATTRIBUTE_BYTES as u32);
                opcode::FSetXattr::new(file, ATTRIBUTE.as_ptr(), value, length).build()
            }
            Op::Getxattr => {
                let (value, length) = (flight.value.as_mut_ptr().cast(), ATTRIBUTE_BYTES as u32);
                opcode::FGetXattr::new(file, ATTRIBUTE.as_ptr(), value, length).build()
            }
            _ => opcode::Nop::new().build(), // refused beforehand: see `missing`
        }
    }

    /// What of an ended operation is still open, and what it says.
    fn ended(&mut self, slot: u32, result: i64) -> Completion {
        let op = self.slots[slot as usize].take().map(|flight| flight.prepared.op);
        let result = match op {
            Some(Op::Create | Op::Open) if result >= 0 => {
                self.operator.keep(slot, result as i32);
                0
            }
            Some(Op::Close) => {
                self.operator.let_go(slot);
                result
            }
            Some(Op::Getxattr) => attribute_read(result),
            _ => result,
        };
        Completion { slot, result }
    }
}

/// Why the ring cannot do what a plan asks of a tree; `None` when it can.
pub fn missing(plan: &PhasePlan) -> Option<String> {
    let sized = plan.tree.as_ref().is_some_and(|tree| Shape::new(tree).largest_bytes() > 0);
    let code = |op: Op| match op {
        Op::Create if sized => None,
        Op::Create | Op::Open => Some(opcode::OpenAt::CODE),
        Op::Close => Some(opcode::Close::CODE),
        Op::Statx => Some(opcode::Statx::CODE),
        Op::Mkdir => Some(opcode::MkDirAt::CODE),
        Op::Rmdir | Op::Unlink => Some(opcode::UnlinkAt::CODE),
        Op::Rename => Some(opcode::RenameAt::CODE),
        Op::Link => Some(opcode::LinkAt::CODE),
        Op::Symlink => Some(opcode::SymlinkAt::CODE),
        Op::Fsync | Op::Fdatasync | Op::Fsyncdir => Some(opcode::Fsync::CODE),
        Op::Setxattr => Some(opcode::FSetXattr::CODE),
        Op::Getxattr => Some(opcode::FGetXattr::CODE),
        _ => None,
    };
    let known = match ring::known(plan) {
        Ok(known) => known,
        Err(why) => return Some(why),
    };
    let ops = plan.mix.iter().map(|item| item.op);
    let lacks = ops.into_iter().find(|op| !code(*op).is_some_and(|code| known.is_supported(code)));
    lacks.map(|op| match op {
        Op::Create => "io_uring creates only empty files".to_string(),
        op => format!("io_uring has no {}", op.name()),
    })
}

impl Engine for TreeRing {
    fn start(&mut self, clock: Clock) {
        self.clock = clock;
    }

    #[inline(always)]
    fn now(&self) -> u64 {
        self.clock.now()
    }

    fn push(&mut self, request: Request) {
        let prepared = self.operator.prepare(&request);
        let refused = if prepared.refused == 0 { self.operator.refusal(&prepared) } else { prepared.refused };
        if refused != 0 {
            self.refused.push(Completion { slot: request.slot, result: refused });
            return;
        }
        // SAFETY: an all-zero statx is one.
        let status = unsafe { std::mem::zeroed() };
        let mut flight = Box::new(InFlight { prepared, status, value: [b'i'; ATTRIBUTE_BYTES] });
        let entry = TreeRing::entry(&mut flight).user_data(u64::from(request.slot));
        self.slots[request.slot as usize] = Some(flight);
        // SAFETY: what the entry points to lies in the slot until the operation has ended; there is a place for each slot.
        unsafe { self.ring.submission().push(&entry) }.expect("a place in the ring for each slot");
        self.pushed += 1;
    }

    fn submit(&mut self, wait: u32, until: Option<u64>) -> Result<()> {
        let wait = if self.refused.is_empty() { wait } else { 0 };
        let (asked, until) = ((self.pushed, wait), until.filter(|_| self.refused.is_empty()));
        self.pushed = ring::enter(&mut self.ring, self.clock, asked, ENTER_GETEVENTS, until)?;
        Ok(())
    }

    fn reap(&mut self, out: &mut Vec<Completion>) {
        out.append(&mut self.refused);
        let ended: Vec<(u32, i64)> =
            self.ring.completion().map(|c| (c.user_data() as u32, i64::from(c.result()))).collect();
        out.extend(ended.into_iter().map(|(slot, result)| self.ended(slot, result)));
    }

    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.operator.buffer(slot, len)
    }

    fn abandon(&mut self) {
        self.abandoned = true;
        self.operator.abandon();
    }

    fn report(&self) -> EngineReport {
        EngineReport {
            name: "tree_ring".into(),
            flags: self.flags.clone(),
            buffers: self.operator.buffers(),
            notes: self.notes.clone(),
        }
    }
}

impl Drop for TreeRing {
    /// What the kernel may still write to is never given back.
    fn drop(&mut self) {
        if self.abandoned || self.slots.iter().any(Option::is_some) {
            self.operator.abandon();
            self.slots.drain(..).for_each(std::mem::forget);
        }
    }
}
