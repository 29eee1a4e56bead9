"""What is compared of a row: throughput and response times, one value a run."""

from __future__ import annotations

import math
from collections.abc import Callable

from msgspec.structs import replace

from iocast import text
from iocast.analyse.comparison import Bounds, Ratio, ab_ratio, mean_bounds, quantile_bounds, single_ratio
from iocast.analyse.statistics import published
from iocast.diagnose.comparable import Pair
from iocast.model.codes import StatisticCode
from iocast.model.run import PhaseRecord

QUANTILES: dict[StatisticCode, float] = {"p50": 0.50, "p95": 0.95, "p99": 0.99}


def throughput(record: PhaseRecord) -> float | None:
    """I/Os a second; None where that is not known."""
    did = record.measurement
    counted = "length" in record.unstated and "ios" not in record.unstated  # I/Os, and not in how long
    return None if counted else did.rate_per_s or None


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
    return f"{text.rate(value)}/s"


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
        one, two = _bounds(pair.first[0], what), _bounds(pair.other[0], what)
        if one is not None and two is not None:
            return replace(single_ratio(one, two), ratio=other[0] / first[0])
    return ab_ratio(first, other, matched=pair.matched)


def _bounds(record: PhaseRecord, what: StatisticCode) -> Bounds | None:
    """A figure of a single run with its interval, from the intervals of the run."""
    series = record.series
    if what == "throughput":
        return mean_bounds(series.rates_per_s)
    return quantile_bounds(record.measurement.response(), series.responses_ns, QUANTILES[what])
