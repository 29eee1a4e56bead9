//! A private tracing instance: rings of its own, so that whoever traces at the same time is not disturbed.
//!
//! It is called `iocast-PID-UUID` and removed when it is dropped. One that a killed process left behind is removed
//! by the next who makes one, if a record says that iocast made it; any other stays.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::instance_record::{Record, left_behind, records};
use super::layout::PageHead;
use super::pages::read_page;
use crate::error::{Error, Result};

/// How large the rings are, in KiB: all processors together, and the limits of one.
pub struct RingSizes {
    /// Of all processors.
    pub all_kb: u64,
    /// The least and the most of one.
    pub each_kb: (u64, u64),
}

/// See the module. No tracepoint is on until it is written to.
pub struct Instance {
    directory: PathBuf,
    head: PageHead,
    rings: Vec<(File, PathBuf)>,
    page: Vec<u8>,
    missed: u64,
    record: Option<Record>, // none where records cannot lie: it stays then, if this process is killed
}

impl Instance {
    /// One with its clock set and its rings open. `ring_kb` is that of each processor, where it is told.
    pub fn create(root: &Path, sizes: &RingSizes, ring_kb: Option<u64>) -> Result<Instance> {
        if cfg!(target_endian = "big") {
            return Err(unknown("the order of bytes of this machine"));
        }
        remove_left_behind(root, &records());
        let name = format!("iocast-{}-{}", std::process::id(), unguessable()?);
        let directory = root.join("instances").join(&name);
        let head = read(&root.join("events/header_page"))?;
        let head = PageHead::parse(&head).ok_or_else(|| unknown("events/header_page"))?;
        let record = Record::new(&records(), &name).ok();
        fs::create_dir(&directory).map_err(|source| at(&directory, source))?;
        let page = vec![0; head.size];
        let mut made = Instance { directory, head, rings: Vec::new(), page, missed: 0, record };
        made.set_up(sizes, ring_kb)?; // dropped, and so removed, when it fails
        Ok(made)
    }

    fn set_up(&mut self, sizes: &RingSizes, ring_kb: Option<u64>) -> Result<()> {
        let cpus = processors(&self.directory)?;
        let (least, most) = sizes.each_kb;
        let ring_kb = ring_kb.unwrap_or((sizes.all_kb / cpus.len().max(1) as u64).clamp(least, most));
        self.write("trace_clock", "mono")?;
        self.write("trace_options", "nooverwrite")?; // what is lost is then the newest, and the rest stays whole
        self.write("trace_options", "norecord-cmd")?; // nobody asks for names: that would trace the scheduler too
        self.write("buffer_size_kb", &ring_kb.to_string())?;
        for cpu in cpus {
            let ring = cpu.join("trace_pipe_raw");
            let opened = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&ring);
            self.rings.push((opened.map_err(|source| at(&ring, source))?, cpu.join("stats")));
        }
        Ok(())
    }

    /// Writes one of its files.
    pub fn write(&self, name: &str, value: &str) -> Result<()> {
        let place = self.directory.join(name);
        fs::write(&place, value).map_err(|source| at(&place, source))
    }

    /// Adds to what one of its files has.
    pub fn append(&self, name: &str, value: &str) -> Result<()> {
        let place = self.directory.join(name);
        let opened = OpenOptions::new().append(true).open(&place);
        opened.and_then(|mut file| file.write_all(value.as_bytes())).map_err(|source| at(&place, source))
    }

    /// Hands over everything that was recorded until `until_ns`, and perhaps some more, processor by processor.
    pub fn read(&mut self, until_ns: u64, mut take: impl FnMut(u64, &[u8])) -> Result<()> {
        for (ring, place) in &mut self.rings {
            loop {
                let length = match ring.read(&mut self.page) {
                    Ok(length) => length,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(source) => return Err(at(place, source)),
                };
                let mut last_ns = 0;
                self.missed += read_page(&self.page[..length], &self.head, |at_ns, record| {
                    last_ns = at_ns;
                    take(at_ns, record);
                });
                if length == 0 || last_ns >= until_ns {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Records that the rings had no room for, since the instance was made.
    pub fn lost(&self) -> Result<u64> {
        let mut lost = 0;
        for (_, place) in &self.rings {
            lost += lost_in(&read(place)?);
        }
        Ok(lost.max(self.missed))
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.rings.clear(); // while they are open it cannot be removed
        let _ = removed(&self.directory, self.record.as_ref());
    }
}

/// The three counts of a `per_cpu/cpuN/stats` that tell of events that nobody will read.
fn lost_in(stats: &str) -> u64 {
    let told = stats.lines().filter_map(|line| line.split_once(':'));
    told.filter(|(name, _)| matches!(*name, "overrun" | "commit overrun" | "dropped events"))
        .filter_map(|(_, count)| count.trim().parse::<u64>().ok())
        .sum()
}

/// The rings of processors that are on.
fn processors(directory: &Path) -> Result<Vec<PathBuf>> {
    let place = directory.join("per_cpu");
    let entries = fs::read_dir(&place).map_err(|source| at(&place, source))?;
    let mut found: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    found.retain(|cpu| !is_offline(cpu));
    found.sort();
    Ok(found)
}

/// Rings of processors that are off hold nothing; there may be hundreds. cpu0 often cannot be switched, and has no file.
fn is_offline(cpu: &Path) -> bool {
    let name = cpu.file_name().unwrap_or_default();
    let state = Path::new("/sys/devices/system/cpu").join(name);
    match fs::read_to_string(state.join("online")) {
        Ok(text) => text.trim() == "0",
        Err(_) => !state.exists() && Path::new("/sys/devices/system/cpu").exists(),
    }
}

/// Removes the instances that iocast made in processes that are no more; returns their names.
pub fn remove_left_behind(root: &Path, records: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for record in left_behind(records) {
        if removed(&root.join("instances").join(record.name()), Some(&record)) {
            names.push(record.name().to_string());
        }
    }
    names
}

/// Removes an instance and then its record, which stays with one that is in use; whether it was removed.
fn removed(directory: &Path, record: Option<&Record>) -> bool {
    let done = fs::remove_dir(directory);
    let gone = done.as_ref().err().is_none_or(|why| why.kind() == io::ErrorKind::NotFound);
    if let Some(record) = record.filter(|_| gone) {
        record.remove();
    }
    done.is_ok()
}

/// A random UUID, so that no other program has an instance of this name.
fn unguessable() -> Result<String> {
    let place = Path::new("/proc/sys/kernel/random/uuid");
    Ok(read(place)?.trim().to_string())
}

/// In one call: some of these files (header_page) end after the first read, however short it was.
pub(crate) fn read(place: &Path) -> Result<String> {
    let mut buffer = vec![0; 64 << 10];
    let length =
        File::open(place).and_then(|mut file| file.read(&mut buffer)).map_err(|source| at(place, source))?;
    buffer.truncate(length);
    Ok(String::from_utf8_lossy(&buffer).into_owned())
}

/// What went wrong at a file of tracing.
pub(crate) fn at(place: &Path, source: io::Error) -> Error {
    Error::Tracing { what: place.display().to_string(), source }
}

/// A kernel that says something that is not understood.
pub(crate) fn unknown(what: &str) -> Error {
    let source = io::Error::new(io::ErrorKind::Unsupported, "unknown format on this kernel");
    Error::Tracing { what: what.into(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_three_ways_to_lose_events_count() {
        let stats =
            "entries: 7\noverrun: 1\ncommit overrun: 20\nbytes: 340\ndropped events: 300\nread events: 5\n";
        assert_eq!(lost_in(stats), 321);
        assert_eq!(lost_in(""), 0);
    }

    #[test]
    fn only_what_a_record_of_ours_names_is_removed() {
        let room = tempfile::tempdir().unwrap();
        let (root, records) = (room.path().join("tracing"), room.path().join("run"));
        let instances = root.join("instances");
        fs::create_dir_all(&instances).unwrap();
        fs::create_dir_all(&records).unwrap();
        for name in ["iocast-4000000-nightly-audit", "iocast-1-alive", "iocast-2-killed", "iocast-3-forged"] {
            fs::create_dir(instances.join(name)).unwrap();
        }
        let alive = Record::new(&records, "iocast-1-alive").unwrap();
        let killed = Record::new(&records, "iocast-2-killed").unwrap();
        drop(killed); // which unlocks it, as the end of its process does
        fs::write(records.join("iocast-3-forged.tracing"), "another program's").unwrap();
        assert_eq!(remove_left_behind(&root, &records), ["iocast-2-killed"]);
        alive.remove();
        let mut left: Vec<_> =
            fs::read_dir(&instances).unwrap().map(|each| each.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["iocast-1-alive", "iocast-3-forged", "iocast-4000000-nightly-audit"]);
        let files: Vec<_> = fs::read_dir(&records).unwrap().map(|each| each.unwrap().file_name()).collect();
        assert_eq!(files, ["iocast-3-forged.tracing"]);
    }
}
