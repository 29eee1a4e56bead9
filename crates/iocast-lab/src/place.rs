//! `Place`: the file that the device stands on. Its directory is held by a descriptor, so that whoever renames on the
//! way to it leads neither the end of the mount nor the removal of the file to what is not the device's.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat, openat, statat, unlinkat};
use rustix::mount::{UnmountFlags, unmount};

const SOURCE: &str = "iocast-lab";

/// A file in a directory that is held.
pub struct Place {
    path: PathBuf,
    directory: OwnedFd,
    name: OsString,
    /// The file, where it was made for the device: it goes with it.
    made: Option<Stat>,
}

impl Place {
    /// The file of this name, made if there is none. Fails with what is wrong with it.
    pub fn find(file: &str) -> Result<Place, String> {
        let path = Path::new(file);
        let made = !path.exists();
        if made {
            File::create_new(path).map_err(|error| format!("cannot be created: {error}"))?;
        } else if !path.is_file() {
            return Err("not a regular file".into());
        }
        let path = path.canonicalize().map_err(|error| error.to_string())?;
        let (above, Some(name)) = (path.parent().unwrap_or(Path::new("/")), path.file_name()) else {
            return Err("not a regular file".into());
        };
        let name = name.to_owned();
        let directory = openat(CWD, above, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .map_err(|error| error.to_string())?;
        let status =
            statat(&directory, &name, AtFlags::SYMLINK_NOFOLLOW).map_err(|error| error.to_string())?;
        Ok(Place { path, directory, name, made: made.then_some(status) })
    }

    /// Where it was when it was found.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the device's mount away, also from under those who have the file open, and the file if it was made for it
    /// and is still the same, and empty.
    pub fn leave(&self) {
        if self.is_mounted().unwrap_or(false) {
            let here = format!("/proc/self/fd/{}", self.directory.as_raw_fd());
            let _ = unmount(Path::new(&here).join(&self.name), UnmountFlags::DETACH | UnmountFlags::NOFOLLOW);
        }
        let Some(made) = self.made else { return };
        let same = statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|there| (there.st_dev, there.st_ino, there.st_size) == (made.st_dev, made.st_ino, 0));
        if same {
            let _ = unlinkat(&self.directory, &self.name, AtFlags::empty());
        }
    }

    /// Whether what is mounted there is a device of this program. A device that was killed answers nothing any more,
    /// but the kernel still knows of its mount.
    fn is_mounted(&self) -> io::Result<bool> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.directory, &self.name, flags, Mode::empty())?;
        let facts = fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd()))?;
        let number =
            facts.lines().find_map(|line| line.strip_prefix("mnt_id:")).map(str::trim).unwrap_or_default();
        let mounts = fs::read_to_string("/proc/self/mountinfo")?;
        Ok(mounts.lines().any(|line| is_of_device(line, number)))
    }
}

/// Whether a line of mountinfo (`36 35 0:45 / /mnt rw - fuse SOURCE ..`) is of the mount with this number, and of this
/// program.
fn is_of_device(line: &str, number: &str) -> bool {
    let mut after = line.split_once(" - ").map_or("", |(_, rest)| rest).split(' ');
    let (kind, source) = (after.next().unwrap_or_default(), after.next().unwrap_or_default());
    line.split(' ').next() == Some(number) && kind.starts_with("fuse") && source == SOURCE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("iocast-lab-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        folder
    }

    #[test]
    fn a_file_that_was_made_goes_and_another_one_of_its_name_stays() {
        let folder = folder("made");
        let file = folder.join("device");
        let place = Place::find(file.to_str().unwrap()).unwrap();
        place.leave();
        assert!(!file.exists());
        let place = Place::find(file.to_str().unwrap()).unwrap();
        fs::rename(&file, folder.join("moved")).unwrap();
        File::create_new(&file).unwrap();
        place.leave();
        assert!(file.exists(), "somebody else's empty file");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_directory_put_in_place_of_its_own_loses_nothing() {
        let folder = folder("moved");
        fs::create_dir(folder.join("lab")).unwrap();
        let file = folder.join("lab/device");
        let place = Place::find(file.to_str().unwrap()).unwrap();
        fs::rename(folder.join("lab"), folder.join("lab.old")).unwrap();
        fs::create_dir(folder.join("lab")).unwrap();
        File::create_new(&file).unwrap();
        place.leave();
        assert!(file.exists(), "somebody else's");
        assert!(!folder.join("lab.old/device").exists(), "the device's own, wherever it is");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_mount_is_the_devices_by_number_and_type() {
        let line = "36 35 0:45 / /mnt/device rw,nosuid - fuse iocast-lab rw,user_id=0";
        assert!(is_of_device(line, "36"));
        assert!(!is_of_device(line, "35"));
        assert!(!is_of_device(&line.replace("fuse iocast-lab", "tmpfs none"), "36"));
    }
}
