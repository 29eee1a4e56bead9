"""What is compared of a row: throughput and response times, one value a run."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from iocast.analyse.comparison import Bounds, Ratio, ab_ratio, quantile_bounds, rate_bounds, single_ratio
from iocast.analyse.statistics import published
from iocast.diagnose.comparable import Pair
from iocast.model.codes import StatisticCode
from iocast.model.run import PhaseRecord


class Statistic(NamedTuple):
    """A figure of a row: its code, its value of a run (None: unknown), and which way is better."""

    code: StatisticCode
    of: Callable[[PhaseRecord], float | None]
    more_is_better: bool = False

    def by_unit(self, value: float) -> tuple[float | None, float | None]:
        """The value as I/Os a second or as ns; the other is None."""
        return (value, None) if self.code == "throughput" else (None, value)


def throughput(record: PhaseRecord) -> float | None:
    """I/Os a second; None where that is not known."""
    return record.ios_per_s or None


def response(q: float | None) -> Callable[[PhaseRecord], float | None]:
    """The response time in ns at a quantile, the mean for None; a row of too few I/Os has none."""

    def value(record: PhaseRecord) -> float | None:
        times = record.measurement.response()
        if q is None:
            return None if math.isnan(times.mean_ns) else times.mean_ns
        return published(times, q)

    return value


QUANTILES: dict[StatisticCode, float] = {"p50": 0.50, "p95": 0.95, "p99": 0.99}
THROUGHPUT = Statistic("throughput", throughput, more_is_better=True)
P50, P95, P99 = (Statistic(code, response(q)) for code, q in QUANTILES.items())
STATISTICS = (THROUGHPUT, P50, P95, P99)
JUDGED = (THROUGHPUT, P99)  # what a verdict counts
# What other configurations keep of the first: the study of 2012 gave means; they never stand alone.
RELATIVE = (THROUGHPUT, Statistic("mean", response(None)), P50, P99)


def values(records: tuple[PhaseRecord, ...], figure: Statistic) -> list[float]:
    """One value a run; nothing unless all have one."""
    known = [figure.of(record) for record in records]
    return [value for value in known if value] if all(known) else []


def ratio_of(pair: Pair, figure: Statistic) -> Ratio | None:
    """The other over the first, judged by runs; of single runs by their intervals. None where one side is unknown."""
    first, other = values(pair.first, figure), values(pair.other, figure)
    if not first or not other:
        return None
    if len(first) == len(other) == 1:
        return single_ratio(_bounds(pair.first[0], figure, first[0]), _bounds(pair.other[0], figure, other[0]))
    return ab_ratio(first, other, pair.margin, matched=pair.matched, any_time=pair.any_time)


def _bounds(record: PhaseRecord, figure: Statistic, value: float) -> Bounds:
    """A figure of a single run with its interval, from the intervals of the run."""
    if figure is THROUGHPUT:
        return rate_bounds(value, record.series)
    return quantile_bounds(record.measurement.response(), record.series, QUANTILES[figure.code])
