"""SimulatedDevice: a storage device on virtual time, whose answers are known; every field is an option."""

from __future__ import annotations

from msgspec import Struct


class ConstantLaw(Struct, frozen=True, tag="constant", tag_field="kind", forbid_unknown_fields=True):
    """Every I/O takes `mean_ns`."""

    mean_ns: int


class ExponentialLaw(Struct, frozen=True, tag="exponential", tag_field="kind", forbid_unknown_fields=True):
    """Exponential service time."""

    mean_ns: int


class LognormalLaw(Struct, frozen=True, tag="lognormal", tag_field="kind", forbid_unknown_fields=True):
    """Lognormal service time; `cv` is standard deviation over mean."""

    mean_ns: int
    cv: float


class UniformLaw(Struct, frozen=True, tag="uniform", tag_field="kind", forbid_unknown_fields=True):
    """Equally likely between `low_ns` and `high_ns`."""

    low_ns: int
    high_ns: int


class DiskLaw(Struct, frozen=True, tag="disk", tag_field="kind", forbid_unknown_fields=True):
    """A disk arm: seek base + span*sqrt(distance/size), half a turn on average; none when it goes on in order."""

    rpm: float
    seek_base_ns: int
    seek_span_ns: int


ServiceLaw = ConstantLaw | ExponentialLaw | LognormalLaw | UniformLaw | DiskLaw


class SimulatedCache(Struct, frozen=True, forbid_unknown_fields=True):
    """A cache in front: `read_hit_percent` of the blocks (the same ones each time) are ready after `hit_ns` and
    share the device's bandwidth with all others.

    With `write_back` every write is answered in `hit_ns`.
    """

    read_hit_percent: float
    hit_ns: int
    write_back: bool = False


class SimulatedStall(Struct, frozen=True, forbid_unknown_fields=True):
    """Nothing ends in the last `for_ns` of every `every_ns`."""

    every_ns: int
    for_ns: int


class SimulatedErrors(Struct, frozen=True, forbid_unknown_fields=True):
    """I/Os that touch bytes start..end fail, and so do `percent` of all others, with `errno`."""

    start_bytes: int = 0
    end_bytes: int = 0
    percent: float = 0.0
    errno: int = 5


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
