//! The tracepoints of block requests in a private tracing instance: which of them record, and their records as events.

use std::fs;
use std::path::{Path, PathBuf};

use super::gate::Listen;
use super::instance::{Instance, RingSizes, at, read, unknown};
use super::layout::Layout;
use super::{Device, Event, Step};
use crate::error::Result;

const SIZES: RingSizes = RingSizes { all_kb: 64 << 10, each_kb: (1 << 10, 8 << 10) };

/// Tracepoint, what it says, whether a kernel may lack it; in the order in which they are switched on. Issues are
/// the last: one that is seen and whose completion is not would be on its way for ever.
const POINTS: [(&str, Step, bool); 5] = [
    ("block_rq_requeue", Step::Requeue, true),
    ("block_rq_merge", Step::Merge, true),
    ("block_rq_insert", Step::Insert, false),
    ("block_rq_complete", Step::Complete, false),
    ("block_rq_issue", Step::Issue, false),
];

/// See the module; they go with their instance when they are dropped.
pub struct RequestPoints {
    layouts: Vec<(Step, Layout, PathBuf)>,
    on: Vec<Step>,
    instance: Instance,
}

impl RequestPoints {
    /// Records requests of these devices (of all when none is given), with all tracepoints off. `ring_kb` is that of
    /// each processor.
    pub fn create(root: &Path, devices: &[Device], ring_kb: Option<u64>) -> Result<RequestPoints> {
        let instance = Instance::create(root, &SIZES, ring_kb)?;
        let wanted: Vec<String> =
            devices.iter().map(|device| format!("dev == {}", device.to_kernel())).collect();
        let mut layouts = Vec::new();
        for (name, step, may_lack) in POINTS {
            let place = instance.directory().join("events/block").join(name);
            if may_lack && !place.exists() {
                continue;
            }
            let text = read(&place.join("format"))?;
            let layout = Layout::parse(&text, step).ok_or_else(|| unknown(name))?;
            layouts.push((step, layout, place.join("enable")));
            if !wanted.is_empty() {
                instance.write(&format!("events/block/{name}/filter"), &wanted.join(" || "))?;
            }
        }
        Ok(RequestPoints { layouts, on: Vec::new(), instance })
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
        let layouts = &self.layouts;
        self.instance.read(until_ns, |at_ns, record| {
            let id = record.get(..2).map(|id| u16::from_le_bytes([id[0], id[1]]));
            let known = layouts.iter().find(|(_, layout, _)| Some(layout.id) == id);
            events.extend(known.and_then(|(_, layout, _)| layout.event(at_ns, record)));
        })
    }

    /// Events that the rings had no room for, since the instance was made.
    pub fn lost(&self) -> Result<u64> {
        self.instance.lost()
    }

    /// Where the instance is.
    pub fn directory(&self) -> &Path {
        self.instance.directory()
    }
}

impl Drop for RequestPoints {
    fn drop(&mut self) {
        let _ = self.listen(Listen::Nothing);
    }
}
