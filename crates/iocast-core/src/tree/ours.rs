//! What in a tree iocast made: its names, its modes, its owner; anything else is never touched.
//!
//! Files and directories of a tree have the sticky bit, which nobody else gives to a file: a file that somebody moves
//! under a name of ours is told by it. The whole tree lies in a directory that only its owner may enter.

use std::ffi::CStr;
use std::io;
use std::os::fd::RawFd;

/// Of files: rw for the owner, and the sticky bit.
pub const FILE_MODE: libc::mode_t = 0o1600;
/// Of directories.
pub const DIRECTORY_MODE: libc::mode_t = 0o1700;
/// Where symbolic links point: nowhere, and recognisably so.
pub const LINK_TARGET: &CStr = c"iocast-tree-link";
/// The kinds of names beside the number of a file: itself, renamed, second name, symbolic link, directory.
pub const FILE: u8 = b'f';
/// A file that was renamed.
pub const RENAMED: u8 = b'r';
/// A second name.
pub const LINKED: u8 = b'l';
/// A symbolic link.
pub const SYMLINK: u8 = b's';
/// The names that a file can have, as a `Spot` numbers them.
pub const KINDS: [u8; 4] = [FILE, RENAMED, LINKED, SYMLINK];
/// A directory beside a file.
pub const BESIDE: u8 = b'm';
/// How a directory of the shape begins.
pub const CHILD: u8 = b'd';
/// How the top of one of several trees begins.
pub const TOP: u8 = b'u';

/// A name as the kernel wants it: a letter, a number, and a zero byte.
#[derive(Clone, Copy, Debug)]
pub struct Name([u8; 24]);

impl Name {
    /// The name of a kind and a number.
    #[inline]
    pub fn new(kind: u8, number: u64) -> Name {
        let mut digits = [0u8; 20];
        let (mut at, mut left) = (20, number);
        loop {
            at -= 1;
            digits[at] = b'0' + (left % 10) as u8;
            left /= 10;
            if left == 0 {
                break;
            }
        }
        let mut name = [0u8; 24];
        name[0] = kind;
        name[1..21 - at].copy_from_slice(&digits[at..]);
        Name(name)
    }

    /// The same, with its end.
    #[inline]
    pub fn text(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.0).expect("a zero byte behind a letter and 20 digits")
    }

    /// For a system call.
    #[inline]
    pub fn pointer(&self) -> *const libc::c_char {
        self.0.as_ptr().cast()
    }
}

/// A name that was read: its kind and number; `None` for one that no tree has.
pub fn known(name: &[u8]) -> Option<(u8, u64)> {
    let (kind, digits) = name.split_first()?;
    let plain = !digits.is_empty() && digits.len() <= 19 && digits.iter().all(u8::is_ascii_digit);
    let canonical = digits.len() == 1 || digits.first() != Some(&b'0');
    let ours = [FILE, RENAMED, LINKED, SYMLINK, BESIDE, CHILD, TOP].contains(kind);
    let number = std::str::from_utf8(digits).ok()?.parse().ok()?;
    (plain && canonical && ours).then_some((*kind, number))
}

/// What all of a tree has in common: the device that it lies on, and its owner.
#[derive(Clone, Copy, Debug)]
pub struct Home {
    device: libc::dev_t,
    owner: libc::uid_t,
}

impl Home {
    /// Of a tree of the caller's on that device.
    pub fn on(device: libc::dev_t) -> Home {
        // SAFETY: reads the process's own id.
        Home { device, owner: unsafe { libc::geteuid() } }
    }

    /// What a status says: a directory of the tree.
    pub fn has_directory(&self, status: &libc::stat) -> bool {
        status.st_mode == libc::S_IFDIR | DIRECTORY_MODE && self.owns(status)
    }

    /// What a status says: a file of the tree, with at most the two names that we give.
    #[inline]
    pub fn has_file(&self, status: &libc::stat) -> bool {
        status.st_mode == libc::S_IFREG | FILE_MODE && status.st_nlink <= 2 && self.owns(status)
    }

    fn owns(&self, status: &libc::stat) -> bool {
        status.st_dev == self.device && status.st_uid == self.owner
    }
}

/// The status of an open file.
pub fn status_of(descriptor: RawFd) -> io::Result<libc::stat> {
    // SAFETY: an all-zero stat is one, and the call writes it.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        match libc::fstat(descriptor, &mut status) {
            0 => Ok(status),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// The status of a name in a directory; links are not followed.
#[inline]
pub fn status_at(directory: RawFd, name: &CStr) -> io::Result<libc::stat> {
    // SAFETY: an all-zero stat is one, and the call writes it; the name ends with a zero byte.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        match libc::fstatat(directory, name.as_ptr(), &mut status, libc::AT_SYMLINK_NOFOLLOW) {
            0 => Ok(status),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// True for a symbolic link that points where ours do.
pub fn is_our_link(directory: RawFd, name: &CStr) -> bool {
    let mut target = [0u8; 64];
    // SAFETY: the buffer has so many bytes, the name ends with a zero byte.
    let length =
        unsafe { libc::readlinkat(directory, name.as_ptr(), target.as_mut_ptr().cast(), target.len()) };
    usize::try_from(length).is_ok_and(|length| target[..length] == *LINK_TARGET.to_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_was_made_and_nothing_else_is() {
        for number in [0, 7, 10, 4_294_967_295] {
            let name = Name::new(FILE, number);
            let text = name.text();
            assert_eq!(text.to_str().unwrap(), format!("f{number}"));
            assert_eq!(known(text.to_bytes()), Some((FILE, number)));
        }
        for other in ["f", "f01", "f-1", "f1a", "x1", "", "1", "f12345678901234567890", "f+1", "data"] {
            assert_eq!(known(other.as_bytes()), None, "{other}");
        }
    }
}
