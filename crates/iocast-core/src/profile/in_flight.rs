//! How many requests are under way, who waits for whom, and whether new ones wait for old ones to end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::Serialize;

use crate::profile::event_rows::{EventRow, UNNAMED};
use crate::profile::stack_distance::MixingMap;
use crate::record::histogram::{Histogram, Recorder};

/// Levels that are told apart; more under way are counted as so many.
const LEVELS: usize = 4096;

/// What is told of concurrency, of rows with a time and a latency.
#[derive(Debug, Serialize)]
pub struct InFlightFacts {
    /// Rows that count.
    pub events: u64,
    /// Time at each number under way, from the first issue to the last.
    pub time_at_ns: Vec<u64>,
    /// Arrivals that found each number under way.
    pub found_by_arrivals: Vec<u64>,
    /// The most under way.
    pub most: u64,
    /// Sum of all latencies.
    pub latency_sum_ns: f64,
    /// The part of it that lies after the last issue.
    pub after_end_ns: f64,
    /// From the end of the last request that ended to the next arrival.
    pub since_end: Histogram,
    /// From the end of a session's request to its next one.
    pub think: Histogram,
    /// Sessions with a name.
    pub sessions: u64,
    /// Requests of a session that came before its last one had ended.
    pub overlapping: u64,
    /// Requests of sessions with a name, but their first ones.
    pub following: u64,
}

/// Follows requests from issue to end.
pub struct InFlight {
    sessions_of: Vec<u32>,
    ends: BinaryHeap<Reverse<i64>>,
    now_ns: Option<i64>,
    last_end_ns: Option<i64>,
    time_at: Vec<u64>,
    found: Vec<u64>,
    most: usize,
    latency_sum: f64,
    since_end: Recorder,
    think: Recorder,
    last_of: MixingMap<u32, i64>,
    overlapping: u64,
    following: u64,
    events: u64,
}

impl InFlight {
    /// Nothing so far. `sessions_of` is the session of each actor; empty where each is its own.
    pub fn new(sessions_of: Vec<u32>) -> InFlight {
        InFlight {
            sessions_of,
            ends: BinaryHeap::new(),
            now_ns: None,
            last_end_ns: None,
            time_at: Vec::new(),
            found: Vec::new(),
            most: 0,
            latency_sum: 0.0,
            since_end: Recorder::default(),
            think: Recorder::default(),
            last_of: MixingMap::default(),
            overlapping: 0,
            following: 0,
            events: 0,
        }
    }

    /// One more row, not earlier than the one before.
    pub fn event(&mut self, row: &EventRow) {
        let (Some(ts), Some(lat)) = (row.ts_ns, row.lat_ns) else { return };
        self.events += 1;
        self.latency_sum += lat as f64;
        self.pass(ts);
        if let Some(end) = self.last_end_ns {
            self.since_end.record((ts - end).max(0) as u64);
        }
        let under_way = self.ends.len();
        add(&mut self.found, under_way, 1);
        self.ends.push(Reverse(ts.saturating_add(lat)));
        self.most = self.most.max(under_way + 1);
        self.session(row.actor, ts, lat);
    }

    /// Time goes on to `ts`; what has ended until then leaves.
    fn pass(&mut self, ts: i64) {
        let Some(mut now) = self.now_ns.replace(ts) else { return };
        while let Some(Reverse(end)) = self.ends.peek().copied()
            && end <= ts
        {
            add(&mut self.time_at, self.ends.len(), (end - now).max(0) as u64);
            now = now.max(end);
            self.ends.pop();
            self.last_end_ns = Some(end);
        }
        add(&mut self.time_at, self.ends.len(), (ts - now).max(0) as u64);
    }

    fn session(&mut self, actor: u32, ts: i64, lat: i64) {
        if actor == UNNAMED {
            return;
        }
        let session = self.sessions_of.get(actor as usize).copied().unwrap_or(actor);
        let end = ts.saturating_add(lat);
        if let Some(before) = self.last_of.insert(session, end) {
            self.following += 1;
            if ts < before {
                self.overlapping += 1;
                self.last_of.insert(session, before.max(end));
            } else {
                self.think.record((ts - before) as u64);
            }
        }
    }

    /// What is told of it; None without a row that counts.
    pub fn finish(mut self) -> Option<InFlightFacts> {
        let last = self.now_ns?;
        let after_end = self.ends.iter().map(|Reverse(end)| (end - last).max(0) as f64).sum();
        Some(InFlightFacts {
            events: self.events,
            time_at_ns: self.time_at,
            found_by_arrivals: self.found,
            most: self.most as u64,
            latency_sum_ns: self.latency_sum,
            after_end_ns: after_end,
            since_end: self.since_end.drain(),
            think: self.think.drain(),
            sessions: self.last_of.len() as u64,
            overlapping: self.overlapping,
            following: self.following,
        })
    }
}

fn add(counts: &mut Vec<u64>, at: usize, more: u64) {
    let at = at.min(LEVELS);
    if counts.len() <= at {
        counts.resize(at + 1, 0);
    }
    counts[at] += more;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::event_rows::tests::row;

    fn waited(ts_ns: i64, lat_ns: i64, actor: u32) -> EventRow {
        EventRow { lat_ns: Some(lat_ns), actor, ..row(ts_ns, 0, 0, 4096) }
    }

    #[test]
    fn time_at_each_level_adds_up_to_all_latencies() {
        let mut flight = InFlight::new(Vec::new());
        for row in [waited(0, 100, 1), waited(50, 100, 2), waited(300, 20, 1), waited(310, 30, 1)] {
            flight.event(&row);
        }
        let found = flight.finish().unwrap();
        assert_eq!(found.time_at_ns, [150, 110, 50]);
        assert_eq!(found.found_by_arrivals, [2, 2]);
        let under_way: u64 = found.time_at_ns.iter().enumerate().map(|(level, ns)| level as u64 * ns).sum();
        assert_eq!(under_way as f64 + found.after_end_ns, found.latency_sum_ns);
        assert_eq!((found.sessions, found.overlapping, found.following, found.most), (2, 1, 2, 2));
        assert_eq!((found.think.total(), found.think.max_ns), (1, 200));
    }

    #[test]
    fn cursors_of_a_process_are_one_session() {
        let mut flight = InFlight::new(vec![0, 0]);
        flight.event(&waited(0, 10, 0));
        flight.event(&waited(30, 10, 1));
        let found = flight.finish().unwrap();
        assert_eq!((found.sessions, found.think.sum_ns), (1, 20));
    }
}
