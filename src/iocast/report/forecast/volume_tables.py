"""Tables of cloud volumes, burst credits, bursts, mixes and caches."""

from __future__ import annotations

import math
from collections.abc import Sequence

from iocast import text
from iocast.forecast.laws import bursts, mixes, volumes
from iocast.forecast.laws.volumes import GIB, MIB
from iocast.model.report import Cell, Report
from iocast.report.forecast.model_tables import NS, col, law_report, ms, num, pct, table
from iocast.units import size_text


def all_volumes() -> Report:
    """The limits of every kind of volume, with the date on which they were read."""
    rows: list[dict[str, Cell]] = [
        {
            "volume": name,
            "base_iops": of.base_iops or of.least_iops or None,
            "iops_per_gib": of.iops_per_gib,
            "most_iops": of.most_iops,
            "base_mib_per_s": of.base_mib_per_s or None,
            "mib_per_s_per_iops": of.mib_per_s_per_iops or None,
            "most_mib_per_s": of.most_mib_per_s,
            "io": of.io_bytes,
            "most_gib": of.most_gib,
            "checked": of.checked.isoformat(),
            "source": of.source,
        }
        for name, of in volumes.volume_limits().items()
    ]
    fastest = max(rows, key=lambda row: _number(row["most_iops"]))
    return law_report(
        "volumes",
        f"The limits of {len(rows)} kinds of cloud volumes; {fastest['volume']} has the most IOPS: "
        f"{_number(fastest['most_iops']):,.0f}.",
        (
            table(
                "Limits of one volume",
                "volumes",
                (
                    col("volume", "volume"),
                    num("base_iops", "IOPS\nat least"),
                    num("iops_per_gib", "IOPS\na GiB"),
                    num("most_iops", "IOPS\nat most"),
                    num("base_mib_per_s", "MiB/s\nincluded", 1),
                    num("mib_per_s_per_iops", "MiB/s\nan IOPS", 2),
                    num("most_mib_per_s", "MiB/s\nat most"),
                    col("io", "one I/O\nup to", "bytes", 3),
                    num("most_gib", "GiB\nat most"),
                    col("checked", "checked"),
                    col("source", "source", spare=5),
                ),
                rows,
                ("A limit of the instance, or of the machine, caps the sum of its volumes.",),
            ),
        ),
        "volume_limits.toml: data with a date, changed there when a maker changes a limit.",
    )


def volume(kind: str, size_bytes: int, iops: int, bytes_per_s: float, io_bytes: int) -> Report:
    """What one volume of a size can be given, and how long it bursts."""
    limits = volumes.limits_of(kind)
    counted = volumes.counted_ios(kind, io_bytes)
    asked = iops * counted
    if limits.bucket_ios:
        return _bursting(kind, size_bytes, asked, io_bytes)
    given = volumes.provisioned(kind, size_bytes, asked, bytes_per_s)
    row: dict[str, Cell] = {
        "volume": kind,
        "size_gib": size_bytes / GIB,
        "asked_iops": asked,
        "iops": given.iops,
        "asked_mib_per_s": bytes_per_s / MIB,
        "mib_per_s": given.bytes_per_s / MIB,
        "as_asked": "yes" if given.as_asked else "no",
        "crossover": given.crossover_bytes,
    }
    more = (
        "as asked" if given.as_asked else f"less than the {asked:,} IOPS and {bytes_per_s / MIB:,.0f} MiB/s asked for"
    )
    notes = [f"Read {limits.checked.isoformat()} from: {limits.source}."]
    if counted > 1:
        notes.append(f"One I/O of {text.size(io_bytes)} counts as {counted}.")
    if not given.as_asked:
        notes.append(_way_out(kind, size_bytes, asked, bytes_per_s))
    return law_report(
        f"volume {kind}",
        f"{kind} of {size_bytes / GIB:,.0f} GiB: {given.iops:,} IOPS and {given.bytes_per_s / MIB:,.0f} MiB/s, {more}.",
        (
            table(
                "Provisioned",
                "volume",
                (
                    col("volume", "volume"),
                    num("size_gib", "GiB"),
                    num("asked_iops", "IOPS\nasked"),
                    num("iops", "IOPS"),
                    num("asked_mib_per_s", "MiB/s\nasked"),
                    num("mib_per_s", "MiB/s"),
                    col("as_asked", "as\nasked"),
                    num("crossover_kib", "both limits\nat KiB"),
                ),
                [row | {"crossover_kib": given.crossover_bytes / 1024}],
                notes,
            ),
        ),
        "models A9: below that I/O size the IOPS limit, above it the throughput.",
    )


def _way_out(kind: str, size_bytes: int, iops: int, bytes_per_s: float) -> str:
    limits = volumes.limits_of(kind)
    if iops > limits.most_iops or bytes_per_s / MIB > limits.most_mib_per_s:
        return f"One {kind} cannot: stripe several (iocast size --device {kind}), or choose another kind."
    if limits.iops_per_gib and iops > limits.iops_per_gib * size_bytes / GIB:
        return f"{iops:,} IOPS need {math.ceil(iops / limits.iops_per_gib):,} GiB."
    return f"That throughput needs {math.ceil(bytes_per_s / MIB / limits.mib_per_s_per_iops):,} IOPS."


def _bursting(kind: str, size_bytes: int, iops: int, io_bytes: int) -> Report:
    limits = volumes.limits_of(kind)
    did = volumes.burst(kind, size_bytes, iops)
    for_ever = math.isinf(did.burst_s)
    row: dict[str, Cell] = {
        "volume": kind,
        "size_gib": size_bytes / GIB,
        "baseline": did.baseline_iops,
        "burst": did.burst_iops,
        "demand": iops,
        "lasts_s": None if for_ever else did.burst_s,
        "refill_s": did.refill_s,
    }
    if for_ever:
        says = f"sustains {iops:,} IOPS for ever: its baseline is {did.baseline_iops:,.0f}"
    else:
        served = min(float(iops), did.burst_iops)
        says = (
            f"does {served:,.0f} IOPS for {did.burst_s:,.0f} s, then {did.baseline_iops:,.0f}: a test must last "
            f"{did.burst_s + 600:,.0f} s, or it measures the burst"
        )
    return law_report(
        f"volume {kind}",
        f"{kind} of {size_bytes / GIB:,.0f} GiB {says}.",
        (
            table(
                "Burst credits",
                "volume",
                (
                    col("volume", "volume"),
                    num("size_gib", "GiB"),
                    num("baseline", "baseline\nIOPS"),
                    num("burst", "burst\nIOPS"),
                    num("demand", "IOPS\nasked"),
                    num("lasts_s", "lasts\ns"),
                    num("refill_s", "refilled in\ns"),
                ),
                [row],
                (f"Read {limits.checked.isoformat()} from: {limits.source}.",),
            ),
        ),
        "models A9: 5.4 million credits / (demand - baseline).",
    )


def bucket(rate_per_s: float, bucket_ios: float, demand: Sequence[bursts.Stretch]) -> Report:
    """What becomes of a token bucket."""
    did = bursts.token_bucket(rate_per_s, bucket_ios, demand)
    row: dict[str, Cell] = {
        "first_empty_s": did.first_empty_s,
        "peak_backlog_ios": did.peak_backlog_ios,
        "peak_delay": did.peak_delay_s * NS,
        "balance_ios": did.balance_ios,
        "backlog_ios": did.backlog_ios,
    }
    empty = did.first_empty_s
    says = (
        f"The bucket is empty after {empty:,.4g} s; up to {did.peak_backlog_ios:,.0f} I/Os "
        f"wait {did.peak_delay_s:,.4g} s."
        if empty is not None
        else f"The bucket never runs empty: {did.balance_ios:,.0f} of {bucket_ios:,.0f} credits are left."
    )
    return law_report(
        "bucket",
        says,
        (
            table(
                f"Refilled with {rate_per_s:g}/s, up to {bucket_ios:,.0f}; it starts full",
                "bucket",
                (
                    num("first_empty_s", "empty after\ns"),
                    num("peak_backlog_ios", "most I/Os\nwaiting"),
                    ms("peak_delay", "longest\ndelay"),
                    num("balance_ios", "credits\nleft"),
                    num("backlog_ios", "I/Os left\nwaiting"),
                ),
                [row],
            ),
        ),
        "models A9: a fluid; single I/Os do not matter at such lengths.",
    )


def burst(burst_per_s: float, after_per_s: float, capacity_per_s: float, burst_s: float) -> Report:
    """What a burst above the capacity leaves behind."""
    did = bursts.fluid_backlog(burst_per_s, after_per_s, capacity_per_s, burst_s)
    row: dict[str, Cell] = {
        "peak_ios": did.peak_ios,
        "peak_delay": did.peak_delay_s * NS,
        "drain_s": None if math.isinf(did.drain_s) else did.drain_s,
    }
    never = " and never drains: the load after it is no lower than the capacity" if math.isinf(did.drain_s) else ""
    says = (
        f"The burst leaves {did.peak_ios:,.0f} I/Os behind, {did.peak_delay_s:,.4g} s of work"
        f"{never or f', drained {did.drain_s:,.4g} s after it'}."
        if did.peak_ios
        else "The burst stays below the capacity: no backlog. Its queue: iocast model mmc."
    )
    return law_report(
        "burst",
        says,
        (
            table(
                f"{burst_per_s:g}/s for {burst_s:g} s against {capacity_per_s:g}/s, then {after_per_s:g}/s",
                "burst",
                (
                    num("peak_ios", "most I/Os\nwaiting"),
                    ms("peak_delay", "longest\ndelay"),
                    num("drain_s", "drained\nafter s"),
                ),
                [row],
                ("A forecast from the average rate sees none of this: 2 to 2000 times too good (models A8).",),
            ),
        ),
        "models A8: backlog (rate - capacity) x time, delay backlog / capacity.",
    )


def slow_changes(levels: Sequence[bursts.Level]) -> Report:
    """Response times over levels of load that change slowly."""
    did = bursts.slow_changes(levels)
    rows: list[dict[str, Cell]] = [
        {"what": "over all levels", "response": did.response_s * NS, "p99": did.p99_s * NS},
        {"what": "by the average rate", "response": did.response_at_average_s * NS, "p99": None},
    ]
    times = did.response_s / did.response_at_average_s
    return law_report(
        "slow changes",
        f"Mean response {text.milliseconds(did.response_s * NS)} ms, p99 {text.milliseconds(did.p99_s * NS)} ms: the "
        f"average rate would promise {text.milliseconds(did.response_at_average_s * NS)} ms, {times:.3g} times less."
        if times >= 1.005
        else f"Mean response {text.milliseconds(did.response_s * NS)} ms; the average rate says the same.",
        (
            table(
                "Levels of load, each long enough to settle",
                "levels",
                (col("what", "counted"), ms("response", "response"), ms("p99", "p99")),
                rows,
            ),
        ),
        "models A8: levels weighted by their I/Os, not by their time.",
    )


def mix(rates_per_s: Sequence[float], capacities_per_s: Sequence[float]) -> Report:
    """What several kinds of I/O use together."""
    use = mixes.mix_use(rates_per_s, capacities_per_s)
    rows: list[dict[str, Cell]] = [
        {"rate_per_s": rate, "capacity_per_s": most, "utilisation": used}
        for rate, most, used in zip(rates_per_s, capacities_per_s, use.each, strict=True)
    ]
    rows.append({"rate_per_s": sum(rates_per_s), "capacity_per_s": use.capacity_per_s, "utilisation": use.total})
    room = f"may grow by {use.headroom:.1%}" if use.headroom > 0 else f"must shrink by {1 - 1 / use.total:.1%}"
    return law_report(
        "mix",
        f"Together they use {use.total:.1%} where they share one limit, {use.highest:.1%} where each has its own; all "
        f"of it {room}.",
        (
            table(
                "Kinds of I/O, and all together",
                "mix",
                (num("rate_per_s", "IOPS"), num("capacity_per_s", "IOPS\nalone"), pct("utilisation", "utilisation")),
                rows,
                ("Exact for a shared pool; on striped disks 13 to 30% too good: measure the mix itself.",),
            ),
        ),
        "models A7: each I/O costs 1 / capacity of its kind alone.",
    )


def cache(data_bytes: float, cache_bytes: float, hit_s: float, miss_s: float) -> Report:
    """How much of uniform random reads a cache answers."""
    hit = mixes.uniform_hit_ratio(data_bytes, cache_bytes)
    row: dict[str, Cell] = {
        "data": size_text(round(data_bytes)),
        "cache": size_text(round(cache_bytes)),
        "data_bytes": data_bytes,
        "cache_bytes": cache_bytes,
        "hit": hit,
        "mean": (hit * hit_s + (1 - hit) * miss_s) * NS,
    }
    large = "that much of a test on it measures the cache" if hit > 0.1 else "small enough for a test of the storage"
    return law_report(
        "cache",
        f"The cache answers {hit:.1%} of uniform random reads: {large}.",
        (
            table(
                f"Hit {hit_s * 1e3:g} ms, miss {miss_s * 1e3:g} ms",
                "cache",
                (col("data", "data"), col("cache", "cache"), pct("hit", "hits"), ms("mean", "mean")),
                [row],
                ("Data of twice the cache still leave half of the reads to it; 20 times leave 5%. Skew: more.",),
            ),
        ),
        "models D: cache / data, checked against a simulated LRU.",
    )


def _number(cell: Cell) -> float:
    assert isinstance(cell, int | float)
    return float(cell)
