//! What a plan must be for a phase to be run; the refusal names the field.

use super::replay_plan::ReplayMode;
use super::simulated::{ServiceLaw, SimDevice};
use super::{Arrival, Layout, Locality, Op, Payload, PhasePlan, Polling, ReadBack, VerifyPlan};
use crate::engine::table::{Row, asked};
use crate::error::{Error, Result};
use crate::verify::seal::SECTOR_BYTES;

/// No place on a line of files is beyond this, so that sums of two of them and an I/O still are numbers.
const MOST_BYTES: u64 = 1 << 62;
/// No time in a plan is longer: 31 years.
const MOST_NS: u64 = 1_000_000_000_000_000_000;
/// A block that is written whole or not at all is not larger than an I/O.
const MOST_BLOCK_BYTES: u64 = 1 << 30;
/// Each has a slot, whose number is a u32 over all phases that run at once.
const MOST_OUTSTANDING: u64 = 1 << 20;
const OUTSTANDING: &str =
    "users and depth: at most 1,048,576 outstanding I/Os over all phases that run together";
const MOST_SLOW: usize = 1_000_000;
/// Servers of a simulated device, over all its members.
const MOST_SERVERS: u64 = 1 << 20;
const MOST_RATE_PER_S: f64 = 1e12;
const LEAST_RATE_PER_S: f64 = 1e-9;

pub(super) fn refuse(ok: bool, why: &str) -> Result<()> {
    if ok { Ok(()) } else { Err(Error::Plan(why.to_string())) }
}

impl PhasePlan {
    /// Reads a plan from JSON and checks it.
    pub fn from_json(text: &str) -> Result<PhasePlan> {
        let plan: PhasePlan = serde_json::from_str(text).map_err(|e| Error::Plan(e.to_string()))?;
        plan.check()?;
        Ok(plan)
    }

    /// Refuses what cannot be run, naming the field.
    pub fn check(&self) -> Result<()> {
        refuse(self.users >= 1 && self.depth >= 1, "users and depth: at least 1")?;
        refuse(self.users <= 4096 && self.depth <= 16384, "users: at most 4096; depth: at most 16384")?;
        refuse(self.outstanding() <= MOST_OUTSTANDING, OUTSTANDING)?;
        refuse(self.slow_limit <= MOST_SLOW, "slow_limit: at most 1,000,000")?;
        refuse((1_000_000..=MOST_NS).contains(&self.interval_ns), "interval_ns: from 1 ms to 31 years")?;
        refuse(!self.fsync_op.has_place(), "fsync_op: fsync or fdatasync")?;
        self.check_mix()?;
        self.check_arrival()?;
        self.check_length()?;
        self.check_files()?;
        self.check_locality()?;
        self.check_replay()?;
        self.check_steps()?;
        self.check_tree()?;
        let engine = asked(&self.engine)?;
        if let Some(verify) = &self.verify {
            self.check_verify(verify, engine)?;
        }
        self.check_polling(engine)?;
        self.check_simulated(engine)
    }

    fn check_mix(&self) -> Result<()> {
        refuse(!self.mix.is_empty(), "mix: at least one operation is needed")?;
        let most = if self.replay.is_some() { 256 } else { 64 };
        refuse(self.mix.len() <= most, "mix: at most 64 operations and sizes, 256 in a replay")?;
        for item in &self.mix {
            refuse(item.weight.is_finite() && item.weight >= 0.0, "mix: weights are 0 or more")?;
            refuse(
                item.op.has_place() == (item.size_bytes > 0),
                "mix: reads, writes and trims have a size, all other operations have none",
            )?;
            refuse(item.size_bytes <= 1 << 30, "mix: an I/O is at most 1 GiB")?;
        }
        let all: f64 = self.mix.iter().map(|m| m.weight).sum();
        refuse(all > 0.0 && all.is_finite(), "mix: at least one weight above 0, and a sum that is a number")
    }

    fn check_arrival(&self) -> Result<()> {
        match self.arrival {
            Arrival::Bursts { ios, every_ns } => {
                refuse(ios > 0 && every_ns > 0, "bursts: ios and every_ns are above 0")?;
                refuse(every_ns <= MOST_NS, "bursts: every_ns is at most 31 years")?;
            }
            Arrival::Closed { think_ns } => refuse(think_ns <= MOST_NS, "think_ns: at most 31 years")?,
            Arrival::Recorded { longest_gap_ns, .. } => {
                refuse(longest_gap_ns <= MOST_NS, "longest_gap_ns: at most 31 years")?;
            }
            Arrival::Constant { .. } | Arrival::Poisson { .. } | Arrival::Stepped { .. } => {}
        }
        let rate = self.arrival.rate_per_s().unwrap_or(1.0);
        refuse(rate > 0.0, "arrival: the rate is above 0")?;
        refuse(
            (LEAST_RATE_PER_S..=MOST_RATE_PER_S).contains(&rate),
            "arrival: the rate is from 10^-9/s to 10^12/s",
        )
    }

    fn check_length(&self) -> Result<()> {
        let length = &self.length;
        refuse(
            length.seconds.is_some() || length.ios.is_some() || length.bytes.is_some() || length.follows,
            "length: seconds, ios or bytes is needed",
        )?;
        refuse(length.seconds.is_none_or(|s| s > 0.0), "length: seconds is above 0")?;
        let most_s = (MOST_NS / 1_000_000_000) as f64;
        refuse(length.seconds.is_none_or(|s| s <= most_s), "length: seconds is at most 31 years")
    }

    fn check_files(&self) -> Result<()> {
        refuse(!self.files.is_empty(), "files: at least one is needed")?;
        let mut room = self.largest_bytes().max(1);
        if let Layout::Striped { stripe_bytes } = self.layout {
            let whole = |size: u64| size == 0 || (stripe_bytes >= size && stripe_bytes % size == 0);
            refuse(
                stripe_bytes > 0 && self.mix.iter().all(|item| whole(item.size_bytes)),
                "layout: stripe_bytes is a multiple of every I/O's size, as no I/O is on two files",
            )?;
            room = stripe_bytes;
        }
        for file in &self.files {
            refuse(
                file.size_bytes >= room,
                &format!("files: {} has less room than one I/O or stripe of {room} bytes", file.path),
            )?;
        }
        let ends = self.files.iter().map(|file| file.start_bytes.saturating_add(file.size_bytes));
        let all = ends.fold(0u64, u64::saturating_add);
        refuse(all <= MOST_BYTES, "files: their total size exceeds 2^62 bytes")
    }

    fn check_locality(&self) -> Result<()> {
        match &self.locality {
            Locality::Zipf { theta } => {
                refuse(*theta > 0.0 && *theta < 20.0, "zipf: theta is between 0 and 20")
            }
            Locality::Hotspot { space_percent, access_percent } => refuse(
                *space_percent > 0.0 && *space_percent < 100.0 && (0.0..=100.0).contains(access_percent),
                "hotspot: space_percent is between 0 and 100, access_percent from 0 to 100",
            ),
            Locality::Stride { stride_bytes } => refuse(
                (1..=MOST_BYTES).contains(stride_bytes),
                "stride: stride_bytes is above 0 and at most 2^62",
            ),
            _ => Ok(()),
        }
    }

    /// What is recorded and what is drawn do not go together.
    fn check_replay(&self) -> Result<()> {
        let open = matches!(self.arrival, Arrival::Recorded { .. });
        let why = match &self.replay {
            None if open => Some("arrival: recorded needs a replay"),
            None if matches!(self.locality, Locality::Recorded {}) => {
                Some("locality: recorded needs a replay")
            }
            None => None,
            Some(replay) if replay.fault().is_some() => replay.fault(),
            Some(replay) if open == (replay.mode == ReplayMode::Fast) => {
                Some("replay: as fast as possible is a closed loop, the other modes have a recorded arrival")
            }
            Some(_) if !open && !self.response_is_service() => {
                Some("replay: no think time but that of the trace")
            }
            Some(_) if self.layout != Layout::Concatenated => Some("replay: not on striped files"),
            Some(_) if self.fsync_every > 0 => Some("replay: no fsync but those of the trace"),
            Some(_) if self.verify.is_some() => Some("replay: what it writes cannot be verified"),
            Some(_) => None,
        };
        why.map_or(Ok(()), |why| Err(Error::Plan(why.to_string())))
    }

    fn check_verify(&self, verify: &VerifyPlan, engine: Option<&Row>) -> Result<()> {
        let refuse = |ok: bool, why: &str| refuse(ok, &format!("verify: {why}"));
        let block = verify.block_bytes;
        verify.check(self.files.len())?;
        match engine {
            Some(row) if row.virtual_time() => refuse(false, "a simulated device stores no data")?,
            Some(row) => refuse(row.stores, &format!("the {} engine stores no data", row.name))?,
            None => {}
        }
        refuse(matches!(self.payload, Payload::Unique {}), "the payload must be unique")?;
        refuse(self.mix.iter().all(|item| item.op != Op::Trim), "trims cannot be verified")?;
        let whole = |bytes: u64| bytes % block == 0;
        let writes = self.mix.iter().filter(|item| item.op == Op::Write);
        refuse(writes.into_iter().all(|item| whole(item.size_bytes)), "each write is of whole blocks")?;
        refuse(self.files.iter().all(|file| whole(file.start_bytes)), "each region starts at a block")
    }

    fn check_polling(&self, engine: Option<&Row>) -> Result<()> {
        if !self.polls() {
            return Ok(());
        }
        if let Some(row) = engine.filter(|row| !row.needs_ring) {
            return refuse(false, &format!("polling: needs io_uring, not the {} engine", row.name));
        }
        let flushes = self.fsync_every > 0 || !self.mix.iter().all(|m| m.op.moves_data());
        if self.polling == Polling::Iopoll {
            refuse(self.direct, "polling: iopoll needs direct I/O, the page cache has no queue to poll")?;
            refuse(!flushes, "polling: iopoll supports only reads and writes")?;
        }
        Ok(())
    }

    fn check_simulated(&self, engine: Option<&Row>) -> Result<()> {
        if !engine.is_some_and(Row::virtual_time) {
            return Ok(());
        }
        let device = self
            .simulated
            .as_ref()
            .ok_or_else(|| Error::Plan(format!("simulated: the {} engine needs a device", self.engine)))?;
        device.fault().map_or(Ok(()), |why| refuse(false, why))
    }
}

impl VerifyPlan {
    fn check(&self, files: usize) -> Result<()> {
        let refuse = |ok: bool, why: &str| refuse(ok, &format!("verify: {why}"));
        let whole =
            self.block_bytes % SECTOR_BYTES as u64 == 0 && (1..=MOST_BLOCK_BYTES).contains(&self.block_bytes);
        refuse(whole, "block_bytes is a multiple of 512, at most 1 GiB")?;
        refuse(self.first_blocks.len() == files, "first_blocks has an entry for each file")
    }
}

impl ReadBack {
    /// Refuses what cannot be read back, naming the field.
    pub fn check(&self) -> Result<()> {
        self.verify.check(self.files.len())?;
        let bytes = self.files.iter().fold(0u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
        refuse(bytes <= MOST_BYTES, "files: their total size exceeds 2^62 bytes")
    }

    /// Refuses a journal of so many entries when the files have blocks beyond them.
    pub fn check_entries(&self, entries: u64) -> Result<()> {
        let blocks = |bytes: u64| bytes / self.verify.block_bytes;
        let ends = self.files.iter().zip(&self.verify.first_blocks);
        let ends = ends.map(|((_, bytes), first)| first.saturating_add(blocks(*bytes)));
        refuse(
            ends.into_iter().all(|end| end <= entries),
            "verify: the files have more blocks than the journal",
        )
    }
}

impl ServiceLaw {
    /// Why nothing can be drawn from it; `None` when it can.
    pub fn fault(&self) -> Option<&'static str> {
        let well = match self {
            ServiceLaw::Table { points } => {
                points.last().is_some_and(|p| p.percent == 100.0)
                    && points.windows(2).all(|p| p[0].percent < p[1].percent && p[0].ns <= p[1].ns)
            }
            ServiceLaw::Gamma { cv, .. } => *cv > 0.0 && cv.is_finite(),
            _ => true,
        };
        (!well).then_some("a table of quantiles ascends to 100 %, a cv is above 0")
    }
}

impl SimDevice {
    fn members(&self) -> u64 {
        self.stripe.as_ref().map_or(1, |stripe| u64::from(stripe.members))
    }

    /// Why it cannot be run, naming the field; `None` when it can.
    pub fn fault(&self) -> Option<&'static str> {
        let laws = [Some(&self.service), self.write_service.as_ref()];
        let tables = laws.into_iter().flatten().all(|law| law.fault().is_none());
        let rules = [
            (self.servers >= 1, "simulated: at least one server"),
            (
                u64::from(self.servers) * self.members() <= MOST_SERVERS,
                "simulated: at most 1,048,576 servers over all members",
            ),
            (
                (self.members().max(1)..=MOST_BYTES).contains(&self.size_bytes),
                "simulated: a device has at least one byte for each member, and at most 2^62",
            ),
            (tables, "simulated: a table of quantiles ascends to 100 %, a cv is above 0"),
            (
                self.stall.as_ref().is_none_or(|s| s.for_ns < s.every_ns),
                "simulated: a stall is shorter than its period",
            ),
            (
                self.stripe.as_ref().is_none_or(|s| (1..=4096).contains(&s.members) && s.stripe_bytes >= 512),
                "simulated: a stripe has 1 to 4096 members and at least 512 bytes",
            ),
            (
                self.thin
                    .as_ref()
                    .is_none_or(|t| t.unit_bytes >= 512 && self.size_bytes / t.unit_bytes <= 1 << 28),
                "simulated: thin.unit_bytes is at least 512, and there are at most 2^28 units",
            ),
            (
                self.tier.as_ref().is_none_or(|t| t.extent_bytes >= 4096 && t.size_bytes >= t.extent_bytes),
                "simulated: a tier holds at least one extent of at least 4096 bytes",
            ),
            (
                self.cache.as_ref().is_none_or(|c| {
                    c.line_bytes >= 512
                        && (c.size_bytes == 0 || (1..1 << 28).contains(&(c.size_bytes / c.line_bytes)))
                        && (c.dirty_bytes == 0 || c.destage_bytes_per_s > 0)
                }),
                "simulated: a cache has 1 to 2^28 lines of at least 512 bytes, and empties at some rate",
            ),
            (
                self.limits.iter().all(|l| l.rate_per_s.is_finite() && l.rate_per_s > 0.0 && l.bucket >= 0.0),
                "simulated: the rate of a limit is above 0",
            ),
            (
                self.slc.as_ref().is_none_or(|s| s.slow_bytes_per_s > 0),
                "simulated: slc.slow_bytes_per_s is above 0",
            ),
            (self.read_ahead.as_ref().is_none_or(|r| r.window_bytes > 0), "simulated: a window is above 0"),
            (
                self.noise.as_ref().is_none_or(|n| {
                    n.rate_per_s > 0.0 && n.rate_per_s <= 1e7 && (n.burst_ns == 0 || n.every_ns > 0)
                }),
                "simulated: noise is above 0/s, up to 10M/s, and its bursts have a period",
            ),
            (
                self.zones.as_ref().is_none_or(|z| z.inner_factor > 0.0 && z.inner_factor.is_finite()),
                "simulated: zones.inner_factor is above 0",
            ),
            (
                self.fragment_bytes == 0 || self.fragment_bytes >= 512,
                "simulated: a fragment has at least 512 bytes",
            ),
            (self.max_io_bytes == 0 || self.max_io_bytes >= 512, "simulated: max_io_bytes is at least 512"),
        ];
        rules.into_iter().find_map(|(holds, why)| (!holds).then_some(why))
    }
}

/// Refuses phases that cannot run at once.
pub(crate) fn check_together(plans: &[PhasePlan]) -> Result<()> {
    refuse(!plans.is_empty(), "at least one phase is needed")?;
    plans.iter().try_for_each(PhasePlan::check)?;
    let outstanding: u64 = plans.iter().map(PhasePlan::outstanding).sum();
    refuse(outstanding <= MOST_OUTSTANDING, OUTSTANDING)?;
    refuse(
        plans.iter().any(|plan| !plan.length.follows),
        "length: a phase that follows needs another phase in its group that does not",
    )?;
    let device = |plan: &PhasePlan| {
        let row = asked(&plan.engine).ok().flatten().filter(|row| row.virtual_time())?;
        Some((row.name, serde_json::to_value(&plan.simulated).ok()))
    };
    let first = device(&plans[0]);
    refuse(
        plans.iter().all(|plan| device(plan) == first),
        "simulated: phases that run together share one simulated device, or none has one",
    )
}
