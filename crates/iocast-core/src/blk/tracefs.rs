//! Finds the kernel's tracing files; where nobody has mounted them, mounts them where only this process sees them.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_string, fsmount, fsopen,
};

use crate::error::{Error, Result};

const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

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
            let what = format!("{} is not mounted and cannot be mounted for this process", PLACES[0]);
            Error::Tracing { what, source }
        })?;
        let root = PathBuf::from(format!("/proc/self/fd/{}", mount.as_raw_fd()));
        Ok(Tracefs { root, mount: Some(mount) })
    }

    /// Where its files are, as this process sees them.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What somebody should know of how it was found.
    pub fn notes(&self) -> Vec<String> {
        // It vanishes with this process.
        let private = self.mount.as_ref().map(|_| "tracefs was not mounted: mounted for this process only");
        private.into_iter().map(str::to_string).collect()
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
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&context, "source", "iocast")?;
    fsconfig_create(&context)?;
    Ok(fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())?)
}
