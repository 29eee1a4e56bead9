//! A stepped workload: a session goes from step to step; each has its I/O, its place, its pause and what may follow.

use rand::RngExt;
use rand::rngs::SmallRng;

use super::next_io::NextIo;
use super::offsets::Offsets;
use super::span::Place;
use crate::engine::sim::law::draw;
use crate::plan::simulated::ServiceLaw;
use crate::plan::step::Step;
use crate::plan::{Arrival, FileRegion, Locality, Op, PhasePlan};

/// Steps after which it no longer matters at which a session began.
const SETTLE: u32 = 200;

/// From such a pause on a session sleeps; below, it computes between the I/Os of a group.
const SLEEPS_NS: u64 = 200_000;

/// A step, ready to be taken.
struct Ready {
    op: Op,
    /// Upper edge of each size on 0..1, its class and bytes.
    sizes: Vec<(f64, usize, u64)>,
    offsets: Offsets,
    /// Of its region, in its file.
    file: u32,
    from: u64,
    to: u64,
    again: Option<(f64, u64)>,
    appends: bool,
    joins: usize,
    pause: ServiceLaw,
    /// Upper edge of each step that may follow, and its number.
    next: Vec<(f64, usize)>,
}

/// See the module.
pub struct Stepped {
    steps: Vec<Ready>,
    /// Where the last I/O ended of the steps that share an end.
    ends: Vec<u64>,
    at: usize,
    begun: bool,
    /// Pauses count from when an I/O was due, not from its end.
    open: bool,
    next_ns: u64,
    /// How late its I/Os began that was not made up for yet.
    behind_ns: u64,
}

fn edges<T>(items: impl Iterator<Item = (f64, T)>) -> Vec<(f64, T)> {
    let items: Vec<(f64, T)> = items.filter(|(weight, _)| *weight > 0.0).collect();
    let all: f64 = items.iter().map(|(weight, _)| weight).sum();
    let mut edge = 0.0;
    let upper = |(weight, item): (f64, T)| {
        edge += weight / all;
        (edge, item)
    };
    items.into_iter().map(upper).collect()
}

/// One of them, by where a number from 0 to 1 falls.
#[inline]
fn chosen<T: Copy>(edges: &[(f64, T)], rng: &mut SmallRng) -> T {
    if edges.len() == 1 {
        return edges[0].1;
    }
    let u = rng.random::<f64>();
    edges[edges.partition_point(|(edge, _)| *edge <= u).min(edges.len() - 1)].1
}

impl Ready {
    fn new(plan: &PhasePlan, step: &Step, user: u32) -> Ready {
        let (file, from) = plan.file_of(step).expect("a checked plan has the regions of its steps");
        let classes = plan.classes();
        let class = |op: Op, size: u64| {
            classes
                .iter()
                .position(|c| (c.op, c.size_bytes) == (op, size))
                .expect("each step has its classes")
        };
        let mut alone = plan.clone();
        alone.steps.clear();
        alone.mix = step.mix();
        alone.locality = step.locality.clone();
        let of = plan.files[file].clone();
        alone.files = vec![FileRegion { start_bytes: from, size_bytes: step.size_bytes, ..of }];
        let sizes = alone.mix.iter().map(|m| (m.weight, (class(m.op, m.size_bytes), m.size_bytes)));
        let again = match step.locality {
            Locality::Append { again_bytes, again_percent } if again_percent > 0.0 => {
                Some((again_percent / 100.0, again_bytes))
            }
            _ => None,
        };
        Ready {
            op: step.op,
            sizes: edges(sizes).into_iter().map(|(edge, (class, size))| (edge, class, size)).collect(),
            offsets: Offsets::new(&alone, user),
            file: file as u32,
            from,
            to: from + step.size_bytes,
            again,
            appends: matches!(step.locality, Locality::Append { .. }),
            joins: step.joins,
            pause: step.pause.clone(),
            next: edges(step.next.iter().copied().zip(0..)),
        }
    }

    fn size(&self, rng: &mut SmallRng) -> (usize, u64) {
        if self.sizes.len() == 1 {
            return (self.sizes[0].1, self.sizes[0].2);
        }
        let u = rng.random::<f64>();
        let at = self.sizes.partition_point(|(edge, ..)| *edge <= u).min(self.sizes.len() - 1);
        (self.sizes[at].1, self.sizes[at].2)
    }

    /// Where an I/O of `size` goes when the last one ended at `end`.
    fn place(&mut self, size: u64, end: u64, rng: &mut SmallRng) -> u64 {
        if !self.appends {
            return self.offsets.next(size, rng).offset;
        }
        let mut at = if (self.from..=self.to).contains(&end) { end } else { self.from };
        if let Some((share, bytes)) = self.again
            && rng.random::<f64>() < share
        {
            at = at.saturating_sub(bytes).max(self.from);
        }
        if at + size > self.to { self.from } else { at }
    }
}

impl Stepped {
    /// The session of `user`: it begins at any step, within the pause after it.
    pub fn new(plan: &PhasePlan, user: u32, rng: &mut SmallRng) -> Stepped {
        let steps: Vec<Ready> = plan.steps.iter().map(|step| Ready::new(plan, step, user)).collect();
        let mut at = rng.random_range(0..steps.len());
        // Where a session is that has been under way for long, and not at a step that it makes once.
        (0..SETTLE).for_each(|_| at = chosen(&steps[at].next, rng));
        let first = draw(&steps[at].pause, rng, None) * rng.random::<f64>();
        Stepped {
            ends: vec![0; steps.len()],
            at,
            begun: false,
            open: matches!(plan.arrival, Arrival::Stepped { .. }),
            next_ns: first as u64,
            behind_ns: 0,
            steps,
        }
    }

    /// When the next I/O is due; `u64::MAX` while that depends on the end of one.
    #[inline]
    pub fn next_due(&self) -> u64 {
        self.next_ns
    }

    /// Takes the next I/O.
    pub fn take(&mut self, rng: &mut SmallRng) -> NextIo {
        if self.begun {
            self.at = chosen(&self.steps[self.at].next, rng);
        }
        self.begun = true;
        let step = &mut self.steps[self.at];
        let (class, size) = step.size(rng);
        let mut offset = 0;
        if step.op.has_place() {
            offset = step.place(size, self.ends[step.joins], rng);
            self.ends[step.joins] = offset + size;
        }
        self.next_ns = u64::MAX;
        NextIo { class, op: step.op, row: 0, size, place: Place { file: step.file, offset } }
    }

    /// Its I/O, which was due at `due` and began at `from`, has ended: the pause counts from one of them.
    ///
    /// How late it began is made up for in pauses in which a session sleeps, and not between the I/Os of a group.
    pub fn ended(&mut self, due: u64, from: u64, now: u64, rng: &mut SmallRng) {
        self.behind_ns += from.saturating_sub(due);
        let begin = if self.open { from } else { now };
        let mut pause = draw(&self.steps[self.at].pause, rng, None) as u64;
        if pause >= SLEEPS_NS {
            let made_up = self.behind_ns.min(pause - SLEEPS_NS);
            (pause, self.behind_ns) = (pause - made_up, self.behind_ns - made_up);
        }
        self.next_ns = begin.saturating_add(pause);
    }

    /// Leaves out what was due before `end` and was not taken; returns how many I/Os that is.
    pub fn skip(&mut self, end: u64, rng: &mut SmallRng) -> u64 {
        let mut missed = 0;
        while self.open && self.next_ns < end {
            let due = self.next_ns;
            self.take(rng);
            self.ended(due, due, due, rng);
            missed += 1;
        }
        missed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::plan;
    use rand::SeedableRng;
    use serde_json::{Value, json};

    fn step(op: &str, size: u64, changes: Value) -> Value {
        let mut json = json!({"op": op, "start_bytes": 0, "size_bytes": 65536, "joins": 0,
            "locality": {"kind": "uniform"}, "pause": {"kind": "constant", "mean_ns": 1000}, "next": [1.0]});
        json["sizes"] = if size > 0 { json!([{"size_bytes": size, "weight": 1}]) } else { json!([]) };
        for (key, value) in changes.as_object().unwrap() {
            json[key] = value.clone();
        }
        json
    }

    fn log(append: Value) -> PhasePlan {
        let at = json!({"kind": "append", "again_bytes": 4096, "again_percent": 0});
        let mut append_at = at.clone();
        for (key, value) in append.as_object().unwrap() {
            append_at[key] = value.clone();
        }
        plan(json!({
            "mix": [{"op": "write", "size_bytes": 24}, {"op": "write", "size_bytes": 4096}, {"op": "fdatasync", "size_bytes": 0}],
            "steps": [
                step("write", 24, json!({"locality": append_at, "next": [0, 1, 0]})),
                step("write", 4096, json!({"locality": append_at, "next": [0, 0, 1], "pause": {"kind": "constant", "mean_ns": 7}})),
                step("fdatasync", 0, json!({"next": [1, 0, 0], "pause": {"kind": "constant", "mean_ns": 5000}}))]}))
    }

    fn take(stepped: &mut Stepped, rng: &mut SmallRng, n: usize) -> Vec<(Op, u64, u64)> {
        (0..n).map(|_| stepped.take(rng)).map(|io| (io.op, io.size, io.place.offset)).collect()
    }

    #[test]
    fn a_log_goes_on_where_its_last_write_ended_and_is_synced() {
        let plan = log(json!({}));
        let mut rng = SmallRng::seed_from_u64(1);
        let mut stepped = Stepped::new(&plan, 0, &mut rng);
        stepped.at = 2; // so that the header comes first
        stepped.begun = true;
        let done = take(&mut stepped, &mut rng, 6);
        let (write, sync) = (Op::Write, Op::Fdatasync);
        assert_eq!(done[..3], [(write, 24, 0), (write, 4096, 24), (sync, 0, 0)]);
        assert_eq!(done[3..], [(write, 24, 4120), (write, 4096, 4144), (sync, 0, 0)]);
        let last = take(&mut stepped, &mut rng, 300).iter().map(|io| io.2 + io.1).max();
        assert!(last.unwrap() <= 65536, "it starts again at the end of its region");
    }

    #[test]
    fn a_pause_follows_the_end_of_its_step() {
        let plan = log(json!({}));
        let mut rng = SmallRng::seed_from_u64(1);
        let mut stepped = Stepped::new(&plan, 0, &mut rng);
        (stepped.at, stepped.begun) = (2, true);
        let mut due = Vec::new();
        for now in [10_000u64, 20_000, 30_000] {
            stepped.take(&mut rng);
            assert_eq!(stepped.next_due(), u64::MAX, "nothing is due before the end");
            stepped.ended(now - 100, now - 50, now, &mut rng);
            due.push(stepped.next_due() - now);
        }
        assert_eq!(due, [1000, 7, 5000]);
    }

    #[test]
    fn a_delay_is_made_up_for_while_a_session_sleeps() {
        let mut plan = log(json!({}));
        plan.steps[2].pause = ServiceLaw::Constant { mean_ns: 5_000_000 };
        let mut rng = SmallRng::seed_from_u64(1);
        let mut stepped = Stepped::new(&plan, 0, &mut rng);
        (stepped.at, stepped.begun) = (2, true);
        let mut pauses = Vec::new();
        for _ in 0..6 {
            let due = 1_000_000_000;
            stepped.take(&mut rng);
            stepped.ended(due, due + 30_000, due + 40_000, &mut rng);
            pauses.push(stepped.next_due() - due - 40_000);
        }
        let slept = 5_000_000 - 3 * 30_000;
        assert_eq!(pauses, [1000, 7, slept, 1000, 7, slept], "the group keeps its pauses");
    }

    #[test]
    fn the_last_block_is_written_again() {
        let plan = log(json!({"again_percent": 100}));
        let mut rng = SmallRng::seed_from_u64(1);
        let mut stepped = Stepped::new(&plan, 0, &mut rng);
        (stepped.at, stepped.begun, stepped.ends[0]) = (0, true, 8192);
        assert_eq!(take(&mut stepped, &mut rng, 1), [(Op::Write, 4096, 4096)]);
    }

    #[test]
    fn what_follows_has_the_shares_of_its_weights_and_an_open_session_its_own_clock() {
        let plan = plan(json!({
            "arrival": {"kind": "stepped", "rate_per_s": 1000.0},
            "mix": [{"op": "read", "size_bytes": 8192}, {"op": "write", "size_bytes": 8192}],
            "steps": [step("read", 8192, json!({"next": [3, 1]})),
                step("write", 8192, json!({"next": [1, 0], "start_bytes": 65536}))]}));
        let mut rng = SmallRng::seed_from_u64(1);
        let mut stepped = Stepped::new(&plan, 0, &mut rng);
        let first = stepped.next_due();
        let mut done = Vec::new();
        for _ in 0..50_000 {
            let due = stepped.next_due();
            done.extend(take(&mut stepped, &mut rng, 1));
            stepped.ended(due, due, due + 300, &mut rng);
        }
        assert_eq!(stepped.next_due(), first + 50_000 * 1000);
        let writes: Vec<_> = done.iter().filter(|io| io.0 == Op::Write).collect();
        assert!(
            (writes.len() as f64 / 50_000.0 - 0.2).abs() < 0.01,
            "one in four reads is followed by a write"
        );
        assert!(writes.iter().all(|io| io.2 >= 65536));
        assert!(done.windows(2).all(|two| two[0].0 == Op::Read || two[1].0 == Op::Read));
        assert_eq!(stepped.skip(first + 50_003 * 1000, &mut rng), 3);
    }

    #[test]
    fn what_cannot_be_taken_is_refused_with_its_reason() {
        let good = log(json!({}));
        let refused = |changes: Value| {
            let mut json = serde_json::to_value(&good).unwrap();
            for (key, value) in changes.as_object().unwrap() {
                json[key] = value.clone();
            }
            PhasePlan::from_json(&json.to_string()).unwrap_err().to_string()
        };
        assert!(refused(json!({"depth": 2})).contains("depth 1"));
        assert!(refused(json!({"fsync_every": 2})).contains("fsync_every"));
        assert!(
            refused(json!({"steps": [step("write", 24, json!({"size_bytes": 8}))]})).contains("largest I/O")
        );
        assert!(refused(json!({"steps": [step("write", 24, json!({"next": [0]}))]})).contains("comes next"));
        assert!(refused(json!({"steps": [step("write", 100, json!({}))]})).contains("mix"));
        assert!(
            refused(json!({"steps": [step("write", 24, json!({"start_bytes": 1 << 20}))]}))
                .contains("one file")
        );
        assert!(refused(json!({"arrival": {"kind": "constant", "rate_per_s": 5.0}})).contains("own pauses"));
    }
}
