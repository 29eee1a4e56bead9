"""SimulatedDevice: a storage device on virtual time, whose answers are known; every field is an option."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from iocast.model.service_laws import ServiceLaw


class SimulatedCache(Struct, frozen=True, forbid_unknown_fields=True):
    """A cache in front: `read_hit_percent` of the blocks (the same ones each time) are ready after `hit_ns` and
    share the device's bandwidth with all others.

    With `size_bytes` it keeps the lines that were used last. With `write_back` every write is answered in `hit_ns`,
    with `dirty_bytes` only until so much is written that has not left it at `destage_bytes_per_s`.
    """

    read_hit_percent: float
    hit_ns: int
    write_back: bool = False
    size_bytes: int = 0  # 0: only read_hit_percent decides
    line_bytes: int = 65536
    scan_resistant: bool = False  # I/Os that go on in order do not fill it
    dirty_bytes: int = 0  # 0: no end
    destage_bytes_per_s: int = 0


class SimulatedStall(Struct, frozen=True, forbid_unknown_fields=True):
    """Nothing ends in the last `for_ns` of every `every_ns`."""

    every_ns: int
    for_ns: int


class SimulatedErrors(Struct, frozen=True, forbid_unknown_fields=True):
    """I/Os that touch bytes start..end fail, and so do `percent` of all others and each `every`-th, with `errno`."""

    start_bytes: int = 0
    end_bytes: int = 0
    percent: float = 0.0
    every: int = 0  # 0: none
    errno: int = 5


class SimulatedStripe(Struct, frozen=True, forbid_unknown_fields=True):
    """Several members, each with its servers, bandwidth and arm; after `stripe_bytes` on one the next one follows."""

    members: int
    stripe_bytes: int = 65536


class SimulatedSlc(Struct, frozen=True, forbid_unknown_fields=True):
    """Flash that takes `size_bytes` of writes fast, all further ones at `slow_bytes_per_s`; while nothing is written
    the fast part empties at `recover_bytes_per_s`."""

    size_bytes: int
    slow_bytes_per_s: int
    recover_bytes_per_s: int = 0


class SimulatedReadAhead(Struct, frozen=True, forbid_unknown_fields=True):
    """Reads in order are fetched one window ahead of the reader; what is there by then takes `hit_ns`."""

    window_bytes: int
    hit_ns: int


class SimulatedTier(Struct, frozen=True, forbid_unknown_fields=True):
    """A fast tier: extents move there `after` so many accesses, or those used most at the end of each period."""

    size_bytes: int
    fast_ns: int
    extent_bytes: int = 1 << 20
    after: int = 0  # 0: not by count
    period_ns: int = 0  # 0: no periods


class SimulatedThin(Struct, frozen=True, forbid_unknown_fields=True):
    """Space that is allocated, `unit_bytes` at a time, when it is first written."""

    unit_bytes: int = 65536
    first_write_ns: int = 0  # added for each unit that is written for the first time
    hole_ns: int | None = None  # time of a read that touches only unwritten units; None: as any other
    zero_ns: int | None = None  # time of a write of zeros, which is not done; None: as any other
    pool_bytes: int = 0  # more than this is refused with ENOSPC; 0: no limit


class SimulatedReduction(Struct, frozen=True, forbid_unknown_fields=True):
    """Service and transfer scale with what is left of the data, `least_percent` at the best."""

    compress: bool = False  # zero bytes are not stored
    dedupe: bool = False  # repeated blocks are not stored
    least_percent: float = 5.0


class SimulatedLimit(Struct, frozen=True, forbid_unknown_fields=True):
    """A cap of `rate_per_s`; with `bucket` a baseline whose savings, full at the start, are spent at any speed."""

    counts: Literal["ios", "bytes"]
    rate_per_s: float
    bucket: float = 0.0
    unit_bytes: int = 0  # a larger I/O counts as several of this size; 0: each is one


class SimulatedLink(Struct, frozen=True, forbid_unknown_fields=True):
    """A full-duplex network or cable: payload in each direction, and the time there and back without data."""

    bytes_per_s: int
    rtt_ns: int


class SimulatedSlow(Struct, frozen=True, forbid_unknown_fields=True):
    """Maintenance: service times are `factor` longer from..to, counted from the first phase of the run."""

    from_ns: int
    to_ns: int
    factor: float


class SimulatedDrift(Struct, frozen=True, forbid_unknown_fields=True):
    """Service times grow evenly to `factor` within `over_ns` of the run, and stay there."""

    factor: float
    over_ns: int


class SimulatedZones(Struct, frozen=True, forbid_unknown_fields=True):
    """Service and transfer times grow evenly to `inner_factor` from the first byte of a member to its last."""

    inner_factor: float


class SimulatedNoise(Struct, frozen=True, forbid_unknown_fields=True):
    """Others on the same drives: so many I/Os a second, at random, in the first `burst_ns` of every `every_ns`."""

    rate_per_s: float
    burst_ns: int = 0  # 0: always
    every_ns: int = 0


class SimulatedScaling(Struct, frozen=True, forbid_unknown_fields=True):
    """Service x (1 + a(n-1) + b n(n-1)) with n I/Os in flight: the universal scalability law, a and b in this order."""

    contention: float
    retrograde: float


class SimulatedDevice(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole device: `servers` I/Os are served at once, the others wait in order of arrival."""

    size_bytes: int
    service: ServiceLaw
    write_service: ServiceLaw | None = None  # None: as reads
    servers: int = 1
    bandwidth_bytes_per_s: int = 0  # 0: no limit; shared by the servers
    fsync_ns: int = 0
    cache: SimulatedCache | None = None
    stall: SimulatedStall | None = None
    errors: SimulatedErrors | None = None
    stripe: SimulatedStripe | None = None
    max_io_bytes: int = 0  # larger I/Os are split; 0: never
    fragment_bytes: int = 0  # pieces of this size lie scattered; 0: in order
    slc: SimulatedSlc | None = None
    read_ahead: SimulatedReadAhead | None = None
    tier: SimulatedTier | None = None
    thin: SimulatedThin | None = None
    reduction: SimulatedReduction | None = None
    limits: tuple[SimulatedLimit, ...] = ()  # all hold
    link: SimulatedLink | None = None
    serialised: Literal["none", "writes", "all"] = "none"  # what is let through one at a time
    slow: SimulatedSlow | None = None
    drift: SimulatedDrift | None = None
    zones: SimulatedZones | None = None
    noise: SimulatedNoise | None = None
    tick_ns: int = 0  # ends are noticed at multiples of this; 0: at once
    scaling: SimulatedScaling | None = None
