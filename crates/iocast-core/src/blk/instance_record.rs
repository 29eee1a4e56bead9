//! What says that a tracing instance is ours: a file of its name in `/run`, written before it is made and locked while
//! its process lives. A name alone says nothing: anybody can give it, and its process may live in another namespace.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

const SUFFIX: &str = ".tracing";
const SAFELY: i32 = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
const MOST_BYTES: u64 = 1024;

/// The record of one instance, and its lock.
pub struct Record {
    name: String,
    place: PathBuf,
    file: File,
}

/// Where records lie: only the user whom they belong to can write there, and nothing there outlives the kernel.
pub fn records() -> PathBuf {
    match rustix::process::geteuid().as_raw() {
        0 => "/run".into(),
        user => format!("/run/user/{user}").into(),
    }
}

impl Record {
    /// Of a new instance. Fails where records cannot lie.
    pub fn new(records: &Path, name: &str) -> io::Result<Record> {
        let place = records.join(format!("{name}{SUFFIX}"));
        let mut options = OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o600).custom_flags(SAFELY).open(&place)?;
        let mut record = Record { name: name.into(), place, file };
        lock(&record.file)?;
        record.file.write_all(text_of(name)?.as_bytes())?;
        Ok(record)
    }

    /// The instance that it is of.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The instance is gone, and with it its record.
    pub fn remove(&self) {
        let (ours, there) = (self.file.metadata(), fs::symlink_metadata(&self.place));
        if let (Ok(ours), Ok(there)) = (ours, there) {
            if (ours.dev(), ours.ino()) == (there.dev(), there.ino()) {
                let _ = fs::remove_file(&self.place);
            }
        }
    }

    /// That of an instance whose process is no more; None for all else.
    fn left_behind(place: &Path) -> Option<Record> {
        let name = place.file_name()?.to_str()?.strip_suffix(SUFFIX)?.to_string();
        let mut file = OpenOptions::new().read(true).custom_flags(SAFELY).open(place).ok()?;
        let status = file.metadata().ok()?;
        if !status.is_file() || status.uid() != rustix::process::geteuid().as_raw() || status.nlink() != 1 {
            return None;
        }
        lock(&file).ok()?;
        let mut text = String::new();
        Read::by_ref(&mut file).take(MOST_BYTES).read_to_string(&mut text).ok()?;
        let ours = text == text_of(&name).ok()?;
        ours.then(|| Record { name, place: place.to_path_buf(), file })
    }
}

/// The records of instances whose processes are no more.
pub fn left_behind(records: &Path) -> Vec<Record> {
    let entries = fs::read_dir(records).into_iter().flatten().flatten();
    entries.filter_map(|entry| Record::left_behind(&entry.path())).collect()
}

/// Fails where another process has it.
fn lock(file: &File) -> io::Result<()> {
    Ok(rustix::fs::flock(file, rustix::fs::FlockOperation::NonBlockingLockExclusive)?)
}

/// What a record says; instances do not outlive the kernel.
fn text_of(name: &str) -> io::Result<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    Ok(format!("iocast made the tracing instance {name} in the boot {boot}"))
}
