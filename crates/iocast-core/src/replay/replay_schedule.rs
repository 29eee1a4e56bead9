//! `Schedule`: the I/Os of a replay as its users make them: when, where, how much, and what each waits for.

use std::collections::HashMap;
use std::sync::Arc;

use super::dependencies::{NONE, waits};
use super::facts::ReplayFacts;
use super::placing::Placing;
use super::selection::{Io, select};
use crate::error::{Error, Result};
use crate::plan::replay_plan::{ReplayMode, ReplayPlan};
use crate::plan::{Class, Op, PhasePlan};

/// One I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// When it is due, since the start of the phase; the pause before it where it waits for another.
    pub due_ns: u64,
    /// Where in its file.
    pub offset: u64,
    /// How much.
    pub len: u32,
    /// Index of the plan's classes.
    pub class: u16,
    /// Index of the plan's files.
    pub file: u16,
}

/// The I/Os of one user.
#[derive(Debug, Default)]
pub struct UserRows {
    /// In order of issue; those that wait for others stand together by actor.
    pub rows: Vec<Row>,
    /// Of a dependent replay: for each row the one it waits for (`NONE`: for none), an earlier one. Rows that
    /// wait for the same one stand together.
    pub after: Vec<u32>,
    /// The first row that waits for a row.
    pub first_waiting: Vec<u32>,
}

/// The replay of one phase.
#[derive(Debug)]
pub struct Schedule {
    /// By user.
    pub users: Vec<Arc<UserRows>>,
    /// What is held against the result.
    pub facts: ReplayFacts,
}

impl Schedule {
    /// The replays of plans that have one.
    pub fn for_plans(plans: &[Arc<PhasePlan>]) -> Result<Vec<Option<Schedule>>> {
        let of = |plan: &Arc<PhasePlan>| {
            plan.replay.as_ref().map(|replay| Schedule::new(plan, replay)).transpose()
        };
        plans.iter().map(of).collect()
    }

    fn new(plan: &PhasePlan, replay: &ReplayPlan) -> Result<Schedule> {
        let selected = select(replay)?;
        if u32::try_from(selected.ios.len()).is_err() || plan.files.len() > usize::from(u16::MAX) {
            return Err(Error::Trace {
                why: format!("{} I/Os are more than one replay can hold", selected.ios.len()),
                hint: "split the trace by time",
            });
        }
        let mut facts = ReplayFacts::of(&selected, plan.interval_ns, replay.speed);
        let placing = Placing::new(plan, replay, &selected)?;
        let dealt = deal(selected.ios, plan.users as usize, replay.mode);
        let classes = Classes::of(plan);
        let mut users = Vec::with_capacity(dealt.len());
        for ios in dealt {
            let mut rows = Vec::with_capacity(ios.len());
            for io in &ios {
                let (place, moved) = placing.place(io.target, io.offset, io.size);
                facts.moved += u64::from(moved && io.op.has_place());
                let class = classes.number(io.op, io.size)?;
                let due_ns = scaled(io.at_ns, replay.speed);
                let (offset, file) = (place.offset, place.file as u16);
                rows.push(Row { due_ns, offset, len: io.size as u32, class, file });
            }
            let made = if replay.depends() { depending(rows, &ios, replay.speed) } else { in_order(rows) };
            facts.independent += made.after.iter().filter(|after| **after == NONE).count() as u64;
            users.push(Arc::new(made));
        }
        Ok(Schedule { users, facts })
    }
}

fn scaled(ns: u64, speed: f64) -> u64 {
    if speed == 1.0 { ns } else { (ns as f64 / speed) as u64 }
}

/// In turn; where I/Os wait for others, an actor's are all of one user.
fn deal(ios: Vec<Io>, users: usize, mode: ReplayMode) -> Vec<Vec<Io>> {
    let mut dealt: Vec<Vec<Io>> = vec![Vec::new(); users];
    if mode == ReplayMode::Dependent {
        let mut whose: HashMap<u32, usize> = HashMap::new();
        for io in ios {
            let next = whose.len() % users;
            dealt[*whose.entry(io.actor).or_insert(next)].push(io);
        }
        dealt.iter_mut().for_each(|ios| ios.sort_by_key(|io| io.actor)); // stable: in order of issue
        return dealt;
    }
    if users == 1 {
        return vec![ios];
    }
    for (index, io) in ios.into_iter().enumerate() {
        dealt[index % users].push(io);
    }
    dealt
}

fn in_order(rows: Vec<Row>) -> UserRows {
    UserRows { rows, ..UserRows::default() }
}

fn depending(mut rows: Vec<Row>, ios: &[Io], speed: f64) -> UserRows {
    let found = waits(ios);
    let mut first_waiting = vec![NONE; rows.len()];
    for (index, (after, pause_ns)) in found.after.iter().zip(&found.pause_ns).enumerate() {
        rows[index].due_ns = scaled(*pause_ns, speed);
        if *after != NONE && first_waiting[*after as usize] == NONE {
            first_waiting[*after as usize] = index as u32;
        }
    }
    UserRows { rows, after: found.after, first_waiting }
}

/// Which class of the plan counts an I/O: that of its size, or the next larger one of its operation.
struct Classes {
    exact: HashMap<(Op, u64), u16>,
    all: Vec<Class>,
}

impl Classes {
    fn of(plan: &PhasePlan) -> Classes {
        let all = plan.classes();
        let exact = all.iter().enumerate().map(|(at, c)| ((c.op, c.size_bytes), at as u16)).collect();
        Classes { exact, all }
    }

    fn number(&self, op: Op, size: u64) -> Result<u16> {
        if let Some(number) = self.exact.get(&(op, size)) {
            return Ok(*number);
        }
        let larger = self.all.iter().enumerate().filter(|(_, c)| c.op == op && c.size_bytes >= size);
        let next = larger.min_by_key(|(_, c)| c.size_bytes).map(|(at, _)| at as u16);
        next.ok_or_else(|| Error::Plan(format!("replay: the mix has no {} of {size} bytes", op.name())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn io(at_ns: u64, actor: u32) -> Io {
        Io {
            at_ns,
            lat_ns: Some(1),
            op: Op::Read,
            offset: 0,
            size: 4096,
            target: 0,
            actor,
            may_be_cached: false,
        }
    }

    #[test]
    fn users_take_turns_and_an_actor_stays_with_one() {
        let ios: Vec<Io> = (0..7u64).map(|at| io(at, at as u32 % 3)).collect();
        let times = |dealt: Vec<Vec<Io>>| -> Vec<Vec<u64>> {
            dealt.iter().map(|ios| ios.iter().map(|io| io.at_ns).collect()).collect()
        };
        assert_eq!(times(deal(ios.clone(), 2, ReplayMode::Timed)), [vec![0, 2, 4, 6], vec![1, 3, 5]]);
        assert_eq!(times(deal(ios, 2, ReplayMode::Dependent)), [vec![0, 3, 6, 2, 5], vec![1, 4]]);
    }

    #[test]
    fn who_waits_for_a_row_is_found_from_it() {
        let ios = [io(0, 1), io(5, 1), io(5, 1), io(9, 1)];
        let row = Row { due_ns: 0, offset: 0, len: 4096, class: 0, file: 0 };
        let made = depending(vec![row; 4], &ios, 2.0);
        assert_eq!(made.after, [NONE, 0, 0, 2]);
        assert_eq!(made.first_waiting, [1, NONE, 3, NONE]);
        assert_eq!(made.rows.iter().map(|row| row.due_ns).collect::<Vec<_>>(), [0, 2, 2, 1]);
    }

    #[test]
    fn a_size_that_the_mix_lacks_is_counted_with_the_next_larger_one() {
        let plan = crate::testing::plan(serde_json::json!({"mix": [
            {"op": "read", "size_bytes": 4096}, {"op": "read", "size_bytes": 65536},
            {"op": "write", "size_bytes": 8192}]}));
        let classes = Classes::of(&plan);
        let numbers = [(Op::Read, 4096), (Op::Read, 5000), (Op::Write, 512)];
        assert_eq!(numbers.map(|(op, size)| classes.number(op, size).unwrap()), [0, 1, 2]);
        assert!(classes.number(Op::Write, 9000).is_err() && classes.number(Op::Trim, 1).is_err());
    }
}
