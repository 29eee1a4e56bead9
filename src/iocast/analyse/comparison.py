"""Are two groups of runs the same? Ratios with intervals, equivalence, percent differences, repeatability."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from iocast._core import student_t_cdf, student_t_quantile
from iocast.model.histogram import Histogram, bucket_bounds_ns

MARGIN = 0.10  # what counts as the same: B within -10 % and +11 % of A (models B5)

Verdict = Literal["equivalent", "different", "small difference", "inconclusive"]


class Ratio(Struct, frozen=True):
    """B over A of one statistic, one value a run. The ends are None with fewer than two runs on a side."""

    ratio: float
    low: float | None  # 95 %
    high: float | None
    low90: float | None  # 90 %, what the test of equivalence looks at
    high90: float | None
    degrees: float | None  # of freedom, Welch
    verdict: Verdict


def ab_ratio(a: Sequence[float], b: Sequence[float], margin: float = MARGIN) -> Ratio:
    """Welch's t on the logarithms of one statistic per run (p99, throughput ...): B over A with its interval.

    Equivalent when the 90 % interval lies within [1 - margin, 1 / (1 - margin)] (two one-sided tests), different
    when the 95 % interval lies outside it, a small difference when the 95 % interval excludes 1 only. All values
    are above 0. Source: models B5. Raises ValueError for an empty side or a value that is not above 0.
    """
    if not a or not b or min(*a, *b) <= 0:
        raise ValueError("both sides need values, all above 0")
    log_a, log_b = [math.log(x) for x in a], [math.log(x) for x in b]
    shift = _mean(log_b) - _mean(log_a)
    if len(a) < 2 or len(b) < 2:
        return Ratio(math.exp(shift), None, None, None, None, None, "inconclusive")
    error_a, error_b = _variance(log_a) / len(a), _variance(log_b) / len(b)
    error = error_a + error_b
    if not error:
        return _judged(shift, 0.0, 0.0, math.inf, margin)
    degrees = error**2 / (error_a**2 / (len(a) - 1) + error_b**2 / (len(b) - 1))
    spread = math.sqrt(error)
    return _judged(shift, _t(0.975, degrees) * spread, _t(0.95, degrees) * spread, degrees, margin)


def _judged(shift: float, half95: float, half90: float, degrees: float, margin: float) -> Ratio:
    low, high = math.exp(shift - half95), math.exp(shift + half95)
    low90, high90 = math.exp(shift - half90), math.exp(shift + half90)
    least, most = 1 - margin, 1 / (1 - margin)
    verdict: Verdict = "inconclusive"
    if low90 >= least and high90 <= most:
        verdict = "equivalent"
    elif high < least or low > most:
        verdict = "different"
    elif low > 1 or high < 1:
        verdict = "small difference"
    return Ratio(math.exp(shift), low, high, low90, high90, degrees, verdict)


def _t(q: float, degrees: float) -> float:
    return student_t_quantile(q, degrees)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _variance(values: Sequence[float]) -> float:
    mean = _mean(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


class Difference(Struct, frozen=True):
    """How far B is from A, in three ways: only the logarithm is the same from both sides."""

    of_first: float  # (a - b) / a, as the study of 2012 printed it
    symmetric: float  # (b - a) / mean
    log_ratio: float  # ln(b / a)


def difference(a: float, b: float) -> Difference:
    """The difference of two values above 0, as shares (0.1 is 10 %)."""
    return Difference((a - b) / a, (b - a) / ((a + b) / 2), math.log(b / a))


def relative(baseline: float, value: float, *, more_is_better: bool) -> float:
    """The share of the baseline's performance that is kept: 1 is equal, less is worse (the virtualisation study)."""
    return value / baseline if more_is_better else baseline / value


def variation(values: Sequence[float]) -> float | None:
    """The coefficient of variation (n - 1) of one statistic over repeats; None with fewer than two."""
    if len(values) < 2 or not _mean(values):
        return None
    return math.sqrt(_variance(values)) / _mean(values)


def median_of(values: Sequence[float]) -> float:
    """The middle value; with an even number the lower of the two, so that it is one that was measured."""
    return sorted(values)[(len(values) - 1) // 2]


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction of several p-values, in the order given."""
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, at in enumerate(order):
        highest = max(highest, min(1.0, p_values[at] * (len(p_values) - rank)))
        adjusted[at] = highest
    return adjusted


QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)


class Shift(Struct, frozen=True):
    """One percentile of B against A over the runs of both."""

    q: float
    a_ns: float
    b_ns: float
    ratio: Ratio
    p_value: float | None  # Holm-corrected over all quantiles; None with single runs


def shift(a: Sequence[Histogram], b: Sequence[Histogram], quantiles: Sequence[float] = QUANTILES) -> tuple[Shift, ...]:
    """The shift function: for each quantile the log ratio over runs, corrected for there being several."""
    rows = []
    for q in quantiles:
        of_a, of_b = [h.quantile_ns(q) for h in a], [h.quantile_ns(q) for h in b]
        if not any(math.isnan(value) for value in (*of_a, *of_b)):  # another tool may not state it
            rows.append((q, of_a, of_b, ab_ratio(of_a, of_b)))
    raw = [_p_value(ratio) for _, _, _, ratio in rows]
    known = [p for p in raw if p is not None]
    corrected = iter(holm(known))
    return tuple(
        Shift(q, median_of(of_a), median_of(of_b), ratio, None if p is None else next(corrected))
        for (q, of_a, of_b, ratio), p in zip(rows, raw, strict=True)
    )


def _p_value(ratio: Ratio) -> float | None:
    """Two-sided, that the ratio is 1; worked back from the interval."""
    if ratio.low is None or ratio.high is None or ratio.degrees is None:
        return None
    half = (math.log(ratio.high) - math.log(ratio.low)) / 2
    if not half:
        return 1.0 if ratio.ratio == 1 else 0.0
    t = abs(math.log(ratio.ratio)) / (half / _t(0.975, ratio.degrees))
    return 2 * student_t_cdf(-t, ratio.degrees)


class Overlap(Struct, frozen=True):
    """How two histograms lie to each other. Descriptions only: I/Os of one run are no independent trials."""

    ks: float  # the largest distance of the two cumulative curves
    cliffs_delta: float  # share of pairs in which B is slower, less the share in which A is


def overlap(a: Histogram, b: Histogram) -> Overlap | None:
    """Kolmogorov-Smirnov's D and Cliff's delta of B against A, exact to one bucket.

    None where another tool measured: its buckets are too coarse to say.
    """
    if a.coarse is not None or b.coarse is not None:
        return None
    count_a, count_b = dict(zip(a.index, a.count, strict=True)), dict(zip(b.index, b.count, strict=True))
    below_a = below_b = 0
    furthest, pairs = 0.0, 0
    for index in sorted({*count_a, *count_b}):
        here_a, here_b = count_a.get(index, 0), count_b.get(index, 0)
        # B slower than all of A below; A slower than all of B below; the same bucket is a tie.
        pairs += here_b * below_a - here_a * below_b
        below_a += here_a
        below_b += here_b
        furthest = max(furthest, abs(below_a / a.total - below_b / b.total))
    return Overlap(furthest, pairs / (a.total * b.total))


def fold(histogram: Histogram, edges_ns: Sequence[float]) -> tuple[float, ...]:
    """The share of the values up to each edge, and beyond the last: two histograms on one axis."""
    shares = [0] * (len(edges_ns) + 1)
    for index, count in zip(histogram.index, histogram.count, strict=True):
        middle = sum(bucket_bounds_ns(index)) / 2
        shares[sum(edge < middle for edge in edges_ns)] += count
    return tuple(count / histogram.total for count in shares)


def rising(values: Sequence[float]) -> bool:
    """True when each repeat is above the one before: a drift, no scatter."""
    return len(values) > 2 and all(before < after for before, after in pairwise(values))
