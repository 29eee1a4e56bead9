"""Laws of cloud volumes, bursts, mixes and caches."""

from __future__ import annotations

from typing import Annotated, Literal

from iocast.model.results.laws.law import Iops, Law, LawRow, ms, num, pct
from iocast.model.results.shown import Number, shown

LevelsCode = Literal["levels", "average"]


class VolumeKind(LawRow, frozen=True, kw_only=True):
    """The limits of a kind of volume, as its maker stated them when they were checked."""

    volume: Annotated[str, shown("volume")]
    base_iops: Annotated[int | None, num("IOPS\nat least")] = None
    iops_per_gib: Annotated[Number, num("IOPS\na GiB")]
    most_iops: Annotated[int, num("IOPS\nat most")]
    base_mib_per_s: Annotated[Number | None, num("MiB/s\nincluded", 1)] = None
    mib_per_s_per_iops: Annotated[Number | None, num("MiB/s\nan IOPS", 2)] = None
    most_mib_per_s: Annotated[Number, num("MiB/s\nat most")]
    io_bytes: Annotated[int, shown("one I/O\nup to", "bytes", spare=3)]
    most_gib: Annotated[int, num("GiB\nat most")]
    checked: Annotated[str, shown("checked")]
    source: Annotated[str, shown("source", spare=5)]


class VolumesLaw(Law, frozen=True, kw_only=True, tag="volumes"):
    """The limits of every kind of volume."""

    volumes: tuple[VolumeKind, ...]


class VolumeLaw(Law, frozen=True, kw_only=True, tag="volume"):
    """What one volume can be given. `counted_ios`: as how many an I/O counts; `crossover_kib`: below that I/O size
    the IOPS limit, above it the throughput."""

    volume: Annotated[str, shown("volume")]
    size_gib: Annotated[Number, num("GiB")]
    asked_iops: Annotated[int, num("IOPS\nasked")]
    iops: Annotated[int, num("IOPS")]
    asked_mib_per_s: Annotated[Number, num("MiB/s\nasked")]
    mib_per_s: Annotated[Number, num("MiB/s")]
    as_asked: Annotated[bool, shown("as\nasked")]
    crossover_kib: Annotated[Number, num("both limits\nat KiB")]
    io_bytes: int
    counted_ios: int


class BurstCreditsLaw(Law, frozen=True, kw_only=True, tag="volume_burst"):
    """How long burst credits last; `lasts_s` is null where they last for ever."""

    volume: Annotated[str, shown("volume")]
    size_gib: Annotated[Number, num("GiB")]
    baseline_iops: Annotated[Number, num("baseline\nIOPS")]
    burst_iops: Annotated[Number, num("burst\nIOPS")]
    asked_iops: Annotated[int, num("IOPS\nasked")]
    lasts_s: Annotated[Number | None, num("lasts\ns")] = None
    refill_s: Annotated[Number, num("refilled in\ns")]


class BucketLaw(Law, frozen=True, kw_only=True, tag="bucket"):
    """What becomes of a token bucket; `first_empty_s` is null where it never runs empty."""

    refill_per_s: Number
    bucket_ios: Number
    first_empty_s: Annotated[Number | None, num("empty after\ns")] = None
    peak_backlog_ios: Annotated[Number, num("most I/Os\nwaiting")]
    peak_delay_ns: Annotated[Number, ms("longest\ndelay")]
    balance_ios: Annotated[Number, num("credits\nleft")]
    backlog_ios: Annotated[Number, num("I/Os left\nwaiting")]


class BurstLaw(Law, frozen=True, kw_only=True, tag="burst"):
    """What a burst above the capacity leaves behind; `drain_s` is null where it never drains."""

    burst_per_s: Number
    after_per_s: Number
    capacity_per_s: Number
    burst_s: Number
    peak_ios: Annotated[Number, num("most I/Os\nwaiting")]
    peak_delay_ns: Annotated[Number, ms("longest\ndelay")]
    drain_s: Annotated[Number | None, num("drained\nafter s")] = None


class LevelsCounted(LawRow, frozen=True, kw_only=True):
    """Response times over all levels, or as the average rate would promise them."""

    by: Annotated[LevelsCode, shown("counted")]
    response_ns: Annotated[Number, ms("response")]
    p99_ns: Annotated[Number | None, ms("p99")] = None


class LevelsLaw(Law, frozen=True, kw_only=True, tag="levels"):
    """Levels of load, each long enough to settle."""

    counted: tuple[LevelsCounted, ...]


class MixedKind(LawRow, frozen=True, kw_only=True):
    """A kind of I/O, or all together."""

    rate_per_s: Iops
    capacity_per_s: Annotated[Number, num("IOPS\nalone")]
    utilisation_share: Annotated[Number, pct("utilisation")]


class MixLaw(Law, frozen=True, kw_only=True, tag="mix"):
    """What several kinds of I/O use. `highest_share`: where each has a limit of its own; all of it may grow by
    `headroom_share`, which is below 0 where it must shrink."""

    kinds: tuple[MixedKind, ...]
    together: MixedKind
    highest_share: Number
    headroom_share: Number


class CacheLaw(Law, frozen=True, kw_only=True, tag="cache"):
    """How much of uniform random reads a cache answers."""

    data_bytes: Annotated[Number, shown("data")]
    cache_bytes: Annotated[Number, shown("cache")]
    hit_share: Annotated[Number, pct("hits")]
    mean_ns: Annotated[Number, ms("mean")]
    hit_ns: Number
    miss_ns: Number
