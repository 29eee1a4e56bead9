//! The members of the device: their servers, arms and transfer rates, and how I/Os are cut up among them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use super::flow::Pipe;
use super::law::draw;
use crate::plan::simulated::{SimDevice, SimNoise, SimStall};
use crate::workload::random::exponential;
use crate::workload::random::mix64;

/// So many I/Os of others, about, are made up for between two of ours.
const MOST_FOREIGN: f64 = 1e6;

#[derive(Clone, Debug)]
struct Member {
    free_at: BinaryHeap<Reverse<u64>>,
    pipe: Pipe,
    /// Where the arm stands; `u64::MAX` before the first I/O.
    head: u64,
}

/// One I/O as the members see it.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// When it reaches them.
    pub now: u64,
    /// A write.
    pub write: bool,
    /// Where.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// How much longer than the law says it is served.
    pub factor: f64,
    /// How much of its data is moved.
    pub share: f64,
    /// Added to its service, before a server is free again.
    pub extra_ns: u64,
}

#[derive(Clone, Debug)]
struct Foreign {
    noise: SimNoise,
    rng: SmallRng,
    next: f64,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Members {
    members: Vec<Member>,
    stripe: u64,
    foreign: Option<Foreign>,
}

impl Members {
    /// All idle, arms at rest.
    pub fn new(spec: &SimDevice, seed: u64) -> Members {
        let count = spec.stripe.as_ref().map_or(1, |stripe| stripe.members);
        let member = |_| Member {
            free_at: (0..spec.servers).map(|_| Reverse(0)).collect(),
            pipe: Pipe::new(spec.bandwidth_bytes_per_s),
            head: u64::MAX,
        };
        let foreign = spec.noise.as_ref().map(|noise| {
            let mut rng = SmallRng::seed_from_u64(mix64(seed ^ 0xf0));
            Foreign { noise: noise.clone(), next: exponential(&mut rng) * 1e9 / noise.rate_per_s, rng }
        });
        Members {
            members: (0..count).map(member).collect(),
            stripe: spec.stripe.as_ref().map_or(0, |stripe| stripe.stripe_bytes),
            foreign,
        }
    }

    /// When `len` bytes from a cache in front have passed the rate that hits share with all others. Members
    /// of a stripe have rates of their own that hits do not meet.
    pub fn pass_front(&mut self, now: u64, ready: u64, len: f64) -> u64 {
        match &mut self.members[..] {
            [only] => only.pipe.pass(now, ready, len),
            _ => ready,
        }
    }

    /// Serves an I/O; returns when its last piece ends.
    pub fn serve(&mut self, spec: &SimDevice, rng: &mut SmallRng, job: Job) -> u64 {
        self.meet_others(spec, job.now);
        if spec.fragment_bytes == 0 {
            return self.stripes(spec, rng, job);
        }
        let (mut at, to, mut last) = (job.offset, job.offset + job.len, job.now);
        while at < to {
            let len = (spec.fragment_bytes - at % spec.fragment_bytes).min(to - at);
            let offset = scattered(at, spec);
            last = last.max(self.stripes(spec, rng, Job { offset, len, ..job }));
            at += len;
        }
        last
    }

    /// One piece for each member that the I/O touches: what it has of it lies together.
    fn stripes(&mut self, spec: &SimDevice, rng: &mut SmallRng, job: Job) -> u64 {
        let count = self.members.len() as u64;
        if count == 1 {
            return self.pieces(0, spec, rng, job);
        }
        let (stripe, to) = (self.stripe, job.offset + job.len);
        let (first, past) = (job.offset / stripe, to.div_ceil(stripe));
        let mut last = job.now;
        for number in first..past.min(first + count) {
            let begin = (number * stripe).max(job.offset);
            let offset = number / count * stripe + begin % stripe;
            // All rows of this member, less what the first and the last one lack.
            let rows = (past - 1 - number) / count;
            let end = ((number + rows * count + 1) * stripe).min(to) - (number + rows * count) * stripe;
            let len = rows * stripe + end - begin % stripe;
            let place = (number % count) as usize;
            last = last.max(self.pieces(place, spec, rng, Job { offset, len, ..job }));
        }
        last
    }

    fn pieces(&mut self, member: usize, spec: &SimDevice, rng: &mut SmallRng, job: Job) -> u64 {
        if spec.max_io_bytes == 0 || job.len <= spec.max_io_bytes {
            return self.piece(member, spec, rng, job);
        }
        let (mut at, to, mut last) = (job.offset, job.offset + job.len, job.now);
        while at < to {
            let len = spec.max_io_bytes.min(to - at);
            last = last.max(self.piece(member, spec, rng, Job { offset: at, len, ..job }));
            at += len;
        }
        last
    }

    fn piece(&mut self, member: usize, spec: &SimDevice, rng: &mut SmallRng, job: Job) -> u64 {
        let size = spec.size_bytes / self.members.len() as u64;
        let member = &mut self.members[member];
        let Reverse(free) = member.free_at.pop().expect("at least one server");
        let law = spec.write_service.as_ref().filter(|_| job.write).unwrap_or(&spec.service);
        let from = if member.head == u64::MAX { 0 } else { member.head };
        let seek = (job.offset != member.head).then(|| from.abs_diff(job.offset) as f64 / size as f64);
        member.head = job.offset + job.len;
        let zone = zone_factor(spec, job.offset as f64 / size as f64);
        let service = draw(law, rng, seek) * zone * job.factor * job.share;
        let served = job.now.max(free) + service as u64;
        let passed = member.pipe.pass(job.now, served, job.len as f64 * zone * job.share);
        let end = after_stall(spec.stall.as_ref(), passed + job.extra_ns);
        member.free_at.push(Reverse(end));
        end
    }

    /// The foreign I/Os that came before `now` take their turns.
    fn meet_others(&mut self, spec: &SimDevice, now: u64) {
        let Some(foreign) = &mut self.foreign else { return };
        let Foreign { noise, rng, next } = foreign;
        // What came long ago was served long ago: a clock that jumps by years does not make it all.
        *next = next.max(now as f64 - MOST_FOREIGN * 1e9 / noise.rate_per_s);
        while *next <= now as f64 {
            let came = *next as u64;
            *next += exponential(rng) * 1e9 / noise.rate_per_s;
            if noise.burst_ns > 0 && came % noise.every_ns >= noise.burst_ns {
                // Exponential gaps have no memory: between bursts nothing comes, so the clock may jump.
                *next = ((came / noise.every_ns + 1) * noise.every_ns) as f64
                    + exponential(rng) * 1e9 / noise.rate_per_s;
                continue;
            }
            let place = rng.random::<u64>();
            let count = self.members.len() as u64;
            let member = &mut self.members[(place % count) as usize];
            let Reverse(free) = member.free_at.pop().expect("at least one server");
            let size = spec.size_bytes / count;
            let offset = mix64(place) % size;
            let from = if member.head == u64::MAX { 0 } else { member.head };
            let seek = from.abs_diff(offset) as f64 / size as f64;
            member.head = offset;
            let zone = zone_factor(spec, offset as f64 / size as f64);
            let end = came.max(free) + (draw(&spec.service, rng, Some(seek)) * zone) as u64;
            member.free_at.push(Reverse(end));
        }
    }
}

/// How much longer an I/O takes that lies at this share of a member.
fn zone_factor(spec: &SimDevice, place: f64) -> f64 {
    spec.zones.as_ref().map_or(1.0, |zones| 1.0 + (zones.inner_factor - 1.0) * place.min(1.0))
}

/// Where the fragment of a byte lies: anywhere, but always there.
fn scattered(offset: u64, spec: &SimDevice) -> u64 {
    let count = (spec.size_bytes / spec.fragment_bytes).max(1);
    mix64(offset / spec.fragment_bytes) % count * spec.fragment_bytes + offset % spec.fragment_bytes
}

/// Nothing ends during a stall.
pub fn after_stall(stall: Option<&SimStall>, end: u64) -> u64 {
    match stall {
        Some(stall) if end % stall.every_ns >= stall.every_ns - stall.for_ns => {
            (end / stall.every_ns + 1) * stall.every_ns
        }
        _ => end,
    }
}
