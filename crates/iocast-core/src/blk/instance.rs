//! A private tracing instance: rings of its own, so that whoever traces at the same time is not disturbed.
//!
//! It is called `iocast-PID-N` and removed when it is dropped. One that a killed process left behind is removed
//! by the next who makes one: the kernel refuses to remove one that is in use.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::gate::Listen;
use super::layout::{Layout, PageHead};
use super::pages::read_page;
use super::{Device, Event, Step};
use crate::error::{Error, Result};

const PREFIX: &str = "iocast-";
/// The rings of all processors together, and the limits of one.
const ALL_RINGS_KB: u64 = 64 << 10;
const RING_KB: (u64, u64) = (1 << 10, 8 << 10);

/// Tracepoint, what it says, whether a kernel may lack it; in the order in which they are switched on. Issues are
/// the last: one that is seen and whose completion is not would be on its way for ever.
const POINTS: [(&str, Step, bool); 5] = [
    ("block_rq_requeue", Step::Requeue, true),
    ("block_rq_merge", Step::Merge, true),
    ("block_rq_insert", Step::Insert, false),
    ("block_rq_complete", Step::Complete, false),
    ("block_rq_issue", Step::Issue, false),
];

/// An instance that is there.
pub struct Instance {
    directory: PathBuf,
    layouts: Vec<(Step, Layout, PathBuf)>,
    head: PageHead,
    rings: Vec<(File, PathBuf)>,
    page: Vec<u8>,
    on: Vec<Step>,
    missed: u64,
}

static NUMBER: AtomicU32 = AtomicU32::new(0);

impl Instance {
    /// Makes one that records requests of these devices (of all when none is given), with all tracepoints off.
    /// `ring_kb` is that of each processor.
    pub fn create(root: &Path, devices: &[Device], ring_kb: Option<u64>) -> Result<Instance> {
        remove_left_behind(root);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let directory = root.join("instances").join(format!("{PREFIX}{}-{number}", std::process::id()));
        let head = read(&root.join("events/header_page"))?;
        let head = PageHead::parse(&head).ok_or_else(|| unknown("events/header_page"))?;
        fs::create_dir(&directory).map_err(|source| at(&directory, source))?;
        let mut made = Instance {
            directory,
            head,
            layouts: Vec::new(),
            rings: Vec::new(),
            page: vec![0; head.size],
            on: Vec::new(),
            missed: 0,
        };
        made.set_up(devices, ring_kb)?; // dropped, and so removed, when it fails
        Ok(made)
    }

    fn set_up(&mut self, devices: &[Device], ring_kb: Option<u64>) -> Result<()> {
        if cfg!(target_endian = "big") {
            return Err(unknown("the order of bytes of this machine"));
        }
        let cpus = processors(&self.directory)?;
        let (least, most) = RING_KB;
        let ring_kb = ring_kb.unwrap_or((ALL_RINGS_KB / cpus.len().max(1) as u64).clamp(least, most));
        self.write("trace_clock", "mono")?;
        self.write("trace_options", "nooverwrite")?; // what is lost is then the newest, and the rest stays whole
        self.write("trace_options", "norecord-cmd")?; // nobody asks for names: that would trace the scheduler too
        self.write("buffer_size_kb", &ring_kb.to_string())?;
        let wanted: Vec<String> =
            devices.iter().map(|device| format!("dev == {}", device.to_kernel())).collect();
        for (name, step, may_lack) in POINTS {
            let place = self.directory.join("events/block").join(name);
            if may_lack && !place.exists() {
                continue;
            }
            let text = read(&place.join("format"))?;
            self.layouts.push((
                step,
                Layout::parse(&text, step).ok_or_else(|| unknown(name))?,
                place.join("enable"),
            ));
            if !wanted.is_empty() {
                self.write(&format!("events/block/{name}/filter"), &wanted.join(" || "))?;
            }
        }
        for cpu in cpus {
            let ring = cpu.join("trace_pipe_raw");
            let opened = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&ring);
            self.rings.push((opened.map_err(|source| at(&ring, source))?, cpu.join("stats")));
        }
        Ok(())
    }

    fn write(&self, name: &str, value: &str) -> Result<()> {
        let place = self.directory.join(name);
        fs::write(&place, value).map_err(|source| at(&place, source))
    }

    /// Switches tracepoints so that what is to be listened to is recorded, and no more.
    pub fn listen(&mut self, to: Listen) -> Result<()> {
        let wanted = |step: Step| match to {
            Listen::Arrivals => !matches!(step, Step::Issue | Step::Complete),
            Listen::Everything => true,
            Listen::Departures => step != Step::Insert,
            Listen::Nothing => matches!(step, Step::Requeue | Step::Merge),
        };
        for (step, _, place) in &self.layouts {
            if wanted(*step) != self.on.contains(step) {
                fs::write(place, if wanted(*step) { "1" } else { "0" })
                    .map_err(|source| at(place, source))?;
            }
        }
        self.on = self.layouts.iter().map(|(step, ..)| *step).filter(|step| wanted(*step)).collect();
        Ok(())
    }

    /// Hands over everything that was recorded until `until_ns`, and perhaps some more, processor by processor.
    pub fn read(&mut self, until_ns: u64, events: &mut Vec<Event>) -> Result<()> {
        for (ring, place) in &mut self.rings {
            loop {
                let length = match ring.read(&mut self.page) {
                    Ok(length) => length,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(source) => return Err(at(place, source)),
                };
                let before = events.len();
                self.missed += read_page(&self.page[..length], &self.head, |at_ns, record| {
                    let id = record.get(..2).map(|id| u16::from_le_bytes([id[0], id[1]]));
                    let known = self.layouts.iter().find(|(_, layout, _)| Some(layout.id) == id);
                    events.extend(known.and_then(|(_, layout, _)| layout.event(at_ns, record)));
                });
                let last = events[before..].last().map_or(0, |event| event.at_ns);
                if length == 0 || last >= until_ns {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Events that the rings had no room for, since the instance was made.
    pub fn lost(&self) -> Result<u64> {
        let mut lost = 0;
        for (_, place) in &self.rings {
            let text = read(place)?;
            lost += lost_in(&text);
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
        let _ = self.listen(Listen::Nothing);
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
fn read(place: &Path) -> Result<String> {
    let mut buffer = vec![0; 64 << 10];
    let length =
        File::open(place).and_then(|mut file| file.read(&mut buffer)).map_err(|source| at(place, source))?;
    buffer.truncate(length);
    Ok(String::from_utf8_lossy(&buffer).into_owned())
}

fn at(place: &Path, source: io::Error) -> Error {
    Error::Tracing { what: place.display().to_string(), source }
}

fn unknown(what: &str) -> Error {
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
