"""How sure a percentile is, whether Little's law holds, and how the I/Os share out over given buckets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import NormalDist

from msgspec import Struct

from iocast.model.histogram import Histogram
from iocast.model.measurement import Measurement

CONFIDENCE = 0.95
MIN_BEYOND = 10.0  # models B1: a percentile is published only with n(1-q) >= 10
HAIR = 1e-6  # 1000 x (1 - 0.99) is 10 on paper and a little less in binary

# Above this variance the binomial is so near to the normal distribution that ranks agree to a few in a
# million, and summing its terms one by one would take noticeable time.
NORMAL_FROM_VARIANCE = 1e6


def enough_beyond(total: int, q: float) -> bool:
    """Whether of `total` I/Os enough lie beyond quantile `q` to publish it."""
    return total * (1.0 - q) >= MIN_BEYOND - HAIR


def published(histogram: Histogram, q: float) -> float | None:
    """A percentile in ns; None when it is not known, or too few I/Os lie beyond it to publish it.

    One that another tool states is published where the number of its I/Os is unknown.
    """
    uncounted = histogram.coarse is not None and not histogram.coarse.counted
    value_ns = histogram.quantile_ns(q) if uncounted or enough_beyond(histogram.total, q) else math.nan
    return None if math.isnan(value_ns) else value_ns


class QuantileEstimate(Struct, frozen=True):
    """A percentile with its confidence interval. A bound is None when there are too few I/Os to have one."""

    q: float
    value_ns: float
    low_ns: float | None
    high_ns: float | None
    total: int

    @property
    def beyond(self) -> float:
        """How many I/Os lie beyond the percentile: n (1 - q)."""
        return self.total * (1.0 - self.q)

    @property
    def enough(self) -> bool:
        """True when enough I/Os lie beyond it to publish it."""
        return enough_beyond(self.total, self.q)

    @property
    def known(self) -> bool:
        """False when another tool measured, and it does not state this percentile."""
        return not math.isnan(self.value_ns)

    @property
    def relative_half_width(self) -> float | None:
        """Half the interval over the value (0.05 is 5 % either way); None when a bound is missing."""
        if self.low_ns is None or self.high_ns is None or not self.value_ns:
            return None
        return (self.high_ns - self.low_ns) / 2 / self.value_ns


def quantile_ranks(total: int, q: float, confidence: float = CONFIDENCE) -> tuple[int | None, int | None]:
    """The ranks (1 is the least) of the order statistics that hold quantile `q` with the given confidence.

    Distribution-free: the number of values below the quantile is binomial (n, q). None: no such rank.
    """
    if total < 1:
        return None, None
    tail = (1.0 - confidence) / 2
    low = _largest_rank(total, q, tail)
    high = _largest_rank(total, 1.0 - q, tail)  # the same question asked from the other end
    return low, None if high is None else total + 1 - high


def quantile_interval(histogram: Histogram, q: float, confidence: float = CONFIDENCE) -> QuantileEstimate:
    """Quantile `q` of a histogram with its confidence interval (exact to one bucket, 0.2 %)."""
    total = histogram.total
    low, high = quantile_ranks(total, q, confidence)
    return QuantileEstimate(
        q,
        histogram.quantile_ns(q),
        None if low is None else _at_rank(histogram, low, 0),
        None if high is None else _at_rank(histogram, high, 1),
        total,
    )


def littles_ratio(rate_per_s: float, stay_ns: float, population: float) -> float:
    """Little's law as a ratio, X R / N: 1 when rate, time and number in the system belong together."""
    return rate_per_s * stay_ns / 1e9 / population if population else math.nan


def in_flight_mean(measurement: Measurement) -> float:
    """I/Os in flight on average, from the sum of all service times: rate x mean service time."""
    busy_ns = sum(part.service.sum_ns for part in measurement.classes)
    return busy_ns / measurement.elapsed_ns if measurement.elapsed_ns else 0.0


def bucket_counts(histogram: Histogram, edges_ns: Sequence[int]) -> tuple[int, ...]:
    """How many values lie in each bucket: up to `edges_ns[0]`, from there up to `edges_ns[1]`, ..., above.

    An edge belongs to the bucket that it ends. Nothing is lost: the counts add up to the total.
    """
    seen = [0, *(histogram.count_up_to(edge) for edge in edges_ns), histogram.total]
    return tuple(after - before for before, after in pairwise(seen))


def bucket_shares(histogram: Histogram, edges_ns: Sequence[int]) -> tuple[float, ...]:
    """The shares (they sum to 1) of `bucket_counts`; all nought for an empty histogram.

    A bucket of another tool that goes on beyond an edge counts in the next one up; what its rounded percentages
    lack of 100 is in none.
    """
    total = histogram.total
    if histogram.coarse is not None:
        if not histogram.spread_known:
            return (0.0,) * (len(edges_ns) + 1)
        whole = histogram.coarse.stated_share
        seen = [0.0, *(histogram.share_up_to(edge) for edge in edges_ns), whole]
        return tuple(max(0.0, after - before) for before, after in pairwise(seen))
    return tuple(count / total if total else 0.0 for count in bucket_counts(histogram, edges_ns))


def _at_rank(histogram: Histogram, rank: int, side: int) -> float | None:
    """The value of a rank; of another tool's buckets the lower (0) or the upper (1) edge of the one it is in."""
    # Half a rank back, so that rounding in rank / n * n can never fall into the next value.
    bounds_ns = histogram.quantile_bounds_ns((rank - 0.5) / histogram.total)
    return bounds_ns[side] if bounds_ns is not None and math.isfinite(bounds_ns[side]) else None


def _largest_rank(total: int, q: float, tail: float) -> int | None:
    """The largest r with P(Binomial(n, q) <= r - 1) <= tail, None when even r = 1 is too likely."""
    mean, variance = total * q, total * q * (1.0 - q)
    if variance > NORMAL_FROM_VARIANCE:
        return math.floor(mean + NormalDist().inv_cdf(tail) * math.sqrt(variance) + 0.5)
    start, terms = _binomial_terms(total, q, mean, variance)
    limit = tail * math.fsum(terms)
    rank, below = start, 0.0
    for term in terms:
        below += term
        if below > limit:
            break
        rank += 1
    return rank or None


def _binomial_terms(total: int, q: float, mean: float, variance: float) -> tuple[int, list[float]]:
    """Terms in proportion to the binomial probabilities around the mean, and the count of the first."""
    reach = 10.0 * math.sqrt(variance) + 10.0  # what lies beyond is below 1e-12 on either side
    start, end = max(0, math.floor(mean - reach)), min(total, math.ceil(mean + reach))
    logs = [0.0]
    for k in range(start, end):
        logs.append(logs[-1] + math.log((total - k) / (k + 1)) + math.log(q / (1.0 - q)))
    highest = max(logs)
    return start, [math.exp(each - highest) for each in logs]
