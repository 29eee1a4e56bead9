//! How long threads wait for a processor: from when one can run, woken or sent away, until it does.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::extrapolated::Extrapolated;
use super::followed::{Followed, Who};
use super::power_counts::PowerCounts;
use super::standing::Standing;
use crate::blk::instance;
use crate::blk::layout::{Field, field};
use crate::blk::pairing::Quick;
use crate::capture::call_records::id_of;
use crate::capture::rings::Rings;
use crate::error::Result;

const WOKEN: [&str; 2] = ["sched/sched_wakeup", "sched/sched_wakeup_new"];
const SWITCH: &str = "sched/sched_switch";
/// The bits of a thread's state that say why it cannot run; those above say how it was sent away.
const CANNOT_RUN: u64 = 0xff;

#[derive(Clone, Copy, Debug)]
enum Seen {
    Woken { thread: u32 },
    Switch { from: u32, can_run: bool, to: u32 },
}

/// See the module.
pub struct RunQueue {
    woken: Vec<(u64, Field)>,
    switch: u64,
    from: Field,
    state: Field,
    to: Field,
    waiting: Vec<(u64, Seen)>,
    able: HashMap<u32, u64, BuildHasherDefault<Quick>>,
    counts: Extrapolated<u32>,
    closing: bool,
}

impl RunQueue {
    /// Adds its tracepoints to the rings, which record those who are followed.
    pub fn listen(rings: &mut Rings, who: &Who) -> Result<RunQueue> {
        let missing = || instance::unknown("sched");
        let named = |text: &str, name: &str| text.lines().find_map(|line| field(line, name));
        let switched = who.condition(&["prev_comm", "next_comm"]);
        let switch = rings.add(SWITCH, &switched)?.ok_or_else(missing)?;
        let mut woken = Vec::new();
        for point in WOKEN {
            if let Some(text) = rings.add(point, &who.condition(&["comm"]))? {
                woken.push((id_of(&text).ok_or_else(missing)?, named(&text, "pid").ok_or_else(missing)?));
            }
        }
        let made = || {
            Some(RunQueue {
                woken,
                switch: id_of(&switch)?,
                from: named(&switch, "prev_pid")?,
                state: named(&switch, "prev_state")?,
                to: named(&switch, "next_pid")?,
                waiting: Vec::new(),
                able: HashMap::default(),
                counts: Extrapolated::default(),
                closing: false,
            })
        };
        made().ok_or_else(missing)
    }

    /// Keeps a record, if it is one of these.
    pub fn seen(&mut self, at_ns: u64, record: &[u8]) {
        self.waiting.extend(self.understood(record).map(|seen| (at_ns, seen)));
    }

    fn understood(&self, record: &[u8]) -> Option<Seen> {
        let id = u64::from(u16::from_le_bytes(record.get(..2)?.try_into().ok()?));
        if id == self.switch {
            let can_run = self.state.number(record)? & CANNOT_RUN == 0;
            let (from, to) = (self.from.number(record)? as u32, self.to.number(record)? as u32);
            return Some(Seen::Switch { from, can_run, to });
        }
        let (_, thread) = self.woken.iter().find(|(known, _)| *known == id)?;
        Some(Seen::Woken { thread: thread.number(record)? as u32 })
    }

    /// Counts what happened before `until_ns`; returns how many records that were.
    pub fn round(&mut self, until_ns: u64, followed: &mut Followed) -> u64 {
        self.waiting.sort_by_key(|(at_ns, _)| *at_ns);
        let ready = self.waiting.partition_point(|(at_ns, _)| *at_ns < until_ns);
        let later = self.waiting.split_off(ready);
        for (at_ns, seen) in std::mem::replace(&mut self.waiting, later) {
            self.take(at_ns, seen, followed);
        }
        ready as u64
    }

    fn take(&mut self, at_ns: u64, seen: Seen, followed: &mut Followed) {
        match seen {
            Seen::Woken { .. } if self.closing => {}
            Seen::Woken { thread } => {
                self.able.entry(thread).or_insert(at_ns);
            }
            Seen::Switch { from, can_run, to } => {
                if !can_run {
                    self.able.remove(&from); // woken while it still ran: that ended no sleep, and this one begins
                } else if from != 0 && !self.closing {
                    self.able.insert(from, at_ns); // sent away, and could go on
                }
                let Some(since_ns) = self.able.remove(&to) else { return };
                let process = followed.process(to);
                if process.followed {
                    self.counts.record(process.name, at_ns.saturating_sub(since_ns), 0, false);
                }
            }
        }
    }

    /// From now on no wait begins.
    pub fn close(&mut self) {
        self.closing = true;
    }

    /// Begins again.
    pub fn reopen(&mut self) {
        self.give_up();
        self.closing = false;
    }

    /// Records were lost.
    pub fn give_up(&mut self) {
        self.able.clear();
    }

    /// (number of a command's name, what was counted)
    pub fn counts(&self, standing: &Standing) -> Vec<(u32, PowerCounts)> {
        self.counts.all(|_| standing.of_waits())
    }

    /// A window is over; see `Extrapolated`.
    pub fn settle(&mut self, standing: &Standing) {
        self.counts.settle(|_| standing.of_waits());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(records: Vec<(u64, Seen)>, until_ns: u64) -> (RunQueue, Vec<(u64, u64)>) {
        let nowhere = Field::default();
        let mut queue = RunQueue {
            woken: vec![],
            switch: 0,
            from: nowhere,
            state: nowhere,
            to: nowhere,
            waiting: records,
            able: HashMap::default(),
            counts: Extrapolated::default(),
            closing: false,
        };
        queue.round(until_ns, &mut Followed::new(Who::Everybody));
        let counts = queue.counts(&Standing::for_itself());
        (queue, counts.iter().map(|(_, counts)| (counts.count, counts.sum_ns)).collect())
    }

    const ONE: u32 = u32::MAX - 1; // threads that are gone: counted without a name
    const OTHER: u32 = u32::MAX - 2;

    #[test]
    fn the_woken_and_the_sent_away_wait_and_sleepers_do_not() {
        let records = vec![
            (100, Seen::Woken { thread: ONE }),
            (5_100, Seen::Switch { from: 0, can_run: true, to: ONE }), // 5 µs after it was woken
            (8_000, Seen::Switch { from: ONE, can_run: true, to: OTHER }), // of the other nothing is known
            (18_000, Seen::Switch { from: OTHER, can_run: false, to: ONE }), // 10 µs after it was sent away
            (20_000, Seen::Switch { from: ONE, can_run: false, to: OTHER }), // it slept: no wait
            (99_000, Seen::Woken { thread: ONE }),
        ];
        let (queue, counts) = counted(records, 99_000);
        assert_eq!(counts, [(2, 15_000)]);
        assert_eq!(queue.waiting.len(), 1, "what comes later waits for the next round");
    }

    #[test]
    fn a_thread_that_was_woken_before_it_slept_does_not_wait_while_it_sleeps() {
        let records = vec![
            (1_000, Seen::Woken { thread: ONE }), // its I/O was done before it slept: it goes on
            (50_000, Seen::Switch { from: ONE, can_run: false, to: 0 }),
            (900_000, Seen::Woken { thread: ONE }),
            (904_000, Seen::Switch { from: 0, can_run: true, to: ONE }),
        ];
        assert_eq!(counted(records, 1_000_000).1, [(1, 4_000)]);
    }
}
