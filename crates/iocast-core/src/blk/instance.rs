//! A private tracing instance: rings of its own, so that whoever traces at the same time is not disturbed.
//!
//! It is called `iocast-PID-N` and removed when it is dropped. One that a killed process left behind is removed
//! by the next who makes one: the kernel refuses to remove one that is in use.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::layout::PageHead;
use super::pages::read_page;
use crate::error::{Error, Result};

const PREFIX: &str = "iocast-";

static NUMBER: AtomicU32 = AtomicU32::new(0);

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
}

impl Instance {
    /// One with its clock set and its rings open. `ring_kb` is that of each processor, where it is told.
    pub fn create(root: &Path, sizes: &RingSizes, ring_kb: Option<u64>) -> Result<Instance> {
        if cfg!(target_endian = "big") {
            return Err(unknown("the order of bytes of this machine"));
        }
        remove_left_behind(root);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let directory = root.join("instances").join(format!("{PREFIX}{}-{number}", std::process::id()));
        let head = read(&root.join("events/header_page"))?;
        let head = PageHead::parse(&head).ok_or_else(|| unknown("events/header_page"))?;
        fs::create_dir(&directory).map_err(|source| at(&directory, source))?;
        let page = vec![0; head.size];
        let mut made = Instance { directory, head, rings: Vec::new(), page, missed: 0 };
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
        let _ = fs::remove_dir(&self.directory);
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

/// Removes the instances of processes that are no more; returns their names.
pub fn remove_left_behind(root: &Path) -> Vec<String> {
    let mut removed = Vec::new();
    for entry in fs::read_dir(root.join("instances")).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
        let gone = process.is_some_and(|id| !Path::new(&format!("/proc/{id}")).exists());
        if gone && fs::remove_dir(entry.path()).is_ok() {
            removed.push(name);
        }
    }
    removed
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
}
