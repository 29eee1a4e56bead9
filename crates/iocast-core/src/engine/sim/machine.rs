//! The device with all that it remembers from phase to phase; it counts its own time from the first phase on.

use std::sync::Arc;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use super::blocks::Blocks;
use super::flow::{Bucket, Buffer, Pipe};
use super::lru::Lru;
use super::members::{Job, Members, after_stall};
use super::streams::Streams;
use super::tier::Tier;
use crate::engine::Request;
use crate::plan::simulated::{SimCache, SimDevice, SimReduction};
use crate::plan::{Op, Payload, PhasePlan};
use crate::workload::random::mix64;

/// A trim is a note in the device's own tables.
const TRIM_NS: u64 = 50_000;

/// The network, in both directions.
#[derive(Clone, Debug)]
struct Link {
    inwards: Pipe,
    outwards: Pipe,
    half_rtt_ns: u64,
}

/// Flash: what was written fast, and when the slow part is free.
#[derive(Clone, Debug, Default)]
struct Slc {
    used: f64,
    written_until: u64,
    slow: Pipe,
}

/// What one of the present phases writes; its slots end before `past_slot`.
#[derive(Clone, Copy, Debug)]
struct Content {
    past_slot: u32,
    zeros: bool,
    /// How much of it is stored.
    share: f64,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Machine {
    spec: SimDevice,
    /// Its own time when the present phase began.
    pub epoch_ns: u64,
    rng: SmallRng,
    contents: Vec<Content>,
    members: Members,
    limits: Vec<Bucket>,
    link: Option<Link>,
    blocks: Option<Blocks>,
    kept: Option<Lru>,
    dirty: Option<Buffer>,
    slc: Option<Slc>,
    tier: Option<Tier>,
    reads: Streams,
    writes: Streams,
    last_write_end: u64,
    served: u64,
}

impl Machine {
    /// A device as it is delivered: nothing written, caches empty, buckets full.
    pub fn new(spec: &SimDevice, seed: u64) -> Machine {
        let unit = spec.thin.as_ref().map_or(65536, |thin| thin.unit_bytes);
        let cache = spec.cache.as_ref();
        Machine {
            epoch_ns: 0,
            rng: SmallRng::seed_from_u64(0),
            contents: Vec::new(),
            members: Members::new(spec, seed),
            limits: spec.limits.iter().map(Bucket::new).collect(),
            link: spec.link.as_ref().map(|link| Link {
                inwards: Pipe::new(link.bytes_per_s),
                outwards: Pipe::new(link.bytes_per_s),
                half_rtt_ns: link.rtt_ns / 2,
            }),
            blocks: (spec.thin.is_some() || spec.reduction.is_some()).then(|| Blocks::new(unit)),
            kept: cache
                .filter(|c| c.size_bytes > 0)
                .map(|c| Lru::new((c.size_bytes / c.line_bytes) as usize)),
            dirty: cache
                .filter(|c| c.dirty_bytes > 0)
                .map(|c| Buffer::new(c.dirty_bytes, c.destage_bytes_per_s)),
            slc: spec.slc.as_ref().map(|slc| Slc { slow: Pipe::new(slc.slow_bytes_per_s), ..Slc::default() }),
            tier: spec.tier.as_ref().map(Tier::new),
            reads: Streams::default(),
            writes: Streams::default(),
            last_write_end: 0,
            served: 0,
            spec: spec.clone(),
        }
    }

    /// What it is.
    pub fn spec(&self) -> &SimDevice {
        &self.spec
    }

    /// Phases begin, at once.
    pub fn begin(&mut self, plans: &[Arc<PhasePlan>]) {
        self.rng = SmallRng::seed_from_u64(mix64(plans[0].seed ^ 0x51));
        let mut past_slot = 0;
        let content = |plan: &Arc<PhasePlan>| {
            past_slot += plan.users * plan.depth;
            let share = self.spec.reduction.as_ref().map_or(1.0, |how| stored_share(how, &plan.payload));
            Content { past_slot, zeros: matches!(plan.payload, Payload::Zeros {}), share }
        };
        self.contents = plans.iter().map(content).collect();
    }

    /// When an I/O that comes at `now` reaches the device: after what caps, credits and the link take.
    /// I/Os come in order.
    pub fn admit(&mut self, now: u64, op: Op, len: u64) -> u64 {
        if !op.moves_data() {
            return now + self.link.as_ref().map_or(0, |link| link.half_rtt_ns);
        }
        let start = self.limits.iter_mut().fold(now, |start, limit| start.max(limit.start(now, len)));
        match &mut self.link {
            Some(link) if op == Op::Write => link.inwards.pass(now, start, len as f64) + link.half_rtt_ns,
            Some(link) => start + link.half_rtt_ns,
            None => start,
        }
    }

    /// Does an I/O that reaches the device at `now`, `in_flight` of them being under way with it: when it
    /// ends for the user, and with what (bytes, or -errno).
    pub fn serve(&mut self, now: u64, request: &Request, in_flight: u32) -> (u64, i64) {
        let (op, offset, len) = (request.op, request.offset, u64::from(request.len));
        let (mut end, refused) = match op {
            Op::Read => (self.read(now, offset, len, in_flight), 0),
            Op::Write => self.write(now, request, in_flight),
            Op::Trim => (self.trim(now, offset, len), 0),
            _ => {
                let end = now.max(self.last_write_end) + self.spec.fsync_ns;
                (after_stall(self.spec.stall.as_ref(), end), 0)
            }
        };
        if op == Op::Write {
            self.last_write_end = self.last_write_end.max(end);
        }
        if let Some(link) = &mut self.link {
            if op == Op::Read {
                end = link.outwards.pass(now, end, len as f64);
            }
            end += link.half_rtt_ns;
        }
        if self.spec.tick_ns > 0 {
            end = end.div_ceil(self.spec.tick_ns) * self.spec.tick_ns;
        }
        let result = if refused < 0 { refused } else { self.outcome(op, offset, len) };
        (end, result)
    }

    fn read(&mut self, now: u64, offset: u64, len: u64, in_flight: u32) -> u64 {
        let hole = self.spec.thin.as_ref().and_then(|thin| thin.hole_ns);
        if let (Some(hole_ns), Some(blocks)) = (hole, &self.blocks) {
            if blocks.hole(offset, len) {
                return after_stall(self.spec.stall.as_ref(), now + hole_ns);
            }
        }
        let share = match (&self.spec.reduction, &self.blocks) {
            (Some(_), Some(blocks)) => blocks.stored(offset, len),
            _ => 1.0,
        };
        let in_order = self.watches_streams() && self.reads.follow(offset, len);
        if let Some(hit_ns) = self.cached(offset, len, in_order) {
            return self.quick(now, hit_ns, len as f64 * share);
        }
        let mut job = self.job(now, false, offset, len, in_flight);
        job.share = share;
        if let (true, Some(ahead)) = (in_order, &self.spec.read_ahead) {
            let (members, rng, spec) = (&mut self.members, &mut self.rng, &self.spec);
            let fetch = |offset: u64, len: u64| members.serve(spec, rng, Job { offset, len, ..job });
            if let Some(ready) = self.reads.ready(ahead.window_bytes, spec.size_bytes, fetch) {
                return after_stall(spec.stall.as_ref(), ready.max(now + ahead.hit_ns));
            }
        }
        if let Some(fast_ns) = self.tier.as_mut().and_then(|tier| tier.hit(now, offset)) {
            return self.quick(now, fast_ns, len as f64 * share);
        }
        self.members.serve(&self.spec, &mut self.rng, job)
    }

    fn write(&mut self, now: u64, request: &Request, in_flight: u32) -> (u64, i64) {
        let (offset, len) = (request.offset, u64::from(request.len));
        let content = self.contents.iter().find(|content| request.slot < content.past_slot);
        let Content { zeros, share, .. } = content.copied().expect("each slot is one of a plan");
        let mut fresh_ns = 0;
        if let (Some(thin), Some(blocks)) = (&self.spec.thin, &self.blocks) {
            if let (true, Some(zero_ns)) = (zeros, thin.zero_ns) {
                return (after_stall(self.spec.stall.as_ref(), now + zero_ns), 0);
            }
            let fresh = blocks.fresh(offset, len);
            fresh_ns = fresh * thin.first_write_ns;
            let room = thin.pool_bytes.saturating_sub(blocks.allocated_bytes());
            if thin.pool_bytes > 0 && fresh * blocks.unit_bytes() > room {
                return (after_stall(self.spec.stall.as_ref(), now), -i64::from(libc::ENOSPC));
            }
        }
        if let Some(blocks) = &mut self.blocks {
            blocks.write(offset, len, share);
        }
        if let (Some(kept), Some(cache)) = (&mut self.kept, &self.spec.cache) {
            if !(cache.scan_resistant && self.writes.follow(offset, len)) {
                lines(cache, offset, len).for_each(|line| kept.keep(line));
            }
        }
        if let Some(hit_ns) =
            self.spec.cache.as_ref().filter(|cache| cache.write_back).map(|cache| cache.hit_ns)
        {
            let room_at = self.dirty.as_mut().map_or(now, |dirty| dirty.take(now, len));
            return (self.quick(now, room_at - now + hit_ns + fresh_ns, len as f64 * share), 0);
        }
        if let Some(fast_ns) = self.tier.as_mut().and_then(|tier| tier.hit(now, offset)) {
            return (self.quick(now, fast_ns + fresh_ns, len as f64 * share), 0);
        }
        let mut job = self.job(now, true, offset, len, in_flight);
        job.share = share;
        job.extra_ns = fresh_ns + if request.durable { self.spec.fsync_ns } else { 0 };
        let end = self.members.serve(&self.spec, &mut self.rng, job);
        (self.past_slc(now, end, len), 0)
    }

    /// The end of a write once the fast part of the flash is full: as the slow part allows.
    fn past_slc(&mut self, now: u64, end: u64, len: u64) -> u64 {
        let (Some(slc), Some(spec)) = (&mut self.slc, &self.spec.slc) else { return end };
        let idle_ns = now.saturating_sub(slc.written_until) as f64;
        slc.used = (slc.used - idle_ns * spec.recover_bytes_per_s as f64 / 1e9).max(0.0);
        let room = (spec.size_bytes as f64 - slc.used).clamp(0.0, len as f64);
        slc.used += room;
        let slow = len as f64 - room;
        let end = if slow > 0.0 { slc.slow.pass(now, now, slow).max(end) } else { end };
        slc.written_until = slc.written_until.max(end);
        end
    }

    /// The units in the range are not needed any more.
    fn trim(&mut self, now: u64, offset: u64, len: u64) -> u64 {
        if let Some(blocks) = &mut self.blocks {
            blocks.forget(offset, len);
        }
        after_stall(self.spec.stall.as_ref(), now + TRIM_NS)
    }

    /// An I/O that the members do not see: a hit of a cache, the fast tier.
    fn quick(&mut self, now: u64, hit_ns: u64, len: f64) -> u64 {
        let end = self.members.pass_front(now, now + hit_ns, len);
        after_stall(self.spec.stall.as_ref(), end)
    }

    fn job(&self, now: u64, write: bool, offset: u64, len: u64, in_flight: u32) -> Job {
        let mut factor = 1.0;
        if let Some(slow) = self.spec.slow.as_ref().filter(|slow| (slow.from_ns..slow.to_ns).contains(&now)) {
            factor *= slow.factor;
        }
        if let Some(drift) = &self.spec.drift {
            factor *= 1.0 + (drift.factor - 1.0) * (now as f64 / drift.over_ns as f64).min(1.0);
        }
        if let Some(scaling) = &self.spec.scaling {
            let others = f64::from(in_flight) - 1.0;
            factor *= 1.0 + scaling.contention * others + scaling.retrograde * others * (others + 1.0);
        }
        Job { now, write, offset, len, factor, share: 1.0, extra_ns: 0 }
    }

    fn watches_streams(&self) -> bool {
        self.spec.read_ahead.is_some() || self.spec.cache.as_ref().is_some_and(|cache| cache.scan_resistant)
    }

    /// The time of a read that the cache has; what it has not it will have, but for scans that it ignores.
    fn cached(&mut self, offset: u64, len: u64, in_order: bool) -> Option<u64> {
        let cache = self.spec.cache.as_ref()?;
        if let Some(kept) = &mut self.kept {
            // Every line is touched, whether or not one before it was missing.
            if lines(cache, offset, len).filter(|line| !kept.touch(*line)).count() == 0 {
                return Some(cache.hit_ns);
            }
            if !(cache.scan_resistant && in_order) {
                lines(cache, offset, len).for_each(|line| kept.keep(line));
            }
        }
        // A hash of the block decides, so that the same blocks hit each time.
        let share = (mix64(offset >> 13) >> 11) as f64 / (1u64 << 53) as f64 * 100.0;
        (share < cache.read_hit_percent).then_some(cache.hit_ns)
    }

    fn outcome(&mut self, op: Op, offset: u64, len: u64) -> i64 {
        if !op.moves_data() {
            return 0;
        }
        self.served += 1;
        let to = offset + len;
        if let Some(errors) = &self.spec.errors {
            let inside = offset < errors.end_bytes && to > errors.start_bytes;
            let counted = errors.every > 0 && self.served % errors.every == 0;
            if inside
                || counted
                || (errors.percent > 0.0 && self.rng.random::<f64>() * 100.0 < errors.percent)
            {
                return -i64::from(errors.errno);
            }
        }
        to.min(self.spec.size_bytes).saturating_sub(offset) as i64
    }
}

fn stored_share(how: &SimReduction, payload: &Payload) -> f64 {
    let compressed = match payload {
        Payload::Zeros {} => 0.0,
        Payload::Compressible { percent } => 1.0 - percent / 100.0,
        _ => 1.0,
    };
    let unique = match payload {
        Payload::Zeros {} | Payload::Repeated {} => 0.0,
        Payload::Dedupable { percent } => 1.0 - percent / 100.0,
        _ => 1.0,
    };
    let share: f64 = (if how.compress { compressed } else { 1.0 }).min(if how.dedupe { unique } else { 1.0 });
    share.max(how.least_percent / 100.0)
}

fn lines(cache: &SimCache, offset: u64, len: u64) -> std::ops::RangeInclusive<u64> {
    offset / cache.line_bytes..=(offset + len.max(1) - 1) / cache.line_bytes
}
