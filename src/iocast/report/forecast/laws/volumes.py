"""Cloud volumes, burst credits, bursts, mixes and caches."""

from __future__ import annotations

import math
from collections.abc import Iterator

from iocast import text
from iocast.forecast.laws.volumes import limits_of
from iocast.model.results.laws.volumes import (
    BucketLaw,
    BurstCreditsLaw,
    BurstLaw,
    CacheLaw,
    LevelsLaw,
    MixLaw,
    VolumeLaw,
    VolumesLaw,
)
from iocast.report.forecast.laws.law_text import NS, LawText, law_table
from iocast.units import size_text

SETTLE_S = 600  # that a test outlasts burst credits
LEVELS = {"levels": "over all levels", "average": "by the average rate"}


def all_volumes(law: VolumesLaw) -> LawText:
    """The limits of every kind of volume."""
    fastest = max(law.volumes, key=lambda row: row.most_iops)
    return LawText(
        "volumes",
        f"The limits of {len(law.volumes)} kinds of cloud volumes; {fastest.volume} has the most IOPS: "
        f"{fastest.most_iops:,.0f}.",
        "volume_limits.toml: data with a date, changed there when a maker changes a limit.",
        (
            law_table(
                "volumes",
                "Limits of one volume",
                law.volumes,
                ("A limit of the instance, or of the machine, caps the sum of its volumes.",),
            ),
        ),
    )


def volume(law: VolumeLaw) -> LawText:
    """What one volume of a size can be given."""
    less = f"less than the {law.asked_iops:,} IOPS and {law.asked_mib_per_s:,.0f} MiB/s asked for"
    return LawText(
        f"volume {law.volume}",
        f"{law.volume} of {law.size_gib:,.0f} GiB: {law.iops:,} IOPS and {law.mib_per_s:,.0f} MiB/s, "
        f"{'as asked' if law.as_asked else less}.",
        "models A9: below that I/O size the IOPS limit, above it the throughput.",
        (
            law_table(
                "volume",
                "Provisioned",
                (law,),
                _volume_notes(law),
                words={"as_asked": lambda row: "yes" if row.as_asked else "no"},
            ),
        ),
    )


def _volume_notes(law: VolumeLaw) -> Iterator[str]:
    yield _read(law.volume)
    if law.counted_ios > 1:
        yield f"One I/O of {text.size(law.io_bytes)} counts as {law.counted_ios}."
    if not law.as_asked:
        yield _way_out(law)


def _read(kind: str) -> str:
    limits = limits_of(kind)
    return f"Read {limits.checked.isoformat()} from: {limits.source}."


def _way_out(law: VolumeLaw) -> str:
    limits, iops, moved = limits_of(law.volume), law.asked_iops, law.asked_mib_per_s
    if iops > limits.most_iops or moved > limits.most_mib_per_s:
        return f"One {law.volume} cannot: stripe several (iocast size --device {law.volume}), or choose another kind."
    if limits.iops_per_gib and iops > limits.iops_per_gib * law.size_gib:
        return f"{iops:,} IOPS need {math.ceil(iops / limits.iops_per_gib):,} GiB."
    return f"That throughput needs {math.ceil(moved / limits.mib_per_s_per_iops):,} IOPS."


def burst_credits(law: BurstCreditsLaw) -> LawText:
    """How long a volume bursts."""
    if law.lasts_s is None:
        says = f"sustains {law.asked_iops:,} IOPS for ever: its baseline is {law.baseline_iops:,.0f}"
    else:
        served = min(float(law.asked_iops), law.burst_iops)
        says = (
            f"does {served:,.0f} IOPS for {law.lasts_s:,.0f} s, then {law.baseline_iops:,.0f}: a test must last "
            f"{law.lasts_s + SETTLE_S:,.0f} s, or it measures the burst"
        )
    return LawText(
        f"volume {law.volume}",
        f"{law.volume} of {law.size_gib:,.0f} GiB {says}.",
        "models A9: 5.4 million credits / (demand - baseline).",
        (law_table("volume", "Burst credits", (law,), (_read(law.volume),)),),
    )


def bucket(law: BucketLaw) -> LawText:
    """What becomes of a token bucket."""
    says = (
        f"The bucket is empty after {law.first_empty_s:,.4g} s; up to {law.peak_backlog_ios:,.0f} I/Os "
        f"wait {law.peak_delay_ns / NS:,.4g} s."
        if law.first_empty_s is not None
        else f"The bucket never runs empty: {law.balance_ios:,.0f} of {law.bucket_ios:,.0f} credits are left."
    )
    return LawText(
        "bucket",
        says,
        "models A9: a fluid; single I/Os do not matter at such lengths.",
        (
            law_table(
                "bucket", f"Refilled with {law.refill_per_s:g}/s, up to {law.bucket_ios:,.0f}; it starts full", (law,)
            ),
        ),
    )


def burst(law: BurstLaw) -> LawText:
    """What a burst above the capacity leaves behind."""
    end = (
        " and never drains: the load after it is no lower than the capacity"
        if law.drain_s is None
        else f", drained {law.drain_s:,.4g} s after it"
    )
    says = (
        f"The burst leaves {law.peak_ios:,.0f} I/Os behind, {law.peak_delay_ns / NS:,.4g} s of work{end}."
        if law.peak_ios
        else "The burst stays below the capacity: no backlog. Its queue: iocast model mmc."
    )
    return LawText(
        "burst",
        says,
        "models A8: backlog (rate - capacity) x time, delay backlog / capacity.",
        (
            law_table(
                "burst",
                f"{law.burst_per_s:g}/s for {law.burst_s:g} s against {law.capacity_per_s:g}/s, then "
                f"{law.after_per_s:g}/s",
                (law,),
                ("A forecast from the average rate sees none of this: 2 to 2000 times too good (models A8).",),
            ),
        ),
    )


def levels(law: LevelsLaw) -> LawText:
    """Response times over levels of load that change slowly."""
    over, average = law.counted
    times, mean = over.response_ns / average.response_ns, text.milliseconds(over.response_ns)
    assert over.p99_ns is not None
    return LawText(
        "slow changes",
        f"Mean response {mean} ms, p99 {text.milliseconds(over.p99_ns)} ms: the average rate would promise "
        f"{text.milliseconds(average.response_ns)} ms, {times:.3g} times less."
        if times >= 1.005
        else f"Mean response {mean} ms; the average rate says the same.",
        "models A8: levels weighted by their I/Os, not by their time.",
        (
            law_table(
                "levels",
                "Levels of load, each long enough to settle",
                law.counted,
                words={"by": lambda row: LEVELS[row.by]},
            ),
        ),
    )


def mix(law: MixLaw) -> LawText:
    """What several kinds of I/O use together."""
    total = law.together.utilisation_share
    room = f"may grow by {law.headroom_share:.1%}" if law.headroom_share > 0 else f"must shrink by {1 - 1 / total:.1%}"
    return LawText(
        "mix",
        f"Together they use {total:.1%} where they share one limit, {law.highest_share:.1%} where each has its own; "
        f"all of it {room}.",
        "models A7: each I/O costs 1 / capacity of its kind alone.",
        (
            law_table(
                "mix",
                "Kinds of I/O, and all together",
                (*law.kinds, law.together),
                ("Exact for a shared pool; on striped disks 13 to 30% too good: measure the mix itself.",),
            ),
        ),
    )


def cache(law: CacheLaw) -> LawText:
    """How much of uniform random reads a cache answers."""
    hit = law.hit_share
    large = "that much of a test on it measures the cache" if hit > 0.1 else "small enough for a test of the storage"
    return LawText(
        "cache",
        f"The cache answers {hit:.1%} of uniform random reads: {large}.",
        "models D: cache / data, checked against a simulated LRU.",
        (
            law_table(
                "cache",
                f"Hit {law.hit_ns / 1e6:g} ms, miss {law.miss_ns / 1e6:g} ms",
                (law,),
                ("Data of twice the cache still leave half of the reads to it; 20 times leave 5%. Skew: more.",),
                words={
                    "data_bytes": lambda row: size_text(round(row.data_bytes)),
                    "cache_bytes": lambda row: size_text(round(row.cache_bytes)),
                },
            ),
        ),
    )
