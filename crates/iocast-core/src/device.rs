//! `SimDevice`: the simulated device as data (`src/iocast/model/simulated_device.py`); `engine/sim.rs` runs it.

use serde::{Deserialize, Serialize};

mod options;

pub use options::*;

/// A service-time law of the simulated device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum ServiceLaw {
    /// Always `mean_ns`.
    Constant {
        /// Mean.
        mean_ns: u64,
    },
    /// Exponential.
    Exponential {
        /// Mean.
        mean_ns: u64,
    },
    /// Lognormal with coefficient of variation `cv`.
    Lognormal {
        /// Mean.
        mean_ns: u64,
        /// Standard deviation / mean.
        cv: f64,
    },
    /// Uniform.
    Uniform {
        /// Least.
        low_ns: u64,
        /// Most.
        high_ns: u64,
    },
    /// Gamma with coefficient of variation `cv`.
    Gamma {
        /// Mean.
        mean_ns: u64,
        /// Standard deviation / mean.
        cv: f64,
    },
    /// `fast_percent` of the I/Os take `fast_ns`, the others `slow_ns`.
    Bimodal {
        /// Share of fast I/Os.
        fast_percent: f64,
        /// Time of a fast one, its mean if `exponential`.
        fast_ns: u64,
        /// Time of a slow one, its mean if `exponential`.
        slow_ns: u64,
        /// Both peaks are exponential (hyperexponential).
        #[serde(default)]
        exponential: bool,
    },
    /// Quantiles, as from a histogram: straight between the points.
    Table {
        /// In ascending order; the last is 100 %.
        points: Vec<QuantilePoint>,
    },
    /// A disk arm: base + span·sqrt(distance/size), plus a uniform turn; nothing when it goes on in order.
    Disk {
        /// Turns per minute.
        rpm: f64,
        /// Seek over no distance.
        seek_base_ns: u64,
        /// Added for the whole stroke.
        seek_span_ns: u64,
    },
}

/// `percent` of the I/Os take at most `ns`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuantilePoint {
    /// Share of the I/Os.
    pub percent: f64,
    /// Their longest time.
    pub ns: u64,
}

/// The simulated device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimDevice {
    /// Size.
    pub size_bytes: u64,
    /// Service time of reads, and of writes unless `write_service` says otherwise.
    pub service: ServiceLaw,
    /// Service time of writes.
    #[serde(default)]
    pub write_service: Option<ServiceLaw>,
    /// How many I/Os are served at once, by each member.
    #[serde(default = "one_server")]
    pub servers: u32,
    /// Transfer rate over all servers of a member; 0 is no limit.
    #[serde(default)]
    pub bandwidth_bytes_per_s: u64,
    /// Time of an fsync.
    #[serde(default)]
    pub fsync_ns: u64,
    /// Cache in front.
    #[serde(default)]
    pub cache: Option<SimCache>,
    /// Stalls.
    #[serde(default)]
    pub stall: Option<SimStall>,
    /// Errors.
    #[serde(default)]
    pub errors: Option<SimErrors>,
    /// Several members, each as described.
    #[serde(default)]
    pub stripe: Option<SimStripe>,
    /// Larger I/Os are split; 0 is never.
    #[serde(default)]
    pub max_io_bytes: u64,
    /// Pieces of this size lie scattered; 0 is in order.
    #[serde(default)]
    pub fragment_bytes: u64,
    /// Fast part of flash that writes fill.
    #[serde(default)]
    pub slc: Option<SimSlc>,
    /// Sequential reads are fetched before they are asked for.
    #[serde(default)]
    pub read_ahead: Option<SimReadAhead>,
    /// Fast tier.
    #[serde(default)]
    pub tier: Option<SimTier>,
    /// Space that is allocated when it is first written.
    #[serde(default)]
    pub thin: Option<SimThin>,
    /// Compression and dedupe.
    #[serde(default)]
    pub reduction: Option<SimReduction>,
    /// Caps and credits; all hold.
    #[serde(default)]
    pub limits: Vec<SimLimit>,
    /// Network or cable in front.
    #[serde(default)]
    pub link: Option<SimLink>,
    /// What is let through one at a time, as by a lock of a file system.
    #[serde(default)]
    pub serialised: Serialised,
    /// A time of maintenance.
    #[serde(default)]
    pub slow: Option<SimSlow>,
    /// It becomes slower and slower.
    #[serde(default)]
    pub drift: Option<SimDrift>,
    /// Others on the same drives.
    #[serde(default)]
    pub noise: Option<SimNoise>,
    /// Ends are noticed at multiples of this; 0 is at once.
    #[serde(default)]
    pub tick_ns: u64,
    /// Service grows with what is in flight.
    #[serde(default)]
    pub scaling: Option<SimScaling>,
}

fn one_server() -> u32 {
    1
}

impl SimDevice {
    /// Why it cannot be run, naming the field; `None` when it can.
    pub fn fault(&self) -> Option<&'static str> {
        let laws = [Some(&self.service), self.write_service.as_ref()];
        let tables = laws.into_iter().flatten().all(|law| match law {
            ServiceLaw::Table { points } => {
                points.last().is_some_and(|p| p.percent == 100.0)
                    && points.windows(2).all(|p| p[0].percent < p[1].percent && p[0].ns <= p[1].ns)
            }
            ServiceLaw::Gamma { cv, .. } => *cv > 0.0 && cv.is_finite(),
            _ => true,
        });
        let rules = [
            (self.servers >= 1, "simulated: at least one server"),
            (self.size_bytes >= 1, "simulated: a device has at least one byte"),
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
                self.noise.as_ref().is_none_or(|n| n.rate_per_s > 0.0 && n.rate_per_s <= 1e7),
                "simulated: noise is above 0/s, up to 10M/s",
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
