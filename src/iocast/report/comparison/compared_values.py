"""What is compared of a row: throughput and response times, one value a run."""

from __future__ import annotations

import math
from collections.abc import Callable

from iocast import text
from iocast.analyse.comparison import Bounds, Ratio, ab_ratio, quantile_bounds, rate_bounds, single_ratio
from iocast.analyse.statistics import published
from iocast.diagnose.comparable import Pair
from iocast.model.codes import StatisticCode
from iocast.model.run import PhaseRecord

QUANTILES: dict[StatisticCode, float] = {"p50": 0.50, "p95": 0.95, "p99": 0.99}


def throughput(record: PhaseRecord) -> float | None:
    """I/Os a second; None where that is not known."""
    return record.ios_per_s or None


def response(q: float | None) -> Callable[[PhaseRecord], float | None]:
    """The response time in ns at a quantile, the mean for None; a row of too few I/Os has none."""

    def value(record: PhaseRecord) -> float | None:
        times = record.measurement.response()
        if q is None:
            return _known(times.mean_ns)
        return published(times, q)

    return value


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def iops(value: float) -> str:
    """A rate with its unit."""
    return f"{text.rate(value)} IOPS"


STATISTICS: tuple[tuple[StatisticCode, Callable[[PhaseRecord], float | None], Callable[[float], str], bool], ...] = (
    ("throughput", throughput, iops, True),
    ("p50", response(0.50), text.duration, False),
    ("p95", response(0.95), text.duration, False),
    ("p99", response(0.99), text.duration, False),
)


def values(records: tuple[PhaseRecord, ...], of: Callable[[PhaseRecord], float | None]) -> list[float]:
    """One value a run; nothing unless all have one."""
    found = [of(record) for record in records]
    return [value for value in found if value] if all(found) else []


def ratio_of(pair: Pair, what: StatisticCode, first: list[float], other: list[float]) -> Ratio:
    """The other over the first, judged by runs; of single runs by their intervals."""
    if len(first) == len(other) == 1:
        return single_ratio(_bounds(pair.first[0], what, first[0]), _bounds(pair.other[0], what, other[0]))
    return ab_ratio(first, other, matched=pair.matched)


def _bounds(record: PhaseRecord, what: StatisticCode, value: float) -> Bounds:
    """A figure of a single run with its interval, from the intervals of the run."""
    if what == "throughput":
        return rate_bounds(value, record.series)
    return quantile_bounds(record.measurement.response(), record.series, QUANTILES[what])
