//! `SimDevice`: the simulated device as data (`src/iocast/model/simulated.py`); `engine/sim.rs` runs it.

use serde::{Deserialize, Serialize};

/// A service-time law of the simulated device.
#[derive(Clone, Debug, Serialize, Deserialize)]
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

/// A cache in front of the simulated device.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimCache {
    /// Share of the blocks that always hit.
    pub read_hit_percent: f64,
    /// Time of a hit.
    pub hit_ns: u64,
    /// Writes end in `hit_ns` too.
    #[serde(default)]
    pub write_back: bool,
}

/// Nothing ends in the last `for_ns` of every `every_ns`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimStall {
    /// Period.
    pub every_ns: u64,
    /// Stalled at the end of each period.
    pub for_ns: u64,
}

/// I/Os that fail.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimErrors {
    /// First bad byte.
    #[serde(default)]
    pub start_bytes: u64,
    /// First good byte after it.
    #[serde(default)]
    pub end_bytes: u64,
    /// Share of all other I/Os that fail.
    #[serde(default)]
    pub percent: f64,
    /// With what.
    #[serde(default = "eio")]
    pub errno: i32,
}

fn eio() -> i32 {
    libc::EIO
}

/// The simulated device.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimDevice {
    /// Size.
    pub size_bytes: u64,
    /// Service time of reads, and of writes unless `write_service` says otherwise.
    pub service: ServiceLaw,
    /// Service time of writes.
    #[serde(default)]
    pub write_service: Option<ServiceLaw>,
    /// How many I/Os are served at once.
    #[serde(default = "one_server")]
    pub servers: u32,
    /// Transfer rate over all servers; 0 is no limit.
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
}

fn one_server() -> u32 {
    1
}
