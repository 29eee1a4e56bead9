//! Records of block tracepoints become events: a request from its issue to its completion.

use std::path::Path;

use super::rings::{Rings, Whose};
use crate::blk::layout::{Field, field};
use crate::blk::{Device, instance};
use crate::error::Result;
use crate::trace::columns::Rows;
use crate::trace::readers::block::blk_letters::asked;
use crate::trace::readers::block::traced_requests::{Record, Step, TracedRequests};
use crate::trace::report::FileReport;

/// Tracepoint, whether a kernel may lack it; in the order in which they are switched on: a completion that is seen without
/// its issue is counted, an issue without its completion would stay under way.
const POINTS: [(&str, bool); 5] = [
    ("block/block_rq_requeue", true),
    ("block/block_rq_merge", true),
    ("block/block_rq_insert", false),
    ("block/block_rq_complete", false),
    ("block/block_rq_issue", false),
];

struct Layout {
    id: u64,
    point: usize,
    pid: Field,
    device: Field,
    sector: Field,
    sectors: Field,
    letters: Field,
    comm: Option<Field>,
    error: Option<Field>,
}

impl Layout {
    fn parse(text: &str, point: usize) -> Option<Layout> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID:"))?.trim().parse().ok()?;
        let named = |name: &str| text.lines().find_map(|line| field(line, name));
        Some(Layout {
            id,
            point,
            pid: named("common_pid")?,
            device: named("dev")?,
            sector: named("sector")?,
            sectors: named("nr_sector")?,
            letters: named("rwbs")?,
            comm: named("comm"),
            error: named("error").or_else(|| named("errors")),
        })
    }
}

/// One record, before it is paired.
struct Seen {
    at_ns: u64,
    point: usize,
    pid: u32,
    device: u32,
    sector: u64,
    sectors: u64,
    letters: [u8; 10],
    comm: [u8; 16],
    error: i64,
}

/// See the module.
pub struct BlockRequests {
    rings: Rings,
    layouts: Vec<Layout>,
    names: Vec<(u32, String)>,
    waiting: Vec<Seen>,
    pairing: TracedRequests,
    records: u64,
    flush_callers: u64,
    source: u32,
}

impl BlockRequests {
    /// Of these devices, or of all; `source` is its number in the table. Nothing is recorded before `on`.
    pub fn new(
        root: &Path,
        devices: &[(Device, String)],
        ring_kb: Option<u64>,
        source: u32,
    ) -> Result<BlockRequests> {
        let mut rings = Rings::create(root, &Whose::default(), ring_kb)?;
        let wanted: Vec<String> =
            devices.iter().map(|(device, _)| format!("dev == {}", device.to_kernel())).collect();
        let mut layouts = Vec::new();
        for (point, (name, may_lack)) in POINTS.iter().enumerate() {
            match rings.add(name, &wanted.join(" || "))? {
                Some(text) => {
                    layouts.push(Layout::parse(&text, point).ok_or_else(|| instance::unknown(name))?);
                }
                None if *may_lack => {}
                None => return Err(instance::unknown(name)),
            }
        }
        let names = devices.iter().map(|(device, name)| (device.to_kernel(), name.clone())).collect();
        let pairing = TracedRequests::default();
        Ok(BlockRequests {
            rings,
            layouts,
            names,
            waiting: Vec::new(),
            pairing,
            records: 0,
            flush_callers: 0,
            source,
        })
    }

    /// Its instance.
    pub fn rings(&self) -> &Rings {
        &self.rings
    }

    /// Takes what was recorded; what happened before `until_ns` is paired and told.
    pub fn round(&mut self, until_ns: u64, rows: &mut Rows) -> Result<()> {
        let BlockRequests { rings, layouts, waiting, .. } = self;
        rings.read(until_ns, &mut |at_ns, record| waiting.extend(seen(layouts, at_ns, record)))?;
        waiting.sort_by_key(|seen| seen.at_ns);
        let ready = waiting.partition_point(|seen| seen.at_ns < until_ns);
        for seen in self.waiting.drain(..ready).collect::<Vec<Seen>>() {
            self.tell(&seen, rows);
        }
        Ok(())
    }

    fn tell(&mut self, seen: &Seen, rows: &mut Rows) {
        self.records += 1;
        let step = match seen.point {
            0 => Step::Requeue,
            1 => Step::BackMerge,
            2 => Step::Queue,
            // Whoever waited for a flush, an empty write, ends with it: it was never issued itself.
            3 if seen.sectors == 0 && seen.letters[0] != b'F' => {
                self.flush_callers += 1;
                return;
            }
            3 => Step::Complete(i16::try_from(seen.error.unsigned_abs()).ok()),
            _ => Step::Issue,
        };
        let (op, flags) = asked(text_of(&seen.letters));
        let target = self.target(seen.device, rows);
        let actor = match step {
            Step::Issue | Step::Queue => {
                let comm = String::from_utf8_lossy(text_of(&seen.comm)).into_owned();
                rows.actors.number(format!("{} {comm}", seen.pid).trim_end().as_bytes()).ok()
            }
            _ => None,
        };
        let record = Record {
            at_ns: seen.at_ns as i64,
            device: seen.device,
            sector: seen.sector,
            sectors: seen.sectors,
            op,
            flags,
            actor,
            target,
            source: self.source,
            line: self.records,
        };
        rows.source = self.source;
        self.pairing.on(step, record, rows);
    }

    fn target(&self, device: u32, rows: &mut Rows) -> Option<u32> {
        let known = self.names.iter().find(|(number, _)| *number == device).map(|(_, name)| name.clone());
        let name = known.unwrap_or_else(|| {
            let Device { major, minor } = Device::from_kernel(device);
            format!("{major}:{minor}")
        });
        rows.targets.number(name.as_bytes()).ok()
    }

    /// The capture is over.
    pub fn end(&mut self, rows: &mut Rows, report: &mut FileReport) {
        rows.source = self.source;
        self.pairing.end(rows, report);
        (report.lines, report.accepted) = (self.records, self.records - self.flush_callers);
        if self.flush_callers > 0 {
            report.ignored.insert("ends of empty writes that waited for a flush".into(), self.flush_callers);
        }
    }
}

fn seen(layouts: &[Layout], at_ns: u64, record: &[u8]) -> Option<Seen> {
    let id = u64::from(u16::from_le_bytes(record.get(..2)?.try_into().ok()?));
    let layout = layouts.iter().find(|layout| layout.id == id)?;
    let (mut letters, mut comm) = ([0; 10], [0; 16]);
    copy(&mut letters, layout.letters.bytes(record)?);
    if let Some(found) = layout.comm.and_then(|comm| comm.bytes(record)) {
        copy(&mut comm, found);
    }
    let sector = layout.sector.number(record)?;
    let error =
        layout.error.and_then(|error| error.number(record)).map_or(0, |error| i64::from(error as u32 as i32));
    Some(Seen {
        at_ns,
        point: layout.point,
        pid: layout.pid.number(record)? as u32,
        device: layout.device.number(record)? as u32,
        // A flush is issued at sector 0 and completed at -1.
        sector: if sector == u64::MAX { 0 } else { sector },
        sectors: layout.sectors.number(record)?,
        letters,
        comm,
        error,
    })
}

fn copy(to: &mut [u8], from: &[u8]) {
    let length = to.len().min(from.len());
    to[..length].copy_from_slice(&from[..length]);
}

/// Up to the first NUL.
fn text_of(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len())]
}
