//! All that depends on the order of events, in one pass over their table.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::profile::arrivals::{ArrivalFacts, Arrivals};
use crate::profile::block_references::{ReferenceFacts, ReferenceOptions, References};
use crate::profile::event_rows::{EventRow, READ, WRITE, for_each_row};
use crate::profile::heat_maps::{HeatMaps, Moment, Span};
use crate::profile::in_flight::{InFlight, InFlightFacts};
use crate::profile::latencies::{Latencies, LatencyCell};
use crate::profile::sequential_streams::{StreamReport, Streams};
use crate::profile::sync_pattern::{SyncFacts, SyncPattern};

/// What is known of a table before the pass.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CharacteriseOptions {
    /// The first time of issue.
    pub start_ns: i64,
    /// The last one.
    pub end_ns: i64,
    /// Stretches of time that are told one by one.
    pub columns: usize,
    /// Targets on the line of all targets.
    pub spans: Vec<Span>,
    /// The session of each actor; empty where each is its own.
    pub sessions_of: Vec<u32>,
    /// Blocks and caches.
    pub references: ReferenceOptions,
}

/// What the pass came to.
#[derive(Debug, Serialize)]
pub struct Characteristics {
    /// Rows of the table.
    pub events: u64,
    /// All that are I/O.
    pub arrivals: Option<ArrivalFacts>,
    /// Reads.
    pub read_arrivals: Option<ArrivalFacts>,
    /// Writes.
    pub write_arrivals: Option<ArrivalFacts>,
    /// Concurrency.
    pub in_flight: Option<InFlightFacts>,
    /// Sequential runs.
    pub streams: StreamReport,
    /// Blocks that come again.
    pub references: ReferenceFacts,
    /// By operation and size.
    pub by_size: Vec<LatencyCell>,
    /// By operation and target.
    pub by_target: Vec<LatencyCell>,
    /// Length of a stretch of time.
    pub moment_ns: i64,
    /// The stretches.
    pub moments: Vec<Moment>,
    /// Flushes.
    pub sync: SyncFacts,
}

/// Operations that are no I/O of their own: opens, seeks, anything else.
const NO_IO: u8 = 5;

struct Pass {
    arrivals: [Arrivals; 3],
    flight: InFlight,
    streams: Streams,
    references: References,
    latencies: Latencies,
    maps: HeatMaps,
    sync: SyncPattern,
    events: u64,
}

impl Pass {
    fn new(options: &CharacteriseOptions) -> Pass {
        let (start, end) = (options.start_ns, options.end_ns);
        let arrivals = || Arrivals::new(start, end);
        Pass {
            arrivals: [arrivals(), arrivals(), arrivals()],
            flight: InFlight::new(options.sessions_of.clone()),
            streams: Streams::default(),
            references: References::new(&options.references),
            latencies: Latencies::default(),
            maps: HeatMaps::new(start, end, options.columns, &options.spans),
            sync: SyncPattern::default(),
            events: 0,
        }
    }

    fn event(&mut self, row: &EventRow) {
        self.events += 1;
        self.latencies.event(row);
        if row.op >= NO_IO {
            return;
        }
        if let Some(ts) = row.ts_ns {
            let bytes = row.size.unwrap_or(0).max(0) as u64;
            self.arrivals[0].event(ts, bytes);
            match row.op {
                READ => self.arrivals[1].event(ts, bytes),
                WRITE => self.arrivals[2].event(ts, bytes),
                _ => {}
            }
        }
        self.flight.event(row);
        self.streams.event(row);
        self.references.event(row);
        self.maps.event(row);
        self.sync.event(row);
    }

    fn finish(self, options: &CharacteriseOptions) -> Characteristics {
        let [arrivals, read_arrivals, write_arrivals] = self.arrivals.map(Arrivals::finish);
        let (by_size, by_target) = self.latencies.finish();
        let (moment_ns, moments) = self.maps.finish();
        Characteristics {
            events: self.events,
            arrivals,
            read_arrivals,
            write_arrivals,
            in_flight: self.flight.finish(),
            streams: self.streams.finish(),
            references: self.references.finish(options.start_ns, options.end_ns),
            by_size,
            by_target,
            moment_ns,
            moments,
            sync: self.sync.finish(),
        }
    }
}

/// The characteristics of the table at `path`, whose rows ascend in time.
pub fn characterise(path: &Path, options: &CharacteriseOptions) -> Result<Characteristics> {
    if options.references.block_bytes.is_some_and(|bytes| bytes <= 0) {
        let why = "a block has at least 1 byte".to_string();
        return Err(Error::Trace { why, hint: "give a block size such as 8k" });
    }
    let mut pass = Pass::new(options);
    let mut last = i64::MIN;
    for_each_row(path, |row| {
        if let Some(ts) = row.ts_ns {
            if ts < last {
                let why =
                    format!("{}: row {} is earlier than a row before it", path.display(), pass.events + 1);
                return Err(Error::Trace { why, hint: "sort the events by time" });
            }
            last = ts;
        }
        pass.event(row);
        Ok(())
    })?;
    Ok(pass.finish(options))
}

/// Whether no row of the table is earlier than one before it.
pub fn in_order(path: &Path) -> Result<bool> {
    let (mut last, mut ordered) = (i64::MIN, true);
    for_each_row(path, |row| {
        if let Some(ts) = row.ts_ns {
            ordered &= ts >= last;
            last = ts;
        }
        Ok(())
    })?;
    Ok(ordered)
}
