//! `NameWatch`: whether anybody has put a name into a directory of the tree since all of its files were looked at.
//!
//! A phase that only removes files need not look at each of them before its call then (decision 37): what was ours when the
//! phase began, in directories into which no name has come since, still is. The kernel tells of new names (inotify), on
//! file systems that this machine alone changes.

use std::fs::File;
use std::io::{self, Error};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use super::directories::Directories;
use super::number_set::NumberSet;
use super::ours::{FILE, Name, status_at};
use crate::host::threads;

/// The kernel is asked again when it was asked longer ago than that.
pub const ASKED_EVERY_NS: u64 = 100_000;
/// More directories than that are not watched: each keeps memory of the kernel busy.
const MOST_DIRECTORIES: u64 = 1 << 16;
/// Files for which a thread more is worth its start.
const FILES_A_THREAD: u64 = 1 << 14;
/// ext4, xfs, btrfs, tmpfs, f2fs, bcachefs, ZFS: nothing changes them but through this kernel.
const LOCAL: [u32; 7] =
    [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0xF2F5_2010, 0xCA45_1A4E, 0x2FC1_2FC1];

/// See the module.
pub struct NameWatch {
    watch: File,
    came: AtomicBool,
}

impl NameWatch {
    /// Watches the directories that have files, then looks at all `files` in them; `None` where the kernel cannot tell,
    /// and where one of them is not ours.
    pub fn watched(held: &Directories, place: RawFd, files: &NumberSet) -> Option<NameWatch> {
        let shape = held.shape();
        let directories = shape.holders_each() * shape.trees();
        if directories > MOST_DIRECTORIES || !is_local(place) {
            return None;
        }
        let watch = watch(held, directories).ok()?;
        let watch = NameWatch { watch, came: AtomicBool::new(false) };
        (all_ours(held, files) && watch.nothing_came()).then_some(watch)
    }

    /// True when no name had come when the kernel was last asked.
    #[inline]
    pub fn nothing_told(&self) -> bool {
        !self.came.load(Relaxed)
    }

    /// Asks it: true when no name has come until now.
    pub fn nothing_came(&self) -> bool {
        if !self.nothing_told() {
            return false;
        }
        let mut waiting: libc::c_int = 0;
        // SAFETY: writes `waiting`, the bytes that could be read.
        let asked = unsafe { libc::ioctl(self.watch.as_raw_fd(), libc::FIONREAD, &mut waiting) };
        if asked != 0 || waiting > 0 {
            self.came.store(true, Relaxed);
            return false;
        }
        true
    }
}

fn is_local(place: RawFd) -> bool {
    // SAFETY: an all-zero statfs is one, and the call writes it.
    let kind = unsafe {
        let mut status: libc::statfs = std::mem::zeroed();
        if libc::fstatfs(place, &mut status) == 0 { status.f_type as u32 } else { 0 }
    };
    LOCAL.contains(&kind)
}

fn watch(held: &Directories, directories: u64) -> io::Result<File> {
    // SAFETY: the descriptor is owned here.
    let watch = unsafe {
        match libc::inotify_init1(libc::IN_CLOEXEC | libc::IN_NONBLOCK) {
            -1 => return Err(Error::last_os_error()),
            descriptor => File::from(OwnedFd::from_raw_fd(descriptor)),
        }
    };
    for number in 0..directories {
        let directory = held.get(held.shape().holder(number))?;
        let path = std::ffi::CString::new(format!("/proc/self/fd/{}", directory.descriptor()))
            .expect("a path without zero bytes");
        let new_names = libc::IN_CREATE | libc::IN_MOVED_TO | libc::IN_ONLYDIR;
        // SAFETY: the path ends with a zero byte.
        if unsafe { libc::inotify_add_watch(watch.as_raw_fd(), path.as_ptr(), new_names) } == -1 {
            return Err(Error::last_os_error());
        }
    }
    Ok(watch)
}

/// True when every file is there and ours; several threads look.
fn all_ours(held: &Directories, files: &NumberSet) -> bool {
    let processors = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let parts = (files.count() / FILES_A_THREAD).clamp(1, processors);
    let each = files.size().div_ceil(parts);
    let (well, next) = (AtomicBool::new(true), AtomicU64::new(0));
    threads::share(parts as usize, || {
        loop {
            let part = next.fetch_add(1, Relaxed);
            if part >= parts {
                break;
            }
            let mut own =
                (part * each..((part + 1) * each).min(files.size())).filter(|number| files.has(*number));
            if !own.all(|number| well.load(Relaxed) && is_ours(held, number)) {
                well.store(false, Relaxed);
            }
        }
    });
    well.into_inner()
}

fn is_ours(held: &Directories, number: u64) -> bool {
    let Ok(directory) = held.get(held.shape().directory_of(number)) else { return false };
    let name = Name::new(FILE, number);
    status_at(directory.descriptor(), name.text()).is_ok_and(|status| held.home().has_file(&status))
}
