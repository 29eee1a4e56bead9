"""Load that changes: token buckets, bursts above capacity, and slow changes below it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from iocast.errors import SpecError
from iocast.forecast.laws.open_queues import mmc, mmc_tail, tail_quantile_s


class Stretch(NamedTuple):
    """Demand that stays the same for a while."""

    seconds: float
    demand_per_s: float


class BucketUse(Struct, frozen=True):
    """What becomes of a bucket, which starts full, and of the I/Os that it cannot serve."""

    first_empty_s: float | None  # None: never
    peak_backlog_ios: float
    peak_delay_s: float
    balance_ios: float  # at the end
    backlog_ios: float  # at the end


def token_bucket(rate_per_s: float, bucket_ios: float, demand: Sequence[Stretch]) -> BucketUse:
    """A volume with burst credits, as a fluid: refilled at `rate_per_s` up to `bucket_ios`, emptied by demand.

    Raises SpecError.
    """
    if not rate_per_s > 0 or bucket_ios < 0:
        raise SpecError("a bucket that is never refilled serves nothing", "give a rate above 0 and a size of 0 or more")
    now = backlog = peak = 0.0
    balance = bucket_ios
    empty: float | None = None
    for seconds, per_s in demand:
        change = per_s - rate_per_s
        if change > 0:
            lasts = balance / change
            if lasts < seconds:
                if empty is None:
                    empty = now + lasts
                backlog += (seconds - lasts) * change
                balance = 0.0
            else:
                balance -= seconds * change
        else:
            drained = min(backlog, -change * seconds)
            left_s = seconds - (drained / -change if drained else 0.0)
            backlog -= drained
            balance = min(bucket_ios, balance - change * left_s) if not backlog else balance
        peak = max(peak, backlog)
        now += seconds
    return BucketUse(empty, peak, peak / rate_per_s, balance, backlog)


class Backlog(Struct, frozen=True):
    """What a burst above capacity leaves behind. `drain_s` is infinite where the load after it is no lower."""

    peak_ios: float
    peak_delay_s: float
    drain_s: float


def fluid_backlog(burst_per_s: float, after_per_s: float, capacity_per_s: float, burst_s: float) -> Backlog:
    """A burst of `burst_s` seconds, then a lower load: backlog (lambda - X) d, delay backlog / X. Source: models A8."""
    peak = max(0.0, burst_per_s - capacity_per_s) * burst_s
    spare = capacity_per_s - after_per_s
    drain = 0.0 if not peak else peak / spare if spare > 0 else math.inf
    return Backlog(peak, peak / capacity_per_s, drain)


class Level(NamedTuple):
    """A load that lasts for a share of the time, on servers that share a queue."""

    time_fraction: float
    rate_per_s: float
    servers: int
    service_s: float


class SlowChange(Struct, frozen=True):
    """Response times over all levels, each weighted by its I/Os and not by its time."""

    response_s: float
    p99_s: float
    response_at_average_s: float  # what the average rate would promise: wrong where levels differ


def slow_changes(levels: Sequence[Level]) -> SlowChange:
    """Load that changes slowly against the response time, so that each level settles. Raises Overloaded, SpecError."""
    if not levels:
        raise SpecError("no level of load is given", "give one or more")
    total = sum(level.time_fraction * level.rate_per_s for level in levels)
    shares = [level.time_fraction * level.rate_per_s / total for level in levels]
    queues = [mmc(level.rate_per_s, level.service_s, level.servers) for level in levels]
    tails = [mmc_tail(level.rate_per_s, level.service_s, level.servers) for level in levels]
    first = levels[0]
    average = total / sum(level.time_fraction for level in levels)
    return SlowChange(
        response_s=sum(share * queue.response_s for share, queue in zip(shares, queues, strict=True)),
        p99_s=tail_quantile_s(
            lambda time_s: sum(share * tail(time_s) for share, tail in zip(shares, tails, strict=True)),
            0.99,
            first.service_s,
        ),
        response_at_average_s=mmc(average, first.service_s, first.servers).response_s,
    )
