//! Which rows of a trace are I/Os of the replay, in order of issue, rounded to blocks; the others by reason.

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::{Error, Result};
use crate::plan::Op;
use crate::plan::replay_plan::{ReplayMode, ReplayPlan};
use crate::trace::event::Op as Recorded;
use crate::trace::event_table::{EventTable, TableRow};

/// An I/O of the core is at most 1 GiB.
const SIZE_MOST: u64 = 1 << 30;
/// No place of a trace is beyond this: sums of places of many targets still are numbers.
const END_MOST: u64 = 1 << 52;
/// What is needed of memory for each row while a trace is prepared.
const BYTES_OF_ROW: u64 = 120;

/// One I/O to be made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Io {
    /// Issue, since the first one.
    pub at_ns: u64,
    /// Service time, where the trace has one.
    pub lat_ns: Option<u64>,
    /// What.
    pub op: Op,
    /// Where, on its own target; 0 of a sync.
    pub offset: u64,
    /// How much; 0 of a sync.
    pub size: u64,
    /// Which.
    pub target: u32,
    /// Who; all whose actor is unknown are one.
    pub actor: u32,
    /// A system call that is not known to be direct.
    pub may_be_cached: bool,
}

/// The I/Os of a trace that are replayed, in order of issue.
#[derive(Debug, Default)]
pub struct Selected {
    /// Rows of the trace.
    pub events: u64,
    /// See the module.
    pub ios: Vec<Io>,
    /// Rows that are left out, by reason.
    pub left_out: BTreeMap<&'static str, u64>,
    /// I/Os whose offset or size was rounded.
    pub rounded: u64,
    /// The names of targets.
    pub targets: Vec<String>,
    /// For each target, and then for those unknown, where the last I/O ends; 0 where there is none.
    pub ends: Vec<u64>,
}

impl Selected {
    /// From the first issue to the last one.
    pub fn span_ns(&self) -> u64 {
        self.ios.last().map_or(0, |last| last.at_ns)
    }

    /// Whether any I/O has a service time.
    pub fn has_latency(&self) -> bool {
        self.ios.iter().any(|io| io.lat_ns.is_some())
    }
}

/// Reads the trace of a plan.
pub fn select(plan: &ReplayPlan) -> Result<Selected> {
    let table = EventTable::open(Path::new(&plan.events))?;
    refuse_more_than_memory(table.rows)?;
    let mut selecting = Selecting::new(plan, table.targets.clone())?;
    selecting.found.events = table.rows;
    table.each(&mut |row| selecting.take(&row))?;
    selecting.done()
}

fn refuse_more_than_memory(rows: u64) -> Result<()> {
    let said = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = said.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let free_kb = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    match free_kb {
        Some(free_kb) if rows.saturating_mul(BYTES_OF_ROW) / 1024 > free_kb / 2 => Err(Error::Trace {
            why: format!("{rows} I/Os need more than half of the free memory ({} MiB)", free_kb / 1024),
            hint: "replay one target of the trace at a time, or split the trace by time",
        }),
        _ => Ok(()),
    }
}

struct Selecting<'a> {
    plan: &'a ReplayPlan,
    wanted: Vec<bool>,
    /// Issue, since the first one, is known at the end only.
    first_ns: i64,
    last_ns: i64,
    times: Vec<i64>,
    found: Selected,
}

impl<'a> Selecting<'a> {
    fn new(plan: &'a ReplayPlan, targets: Vec<String>) -> Result<Selecting<'a>> {
        if let Some(missing) = plan.targets.iter().find(|name| !targets.contains(name)) {
            let some = targets.iter().take(10).cloned().collect::<Vec<_>>().join(", ");
            let more =
                if targets.len() > 10 { format!(" and {} more", targets.len() - 10) } else { String::new() };
            return Err(Error::Trace {
                why: format!("the trace has no target {missing}: it has {some}{more}"),
                hint: "name one of its targets",
            });
        }
        let wanted =
            targets.iter().map(|name| plan.targets.is_empty() || plan.targets.contains(name)).collect();
        let found = Selected { ends: vec![0; targets.len() + 1], targets, ..Selected::default() };
        Ok(Selecting { plan, wanted, first_ns: i64::MAX, last_ns: i64::MIN, times: Vec::new(), found })
    }

    fn take(&mut self, row: &TableRow) {
        match self.io(row) {
            Ok((at_ns, io)) => {
                self.first_ns = self.first_ns.min(at_ns);
                self.last_ns = at_ns;
                self.times.push(at_ns);
                let end = &mut self.found.ends[io.target as usize];
                *end = (*end).max(io.offset + io.size);
                self.found.ios.push(io);
            }
            Err(why) => *self.found.left_out.entry(why).or_default() += 1,
        }
    }

    fn io(&mut self, row: &TableRow) -> std::result::Result<(i64, Io), &'static str> {
        let op = match row.op {
            Recorded::Read => Op::Read,
            Recorded::Write => Op::Write,
            Recorded::Flush => Op::Fsync,
            Recorded::Datasync => Op::Fdatasync,
            Recorded::Trim => Op::Trim,
            Recorded::Meta | Recorded::Other => return Err("not_io"),
        };
        let known =
            row.target.is_some_and(|target| self.wanted.get(target as usize).copied().unwrap_or(false));
        if !known && !self.plan.targets.is_empty() {
            return Err("other_target");
        }
        if self.plan.reads_only && op != Op::Read {
            return Err("not_a_read");
        }
        if row.err.is_some_and(|err| err != 0) {
            return Err("failed");
        }
        let at_ns = match (row.ts_ns, self.plan.mode) {
            (Some(at_ns), _) => at_ns,
            // As fast as possible needs no time: the order of the table is the order of issue.
            (None, ReplayMode::Fast) => self.last_ns.max(0),
            (None, _) => return Err("no_time"),
        };
        let (offset, size) = if op.has_place() { self.place(row)? } else { (0, 0) };
        // I/Os whose target is unknown have a place of their own: they are on none of those that are named.
        let unknown = self.wanted.len() as u32;
        let target = row.target.filter(|target| *target < unknown).unwrap_or(unknown);
        let lat_ns = row.lat_ns.and_then(|ns| u64::try_from(ns).ok());
        let actor = row.actor.unwrap_or(u32::MAX);
        Ok((
            at_ns,
            Io { at_ns: 0, lat_ns, op, offset, size, target, actor, may_be_cached: row.may_be_cached },
        ))
    }

    /// Rounded outwards to blocks.
    fn place(&mut self, row: &TableRow) -> std::result::Result<(u64, u64), &'static str> {
        let known = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok()).ok_or("no_place");
        let (offset, size) = (known(row.offset)?, known(row.size)?);
        if size == 0 {
            return Err("empty");
        }
        let block = self.plan.block_bytes;
        let end = offset.checked_add(size).filter(|end| *end <= END_MOST).ok_or("too_far")?;
        let from = offset / block * block;
        let bytes = end.div_ceil(block) * block - from;
        if bytes > SIZE_MOST {
            return Err("too_large");
        }
        self.found.rounded += u64::from((from, bytes) != (offset, size));
        Ok((from, bytes))
    }

    /// In order of issue; those of one time in the order of the table.
    fn done(mut self) -> Result<Selected> {
        if self.found.ios.is_empty() {
            return Err(nothing(&self.found));
        }
        let first_ns = self.first_ns;
        for (io, at_ns) in self.found.ios.iter_mut().zip(&self.times) {
            io.at_ns = at_ns.abs_diff(first_ns);
        }
        self.found.ios.sort_by_key(|io| io.at_ns);
        if self.plan.depends() && !self.found.has_latency() {
            return Err(Error::Trace {
                why: "the trace does not say when its I/Os ended: what waited for what is unknown".into(),
                hint: "replay it timed, or as fast as possible",
            });
        }
        Ok(self.found)
    }
}

fn nothing(found: &Selected) -> Error {
    let why: Vec<String> =
        found.left_out.iter().map(|(why, n)| format!("{n} {}", why.replace('_', " "))).collect();
    Error::Trace {
        why: format!("none of the {} events of the trace can be replayed: {}", found.events, why.join(", ")),
        hint: "give a trace whose reads or writes have a time, an offset and a size",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::replay_plan::Remap;

    fn plan(targets: &[&str]) -> ReplayPlan {
        ReplayPlan {
            events: String::new(),
            mode: ReplayMode::Timed,
            speed: 1.0,
            remap: Remap::Refuse,
            block_bytes: 512,
            reads_only: false,
            targets: targets.iter().map(|name| (*name).to_string()).collect(),
            files: BTreeMap::new(),
        }
    }

    fn row(ts_ns: i64, offset: i64, size: i64, target: Option<u32>) -> TableRow {
        TableRow {
            ts_ns: Some(ts_ns),
            lat_ns: None,
            op: Recorded::Read,
            offset: Some(offset),
            size: Some(size),
            target,
            actor: None,
            err: Some(0),
            may_be_cached: false,
        }
    }

    fn selected(plan: &ReplayPlan, rows: &[TableRow]) -> Selected {
        let mut selecting = Selecting::new(plan, vec!["a".into(), "b".into()]).unwrap();
        rows.iter().for_each(|row| selecting.take(row));
        selecting.done().unwrap()
    }

    #[test]
    fn an_unknown_target_is_none_of_those_that_are_named() {
        let rows = [row(9, 0, 4096, Some(1)), row(5, 512, 100, None)];
        let found = selected(&plan(&[]), &rows);
        assert_eq!(found.ios.iter().map(|io| (io.at_ns, io.target)).collect::<Vec<_>>(), [(0, 2), (4, 1)]);
        assert_eq!(found.ends, [0, 4096, 1024]);
        let found = selected(&plan(&["b"]), &rows);
        assert_eq!((found.ios.len(), found.left_out["other_target"]), (1, 1));
    }

    #[test]
    fn offsets_and_sizes_are_rounded_outwards_and_counted() {
        let found = selected(&plan(&[]), &[row(0, 700, 1000, Some(0)), row(1, 1024, 512, Some(0))]);
        assert_eq!(
            found.ios.iter().map(|io| (io.offset, io.size)).collect::<Vec<_>>(),
            [(512, 1536), (1024, 512)]
        );
        assert_eq!(found.rounded, 1);
    }

    #[test]
    fn every_row_that_is_left_out_has_its_reason() {
        let bad = [
            TableRow { err: Some(5), ..row(0, 0, 512, None) },
            TableRow { ts_ns: None, ..row(0, 0, 512, None) },
            TableRow { offset: None, ..row(0, 0, 512, None) },
            TableRow { op: Recorded::Meta, ..row(0, 0, 512, None) },
            row(0, -1, 512, None),
            row(0, 0, 0, None),
            row(0, 0, 2 << 30, None),
            row(0, i64::MAX, 512, None),
        ];
        let rows: Vec<TableRow> = bad.into_iter().chain([row(0, 0, 512, None)]).collect();
        let found = selected(&plan(&[]), &rows);
        let expected = [
            ("empty", 1),
            ("failed", 1),
            ("no_place", 2),
            ("no_time", 1),
            ("not_io", 1),
            ("too_far", 1),
            ("too_large", 1),
        ];
        assert_eq!(found.left_out, BTreeMap::from(expected));
        assert_eq!(found.ios.len(), 1);
    }
}
