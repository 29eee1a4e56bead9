//! `SimDevice`: the simulated device as data (`src/iocast/model/simulated_device.py`); `engine/sim.rs` runs it.
//!
//! Its options are small structs, each absent when the option is off.

use serde::{Deserialize, Serialize};

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
    /// The end of a disk is slower than its beginning.
    #[serde(default)]
    pub zones: Option<SimZones>,
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

/// A cache in front of the simulated device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimCache {
    /// Share of the blocks that always hit.
    #[serde(default)]
    pub read_hit_percent: f64,
    /// Time of a hit.
    pub hit_ns: u64,
    /// Writes end in `hit_ns` too.
    #[serde(default)]
    pub write_back: bool,
    /// It keeps what was used last, so much of it; 0: only `read_hit_percent` decides.
    #[serde(default)]
    pub size_bytes: u64,
    /// What it keeps at a time.
    #[serde(default = "line")]
    pub line_bytes: u64,
    /// I/Os that go on in order do not fill it.
    #[serde(default)]
    pub scan_resistant: bool,
    /// Written bytes that it holds; beyond, writes go at `destage_bytes_per_s`. 0: no end.
    #[serde(default)]
    pub dirty_bytes: u64,
    /// How fast written bytes leave it.
    #[serde(default)]
    pub destage_bytes_per_s: u64,
}

fn line() -> u64 {
    65536
}

/// Nothing ends in the last `for_ns` of every `every_ns`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimStall {
    /// Period.
    pub every_ns: u64,
    /// Stalled at the end of each period.
    pub for_ns: u64,
}

/// I/Os that fail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Each I/O of this number fails; 0: none.
    #[serde(default)]
    pub every: u64,
    /// With what.
    #[serde(default = "eio")]
    pub errno: i32,
}

fn eio() -> i32 {
    libc::EIO
}

/// Members side by side, each with its servers, transfer rate and arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimStripe {
    /// How many.
    pub members: u32,
    /// Bytes on one before the next one follows.
    pub stripe_bytes: u64,
}

/// Flash that takes writes fast until so much was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimSlc {
    /// Written fast.
    pub size_bytes: u64,
    /// All further writes together.
    pub slow_bytes_per_s: u64,
    /// Emptied again while nothing is written.
    #[serde(default)]
    pub recover_bytes_per_s: u64,
}

/// Reads in order are fetched ahead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimReadAhead {
    /// Fetched at a time, one window ahead of the reader.
    pub window_bytes: u64,
    /// Time of a read that was fetched in time.
    pub hit_ns: u64,
}

/// A fast tier.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimTier {
    /// Its size.
    pub size_bytes: u64,
    /// Time of an I/O there.
    pub fast_ns: u64,
    /// What is moved at a time.
    #[serde(default = "mebibyte")]
    pub extent_bytes: u64,
    /// Moved after so many accesses; 0: at the end of each period.
    #[serde(default)]
    pub after: u32,
    /// At its end the extents that were used most are the fast ones; 0: no periods.
    #[serde(default)]
    pub period_ns: u64,
}

fn mebibyte() -> u64 {
    1 << 20
}

/// Space that is allocated when it is first written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimThin {
    /// Allocated at a time.
    #[serde(default = "line")]
    pub unit_bytes: u64,
    /// Added for each unit that is written for the first time.
    #[serde(default)]
    pub first_write_ns: u64,
    /// Reads that touch only unwritten units end in this time, without the device.
    #[serde(default)]
    pub hole_ns: Option<u64>,
    /// Zeros are not written: such writes end in this time and leave a hole.
    #[serde(default)]
    pub zero_ns: Option<u64>,
    /// Allocating more fails with ENOSPC; 0: no limit.
    #[serde(default)]
    pub pool_bytes: u64,
}

/// Less is moved and served when the data can be made smaller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimReduction {
    /// Zero bytes are not stored.
    #[serde(default)]
    pub compress: bool,
    /// Repeated 4 KiB blocks are not stored.
    #[serde(default)]
    pub dedupe: bool,
    /// What remains at the best.
    #[serde(default = "five")]
    pub least_percent: f64,
}

fn five() -> f64 {
    5.0
}

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Counts {
    /// I/Os.
    Ios,
    /// Bytes.
    Bytes,
}

/// A cap, or with a bucket the baseline of a volume with credits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimLimit {
    /// I/Os or bytes.
    pub counts: Counts,
    /// How many a second.
    pub rate_per_s: f64,
    /// Saved up, full at the start; it may be spent at any speed.
    #[serde(default)]
    pub bucket: f64,
    /// A larger I/O counts as several of this size; 0: each is one.
    #[serde(default)]
    pub unit_bytes: u64,
}

/// A network or cable: full duplex.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimLink {
    /// Payload in each direction.
    pub bytes_per_s: u64,
    /// There and back, without data.
    pub rtt_ns: u64,
}

/// What is let through one at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Serialised {
    /// Nothing.
    #[default]
    None,
    /// Writes.
    Writes,
    /// Reads and writes.
    All,
}

/// Service times `factor` longer from..to, counted from the first I/O of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimSlow {
    /// Begin.
    pub from_ns: u64,
    /// End.
    pub to_ns: u64,
    /// How much longer.
    pub factor: f64,
}

/// Service times grow evenly to `factor` over `over_ns`, and stay there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimDrift {
    /// How much longer in the end.
    pub factor: f64,
    /// Until then.
    pub over_ns: u64,
}

/// Service and transfer times grow evenly from the first byte of a member to its last: the tracks of a disk
/// hold less towards its middle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimZones {
    /// How much longer at the last byte.
    pub inner_factor: f64,
}

/// Foreign I/Os at random times and places, served in turn with ours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimNoise {
    /// How many a second while they come.
    pub rate_per_s: f64,
    /// They come in the first `burst_ns` of every `every_ns`; 0: always.
    #[serde(default)]
    pub burst_ns: u64,
    /// Period.
    #[serde(default)]
    pub every_ns: u64,
}

/// Service × (1 + a(n-1) + b·n(n-1)) with n I/Os in flight: the universal scalability law.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimScaling {
    /// a.
    pub contention: f64,
    /// b.
    pub retrograde: f64,
}
