//! Finds the kernel's tracing files; where nobody has mounted them, mounts them where only this process sees them.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
const FSCONFIG_CMD_CREATE: libc::c_uint = 6;

/// The root of tracefs, for as long as this lives.
pub struct Tracefs {
    root: PathBuf,
    mount: Option<OwnedFd>,
}

impl Tracefs {
    /// Finds it. Fails where this user may not use it, or the kernel has none.
    pub fn find() -> Result<Tracefs> {
        for place in PLACES {
            match usable(Path::new(place)) {
                Ok(true) => return Ok(Tracefs { root: place.into(), mount: None }),
                Ok(false) => {}
                Err(source) => return Err(Error::Tracing { what: place.into(), source }),
            }
        }
        let mount = mount_for_ourselves().map_err(|source| {
            let what = format!("{} is not mounted, and cannot be mounted for this process alone", PLACES[0]);
            Error::Tracing { what, source }
        })?;
        let root = PathBuf::from(format!("/proc/self/fd/{}", mount.as_raw_fd()));
        Ok(Tracefs { root, mount: Some(mount) })
    }

    /// Where its files are, as this process sees them.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// True when it was mounted for this process: it vanishes with it.
    pub fn is_private(&self) -> bool {
        self.mount.is_some()
    }
}

/// False when nothing is mounted there; an error when it is there and not for this user.
fn usable(place: &Path) -> io::Result<bool> {
    match std::fs::read_dir(place.join("instances")) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// A mount that is attached nowhere (Linux 5.2): no other process is given a file system that it did not have.
fn mount_for_ourselves() -> io::Result<OwnedFd> {
    let (kind, flags) = (c"tracefs", 1); // FSOPEN_CLOEXEC, FSMOUNT_CLOEXEC
    let context = call(libc::SYS_fsopen, [kind.as_ptr() as usize, flags, 0, 0, 0])?;
    let source: &CStr = c"iocast";
    let key = c"source";
    let string = 1; // FSCONFIG_SET_STRING
    let configure =
        [context.as_raw_fd() as usize, string, key.as_ptr() as usize, source.as_ptr() as usize, 0];
    configured(configure)?;
    configured([context.as_raw_fd() as usize, FSCONFIG_CMD_CREATE as usize, 0, 0, 0])?;
    call(libc::SYS_fsmount, [context.as_raw_fd() as usize, flags, 0, 0, 0])
}

fn configured(arguments: [usize; 5]) -> io::Result<()> {
    let [a, b, c, d, e] = arguments;
    // SAFETY: the pointers among the arguments are of C strings that outlive the call.
    match unsafe { libc::syscall(libc::SYS_fsconfig, a, b, c, d, e) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

fn call(number: libc::c_long, arguments: [usize; 5]) -> io::Result<OwnedFd> {
    let [a, b, c, d, e] = arguments;
    // SAFETY: as above; what is returned is a descriptor that nobody else knows.
    match unsafe { libc::syscall(number, a, b, c, d, e) } {
        -1 => Err(io::Error::last_os_error()),
        descriptor => Ok(unsafe { OwnedFd::from_raw_fd(descriptor as i32) }),
    }
}
