"""Are two groups of runs the same? Ratios with intervals, equivalence, percent differences, repeatability."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from iocast._core import student_t_cdf, student_t_quantile
from iocast.analyse.statistics import (
    Rule,
    design_effect,
    design_effects,
    mean_interval,
    quantile_interval,
    share_bounds,
)
from iocast.model.histogram import Histogram, bucket_bounds_ns
from iocast.model.run import Series

# Pairs are used where their interval is at most this share of Welch's. Of 6,000 equal sides with nothing in common
# 5.6 % (three runs) and 5.1 % (five) then differ; where rounds share 3 % to 15 %, five runs find 10 % in 83 % to 99 %.
PAIRS_GAIN = 0.5
# A verdict on single runs is given for many figures of a card, and of its rows of three seconds too; Student's t allows
# for how little three intervals know of their scatter (docs/trust.md has how often it is wrong).
SINGLE_RUN = Rule(confidence=0.99, least_intervals=3)
EFFECT_VARIANCE = 4.0  # of the mean over the scatter, as any_time_half expects it: 1 to 16 see 10 % about as soon
MARGIN = 0.10  # what counts as the same: B within -10 % and +11 % of A (models B5)
MOST_ACCURACY = math.log(2)  # an interval of a factor of two either way says nothing

Verdict = Literal["equivalent", "different", "small_difference", "different_here", "inconclusive"]


class Ratio(Struct, frozen=True):
    """B over A of one statistic, one value a run. The ends are None with fewer than two runs on a side."""

    ratio: float
    low: float | None  # 95 %
    high: float | None
    low90: float | None  # 90 %, what the test of equivalence looks at
    high90: float | None
    degrees: float | None  # of freedom
    verdict: Verdict
    paired: bool = False


def ab_ratio(
    a: Sequence[float], b: Sequence[float], margin: float = MARGIN, *, matched: bool = False, any_time: int = 0
) -> Ratio:
    """Welch's t on the logarithms of one statistic per run (p99, throughput ...): B over A with its interval.

    With `matched` the runs of both sides belong together one by one (same round, same offsets); where that explains
    most of their scatter, the ratios of the pairs are tested instead. With `any_time` their number was not fixed
    beforehand: pairs are tested by intervals that hold whenever one stops (`any_time_half`), and without pairs there is
    no verdict. Its number says of how many figures the intervals hold all at once (Bonferroni).

    Different when the 95 % interval lies outside [1 - margin, 1 / (1 - margin)], equivalent when the 90 % interval
    lies within it (two one-sided tests), a small difference when the 95 % interval excludes 1 only. What is known well
    enough to be equivalent and yet differs by half the margin or more is a small difference too. All values are above
    0. Source: models B5. Raises ValueError for an empty side or a value that is not above 0.
    """
    if not a or not b or min(*a, *b) <= 0:
        raise ValueError("both sides need values, all above 0")
    log_a, log_b = [math.log(x) for x in a], [math.log(x) for x in b]
    shift = _mean(log_b) - _mean(log_a)
    if len(a) < 2 or len(b) < 2:
        return Ratio(math.exp(shift), None, None, None, None, None, "inconclusive")
    if any_time:
        pairs = zip(log_a, log_b, strict=True) if matched and len(a) == len(b) else ()
        return _whenever(shift, [after - before for before, after in pairs], margin, any_time)
    error_a, error_b = _variance(log_a) / len(a), _variance(log_b) / len(b)
    error = error_a + error_b
    if not error:
        return _judged(shift, 0.0, 0.0, math.inf, margin)
    degrees = error**2 / (error_a**2 / (len(a) - 1) + error_b**2 / (len(b) - 1))
    spread = math.sqrt(error)
    if matched and len(a) == len(b) >= 3:
        of_pairs = _variance([after - before for before, after in zip(log_a, log_b, strict=True)]) / len(a)
        paired, free = math.sqrt(of_pairs), len(a) - 1.0
        if student_t_quantile(0.975, free) * paired <= PAIRS_GAIN * student_t_quantile(0.975, degrees) * spread:
            judged = _judged(
                shift, student_t_quantile(0.975, free) * paired, student_t_quantile(0.95, free) * paired, free, margin
            )
            return replace(judged, paired=True)
    return _judged(
        shift, student_t_quantile(0.975, degrees) * spread, student_t_quantile(0.95, degrees) * spread, degrees, margin
    )


def any_time_half(values: Sequence[float], confidence: float) -> float | None:
    """Half the width of an interval of the mean that holds at every number of values at once, so that one may look
    after each and stop when one likes; None where the values are too few for any.

    Values are of one normal distribution whose spread is not known. The interval has the means that a Bayes factor does
    not reject by 1 / (1 - confidence): a normal effect, and a right Haar prior on the spread, with which it is a test
    martingale of what does not depend on the unit. Source: T. L. Lai, On confidence sequences, Annals of Statistics 4
    (1976); A. Hendriksen and others, Optional stopping with Bayes factors, Bayesian Analysis 16 (2021).
    """
    count = len(values)
    if count < 2:
        return None
    wider = 1 + EFFECT_VARIANCE * count
    limit = (math.sqrt(wider) / (1 - confidence)) ** (2 / count)
    if limit >= wider:
        return None
    t_squared = (count - 1) * (limit - 1) / (1 - limit / wider)
    return math.sqrt(t_squared * _variance(values) / count)


def accuracy(values: Sequence[float], *, any_time: bool = False) -> float | None:
    """How well the typical value (the geometric mean) of one statistic is known over runs: 0.1 is within 10 %, as the
    upper end of its 95 % interval over the value less one. None where the runs are too few.

    With `any_time` their number was not fixed beforehand, and the interval is that of `any_time_half`. All values are
    above 0. Source: models B5.
    """
    logs = [math.log(value) for value in values]
    if any_time:
        half = any_time_half(logs, 0.95)
    elif len(logs) < 2:
        half = None
    else:
        half = student_t_quantile(0.975, len(logs) - 1) * math.sqrt(_variance(logs) / len(logs))
    return None if half is None or half >= MOST_ACCURACY else math.expm1(half)


def _whenever(shift: float, ratios: Sequence[float], margin: float, figures: int) -> Ratio:
    """The verdict on the log ratios of pairs whose number was not fixed beforehand; none without pairs."""
    half95, half90 = any_time_half(ratios, 1 - 0.05 / figures), any_time_half(ratios, 1 - 0.10 / figures)
    if half95 is None or half90 is None:
        return Ratio(math.exp(shift), None, None, None, None, None, "inconclusive", paired=bool(ratios))
    return replace(_judged(shift, half95, half90, len(ratios) - 1.0, margin), paired=True)


class Bounds(Struct, frozen=True):
    """A figure of a single run with its 99 % interval, from how it went up and down inside of the run."""

    value: float
    low: float | None
    high: float | None


def rate_bounds(rate_per_s: float, series: Series) -> Bounds:
    """The throughput of a run."""
    low, high = share_bounds(series.ios, (1,) * len(series.ios), sum(series.ios), SINGLE_RUN)
    return Bounds(rate_per_s, None if low is None else rate_per_s * low, None if high is None else rate_per_s * high)


def quantile_bounds(times: Histogram, series: Series, q: float) -> Bounds:
    """A percentile of a run, all its operations together.

    What the operations have in common can at most add up, so their effects are summed. Where too few independent I/Os
    lie beyond the percentile, its upper bound is Markov's: no more than 1 - q of all can be above mean / (1 - q). Where
    they are too few for a lower one, it is the fastest I/O.
    """
    effects = [design_effect(design_effects(each, SINGLE_RUN), q) for each in series.ops]
    known = [each for each in effects if each is not None]
    if not known or len(known) < len(effects):
        return Bounds(times.quantile_ns(q), None, None)
    interval = quantile_interval(times, q, math.fsum(known), SINGLE_RUN.confidence)
    low_ns, high_ns = interval.low_ns, interval.high_ns
    if high_ns is None:
        mean = mean_interval(times.mean_ns, series, SINGLE_RUN)
        high_ns = None if mean.high_ns is None else mean.high_ns / (1 - q)
    return Bounds(interval.value_ns, times.least_ns if low_ns is None else low_ns, high_ns)


def single_ratio(a: Bounds, b: Bounds, margin: float = MARGIN) -> Ratio:
    """B over A of single runs. "different_here": they differ by more than the margin; nobody knows if it repeats."""
    differ = _exceeds(b, a, margin) or _exceeds(a, b, margin)
    verdict: Verdict = "different_here" if differ else "inconclusive"
    return Ratio(b.value / a.value, None, None, None, None, None, verdict)


def _exceeds(more: Bounds, less: Bounds, margin: float) -> bool:
    """Whether the lower end of the ratio of the two lies above the margin."""
    if not more.low or less.high is None:
        return False
    down = math.hypot(math.log(more.value / more.low), math.log(less.high / less.value))
    return math.log(more.value / less.value) - down > -math.log(1 - margin)


def _judged(shift: float, half95: float, half90: float, degrees: float, margin: float) -> Ratio:
    low, high = math.exp(shift - half95), math.exp(shift + half95)
    low90, high90 = math.exp(shift - half90), math.exp(shift + half90)
    least, most = 1 - margin, 1 / (1 - margin)
    verdict: Verdict = "inconclusive"
    excluded, notable = low > 1 or high < 1, abs(shift) >= -math.log(least) / 2
    if high < least or low > most:
        verdict = "different"
    elif low90 >= least and high90 <= most and not (excluded and notable):
        verdict = "equivalent"
    elif excluded:
        verdict = "small_difference"
    return Ratio(math.exp(shift), low, high, low90, high90, degrees, verdict)


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


def shift(
    a: Sequence[Histogram], b: Sequence[Histogram], *, matched: bool = False, any_time: int = 0
) -> tuple[Shift, ...]:
    """The shift function: for each quantile the log ratio over runs, corrected for there being several. No p-value
    where one stopped when one liked."""
    rows = []
    for q in QUANTILES:
        of_a, of_b = [h.quantile_ns(q) for h in a], [h.quantile_ns(q) for h in b]
        if not any(math.isnan(value) for value in (*of_a, *of_b)):  # another tool may not state it
            rows.append((q, of_a, of_b, ab_ratio(of_a, of_b, matched=matched, any_time=any_time)))
    raw = [None if any_time else _p_value(ratio) for _, _, _, ratio in rows]
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
    t = abs(math.log(ratio.ratio)) / (half / student_t_quantile(0.975, ratio.degrees))
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
