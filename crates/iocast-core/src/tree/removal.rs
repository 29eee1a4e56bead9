//! Removes a tree: everything in it that iocast made, by several threads; what is not ours is left, and told.
//!
//! The shape need not be known: names, modes and owners say what is ours (see `ours`).

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use serde::Serialize;

use super::directories::open_directory;
use super::look::{each_name, reopened};
use super::ours::{
    BESIDE, CHILD, FILE, Home, LINKED, RENAMED, SYMLINK, TOP, is_our_link, known, status_at, status_of,
};
use crate::host::threads;

const LIST_BYTES: usize = 64 << 10;
const TOLD: usize = 16;
/// Names that are removed between two questions whether to go on.
const ASKED_EVERY: u64 = 1024;

/// What a removal did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Removed {
    /// Files, links and second names.
    pub files: u64,
    /// Directories.
    pub directories: u64,
    /// Bytes that were allocated to them.
    pub freed_bytes: u64,
    /// Names that are not iocast's: they are as they were, and so are the directories above them.
    pub left: u64,
    /// The first of them.
    pub left_names: Vec<String>,
}

/// Removes all of ours in the tree at `place`, not the place itself. `go_on` is asked now and then. With `dry` it is only
/// counted.
pub fn remove(
    place: RawFd,
    threads: usize,
    dry: bool,
    go_on: impl Fn() -> bool + Sync,
) -> io::Result<Removed> {
    let status = status_of(place)?;
    if !Home::on(status.st_dev).has_directory(&status) {
        return Err(io::Error::from_raw_os_error(libc::EPERM));
    }
    let removal = Removal {
        home: Home::on(status.st_dev),
        dry,
        go_on,
        stopped: AtomicBool::new(false),
        seen: AtomicU64::new(0),
    };
    let mut sum = Removed::default();
    let below = removal.contents(place, &mut sum, true)?;
    removal.spread(place, below, threads, &mut sum)?;
    match removal.stopped.load(Relaxed) {
        true => Err(io::Error::from_raw_os_error(libc::EINTR)),
        false => Ok(sum),
    }
}

struct Removal<G> {
    home: Home,
    dry: bool,
    go_on: G,
    stopped: AtomicBool,
    seen: AtomicU64,
}

impl<G: Fn() -> bool + Sync> Removal<G> {
    /// Shares directories out to threads; a single one is entered, and what is below it shared out.
    fn spread(&self, place: RawFd, below: Vec<CString>, count: usize, sum: &mut Removed) -> io::Result<()> {
        if let [only] = &below[..] {
            let Ok(inside) = open_directory(place, only, self.home) else {
                return self.directory(place, only, sum);
            };
            let deeper = self.contents(inside.as_raw_fd(), sum, false)?;
            self.spread(inside.as_raw_fd(), deeper, count, sum)?;
            return self.empty(place, only, sum);
        }
        let (next, all) = (Mutex::new(below.iter()), Mutex::new((Removed::default(), Ok(()))));
        threads::share(count.clamp(1, below.len().max(1)), || {
            let mut mine = Removed::default();
            let mut ended = Ok(());
            while ended.is_ok() {
                let Some(name) = next.lock().expect("the list").next() else { break };
                ended = self.directory(place, name, &mut mine);
            }
            let mut all = all.lock().expect("the sum");
            all.0.add(mine);
            if all.1.is_ok() {
                all.1 = ended;
            }
        });
        let (removed, ended) = all.into_inner().expect("the sum");
        sum.add(removed);
        ended
    }

    /// A directory of ours with all of ours in it.
    fn directory(&self, above: RawFd, name: &CStr, sum: &mut Removed) -> io::Result<()> {
        if self.stopped.load(Relaxed) {
            return Ok(());
        }
        let inside = match open_directory(above, name, self.home) {
            Ok(inside) => inside,
            Err(why) if why.raw_os_error() == Some(libc::ENOENT) => return Ok(()),
            Err(why) if matches!(why.raw_os_error(), Some(libc::EPERM | libc::ENOTDIR | libc::ELOOP)) => {
                sum.leave(name);
                return Ok(());
            }
            Err(why) => return Err(why),
        };
        for below in self.contents(inside.as_raw_fd(), sum, false)? {
            self.directory(inside.as_raw_fd(), &below, sum)?;
        }
        drop(inside);
        self.empty(above, name, sum)
    }

    /// Removes a directory of ours if nothing is in it any more.
    fn empty(&self, above: RawFd, name: &CStr, sum: &mut Removed) -> io::Result<()> {
        if self.stopped.load(Relaxed) {
            return Ok(());
        }
        // SAFETY: the name ends with a zero byte.
        let removed = self.dry || unsafe { libc::unlinkat(above, name.as_ptr(), libc::AT_REMOVEDIR) } == 0;
        if removed {
            sum.directories += 1;
            return Ok(());
        }
        let why = io::Error::last_os_error();
        match why.raw_os_error() {
            Some(libc::ENOTEMPTY | libc::EEXIST | libc::ENOENT) => Ok(()),
            _ => Err(why),
        }
    }

    /// Removes the files in an open directory; returns the directories of ours in it.
    fn contents(&self, directory: RawFd, sum: &mut Removed, top: bool) -> io::Result<Vec<CString>> {
        let mut below = Vec::new();
        let mut buffer = vec![0u8; LIST_BYTES];
        let list = reopened(directory)?;
        let listed = each_name(list, &mut buffer, |name| {
            if self.seen.fetch_add(1, Relaxed) % ASKED_EVERY == 0 && !(self.go_on)() {
                self.stopped.store(true, Relaxed);
            }
            if self.stopped.load(Relaxed) || (top && name.to_bytes().starts_with(b".iocast")) {
                return Ok(());
            }
            match known(name.to_bytes()) {
                Some((CHILD | TOP | BESIDE, _)) => below.push(name.to_owned()),
                Some((FILE | RENAMED | LINKED | SYMLINK, _)) => self.file(directory, name, sum)?,
                _ => sum.leave(name),
            }
            Ok(())
        });
        // SAFETY: opened above.
        unsafe { libc::close(list) };
        listed.map(|()| below)
    }

    fn file(&self, directory: RawFd, name: &CStr, sum: &mut Removed) -> io::Result<()> {
        let status = match status_at(directory, name) {
            Ok(status) => status,
            Err(why) if why.raw_os_error() == Some(libc::ENOENT) => return Ok(()),
            Err(why) => return Err(why),
        };
        let link = status.st_mode & libc::S_IFMT == libc::S_IFLNK;
        let ours = if link { is_our_link(directory, name) } else { self.home.has_file(&status) };
        if !ours {
            sum.leave(name);
            return Ok(());
        }
        // SAFETY: the name ends with a zero byte.
        if !self.dry && unsafe { libc::unlinkat(directory, name.as_ptr(), 0) } != 0 {
            return Err(io::Error::last_os_error());
        }
        sum.files += 1;
        sum.freed_bytes += if status.st_nlink == 1 { status.st_blocks as u64 * 512 } else { 0 };
        Ok(())
    }
}

impl Removed {
    fn leave(&mut self, name: &CStr) {
        self.left += 1;
        if self.left_names.len() < TOLD {
            self.left_names.push(name.to_string_lossy().into_owned());
        }
    }

    fn add(&mut self, more: Removed) {
        self.files += more.files;
        self.directories += more.directories;
        self.freed_bytes += more.freed_bytes;
        self.left += more.left;
        self.left_names.extend(more.left_names);
        self.left_names.truncate(TOLD);
    }
}
