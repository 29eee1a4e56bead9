"""Where a series of levels (throughput, a percentile, second by second) changed for good.

PELT (Killick 2012) with squared error on the logarithm, so that a shift is a factor; the penalty is raised for
series whose neighbours resemble each other, or every slow wave would be a change.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise
from statistics import fmean, median, median_high

from msgspec import Struct
from msgspec.structs import replace

MIN_LENGTH = 5  # of a stretch, in intervals
PENALTY = 4.0
MAX_CORRELATION = 0.95
LEAST_VARIANCE = 1e-6  # a tenth of a percent: a series without noise would break at every rounding
REPORTED_SHIFT = 0.10  # smaller ones are found too often where nothing changed
MAD_TO_SIGMA = 1.4826  # of a normal distribution
MOST = 1000  # levels, for which Python takes a fifth of a second at most [J]
STAYED = 0.6  # of a change must be left at both ends of a series: what came back did not stay [J]
NO_LEVEL = math.log(10)  # an interval so far from the median of a stretch is a stall in it, not its level [J]
OUTLIER = 3.0  # sigmas, beyond which a difference is a shift and no noise


class Change(Struct, frozen=True):
    """A change: the first interval of the new level, and how far it lies from the old one (-0.25: a quarter less)."""

    at: int
    shift: float


class ChangePoints(Struct, frozen=True):
    """The changes of a series, with what was assumed of its noise."""

    correlation: float  # phi: of an interval with the next
    variance: float  # of the logarithm
    penalty: float
    changes: tuple[Change, ...]

    @property
    def reported(self) -> tuple[Change, ...]:
        """Those large enough to be told."""
        return tuple(change for change in self.changes if abs(change.shift) >= REPORTED_SHIFT)


def change_points(levels: Sequence[float], *, independent: bool = False) -> ChangePoints | None:
    """The changes of a series of positive levels; None when it is too short, or has a level of 0.

    `independent` levels, as those of runs of different days, do not depend on their neighbours: of a few dozen levels
    no correlation can be estimated, and a wrong one hides a shift by a third.

    A longer series than `MOST` is looked at in means of so many neighbours as make it short enough, and each change is
    then put where it is sharpest.
    """
    if len(levels) < 2 * MIN_LENGTH or min(levels) <= 0:
        return None
    if len(levels) > MOST:
        return _of_means(levels, -(-len(levels) // MOST), independent=independent)
    return _change_points(levels, independent=independent)


def one_change(levels: Sequence[float]) -> Change | None:
    """The one cut that explains most of a series, when it is more than noise, large enough to be told, and stayed.

    A standstill counts as a thousandth of the mean; one of an interval or two is no level, and what ended, however
    long it was, is no change of level either.
    """
    if len(levels) < 2 * MIN_LENGTH or fmean(levels) <= 0:
        return None
    floor = fmean(levels) / 1000
    raw = [math.log(max(level, floor)) for level in levels]
    logs = [median(raw[max(0, at - 2) : at + 3]) for at in range(len(raw))]
    total, before, best = math.fsum(logs), 0.0, (0.0, 0)
    for at, value in enumerate(logs[: len(logs) - MIN_LENGTH], 1):
        before += value
        if at >= MIN_LENGTH:
            gain = before**2 / at + (total - before) ** 2 / (len(logs) - at) - total**2 / len(logs)
            best = (gain, at) if gain > best[0] else best
    gain, at = best
    if not at or gain <= _penalty(*_noise(raw), len(raw)):
        return None
    shift = _level(raw[at:]) - _level(raw[:at])
    is_change = abs(shift) >= math.log1p(REPORTED_SHIFT) and _stayed(raw, at, shift)
    return Change(at, math.expm1(shift)) if is_change else None


def _level(logs: list[float]) -> float:
    """The mean of a stretch without its stalls."""
    near = _near(logs, median(logs))
    return fmean(near or _near(logs, median_high(logs)))  # of two halves far apart the lower one is the stall


def _near(logs: list[float], middle: float) -> list[float]:
    return [log for log in logs if abs(log - middle) < NO_LEVEL]


def _stayed(logs: list[float], at: int, shift: float) -> bool:
    """Whether the last intervals are still on the new level, for long enough to call it one, and the first ones were
    on the old one."""
    first, last = median(logs[:MIN_LENGTH]), median(logs[-2 * MIN_LENGTH :])
    old, new = median(logs[:at]), median(logs[at:])
    return min((last - old) / shift, (new - first) / shift) > STAYED


def _of_means(levels: Sequence[float], together: int, *, independent: bool) -> ChangePoints:
    means = [fmean(levels[at : at + together]) for at in range(0, len(levels), together)]
    change_points = _change_points(means, independent=independent)
    starts = [sharpest(levels, each.at * together, together) for each in change_points.changes]
    return replace(change_points, changes=_kept(levels, starts, change_points.penalty * together))


def _kept(levels: Sequence[float], starts: list[int], penalty: float) -> tuple[Change, ...]:
    """The changes at some starts that still explain more than their penalty.

    A mean of neighbours among which a change lies is of neither level, which may have looked like another change.
    """
    while True:
        stretches = [levels[one:other] for one, other in pairwise([0, *starts, len(levels)])]
        apart = [math.log(fmean(after) / fmean(before)) for before, after in pairwise(stretches)]
        gains = [
            by * by / (1 / len(before) + 1 / len(after))
            for by, (before, after) in zip(apart, pairwise(stretches), strict=True)
        ]
        if min(gains, default=math.inf) > penalty:
            return tuple(Change(at, math.expm1(by)) for at, by in zip(starts, apart, strict=True))
        del starts[gains.index(min(gains))]


def sharpest(levels: Sequence[float], at: int, reach: int) -> int:
    """Where, not further than `reach` from `at`, the levels before and after differ most."""
    first = at - reach
    window = [math.log(level) for level in levels[first : at + reach]]
    whole = math.fsum(window)
    best, before = (-1.0, at), 0.0
    for number, value in enumerate(window[:-1], 1):
        before += value
        rest = len(window) - number
        apart = before / number - (whole - before) / rest
        best = max(best, (apart * apart * number * rest, first + number))
    return best[1]


def _change_points(levels: Sequence[float], *, independent: bool) -> ChangePoints:
    logs = [math.log(level) for level in levels]
    correlation, variance = _noise(logs, independent=independent)
    penalty = _penalty(correlation, variance, len(logs))
    starts = _segments(logs, penalty)
    means = [fmean(logs[start:end]) for start, end in pairwise([*starts, len(logs)])]
    shifts = [math.expm1(after - before) for before, after in pairwise(means)]
    changes = tuple(Change(at, shift) for at, shift in zip(starts[1:], shifts, strict=True))
    return ChangePoints(correlation, variance, penalty, changes)


def _penalty(correlation: float, variance: float, length: int) -> float:
    """What a cut must explain to be more than noise."""
    return PENALTY * variance * (1 + correlation) / (1 - correlation) * math.log(length)


def _noise(logs: list[float], *, independent: bool = False) -> tuple[float, float]:
    """Correlation and variance of the noise, from the differences: a shift disturbs only one of them, and is cut."""
    steps = [after - before for before, after in pairwise(logs)]
    middle = median(steps)
    sigma = MAD_TO_SIGMA * median(abs(step - middle) for step in steps)
    cut = [min(OUTLIER * sigma, max(-OUTLIER * sigma, step - middle)) for step in steps]
    square = math.fsum(step * step for step in cut)
    lagged = math.fsum(one * other for one, other in pairwise(cut))
    if independent:
        return 0.0, max(LEAST_VARIANCE, sigma * sigma / 2)
    correlation = min(MAX_CORRELATION, max(0.0, 1 + 2 * (lagged / square if square else -0.5)))
    return correlation, max(LEAST_VARIANCE, sigma * sigma / (2 * (1 - correlation)))


def _segments(values: list[float], penalty: float) -> list[int]:
    """The starts of the stretches that cost least: their squared errors, and a penalty for each cut."""
    sums = [0.0, *accumulate(values)]
    squares = [0.0, *accumulate(value * value for value in values)]

    def cost(start: int, end: int) -> float:
        total = sums[end] - sums[start]
        return squares[end] - squares[start] - total * total / (end - start)

    best, cut = [-penalty], [0]
    open_starts = [0]
    for end in range(1, len(values) + 1):
        candidates = [start for start in open_starts if end - start >= MIN_LENGTH]
        if not candidates:
            best.append(math.inf)
            cut.append(0)
        else:
            value, start = min((best[start] + cost(start, end) + penalty, start) for start in candidates)
            best.append(value)
            cut.append(start)
            # A start that is worse even without a further cut can never win again.
            open_starts = [s for s in open_starts if end - s < MIN_LENGTH or best[s] + cost(s, end) <= value]
        if math.isfinite(best[end]):
            open_starts.append(end)
    starts, end = list[int](), len(values)
    while end:
        starts.append(cut[end])
        end = cut[end]
    return starts[::-1]
