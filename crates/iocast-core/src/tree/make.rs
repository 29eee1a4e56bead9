//! Makes the directories of a tree; its files are made by the `create` operations of a phase.

use std::ffi::CString;
use std::io;
use std::os::fd::RawFd;

use super::directories::Directories;
use super::ours::DIRECTORY_MODE;
use super::shape::Shape;
use crate::plan::tree_plan::TreePlan;

/// Makes every directory that is missing in the tree at `place`; returns how many it made. `go_on` is asked now and
/// then.
pub fn make_directories(plan: &TreePlan, place: RawFd, mut go_on: impl FnMut() -> bool) -> io::Result<u64> {
    let directories = Directories::new(Shape::new(plan), place, 0)?;
    let shape = directories.shape();
    let mut made = 0;
    for number in 0..shape.directories() {
        if number % 256 == 0 && !go_on() {
            return Err(io::Error::from_raw_os_error(libc::EINTR));
        }
        let Some((parent, name)) = shape.parent(number) else { continue };
        let above = match parent {
            u64::MAX => None,
            parent => Some(directories.get(parent)?),
        };
        let descriptor = above.as_ref().map_or(place, |above| above.descriptor());
        let name = CString::new(name).expect("a name without zero bytes");
        // SAFETY: the name ends with a zero byte.
        match unsafe { libc::mkdirat(descriptor, name.as_ptr(), DIRECTORY_MODE) } {
            0 => made += 1,
            _ => {
                let why = io::Error::last_os_error();
                if why.kind() != io::ErrorKind::AlreadyExists {
                    return Err(why);
                }
            }
        }
    }
    Ok(made)
}
