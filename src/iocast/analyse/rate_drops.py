"""A rate that fell within a row: for good, when, after how much, from what to what, and its slow part then; or for a
moment, as in a stall."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, median, pstdev

from msgspec import Struct

from iocast.analyse.changepoint import ChangePoints
from iocast.model.run import OpSeries, Series

FALLS = 0.3  # of the rate: less is no fall [J]
LEAST_INTERVALS = 15  # of fewer some part is constant by chance [J]


class Drop(Struct, frozen=True):
    """A fall of the I/O rate for good. `constant`: the scatter of the rate afterwards over its mean."""

    at_ns: int  # since the start of the phase
    before_per_s: float
    after_per_s: float
    ios: int  # that were done until then
    bytes: int
    constant: float


LEAST_INTERVALS = 15  # of fewer some part is constant by chance [J]
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

    @property
    def by_chance(self) -> float:
        """The scatter over that of as many I/Os that come at random."""
        return self.constant * math.sqrt(self.ios_per_interval)


def slow_part(series: OpSeries, changes: ChangePoints) -> SlowPart | None:
    """The most constant of the slow parts that the quantiles of a row cut off, since its last change; None without."""
    start = changes.reported[-1].at + 1 if changes.reported else 0
    parts = []
    for quick in series.up_to:
        slow = [ios - below for ios, below in zip(series.ios[start:], quick[start:], strict=True)]
        mean = fmean(slow) if len(slow) >= LEAST_INTERVALS else 0.0
        if mean >= 1:
            parts.append(SlowPart(mean, sum(slow) / sum(series.ios[start:]), pstdev(slow) / mean))
    return min(parts, key=lambda part: part.by_chance, default=None)


def drop(series: Series, changes: ChangePoints | None) -> Drop | None:
    """The deepest fall of a row's rate, when it was deep enough and lasted to the end; else None."""
    if changes is None or not changes.reported:
        return None
    rates = series.rates_per_s
    deepest = min(changes.reported, key=lambda change: change.shift)
    starts = [0, *(change.at for change in changes.reported), len(rates)]
    here = starts.index(deepest.at)
    # The interval in which it fell is of neither level: the first of the last ones, or a short stretch of its own.
    before, last = fmean(rates[starts[here - 1] : deepest.at]), rates[starts[-2] + 1 :]
    after = fmean(last)
    if after > (1 - FALLS) * before or max(rates[deepest.at + 1 :]) > (1 - FALLS / 2) * before:
        return None
    return Drop(
        at_ns=deepest.at * series.interval_ns,
        before_per_s=before,
        after_per_s=after,
        ios=sum(series.ios[: deepest.at]),
        bytes=sum(series.bytes[: deepest.at]),
        constant=pstdev(last) / after if after else 0.0,
    )


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
