//! `Directories`: the directories of a tree by number, each opened once from its parent's descriptor, and held.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

use super::ours::{Home, status_of};
use super::shape::Shape;

/// Descriptors that are left to everybody else.
const SPARE: usize = 256;
const OPEN: i32 = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;

/// See the module. A tree of more directories than this process may hold open has the others opened when they are needed.
pub struct Directories {
    shape: Shape,
    place: OwnedFd,
    home: Home,
    /// By number; -1: not open.
    held: Vec<AtomicI32>,
    room: AtomicUsize,
}

/// A directory: one that is held, or one that was opened for the caller.
pub enum Directory {
    /// Stays open as long as the `Directories`.
    Held(RawFd),
    /// Closed by whoever has it.
    Own(OwnedFd),
}

impl Directory {
    /// Its descriptor.
    pub fn descriptor(&self) -> RawFd {
        match self {
            Directory::Held(descriptor) => *descriptor,
            Directory::Own(own) => own.as_raw_fd(),
        }
    }
}

impl Directories {
    /// Of the tree in the directory that `place` is a descriptor of; `kept` descriptors are needed for other things.
    pub fn new(shape: Shape, place: RawFd, kept: usize) -> io::Result<Directories> {
        // SAFETY: the duplicate is owned here and nowhere else.
        let place = unsafe {
            match libc::fcntl(place, libc::F_DUPFD_CLOEXEC, 0) {
                -1 => return Err(io::Error::last_os_error()),
                duplicate => OwnedFd::from_raw_fd(duplicate),
            }
        };
        let status = status_of(place.as_raw_fd())?;
        let home = Home::on(status.st_dev);
        if !home.has_directory(&status) {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is not a directory of a tree"));
        }
        let held = (0..shape.directories()).map(|_| AtomicI32::new(-1)).collect();
        let room = allowed().saturating_sub(kept + SPARE);
        Ok(Directories { shape, place, home, held, room: AtomicUsize::new(room) })
    }

    /// What all of the tree has in common.
    #[inline]
    pub fn home(&self) -> Home {
        self.home
    }

    /// The shape of the tree.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The directory with that number.
    #[inline]
    pub fn get(&self, number: u64) -> io::Result<Directory> {
        match self.held[number as usize].load(Ordering::Acquire) {
            -1 => self.open(number),
            descriptor => Ok(Directory::Held(descriptor)),
        }
    }

    fn open(&self, number: u64) -> io::Result<Directory> {
        let Some((parent, name)) = self.shape.parent(number) else {
            return Ok(Directory::Held(self.place.as_raw_fd()));
        };
        let above = match parent {
            u64::MAX => Directory::Held(self.place.as_raw_fd()),
            parent => self.get(parent)?,
        };
        let name = CString::new(name).expect("a name without zero bytes");
        let opened = open_directory(above.descriptor(), &name, self.home)?;
        let took = self.room.fetch_update(Ordering::AcqRel, Ordering::Acquire, |room| room.checked_sub(1));
        if took.is_err() {
            return Ok(Directory::Own(opened));
        }
        let descriptor = opened.as_raw_fd();
        match self.held[number as usize].compare_exchange(-1, descriptor, Ordering::AcqRel, Ordering::Acquire)
        {
            Ok(_) => {
                std::mem::forget(opened);
                Ok(Directory::Held(descriptor))
            }
            Err(other) => {
                self.room.fetch_add(1, Ordering::AcqRel);
                Ok(Directory::Held(other))
            }
        }
    }
}

impl Drop for Directories {
    fn drop(&mut self) {
        for held in &self.held {
            let descriptor = held.load(Ordering::Acquire);
            if descriptor >= 0 {
                // SAFETY: opened here, and closed once.
                drop(unsafe { OwnedFd::from_raw_fd(descriptor) });
            }
        }
    }
}

/// Opens a directory of a tree in another; one that iocast did not make, or that something is mounted on, is refused.
pub fn open_directory(above: RawFd, name: &std::ffi::CStr, home: Home) -> io::Result<OwnedFd> {
    let opened = open_on_this_mount(above, name)?;
    match home.has_directory(&status_of(opened.as_raw_fd())?) {
        true => Ok(opened),
        false => Err(io::Error::from_raw_os_error(libc::EPERM)),
    }
}

/// What lies on another mount is not of the tree, although its device is the same: a bind mount shows other files there.
fn open_on_this_mount(above: RawFd, name: &std::ffi::CStr) -> io::Result<OwnedFd> {
    // SAFETY: an all-zero open_how is one; the name ends with a zero byte; the descriptor is owned here.
    unsafe {
        let mut how: libc::open_how = std::mem::zeroed();
        how.flags = OPEN as u64;
        how.resolve = libc::RESOLVE_NO_XDEV;
        let size = size_of::<libc::open_how>();
        if let Ok(descriptor @ 0..) =
            RawFd::try_from(libc::syscall(libc::SYS_openat2, above, name.as_ptr(), &how, size))
        {
            return Ok(OwnedFd::from_raw_fd(descriptor));
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EXDEV) => return Err(io::Error::from_raw_os_error(libc::EPERM)),
            // A kernel before 5.6, or a filter that does not know the call.
            Some(libc::ENOSYS) | Some(libc::EPERM) => {}
            _ => return Err(error),
        }
        match libc::openat(above, name.as_ptr(), OPEN) {
            -1 => Err(io::Error::last_os_error()),
            descriptor => Ok(OwnedFd::from_raw_fd(descriptor)),
        }
    }
}

/// How many files this process may have open.
fn allowed() -> usize {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: writes `limit`.
    match unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } {
        0 => usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX),
        _ => 1024,
    }
}
