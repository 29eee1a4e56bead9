//! The `sim` engine: a storage device on virtual time, exact and at once.
//!
//! I/Os are served in order of arrival by `servers` servers; each takes what the service law says, then
//! its share of the common transfer rate. Because the order is that of arrival, the end of an I/O is
//! known when it is pushed: waiting is moving the clock to the earliest end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use super::{Clock, Completion, Engine, Request};
use crate::buffers::mix64;
use crate::device::{ServiceLaw, SimDevice};
use crate::error::Result;
use crate::pacing::exponential;
use crate::plan::{Op, PhasePlan};
use crate::result::EngineReport;

/// A trim is a note in the device's own tables.
const TRIM_NS: u64 = 50_000;

/// See the module.
pub struct SimEngine {
    device: SimDevice,
    rng: SmallRng,
    now: u64,
    free_at: BinaryHeap<Reverse<u64>>,
    pipe_free_at: u64,
    head_bytes: u64,
    last_write_end: u64,
    pending: BinaryHeap<Reverse<(u64, u64, u32, i64)>>,
    order: u64,
}

impl SimEngine {
    /// The plan's simulated device, its clock at 0.
    pub fn new(plan: &PhasePlan, device: &SimDevice) -> SimEngine {
        SimEngine {
            device: device.clone(),
            rng: SmallRng::seed_from_u64(mix64(plan.seed ^ 0x51)),
            now: 0,
            free_at: (0..device.servers).map(|_| Reverse(0)).collect(),
            pipe_free_at: 0,
            head_bytes: u64::MAX,
            last_write_end: 0,
            pending: BinaryHeap::new(),
            order: 0,
        }
    }

    fn service_ns(&mut self, op: Op, offset: u64, len: u64) -> u64 {
        let law = match (&self.device.write_service, op) {
            (Some(law), Op::Write) => law.clone(),
            _ => self.device.service.clone(),
        };
        let ns = match law {
            ServiceLaw::Constant { mean_ns } => mean_ns as f64,
            ServiceLaw::Exponential { mean_ns } => mean_ns as f64 * exponential(&mut self.rng),
            ServiceLaw::Lognormal { mean_ns, cv } => {
                let variance = (1.0 + cv * cv).ln();
                (mean_ns as f64).ln().mul_add(1.0, variance.sqrt() * self.normal() - variance / 2.0).exp()
            }
            ServiceLaw::Uniform { low_ns, high_ns } => {
                low_ns as f64 + self.rng.random::<f64>() * (high_ns.saturating_sub(low_ns)) as f64
            }
            ServiceLaw::Disk { .. } if offset == self.head_bytes => 0.0,
            ServiceLaw::Disk { rpm, seek_base_ns, seek_span_ns } => {
                let from = if self.head_bytes == u64::MAX { 0 } else { self.head_bytes };
                let distance = from.abs_diff(offset) as f64 / self.device.size_bytes as f64;
                seek_base_ns as f64
                    + seek_span_ns as f64 * distance.min(1.0).sqrt()
                    + self.rng.random::<f64>() * 60e9 / rpm
            }
        };
        self.head_bytes = offset + len;
        ns.max(0.0) as u64
    }

    fn normal(&mut self) -> f64 {
        let (a, b) = (1.0 - self.rng.random::<f64>(), self.rng.random::<f64>());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }

    fn cached(&self, op: Op, offset: u64) -> Option<u64> {
        let cache = self.device.cache.as_ref()?;
        // A hash of the block decides, so that the same blocks hit each time.
        let share = (mix64(offset >> 13) >> 11) as f64 / (1u64 << 53) as f64 * 100.0;
        let hit = match op {
            Op::Read => share < cache.read_hit_percent,
            Op::Write => cache.write_back,
            _ => false,
        };
        hit.then_some(cache.hit_ns)
    }

    fn end_ns(&mut self, request: &Request) -> u64 {
        let len = u64::from(request.len);
        if request.op == Op::Trim {
            return self.after_stall(self.now + TRIM_NS);
        }
        if !request.op.moves_data() {
            return self.after_stall(self.now.max(self.last_write_end) + self.device.fsync_ns);
        }
        if let Some(hit_ns) = self.cached(request.op, request.offset) {
            let end = self.transferred(self.now + hit_ns, len);
            return self.after_stall(end);
        }
        let Reverse(free) = self.free_at.pop().expect("at least one server");
        let begin = self.now.max(free);
        let served = begin + self.service_ns(request.op, request.offset, len);
        let mut end = self.transferred(served, len);
        if request.op == Op::Write && request.durable {
            end += self.device.fsync_ns;
        }
        end = self.after_stall(end);
        self.free_at.push(Reverse(end));
        end
    }

    /// When `len` bytes that are ready at `ready` have passed the transfer rate that all share.
    fn transferred(&mut self, ready: u64, len: u64) -> u64 {
        if self.device.bandwidth_bytes_per_s == 0 {
            return ready;
        }
        let transfer = len as f64 * 1e9 / self.device.bandwidth_bytes_per_s as f64;
        self.pipe_free_at = ready.max(self.pipe_free_at) + transfer as u64;
        self.pipe_free_at
    }

    fn after_stall(&self, end: u64) -> u64 {
        match &self.device.stall {
            Some(stall) if end % stall.every_ns >= stall.every_ns - stall.for_ns => {
                (end / stall.every_ns + 1) * stall.every_ns
            }
            _ => end,
        }
    }

    fn outcome(&mut self, request: &Request) -> i64 {
        let (from, to) = (request.offset, request.offset + u64::from(request.len));
        if let Some(errors) = &self.device.errors {
            let inside = from < errors.end_bytes && to > errors.start_bytes;
            if request.op.moves_data()
                && (inside || (errors.percent > 0.0 && self.rng.random::<f64>() * 100.0 < errors.percent))
            {
                return -i64::from(errors.errno);
            }
        }
        if !request.op.moves_data() {
            return 0;
        }
        to.min(self.device.size_bytes).saturating_sub(from) as i64
    }
}

impl Engine for SimEngine {
    fn start(&mut self, _clock: Clock) {}

    #[inline]
    fn now(&self) -> u64 {
        self.now
    }

    fn push(&mut self, request: Request) {
        let end = self.end_ns(&request);
        if request.op == Op::Write {
            self.last_write_end = self.last_write_end.max(end);
        }
        let result = self.outcome(&request);
        self.order += 1;
        self.pending.push(Reverse((end, self.order, request.slot, result)));
    }

    fn submit(&mut self, wait: u32, until: Option<u64>) -> Result<()> {
        let next = if wait > 0 { self.pending.peek().map(|Reverse(p)| p.0) } else { None };
        let to = match (next, until) {
            (Some(end), Some(until)) => end.min(until),
            (Some(end), None) => end,
            (None, Some(until)) => until,
            (None, None) => self.now,
        };
        self.now = self.now.max(to);
        Ok(())
    }

    fn reap(&mut self, out: &mut Vec<Completion>) {
        while let Some(Reverse((_, _, slot, result))) =
            self.pending.peek().filter(|Reverse(p)| p.0 <= self.now).copied()
        {
            self.pending.pop();
            out.push(Completion { slot, result });
        }
    }

    fn buffer(&mut self, _slot: u32, _len: usize) -> &mut [u8] {
        &mut []
    }

    fn virtual_time(&self) -> bool {
        true
    }

    fn abandon(&mut self) {}

    fn report(&self) -> EngineReport {
        EngineReport {
            name: "sim".into(),
            flags: vec!["virtual time".into()],
            buffers: "none".into(),
            notes: Vec::new(),
        }
    }
}
