//! A ring that is dropped while an I/O is outstanding: what the kernel still writes reaches nobody else's memory.
//!
//! The reads here are of a FIFO and end when somebody writes to it. A ring that is in the hands of another thread than the
//! one that made it takes no calls: its submissions fail, and what is outstanding cannot be cancelled either.

use std::ffi::CString;
use std::fs::File;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::engine::setup::Choice;
use crate::engine::sim::world::SimWorld;
use crate::testing::plan;

const BYTES: usize = 64 << 10;
/// Longer than the kernel takes to copy what a file system has answered.
const COPIED: Duration = Duration::from_millis(300);

/// A ring with unregistered buffers and one read of `file` outstanding.
fn reading(file: &Path) -> UringEngine {
    let plan = plan(serde_json::json!({"engine": "uring", "mix": [{"op": "read", "size_bytes": BYTES}],
        "files": [{"path": file, "start_bytes": 0, "size_bytes": 1 << 20}]}));
    let choice = Choice::of("uring", &plan);
    let setup = Setup { plans: vec![Arc::new(plan)], choice, world: SimWorld::default(), tree: None };
    let mut engine = UringEngine::new(&setup).expect("a ring");
    let _ = engine.ring.submitter().unregister_buffers();
    engine.fixed_buffers = false;
    let len = BYTES as u32;
    engine.push(Request { slot: 0, op: Op::Read, file: 0, offset: 0, len, done: 0, durable: false });
    engine.submit(0, None).expect("the read is sent");
    engine
}

/// Memory of somebody else where the buffers were; `None` where they still are.
struct Guard(*mut u8, usize);

impl Guard {
    fn put((at, bytes): (*mut u8, usize)) -> Option<Guard> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        // SAFETY: takes no address that is in use.
        let got = unsafe { libc::mmap(at.cast(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if got == libc::MAP_FAILED {
            return None;
        }
        // SAFETY: the mapping that was just made.
        unsafe { std::ptr::write_bytes(at, 0xA5, bytes) };
        Some(Guard(at, bytes))
    }

    fn overwritten(&self) -> usize {
        // SAFETY: the mapping lives as long as the guard; the kernel may write to it, nobody else.
        (0..self.1).filter(|at| unsafe { self.0.add(*at).read_volatile() } != 0xA5).count()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // SAFETY: made by `put`.
        unsafe { libc::munmap(self.0.cast(), self.1) };
    }
}

fn fifo(folder: &tempfile::TempDir) -> PathBuf {
    let path = folder.path().join("fifo");
    let name = CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: a path with its end.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    path
}

/// Submits where the kernel takes nothing: a ring belongs to the thread that made it.
fn fails_elsewhere(mut engine: UringEngine) {
    let gone = std::thread::spawn(move || {
        let len = BYTES as u32;
        engine.push(Request { slot: 0, op: Op::Read, file: 0, offset: 0, len, done: 0, durable: false });
        assert!(engine.submit(0, None).is_err(), "a ring of another thread takes nothing");
        drop(engine);
    });
    gone.join().expect("the refusal of a submission");
}

#[test]
fn the_memory_of_an_io_that_is_outstanding_stays_when_submitting_fails() {
    let folder = tempfile::tempdir().unwrap();
    let path = fifo(&folder);
    let mut writer = File::options().read(true).write(true).open(&path).unwrap();
    let engine = reading(&path);
    let buffers = engine.buffers.mapping();
    fails_elsewhere(engine);
    let guard = Guard::put(buffers);
    writer.write_all(&[0x5A; 4096]).unwrap();
    std::thread::sleep(COPIED);
    assert_eq!(guard.as_ref().map(Guard::overwritten), None, "the buffers were given back");
}

#[test]
fn what_can_be_cancelled_has_ended_before_the_buffers_are_given_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = fifo(&folder);
    let _writer = File::options().read(true).write(true).open(&path).unwrap();
    let mut engine = reading(&path);
    assert_eq!(engine.outstanding, 1);
    assert!(engine.settled(), "a read of a FIFO can be cancelled");
    assert_eq!(engine.outstanding, 0);
    let len = BYTES as u32;
    engine.push(Request { slot: 0, op: Op::Read, file: 0, offset: 0, len, done: 0, durable: false });
    assert!(engine.settled(), "what was never sent is not waited for");
}

#[test]
fn a_panic_gives_no_memory_back_that_the_kernel_may_write_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = fifo(&folder);
    let mut writer = File::options().read(true).write(true).open(&path).unwrap();
    let engine = reading(&path);
    let buffers = engine.buffers.mapping();
    let unwound = catch_unwind(AssertUnwindSafe(move || {
        let _owned = engine;
        panic!("as a worker may");
    }));
    assert!(unwound.is_err());
    let guard = Guard::put(buffers);
    writer.write_all(&[0x5A; 4096]).unwrap();
    std::thread::sleep(COPIED);
    assert_eq!(guard.map_or(0, |guard| guard.overwritten()), 0);
}
