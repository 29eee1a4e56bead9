"""How sure a mean and a percentile are, whether Little's law holds, and how the I/Os share out over given buckets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from statistics import NormalDist

from msgspec import Struct

from iocast._core import student_t_quantile
from iocast.model.histogram import Histogram
from iocast.model.measurement import Measurement
from iocast.model.run import MARKS, OpSeries, Series

CONFIDENCE = 0.95
MIN_BEYOND = 10.0  # models B1: a percentile is published only with n(1-q) >= 10
HEADLINE_Q = 0.99  # the percentile that a database's users feel
FALLBACK_QS = (0.95, 0.50)  # what a row still publishes when it is too short for p99
HAIR = 1e-6  # 1000 x (1 - 0.99) is 10 on paper and a little less in binary

# Above this variance the binomial is so near to the normal distribution that ranks agree to a few in a
# million, and summing its terms one by one would take noticeable time.
NORMAL_FROM_VARIANCE = 1e6
FAR = 8.0  # standard deviations from the mean: what lies beyond, below 1e-14, is left out


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


# How neighbouring I/Os depend on each other (queues, neighbours, garbage collection: one slow I/O has slow neighbours)
# is seen in batches of intervals. Batches are doubled while so many remain, and the longest decides where it is wider.
LEAST_INTERVALS, LEAST_BATCHES = 10, 5
# [J] fitted on simulated queues and held against others (docs/trust.md): a variance from few independent batches is
# more often too small than too large.
WIDER, WIDER_FROM = 4.0, 60


class Rule(Struct, frozen=True):
    """With which confidence an interval holds, and from how many intervals of a row on there is one."""

    confidence: float = CONFIDENCE
    least_intervals: int = LEAST_INTERVALS

    @property
    def two_sided(self) -> float:
        """The quantile at which a two-sided interval of this confidence ends."""
        return 0.5 + self.confidence / 2


PRINTED = Rule()


class QuantileEstimate(Struct, frozen=True):
    """A percentile with its confidence interval. A bound is None where the I/Os are too few to have one, or where it
    is not known how they depend on each other.
    """

    q: float
    value_ns: float
    low_ns: float | None
    high_ns: float | None
    total: int
    effective: float | None = None  # as many independent I/Os say as much; None: not known

    @property
    def effective_beyond(self) -> float | None:
        """What the I/Os beyond the percentile weigh in independent ones."""
        return None if self.effective is None else self.effective * (1.0 - self.q)

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


def quantile_interval(
    histogram: Histogram, q: float, effect: float | None = 1.0, confidence: float = CONFIDENCE
) -> QuantileEstimate:
    """Quantile `q` of a histogram with its confidence interval (exact to one bucket, 0.2 %).

    `effect` is the design effect: that many I/Os say as much as one independent I/O. None: not known, no bounds.
    """
    total, value_ns = histogram.total, histogram.quantile_ns(q)
    if effect is None:
        return QuantileEstimate(q, value_ns, None, None, total)
    effective = max(1, math.floor(total / effect)) if total else 0
    low, high = quantile_ranks(effective, q, confidence)
    times = total / effective if effective else 0.0
    return QuantileEstimate(
        q,
        value_ns,
        None if low is None else _at_rank(histogram, math.floor((low - 1) * times) + 1, 0),
        None if high is None else _at_rank(histogram, min(total, math.ceil(high * times)), 1),
        total,
        total / effect,
    )


def interval_range(histogram: Histogram, q: float, series: OpSeries) -> tuple[float | None, float | None]:
    """Between which values quantile `q` lay in each interval of a row, for certain.

    An interval knows how many of its I/Os lie up to each of MARKS. In the worst case those between two marks are the
    slowest, or the quickest, that the whole row has there.
    """
    total, rest = histogram.total, max(0, histogram.total - sum(series.ios))  # what ended after the last interval
    below = [0, *(sum(each) for each in series.up_to), sum(series.ios)]
    low, high = total, 1
    for at, ios in enumerate(series.ios):
        wanted = math.ceil(q * ios)
        own = [0, *(each[at] for each in series.up_to), ios]
        marks = list(zip(below, own, strict=True))
        if ios:
            low = min(low, max(every + wanted - here for every, here in marks if here < wanted))
            high = max(high, min(every + rest - (here - wanted) for every, here in marks if here >= wanted))
    if not total:
        return None, None
    return _at_rank(histogram, max(1, low), 0), _at_rank(histogram, min(total, high), 1)


class MeanEstimate(Struct, frozen=True):
    """A mean with its confidence interval; a bound is None where it is not known how the I/Os depend on each other."""

    value_ns: float
    low_ns: float | None = None
    high_ns: float | None = None


def mean_interval(value_ns: float, series: Series | OpSeries | None, rule: Rule = PRINTED) -> MeanEstimate:
    """The mean response with its interval, from the sums of each interval."""
    if series is None or not value_ns > 0:
        return MeanEstimate(value_ns)
    factor_low, factor_high = share_bounds(series.response_ns, series.ios, value_ns * sum(series.ios), rule)
    return MeanEstimate(
        value_ns,
        None if factor_low is None else value_ns * factor_low,
        None if factor_high is None else value_ns * factor_high,
    )


def share_bounds(
    parts: Sequence[float], weights: Sequence[int], whole: float, rule: Rule = PRINTED
) -> tuple[float | None, float | None]:
    """Between which factors of itself a figure lies that is the sum `whole` of `parts`, given their weights."""
    error = _sum_error(parts, weights, rule)
    if error is None or not whole > 0:
        return None, None
    # Rates and means of times are skewed, so the interval is one of ratios; beyond a factor of e it says nothing.
    return math.exp(-error / whole), math.exp(error / whole) if error < whole else None


def design_effects(series: OpSeries | None, rule: Rule = PRINTED) -> tuple[float, ...] | None:
    """For each of MARKS how many I/Os say as much of it as one independent I/O; None where too few intervals show."""
    if series is None:
        return None
    effects = [_effect(up_to, series.ios, rule) for up_to in series.up_to]
    known = tuple(each for each in effects if each is not None)
    return known if len(known) == len(MARKS) else None


def design_effect(effects: Sequence[float] | None, q: float) -> float | None:
    """That of any quantile: the worst of those next to `q`, and of those below where the dependence is seen best."""
    if effects is None:
        return None
    marks = [mark for mark in MARKS if mark <= q and (mark < 0.95 or mark == q)]
    marks += [min((mark for mark in MARKS if mark >= q), default=MARKS[-1])]
    return max(effects[MARKS.index(mark)] for mark in marks)


def _effect(up_to: Sequence[int], ios: Sequence[int], rule: Rule) -> float | None:
    total, below = sum(ios), sum(up_to)
    error = _sum_error(up_to, ios, rule)
    if error is None or not total:
        return None
    share = below / total
    spread = total * share * (1.0 - share)
    return max(1.0, (error / NormalDist().inv_cdf(rule.two_sided)) ** 2 / spread) if spread else 1.0


def _sum_error(parts: Sequence[float], weights: Sequence[int], rule: Rule) -> float | None:
    """Half the confidence interval of sum(parts) given sum(weights), by batch means of several lengths.

    What each interval has beyond its share sums to 0; how far it wanders shows how intervals depend on each other.
    """
    count, whole = len(weights), sum(weights)
    if count < rule.least_intervals or not whole:
        return None
    share = math.fsum(parts) / whole
    beyond = [part - share * weight for part, weight in zip(parts, weights, strict=True)]
    length, widest, first, most = 1, 0.0, 0.0, 0.0
    while length == 1 or count // length >= LEAST_BATCHES:
        batches = count // length
        sums = [math.fsum(beyond[at * length : (at + 1) * length]) for at in range(batches)]
        variance = math.fsum(each * each for each in sums) * batches / (batches - 1) * (count / (batches * length))
        first = first or variance
        most = max(most, variance)
        widest = max(widest, _t(rule.two_sided, batches - 1) * math.sqrt(variance))
        length *= 2
    independent = count * first / most if most else float(count)  # intervals that say as much as all of them
    widest = max(widest, _t(rule.two_sided, max(1, round(independent) - 1)) * math.sqrt(most))
    return widest * (1.0 + WIDER * min(1.0, count / WIDER_FROM) / independent)


@cache
def _t(q: float, degrees: int) -> float:
    return student_t_quantile(q, float(degrees))


def least_by_chance(free: float) -> float:
    """How small a share of the true variance an estimate with so many degrees of freedom is by chance, once in 1000
    times (chi-square, after Wilson and Hilferty)."""
    step = 2 / (9 * free) if free > 0 else math.inf
    return max(0.0, 1 - step + NormalDist().inv_cdf(1e-3) * math.sqrt(step)) ** 3


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
    cumulated = [0, *(histogram.count_up_to(edge) for edge in edges_ns), histogram.total]
    return tuple(after - before for before, after in pairwise(cumulated))


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
        cumulated = [0.0, *(histogram.share_up_to(edge) for edge in edges_ns), whole]
        return tuple(max(0.0, after - before) for before, after in pairwise(cumulated))
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
    rank = max(0, math.floor(mean - FAR * math.sqrt(variance) - FAR))
    term, odds, below = _binomial(total, rank, q), q / (1.0 - q), 0.0
    while rank <= total:
        below += term
        if below > tail:
            break
        term *= (total - rank) / (rank + 1) * odds
        rank += 1
    return rank or None


def _binomial(total: int, count: int, q: float) -> float:
    """The probability of a count."""
    ways = math.lgamma(total + 1) - math.lgamma(count + 1) - math.lgamma(total - count + 1)
    return math.exp(ways + count * math.log(q) + (total - count) * math.log1p(-q))
