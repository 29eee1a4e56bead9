"""What a percentile of a sample is worth: how many values it needs, whether it lies on a cliff, its smooth estimate."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from iocast.errors import SpecError

CLIFF = 1.5  # of the values on both sides: exponential times have 1.09, lognormal ones 1.16 (models A4, step 7)
TINY = 1e-300


def least_total(q: float, confidence: float = 0.95) -> int:
    """The least number of values of which a percentile has an upper limit at all: q^n <= (1 - confidence) / 2.

    72 for p95, 368 for p99, 36,887 for p99.99. Source: models B1. Raises SpecError.
    """
    if not (0 < q < 1 and 0 < confidence < 1):
        raise SpecError("a share that is not within 0 and 1 does not exist", "for example 0.99 at a confidence of 0.95")
    return math.ceil(math.log((1 - confidence) / 2) / math.log(q))


class Cliff(Struct, frozen=True):
    """A percentile's neighbours; on a cliff there is no single figure to give."""

    low: float
    high: float

    @property
    def ratio(self) -> float:
        """The upper over the lower."""
        return self.high / self.low

    @property
    def on_cliff(self) -> bool:
        """True where the percentile sits on the boundary between two modes."""
        return self.ratio > CLIFF


def percentile_cliff(values: Sequence[tuple[float, int]], q: float, half_window: float = 0.002) -> Cliff:
    """The percentiles a little below and above one, of (value, how often) in ascending order. Raises SpecError."""
    total = sum(count for _, count in values)
    if not total:
        raise SpecError("a percentile of nothing does not exist", "give one value or more")
    return Cliff(_at(values, max(0.0, q - half_window), total), _at(values, min(1.0, q + half_window), total))


def _at(values: Sequence[tuple[float, int]], q: float, total: int) -> float:
    rank, passed = max(1, math.ceil(q * total - 1e-9)), 0
    for value, count in values:
        passed += count
        if passed >= rank:
            return value
    return values[-1][0]


def harrell_davis(values: Sequence[float], q: float) -> float:
    """A percentile as the mean of all order statistics, each weighted by a beta law (Harrell and Davis 1982)."""
    ordered, count = sorted(values), len(values)
    a, b = (count + 1) * q, (count + 1) * (1 - q)
    edges = [beta_share(at / count, a, b) for at in range(count + 1)]
    return sum(value * (edges[at + 1] - edges[at]) for at, value in enumerate(ordered))


def beta_share(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (Lentz)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_share(1 - x, b, a)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x) - math.log(a)
    )
    c, d = 1.0, 1 / _off_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 1000):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _off_zero(1 + step * d)
            c = _off_zero(1 + step / c)
            value *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return front * value


def _off_zero(value: float) -> float:
    return value if abs(value) > TINY else TINY


def expected_interval(values: Sequence[float], interval: float) -> tuple[float, ...]:
    """Times of a closed loop as an open one would have seen them: each that is longer than the interval between two
    arrivals stands for those that it held up (HdrHistogram's rule). For imported logs only: a measured open loop needs
    no correction. Raises SpecError."""
    if not interval > 0:
        raise SpecError("an interval of 0 has no arrivals", "give the time between two arrivals")
    bounds: list[float] = []
    for value in values:
        bounds.append(value)
        missed = value - interval
        while missed >= interval:
            bounds.append(missed)
            missed -= interval
    return tuple(sorted(bounds))
