"""A rate that fell within a row: for good, when, after how much, from what to what, and its slow part then; in what was
taken for its warm-up; or for a moment, as in a stall."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby, pairwise
from statistics import fmean, median, pstdev

from msgspec import Struct

from iocast.analyse.changepoint import MIN_LENGTH, ChangePoints, sharpest
from iocast.analyse.steady import Steadiness
from iocast.model.histogram import Histogram
from iocast.model.run import OpSeries, Series

FALLS = 0.3  # of the rate: less is no fall [J]
CHANCE = 4.0  # times the error of both rates, as the place of a fall is sought: less is chance [J]
LEAST_INTERVALS = 15  # of fewer some part is constant by chance [J]
LEAST_SHORT, HALVES, HALF_AGAIN = 3, 0.5, 1.5  # intervals; of the rate, that is a fall; times the rate, a step [J]
SHORT_LEVEL = 0.15  # how far the intervals of one level may be apart in a short row [J]


class Drop(Struct, frozen=True):
    """A fall of the I/O rate for good. `constant`: the scatter of the rate afterwards over its mean."""

    at_ns: int  # since the start of the phase
    before_per_s: float
    after_per_s: float
    ios: int  # that were done until then
    bytes: int
    constant: float
    in_first: bool = False  # in the first interval: it came then at the latest, and from so much at least
    in_last: bool = False  # in the last interval, or before it: to so much at most


class EarlyFall(Struct, frozen=True):
    """A row that was far faster in what was taken for its warm-up; `share`: how far its mean is below the fastest."""

    within_ns: int
    share: float


LEAST_BESIDE = 10  # intervals: of fewer one is no exception
FEW = 0.1  # of the intervals, one always: a stall may lie in two [J]
SIGMAS, DEEP = 5.0, 0.15  # below the median, of its own scatter and of the rate [J]
MAD_TO_SIGMA = 1.4826  # of a normal distribution
BESIDE = 2  # intervals on each side that say what its level was


class SlowPart(Struct, frozen=True):
    """The I/Os of a row that took longer than one of its quantiles, after its last change: how many, how constant."""

    ios_per_interval: float
    share: float  # of all I/Os then
    constant: float  # scatter over mean
    of_all: float  # the variance of all I/Os over their mean

    @property
    def by_chance(self) -> float:
        """The scatter over that of a share of all I/Os which chance takes out."""
        return self.constant * math.sqrt(self.ios_per_interval / (1 - self.share * (1 - self.of_all)))


def slow_part(series: OpSeries, changes: ChangePoints) -> SlowPart | None:
    """The most constant of the slow parts that the quantiles of a row cut off, since its last change; None without."""
    start = changes.reported[-1].at + 1 if changes.reported else 0
    parts, every = [], series.ios[start:]
    of_all = pstdev(every) ** 2 / fmean(every) if any(every) else 0.0
    for quick in series.up_to:
        slow = [ios - below for ios, below in zip(every, quick[start:], strict=True)]
        mean = fmean(slow) if len(slow) >= LEAST_INTERVALS else 0.0
        if mean >= 1:
            parts.append(SlowPart(mean, sum(slow) / sum(every), pstdev(slow) / mean, of_all))
    return min(parts, key=lambda part: part.by_chance, default=None)


def drop(series: Series, changes: ChangePoints | None) -> Drop | None:
    """The deepest fall of a row's rate, when it was deep enough and lasted to the end; else None."""
    if changes is None or not changes.reported:
        return None
    rates = series.rates_per_s
    deepest = min(changes.reported, key=lambda change: change.shift)
    starts = [0, *(change.at for change in changes.reported), len(rates)]
    here = starts.index(deepest.at)
    start = starts[here - 1]
    # A stretch has some intervals at least, and so the change may lie some intervals beside the fall.
    floor = fmean(rates) / 1000  # as good as a standstill, which has no logarithm
    cut = sharpest([max(rate, floor) for rate in rates], deepest.at, MIN_LENGTH)
    # The two intervals beside it are of neither level: it fell in one of them.
    before = fmean(rates[start : cut - 1] or rates[start:cut])
    last = rates[max(starts[-2], cut) + 1 :]
    if not last:
        return None  # it fell in the last interval: there is no level after it
    after = fmean(last)
    if after > (1 - FALLS) * before or max(rates[cut + 1 :]) > (1 - FALLS / 2) * before:
        return None
    if any(after > (1 - FALLS) * median(rates[one:other]) for one, other in pairwise(starts[:here])):
        return None  # it rose to where it fell from: its end is no new level
    if 2 * _longest_below(rates[: cut - 1], (before + after) / 2) >= len(rates) - cut:
        return None  # it had fallen for about as long before, and came back
    both, then = sum(rates[cut - 1 : cut + 1]), fmean(rates[cut + 1 : starts[here + 1]] or last)
    fast = min(2.0, max(0.0, (both - 2 * then) / (before - then)))  # of the two intervals, at the level before
    share = min(1.0, fast * before / both) if both else 0.0
    return Drop(
        at_ns=round((cut - 1 + fast) * series.interval_ns),
        before_per_s=before,
        after_per_s=after,
        ios=_until(series.ios, cut, share),
        bytes=_until(series.bytes, cut, share),
        constant=pstdev(last) / after if after else 0.0,
        in_first=cut == 1,
    )


def beyond_chance(fall: Drop, times: Histogram, ios: int) -> bool:
    """Whether so few I/Os as lie on both sides of a fall would seldom differ so by the scatter of their times alone."""
    before, after = fall.ios, ios - fall.ios
    if not before or not after or not times.mean_ns > 0 or not fall.after_per_s > 0:
        return True
    varies = times.stdev_ns / times.mean_ns
    error = varies * math.sqrt(1 / before + 1 / after)
    return math.log(fall.before_per_s / fall.after_per_s) > CHANCE * error


def _longest_below(rates: Sequence[float], limit: float) -> int:
    """The most intervals one after the other that lie below a rate."""
    return max((sum(1 for _ in group) for low, group in groupby(rates, lambda rate: rate < limit) if low), default=0)


class ShortStep(Struct, frozen=True):
    """One step in a row of few intervals: the whole ones before it, the share of the next at the first level, both
    levels."""

    head: int
    share: float
    tail: int
    before_per_s: float
    after_per_s: float
    sharp: bool = False  # no interval lies between the levels: a level of a single one may be of both

    @property
    def before_is_bound(self) -> bool:
        """Whether the first level may have been further away: its only interval may have seen the change."""
        return self.sharp and self.head == 1

    @property
    def after_is_bound(self) -> bool:
        """The same of the second level."""
        return self.sharp and self.tail == 1

    @property
    def factor(self) -> float:
        """The second level over the first."""
        return self.after_per_s / self.before_per_s


def short_step(rates: Sequence[float]) -> ShortStep | None:
    """Where a row of so few intervals that no change is looked for went from one level to another, half as high again
    or more, or as far down: at most one interval lies between the two. None where it did not."""
    if not LEAST_SHORT <= len(rates) < 2 * MIN_LENGTH or min(rates) <= 0:
        return None
    before, after = rates[0], rates[-1]
    if max(after / before, before / after) < HALF_AGAIN:
        return None
    head = next(at for at, rate in enumerate(rates) if abs(rate - before) > SHORT_LEVEL * before)
    tail = next(at for at, rate in enumerate(reversed(rates)) if abs(rate - after) > SHORT_LEVEL * after)
    between = rates[head : len(rates) - tail]
    if len(between) > 1 or any(not min(before, after) < rate < max(before, after) for rate in between):
        return None
    share = sum((rate - after) / (before - after) for rate in between)
    return ShortStep(head, share, tail, fmean(rates[:head]), fmean(rates[len(rates) - tail :]), sharp=not between)


def short_drop(series: Series, most: float = HALVES) -> Drop | None:
    """A fall to half, or `most`, or less in a row of few intervals. It may have come back after the end of the row."""
    rates = series.rates_per_s
    step = short_step(rates)
    if step is None or step.factor > most:
        return None
    head, last = step.head, rates[len(rates) - step.tail :]
    between = slice(head, len(rates) - step.tail)
    return Drop(
        at_ns=round((head + step.share) * series.interval_ns),
        before_per_s=step.before_per_s,
        after_per_s=step.after_per_s,
        ios=sum(series.ios[:head]) + round(step.share * sum(series.ios[between])),
        bytes=sum(series.bytes[:head]) + round(step.share * sum(series.bytes[between])),
        constant=pstdev(last) / step.after_per_s,
        in_first=step.before_is_bound,  # of which a part may be of the lower level
        in_last=step.after_is_bound,
    )


def early_fall(series: Series, steadiness: Steadiness) -> EarlyFall | None:
    """A fall before a row was steady, as of a cache, credits or an SLC area; None where it only warmed up."""
    if not steadiness.cut or not steadiness.mean > 0:
        return None
    early = series.rates_per_s[: steadiness.cut]
    if steadiness.mean > (1 - FALLS) * fmean(early):
        return None
    return EarlyFall(steadiness.cut * series.interval_ns, 1 - steadiness.mean / max(early))


class LoneDips(Struct, frozen=True):
    """Which intervals they were, how deep the deepest of them was as a share, and the series without them."""

    at: tuple[int, ...]
    deepest: float
    levelled: list[float]


def lone_dips(rates: Sequence[float]) -> LoneDips | None:
    """None where there are none, or so many that they are part of what the row was."""
    if len(rates) < LEAST_BESIDE:
        return None
    middle = median(rates)
    sigma = MAD_TO_SIGMA * median(abs(rate - middle) for rate in rates)
    floor = middle - max(SIGMAS * sigma, DEEP * middle)
    at = tuple(number for number, rate in enumerate(rates) if rate < floor)
    if not 0 < len(at) <= max(1, int(FEW * len(rates))):
        return None
    out, levelled = frozenset(at), list(rates)
    for number in at:
        reach = range(number - BESIDE - len(at), number + BESIDE + len(at) + 1)
        levelled[number] = median(rates[each] for each in reach if 0 <= each < len(rates) and each not in out)
    return LoneDips(at, 1 - min(rates[number] for number in at) / middle, levelled)


def _until(counts: Sequence[int], cut: int, share: float) -> int:
    """What was done before the two intervals beside a fall, and the share of theirs."""
    return sum(counts[: cut - 1]) + round(share * sum(counts[cut - 1 : cut + 1]))
