"""Steadiness of a series of equal intervals: warm-up cut, batch means, drift, the accept rules, a change of level.

All values are positive figures of one interval each (a rate, or a mean time); lengths count intervals. Sources:
MSER-5 (White 1997), batch means (Law, Simulation Modeling and Analysis), SNIA SSS PTS 2.0 (the five-round rule),
fio's steadystate.c, and for B3 the project's collection of measurement rules.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean

from msgspec import Struct

from iocast.analyse.changepoint import Change, one_change
from iocast.model.run import Settled

MSER_BATCH = 5
SAME_STAT = 1e-9  # standard errors that differ by no more are equal: rounding is far below it
BATCHES = 20
T_19 = 2.093024054408263  # Student's t, 19 degrees of freedom, 95 % both sides
WITHIN = 0.05  # B3: half-width, halves and drift against the mean
LEAST_BEFORE = 10  # intervals that have settled before the last doubling
LAG_MOST = 0.25  # B3: correlation of neighbouring batch means
LEAST_INTERVALS = 30  # fewer are not judged
SNIA_ROUNDS = 5
SNIA_EXCURSION, SNIA_DRIFT = 0.20, 0.10


class Cut(Struct, frozen=True):
    """Where MSER-5 ends the warm-up. Not `valid`: it found no end in the first half, so the series is too short."""

    batches: int
    cut_batches: int
    stat: float
    valid: bool

    @property
    def cut(self) -> int:
        """Intervals to leave out."""
        return self.cut_batches * MSER_BATCH


class BatchMeans(Struct, frozen=True):
    """A mean, its 95 % half-width from 20 batches, and that widened for batches that depend on each other."""

    mean: float
    half_width: float
    lag_1: float
    half_width_inflated: float
    low: float  # the smallest and the largest batch mean
    high: float


class Steadiness(Struct, frozen=True, kw_only=True):
    """What a series says of itself. Shares are of the mean of what is kept; nan: too short to be told."""

    length: int
    cut: int  # intervals of warm-up
    cut_valid: bool
    mean: float
    low: float
    high: float
    half_width: float
    lag_1: float
    halves: float  # first half of what is kept over its second half, less one
    drift: float  # of a straight line through all that is kept, from its first to its last interval
    b3: bool
    snia: bool
    change: Change | None
    gradual: bool = False  # a straight line fits what is kept, and better than the two levels of the change

    @property
    def judged(self) -> bool:
        """True when it is long enough for B3."""
        return self.length >= LEAST_INTERVALS


def mser5(values: Sequence[float]) -> Cut:
    """The cut that makes the standard error of the rest least; of equal ones the first."""
    means = [fmean(values[at : at + MSER_BATCH]) for at in range(0, len(values) - MSER_BATCH + 1, MSER_BATCH)]
    count = len(means)
    if not count:
        return Cut(0, 0, math.nan, valid=False)
    level = fmean(means[count // 2 :])  # of what every cut keeps: sums of distances from it lose no digits
    stats = _stats([each - level for each in means])[: count // 2 + 1]
    # What rounding leaves of nothing must not move the cut of a series that does not vary.
    enough = max(min(stats) * (1 + SAME_STAT), (1e-12 * level) ** 2)
    best = next(cut for cut, stat in enumerate(stats) if stat <= enough)
    return Cut(count, best, stats[best], valid=best < count // 2)


def _stats(apart: Sequence[float]) -> list[float]:
    """For each cut the squared standard error of what it keeps: means and squares grow from the end (Welford 1962)."""
    mean = squares = 0.0
    stats = []
    for count, each in enumerate(reversed(apart), 1):
        step = each - mean
        mean += step / count
        squares += step * (each - mean)
        stats.append(squares / count**2)
    return stats[::-1]


def batch_means(values: Sequence[float]) -> BatchMeans | None:
    """20 batches of equal length, what remains at the end left out; None with fewer than 20 values."""
    size = len(values) // BATCHES
    if not size:
        return None
    means = [fmean(values[at * size : (at + 1) * size]) for at in range(BATCHES)]
    mean = fmean(means)
    squares = math.fsum((each - mean) ** 2 for each in means)
    half = T_19 * math.sqrt(squares / (BATCHES - 1) / BATCHES)
    lagged = math.fsum((one - mean) * (other - mean) for one, other in pairwise(means))
    # Differences that are only rounding depend on nothing.
    lag_1 = lagged / squares if squares > (1e-9 * mean) ** 2 else 0.0
    plus = min(max(0.0, lag_1), 0.999)
    return BatchMeans(mean, half, lag_1, half * math.sqrt((1 + plus) / (1 - plus)), min(means), max(means))


def slope(values: Sequence[float]) -> float:
    """The least-squares slope an interval (nan with fewer than two)."""
    count = len(values)
    if count < 2:
        return math.nan
    middle, mean = (count - 1) / 2, fmean(values)
    over = math.fsum((at - middle) * (value - mean) for at, value in enumerate(values))
    return over / (count * (count * count - 1) / 12)


def snia_round(rounds: Sequence[float]) -> int | None:
    """The index of the first round that ends a window of five steady ones; None when there is none.

    Steady: they differ by at most 20 % of their mean, and a line through them by at most 10 %.
    """
    for last in range(SNIA_ROUNDS - 1, len(rounds)):
        window = rounds[last - SNIA_ROUNDS + 1 : last + 1]
        mean = fmean(window)
        if mean <= 0:
            continue
        within = max(window) - min(window) <= SNIA_EXCURSION * mean
        if within and abs(slope(window)) * (SNIA_ROUNDS - 1) <= SNIA_DRIFT * mean:
            return last
    return None


def snia_accepts(values: Sequence[float]) -> bool:
    """The five-round rule, each round a fifth of `values`."""
    size = len(values) // SNIA_ROUNDS
    if not size:
        return False
    rest = values[len(values) - size * SNIA_ROUNDS :]
    return snia_round([fmean(rest[at * size : (at + 1) * size]) for at in range(SNIA_ROUNDS)]) is not None


def fio_deviation(values: Sequence[float]) -> float:
    """fio's `ss=iops:L%`: the largest distance from the mean, as a share of it."""
    mean = fmean(values)
    return max(abs(value - mean) for value in values) / mean


def fio_slope(values: Sequence[float]) -> float:
    """fio's `ss=iops_slope:L%`: the slope per INTERVAL; a window drifts by as many times it."""
    return slope(values) / fmean(values)


def steadiness(values: Sequence[float]) -> Steadiness:
    """Everything that can be said of a series; `b3` and `snia` say which rules accept it."""
    cut = mser5(values)
    kept = values[cut.cut :] if cut.valid else values
    batches = batch_means(kept)
    mean = fmean(kept) if kept else math.nan
    halves, drift = _halves(kept), slope(kept) * (len(kept) - 1) / mean if kept and mean > 0 else math.nan
    half_width = batches.half_width_inflated / mean if batches and mean > 0 else math.nan
    lag_1 = batches.lag_1 if batches else math.nan
    change = one_change(kept)
    calm = abs(halves) <= WITHIN and abs(drift) <= WITHIN and half_width <= WITHIN and lag_1 < LAG_MOST
    return Steadiness(
        length=len(values),
        cut=cut.cut if cut.valid else 0,
        cut_valid=cut.valid,
        mean=mean,
        low=batches.low if batches else math.nan,
        high=batches.high if batches else math.nan,
        half_width=half_width,
        lag_1=lag_1,
        halves=halves,
        drift=drift,
        b3=calm and cut.valid and len(values) >= LEAST_INTERVALS,
        snia=snia_accepts(kept),
        change=change,
        gradual=abs(drift) > WITHIN and _by_a_line(kept) < _by_levels(kept, change),
    )


def accepts(rule: str, values: Sequence[float]) -> Settled | None:
    """From which interval on the series is steady by a rule ("b3", "snia"), None when it is not.

    With b3 its second half, which is what was added when its time was doubled, must agree with what has settled of
    the first. No rule sees a change that comes after the end.
    """
    steady, middle = steadiness(values), len(values) // 2
    start = 0 if rule == "snia" else steady.cut
    if middle - start < LEAST_BEFORE or not (snia_accepts(values) if rule == "snia" else steady.b3):
        return None
    before, after = fmean(values[start:middle]), fmean(values[middle:])
    agree = after > 0 and abs(before / after - 1) <= WITHIN
    return Settled(start, before, after) if agree or rule == "snia" else None


def _by_a_line(values: Sequence[float]) -> float:
    """What a straight line leaves unexplained of a series: the sum of squares around it."""
    mean, rise, middle = fmean(values), slope(values), (len(values) - 1) / 2
    return math.fsum((value - mean - rise * (at - middle)) ** 2 for at, value in enumerate(values))


def _by_levels(values: Sequence[float], change: Change | None) -> float:
    """What the two levels of a change leave; without one, half of what a single level leaves."""
    at = change.at if change is not None else 0
    means = fmean(values[:at] or values), fmean(values[at:])
    left = math.fsum((value - means[place >= at]) ** 2 for place, value in enumerate(values))
    return left if change is not None else left / 2


def _halves(values: Sequence[float]) -> float:
    middle = len(values) // 2
    second = fmean(values[middle:]) if values else 0.0
    return fmean(values[:middle]) / second - 1 if middle and second > 0 else math.nan
