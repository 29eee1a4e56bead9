//! `Rings`: a tracing instance of its own that records chosen tracepoints, read as raw pages.

use std::fs;
use std::path::{Path, PathBuf};

use super::family::threads_of;
use crate::blk::instance::{Instance, RingSizes, at, read};
use crate::error::Result;

const SIZES: RingSizes = RingSizes { all_kb: 128 << 10, each_kb: (1 << 10, 32 << 10) };

/// Whose records are kept: those of all when `pids` is empty.
#[derive(Clone, Debug, Default)]
pub struct Whose {
    /// These processes, and all that they start from now on.
    pub pids: Vec<u32>,
    /// Never these threads.
    pub not: Vec<u32>,
}

/// See the module; it is removed when it is dropped.
pub struct Rings {
    points: Vec<PathBuf>,
    instance: Instance,
}

impl Rings {
    /// An instance that records nothing yet, of these processes.
    pub fn create(root: &Path, whose: &Whose, ring_kb: Option<u64>) -> Result<Rings> {
        let instance = Instance::create(root, &SIZES, ring_kb)?;
        if !whose.pids.is_empty() {
            instance.write("trace_options", "event-fork")?; // and whatever they start
            let mut known = threads_of(&whose.pids);
            instance.write("set_event_pid", &listed(&known))?;
            // What was started meanwhile; from now on the kernel follows.
            known = threads_of(&whose.pids).difference(&known).copied().collect();
            if !known.is_empty() {
                instance.append("set_event_pid", &listed(&known))?;
            }
        }
        if !whose.not.is_empty() {
            instance.write("trace_options", "event-fork")?; // nor what these start
            instance.write("set_event_notrace_pid", &listed(&whose.not))?;
        }
        Ok(Rings { points: Vec::new(), instance })
    }

    /// Adds a tracepoint ("block/block_rq_issue"), which is off until `on`; returns the kernel's description of its
    /// records, None where the kernel does not have it.
    pub fn add(&mut self, point: &str, filter: &str) -> Result<Option<String>> {
        let place = self.instance.directory().join("events").join(point);
        if !place.exists() {
            return Ok(None);
        }
        if !filter.is_empty() {
            self.instance.write(&format!("events/{point}/filter"), filter)?;
        }
        let text = read(&place.join("format"))?;
        self.points.push(place.join("enable"));
        Ok(Some(text))
    }

    /// Switches all tracepoints on, in the order in which they were added.
    pub fn on(&self) -> Result<()> {
        self.points.iter().try_for_each(|place| fs::write(place, "1").map_err(|source| at(place, source)))
    }

    /// Switches them off.
    pub fn off(&self) {
        for place in &self.points {
            let _ = fs::write(place, "0"); // the instance goes next, and takes them with it
        }
    }

    /// Hands over everything that was recorded until `until_ns`, and perhaps some more, processor by processor.
    pub fn read(&mut self, until_ns: u64, take: &mut dyn FnMut(u64, &[u8])) -> Result<()> {
        self.instance.read(until_ns, take)
    }

    /// Records that the rings had no room for, since the instance was made.
    pub fn lost(&self) -> Result<u64> {
        self.instance.lost()
    }
}

fn listed<'a>(pids: impl IntoIterator<Item = &'a u32>) -> String {
    pids.into_iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}

impl Drop for Rings {
    fn drop(&mut self) {
        self.off();
    }
}
