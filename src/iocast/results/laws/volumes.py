"""Laws of cloud volumes, burst credits, bursts, mixes and caches."""

from __future__ import annotations

import math
from collections.abc import Sequence

from iocast.forecast.laws import bursts, mixes, volumes
from iocast.forecast.laws.volumes import GIB, MIB
from iocast.model.results.laws.volumes import (
    BucketLaw,
    BurstCreditsLaw,
    BurstLaw,
    CacheLaw,
    LevelsCounted,
    LevelsLaw,
    MixedKind,
    MixLaw,
    VolumeKind,
    VolumeLaw,
    VolumesLaw,
)

NS = 1e9


def all_volumes() -> VolumesLaw:
    """The limits of every kind of volume, with the date on which they were read."""
    rows = (
        VolumeKind(
            volume=name,
            base_iops=of.base_iops or of.least_iops or None,
            iops_per_gib=of.iops_per_gib,
            most_iops=of.most_iops,
            base_mib_per_s=of.base_mib_per_s or None,
            mib_per_s_per_iops=of.mib_per_s_per_iops or None,
            most_mib_per_s=of.most_mib_per_s,
            io_bytes=of.io_bytes,
            most_gib=of.most_gib,
            checked=of.checked.isoformat(),
            source=of.source,
        )
        for name, of in volumes.volume_limits().items()
    )
    return VolumesLaw(volumes=tuple(rows))


def volume(kind: str, size_bytes: int, iops: int, bytes_per_s: float, io_bytes: int) -> VolumeLaw | BurstCreditsLaw:
    """What one volume of a size can be given, or how long it bursts. Raises SpecError."""
    limits = volumes.limits_of(kind)
    counted = volumes.counted_ios(kind, io_bytes)
    needed = iops * counted
    if limits.bucket_ios:
        return _bursting(kind, size_bytes, needed)
    given = volumes.provisioned(kind, size_bytes, needed, bytes_per_s)
    return VolumeLaw(
        volume=kind,
        size_gib=size_bytes / GIB,
        asked_iops=needed,
        iops=given.iops,
        asked_mib_per_s=bytes_per_s / MIB,
        mib_per_s=given.bytes_per_s / MIB,
        as_asked=given.as_asked,
        crossover_kib=given.crossover_bytes / 1024,
        io_bytes=io_bytes,
        counted_ios=counted,
    )


def _bursting(kind: str, size_bytes: int, iops: int) -> BurstCreditsLaw:
    did = volumes.burst(kind, size_bytes, iops)
    return BurstCreditsLaw(
        volume=kind,
        size_gib=size_bytes / GIB,
        baseline_iops=did.baseline_iops,
        burst_iops=did.burst_iops,
        asked_iops=iops,
        lasts_s=None if math.isinf(did.burst_s) else did.burst_s,
        refill_s=did.refill_s,
    )


def bucket(rate_per_s: float, bucket_ios: float, demand: Sequence[bursts.Stretch]) -> BucketLaw:
    """What becomes of a token bucket. Raises SpecError."""
    did = bursts.token_bucket(rate_per_s, bucket_ios, demand)
    return BucketLaw(
        refill_per_s=rate_per_s,
        bucket_ios=bucket_ios,
        first_empty_s=did.first_empty_s,
        peak_backlog_ios=did.peak_backlog_ios,
        peak_delay_ns=did.peak_delay_s * NS,
        balance_ios=did.balance_ios,
        backlog_ios=did.backlog_ios,
    )


def burst(burst_per_s: float, after_per_s: float, capacity_per_s: float, burst_s: float) -> BurstLaw:
    """What a burst above the capacity leaves behind."""
    did = bursts.fluid_backlog(burst_per_s, after_per_s, capacity_per_s, burst_s)
    return BurstLaw(
        burst_per_s=burst_per_s,
        after_per_s=after_per_s,
        capacity_per_s=capacity_per_s,
        burst_s=burst_s,
        peak_ios=did.peak_ios,
        peak_delay_ns=did.peak_delay_s * NS,
        drain_s=None if math.isinf(did.drain_s) else did.drain_s,
    )


def slow_changes(levels: Sequence[bursts.Level]) -> LevelsLaw:
    """Response times over levels of load that change slowly. Raises Overloaded, SpecError."""
    did = bursts.slow_changes(levels)
    return LevelsLaw(
        counted=(
            LevelsCounted(by="levels", response_ns=did.response_s * NS, p99_ns=did.p99_s * NS),
            LevelsCounted(by="average", response_ns=did.response_at_average_s * NS),
        )
    )


def mix(rates_per_s: Sequence[float], capacities_per_s: Sequence[float]) -> MixLaw:
    """What several kinds of I/O use together. Raises SpecError."""
    use = mixes.mix_use(rates_per_s, capacities_per_s)
    kinds = zip(rates_per_s, capacities_per_s, use.each, strict=True)
    return MixLaw(
        kinds=tuple(_mixed(*each) for each in kinds),
        together=_mixed(sum(rates_per_s), use.capacity_per_s, use.total),
        highest_share=use.highest,
        headroom_share=use.headroom,
    )


def _mixed(rate_per_s: float, capacity_per_s: float, used: float) -> MixedKind:
    return MixedKind(rate_per_s=rate_per_s, capacity_per_s=capacity_per_s, utilisation_share=used)


def cache(data_bytes: float, cache_bytes: float, hit_s: float, miss_s: float) -> CacheLaw:
    """How much of uniform random reads a cache answers."""
    hit = mixes.uniform_hit_ratio(data_bytes, cache_bytes)
    return CacheLaw(
        data_bytes=data_bytes,
        cache_bytes=cache_bytes,
        hit_share=hit,
        mean_ns=(hit * hit_s + (1 - hit) * miss_s) * NS,
        hit_ns=hit_s * NS,
        miss_ns=miss_s * NS,
    )
