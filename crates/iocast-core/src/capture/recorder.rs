//! A capture that is on: a thread that empties the rings in time and writes the event table.

use std::path::PathBuf;
use std::time::Duration;

use rustix::time::ClockId;
use serde::{Deserialize, Serialize};

use super::block_requests::BlockRequests;
use super::family::own_threads;
use super::rings::Whose;
use super::system_calls::SystemCalls;
use crate::blk::Device;
use crate::blk::ring_thread::{Emptied, RingThread};
use crate::blk::tracefs::Tracefs;
use crate::error::{Error, Result};
use crate::host::clocks::{clock_ns, kernel_ns};
use crate::trace::columns::{Rows, hand_on, schema};
use crate::trace::read_traces::facts;
use crate::trace::report::{FileReport, Report};
use crate::trace::table_file::{GroupMaker, TableFile};

/// How often the rings are emptied: at 100,000 I/Os a second 20 ms fill less than a twentieth of them.
const ROUND: Duration = Duration::from_millis(20);

/// A device and what it is called.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedDevice {
    /// Its number.
    pub device: Device,
    /// "vda".
    pub name: String,
}

/// What to capture: block requests of devices, system calls of processes, or both.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Whole devices, not partitions.
    pub devices: Vec<NamedDevice>,
    /// These processes and what they start.
    pub pids: Vec<u32>,
    /// Files below it, whoever uses them; of the processes above where there are any. "": all files.
    pub path: String,
    /// The ring of each processor.
    pub ring_kb: Option<u64>,
}

/// How far it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// Events in the table.
    pub events: u64,
    /// Records that the rings had no room for.
    pub lost: u64,
}

struct Recorder {
    blocks: Option<BlockRequests>,
    calls: Option<SystemCalls>,
    _tracefs: Tracefs, // the paths of the instances go through it: dropped after them
    rows: Rows,
    file: TableFile,
    group: GroupMaker,
    progress: Progress,
    epoch_ns: i64,
}

impl Emptied for Recorder {
    fn round(&mut self) -> Result<Duration> {
        self.record(false)?;
        Ok(ROUND)
    }
}

impl Recorder {
    fn record(&mut self, last: bool) -> Result<()> {
        let now_ns = kernel_ns();
        let until_ns = if last { u64::MAX } else { now_ns };
        if let Some(blocks) = &mut self.blocks {
            blocks.round(until_ns, &mut self.rows)?;
        }
        if let Some(calls) = &mut self.calls {
            calls.round(until_ns, &kernel_ns, &mut self.rows)?;
        }
        if last || self.rows.full() { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<()> {
        let Recorder { rows, file, group, progress, .. } = self;
        progress.events += rows.held() as u64;
        hand_on(rows, &mut |_, batch| {
            let full = group.write(batch).map_err(|error| unwritable(&error))?;
            full.map_or(Ok(()), |full| file.append(full)).map_err(|error| unwritable(&error))
        })
    }

    fn lost(&self) -> Result<[u64; 2]> {
        let blocks = self.blocks.as_ref().map_or(Ok(0), |blocks| blocks.rings().lost())?;
        let calls = self.calls.as_ref().map_or(Ok(0), |calls| calls.rings().lost())?;
        Ok([blocks, calls])
    }

    fn finish(mut self) -> Result<Report> {
        if let Some(blocks) = &self.blocks {
            blocks.rings().off();
        }
        if let Some(calls) = &self.calls {
            calls.rings().off();
        }
        self.record(true)?;
        let [lost_blocks, lost_calls] = self.lost()?;
        let mut report = Report { epoch_ns: Some(self.epoch_ns), tick_ns: Some(1), ..Report::default() };
        report.clock = Some("monotonic".into());
        if let Some(blocks) = &mut self.blocks {
            let mut of_blocks = FileReport::default();
            blocks.end(&mut self.rows, &mut of_blocks);
            report.files.push(titled(of_blocks, "block requests", lost_blocks));
        }
        if let Some(calls) = &mut self.calls {
            let mut of_calls = FileReport::default();
            calls.end(&mut self.rows, &mut of_calls);
            report.files.push(titled(of_calls, "system calls", lost_calls));
        }
        self.write()?;
        report.events = self.progress.events;
        report.targets = self.rows.targets.all().to_vec();
        report.actors = self.rows.actors.all().to_vec();
        if let Some(last) = self.group.finish().map_err(|error| unwritable(&error))? {
            self.file.append(last).map_err(|error| unwritable(&error))?;
        }
        self.file.finish(facts(&report)).map_err(|error| unwritable(&error))?;
        Ok(report)
    }
}

fn unwritable(why: &dyn std::fmt::Display) -> Error {
    Error::Trace {
        why: format!("cannot write the event table: {why}"),
        hint: "check the room on its file system",
    }
}

fn titled(mut report: FileReport, what: &str, lost: u64) -> FileReport {
    report.path = what.into();
    report.format = "capture".into();
    report.figures.insert("lost_records".into(), lost as i64);
    if lost > 0 {
        report.notes.push(format!("{lost} records were lost: the rings had no room for them"));
    }
    report
}

/// See the module; its instances are gone when it is finished or dropped.
pub struct Capture {
    thread: RingThread<Recorder>,
    notes: Vec<String>,
}

impl Capture {
    /// Begins to capture into a Parquet file. Fails where tracing cannot be used.
    pub fn start(options: &Options, to: PathBuf) -> Result<Capture> {
        if options.devices.is_empty() && options.pids.is_empty() && options.path.is_empty() {
            return Err(Error::Plan("capture: neither devices nor processes nor a path".into()));
        }
        let tracefs = Tracefs::find()?;
        let notes = tracefs.notes();
        let file = TableFile::create(&to, schema()).map_err(|error| Error::Trace {
            why: format!("{}: cannot write the event table: {error}", to.display()),
            hint: "check the folder and the room on its file system",
        })?;
        let root = tracefs.root().to_path_buf();
        let named: Vec<(Device, String)> =
            options.devices.iter().map(|each| (each.device, each.name.clone())).collect();
        let wants_calls = !options.pids.is_empty() || !options.path.is_empty();
        let blocks = match named.is_empty() {
            true => None,
            false => Some(BlockRequests::new(&root, &named, options.ring_kb, 0)?),
        };
        // What our own threads write would be captured, and written.
        let not = if options.pids.is_empty() { own_threads() } else { Vec::new() };
        let whose = Whose { pids: options.pids.clone(), not };
        let source = u32::from(blocks.is_some());
        let calls = match wants_calls {
            true => Some(SystemCalls::new(&root, &whose, &options.path, options.ring_kb, source)?),
            false => None,
        };
        let epoch_ns = clock_ns(ClockId::Realtime) as i64 - kernel_ns() as i64;
        let (rows, progress) = (Rows::default(), Progress::default());
        let group = file.groups().maker();
        let recorder = Recorder { blocks, calls, _tracefs: tracefs, rows, file, group, progress, epoch_ns };
        if let Some(blocks) = &recorder.blocks {
            blocks.rings().on()?;
        }
        if let Some(calls) = &recorder.calls {
            calls.rings().on()?;
        }
        let thread = RingThread::start("iocast-capture", recorder, ROUND)?;
        Ok(Capture { thread, notes })
    }

    /// What somebody should know of how it was set up.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// How far it is. Fails when it could not go on.
    pub fn progress(&self) -> Result<Progress> {
        self.thread.ask(|recorder| {
            let events = recorder.progress.events + recorder.rows.held() as u64;
            Ok(Progress { events, lost: recorder.lost()?.iter().sum() })
        })
    }

    /// Ends it: the table is written, the instances are removed.
    pub fn finish(self) -> Result<Report> {
        self.thread.end()?.finish()
    }
}
