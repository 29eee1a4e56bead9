//! A file that is not whole yet, beside its place: what a killed process left of one is told by its lock, and removed by
//! the next that writes there. The same rule as `archive/writing/whole_files.py` has.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

const SAFELY: i32 = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;

/// Makes the file of which `place` will be the name: `place`.new, or with a number before that where another process, or
/// a file that is not ours, has this name.
pub fn new_file(place: &Path) -> io::Result<(PathBuf, File)> {
    let mut path = beside(place, "");
    let mut tried = 0;
    loop {
        remove_leftover(&path);
        match OpenOptions::new().read(true).write(true).create_new(true).custom_flags(SAFELY).open(&path) {
            Ok(file) => {
                lock(&file, libc::LOCK_EX);
                if is_at(&path, &file) {
                    return Ok((path, file));
                } // or it was taken for a leftover before it was locked
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tried < 100 => {
                tried += 1;
                path = beside(place, &format!(".{:08x}", std::process::id() ^ (tried << 24)));
            }
            Err(error) => return Err(error),
        }
    }
}

fn beside(place: &Path, between: &str) -> PathBuf {
    let mut name: OsString = place.file_name().unwrap_or_default().to_os_string();
    name.push(format!("{between}.new"));
    place.with_file_name(name)
}

/// Removes a file of ours, no link, that no process is writing. Any other stays.
fn remove_leftover(path: &Path) {
    let Ok(file) = OpenOptions::new().read(true).custom_flags(SAFELY).open(path) else { return };
    // SAFETY: geteuid has no arguments and never fails.
    let ours = unsafe { libc::geteuid() };
    let regular = file.metadata().is_ok_and(|found| found.is_file() && found.uid() == ours);
    if regular && lock(&file, libc::LOCK_EX | libc::LOCK_NB) && is_at(path, &file) {
        let _ = fs::remove_file(path);
    }
}

fn lock(file: &File, how: i32) -> bool {
    // SAFETY: the descriptor is open as long as `file` lives.
    unsafe { libc::flock(file.as_raw_fd(), how) == 0 }
}

fn is_at(path: &Path, file: &File) -> bool {
    match (fs::symlink_metadata(path), file.metadata()) {
        (Ok(there), Ok(here)) => (there.dev(), there.ino()) == (here.dev(), here.ino()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_is_written_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("x.parquet");
        fs::write(folder.path().join("x.parquet.new"), "left").unwrap();
        let (first, held) = new_file(&place).unwrap();
        assert_eq!(first, folder.path().join("x.parquet.new"));
        assert_eq!(held.metadata().unwrap().len(), 0);
        let (second, _other) = new_file(&place).unwrap();
        assert_ne!(first, second);
        assert!(first.exists() && second.exists());
    }

    #[test]
    fn a_link_in_its_place_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (place, other) = (folder.path().join("x.parquet"), folder.path().join("other"));
        fs::write(&other, "mine").unwrap();
        std::os::unix::fs::symlink(&other, folder.path().join("x.parquet.new")).unwrap();
        let (path, _file) = new_file(&place).unwrap();
        assert_ne!(path, folder.path().join("x.parquet.new"));
        assert_eq!(fs::read_to_string(&other).unwrap(), "mine");
    }
}
