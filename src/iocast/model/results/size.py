"""The result of a sizing: how many devices a need takes, how they stand it, or all devices of the library."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Struct

from iocast.model.codes import NeedCode
from iocast.model.results.shown import Number, shown

Layout = Literal["raid0", "raid1", "raid10", "raid5", "raid6", "volumes"]


class Needed(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many devices a part of the need takes."""

    need: Annotated[NeedCode, shown("for", "code")]
    asked_bytes: Annotated[Number | None, shown("asked at peak", "decimal_bytes", column="asked")] = None
    asked_rate_per_s: Annotated[Number | None, shown("asked at peak", "rate", column="asked")] = None
    asked_bytes_per_s: Annotated[Number | None, shown("asked at peak", "bytes_per_s", column="asked")] = None
    asked_ns: Annotated[Number | None, shown("asked at peak", "duration", column="asked")] = None
    devices: Annotated[int, shown("devices", "count")]
    binds: Annotated[bool, shown("limiting factor")]


class Loaded(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the busiest device stands the load, with all devices or with one missing. `limited_ns` is the percentile of
    the limit, or p99; null: unknown, or unbounded.
    """

    failed: Annotated[bool, shown("state")]
    rate_per_s: Annotated[Number, shown("IOPS\neach", "rate")]
    utilisation_share: Annotated[Number, shown("utilisation", "share")]
    mean_ns: Annotated[Number | None, shown("mean", "duration")] = None
    limited_ns: Annotated[Number | None, shown("p99", "duration")] = None
    limit_ns: Annotated[Number | None, shown("limit", "duration")] = None
    met: Annotated[bool | None, shown("met")] = None


class Provisioned(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What each cloud volume is to be given."""

    size_gib: Annotated[int, shown("GiB\neach", "count")]
    iops: Annotated[int, shown("IOPS\neach", "count")]
    mib_per_s: Annotated[int, shown("MiB/s\neach", "count")]
    cost: Annotated[Number | None, shown("cost a month,\nall", "count")] = None


class Year(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a year takes; 0 is today."""

    year: Annotated[int, shown("year", "count")]
    capacity_bytes: Annotated[Number, shown("capacity", "decimal_bytes")]
    rate_per_s: Annotated[Number, shown("IOPS", "count")]
    throughput_bytes_per_s: Annotated[Number | None, shown("MB/s", "bytes_per_s")] = None
    devices: Annotated[int, shown("devices", "count")]
    binding: Annotated[NeedCode, shown("limiting factor", "code")]
    cost: Annotated[Number | None, shown("cost", "count")] = None


class SizedModel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One device of the library beside the others; `why`: it cannot carry the need."""

    device: Annotated[str, shown("device")]
    devices: Annotated[int | None, shown("count", "count")] = None
    layout: Annotated[Layout | None, shown("layout", spare=3)] = None
    binding: Annotated[NeedCode | None, shown("limiting factor", "code")] = None
    utilisation_share: Annotated[Number | None, shown("busy", "share")] = None
    mean_ns: Annotated[Number | None, shown("mean", "duration", spare=1)] = None
    limited_ns: Annotated[Number | None, shown("p99", "duration")] = None
    failed_share: Annotated[Number | None, shown("busy, one\nfailed", "share")] = None
    usable_bytes: Annotated[Number | None, shown("usable", "decimal_bytes", spare=2)] = None
    why: Annotated[str | None, shown("why not")] = None


class Size(Struct, frozen=True, kw_only=True):
    """One device in full, or only `library`."""

    counts: tuple[Needed, ...] = ()
    states: tuple[Loaded, ...] = ()
    provisioned: tuple[Provisioned, ...] = ()
    years: tuple[Year, ...] = ()
    library: tuple[SizedModel, ...] = ()
