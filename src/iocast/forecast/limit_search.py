"""The highest rate within a latency limit: where it is, between which measured rates, and which rate to measure next.

A rate *holds* the limit when even the upper end of its interval is within it, and *breaks* it when even the lower end
is beyond; else it is unsure. The interval of the answer ends at measured rates: the highest that holds before any row's
figure is beyond the limit, and the lowest that breaks after the last row whose figure is within. Nothing is assumed but
that more load is never faster, so an end is wrong only where a row's own interval is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

from iocast.analyse.statistics import design_effect, design_effects, enough_beyond, mean_interval, quantile_interval
from iocast.model.calibration_request import OPEN_SHARES, CalibrationRequest
from iocast.model.run import PhaseRecord

HIGHEST_SHARE = 0.98  # of the most IOPS of closed loads: nearer, a queue of random arrivals has no end
TIGHT = 0.03  # either side of the answer: as near as measured rates are brought to it
NEAREST = 0.012  # rates nearer to each other than this share do not tell more
MOST_NEAR = 8  # rows around the limit
PRECISE = 0.20  # half the interval over the figure: what is known worse is refused by trust, and is measured again
UNSENT = 0.01  # of the I/Os: so many due and never sent, and the rate was not sustained

Held = Literal["held", "broken", "unsure"]


class RatePoint(NamedTuple):
    """What the response time was at a rate: the statistic that is limited, with its 95 % interval."""

    rate_per_s: float
    value_ns: float
    low_ns: float | None
    high_ns: float | None
    sustained: bool = True  # False: I/Os that were due were never sent, so the queue had no end
    enough: bool = True  # False: too few I/Os lie beyond the percentile to say it
    refused: bool = False  # no answer may rest on it

    def held(self, limit_ns: float) -> Held:
        """Whether the limit was surely kept, surely broken, or neither."""
        if not self.sustained or (self.low_ns is not None and self.low_ns > limit_ns):
            return "broken"
        return "held" if self.high_ns is not None and self.high_ns <= limit_ns else "unsure"

    def tells(self, limit_ns: float) -> bool:
        """Whether it can be used as it is, so that measuring the rate again would tell nothing more."""
        if self.refused:
            return False
        if self.low_ns is None or self.high_ns is None:
            return self.held(limit_ns) == "broken"
        return (self.high_ns - self.low_ns) / 2 <= PRECISE * self.value_ns or self.held(limit_ns) == "broken"

    def within(self, limit_ns: float) -> bool:
        """Whether the figure itself is within the limit."""
        return self.sustained and self.value_ns <= limit_ns


class Crossing(Struct, frozen=True):
    """The highest rate within the limit. None: not even an idle device is (`rate_per_s`), no measured rate surely holds
    (`low_per_s`) or surely breaks it (`high_per_s`). `reached` is False where no measured rate broke the limit."""

    rate_per_s: float | None = None
    low_per_s: float | None = None
    high_per_s: float | None = None
    reached: bool = True


def statistic(record: PhaseRecord, quantile: float | None) -> RatePoint:
    """The mean or a percentile of the response of a row's reads, at the rate that was due or else was reached."""
    did = record.measurement
    times = did.response("read")
    series = next((each for each in record.series.ops if each.op == "read"), None)
    sustained = did.unsent_arrivals <= UNSENT * max(1, did.ios)
    rate = did.asked_rate_per_s or did.rate_per_s
    if quantile is None:
        mean = mean_interval(times.mean_ns, series)
        return RatePoint(rate, mean.value_ns, mean.low_ns, mean.high_ns, sustained)
    effect = design_effect(design_effects(series), quantile)
    interval = quantile_interval(times, quantile, effect)
    known = enough_beyond(times.total, quantile)
    low, high = (interval.low_ns, interval.high_ns) if known else (None, None)
    return RatePoint(rate, interval.value_ns, low, high, sustained, known)


def crossing(points: Sequence[RatePoint], idle: RatePoint, limit_ns: float) -> Crossing:
    """Where points of ascending rates cross the limit; `idle` is the least load, taken for a rate of nought."""
    low = high = None
    for point in points:
        if not point.within(limit_ns):
            break
        low = point.rate_per_s if point.held(limit_ns) == "held" else low
    for point in reversed(points):
        if point.within(limit_ns):
            break
        high = point.rate_per_s if point.held(limit_ns) == "broken" else high
    if not idle.within(limit_ns):
        return Crossing(None, low, high)
    before = idle._replace(rate_per_s=0.0)
    for point in points:
        if not point.within(limit_ns):
            return Crossing(_between(before, point, limit_ns), low, high)
        before = point
    return Crossing(before.rate_per_s or None, low, high, reached=False)


def _between(before: RatePoint, after: RatePoint, limit_ns: float) -> float:
    """Straight in the reciprocal of the response: exact for one queue, on the safe side for pooled servers."""
    if after.value_ns <= before.value_ns or not after.value_ns > limit_ns:
        return before.rate_per_s  # it was broken by what was never sent: its response says nothing
    share = (1 / before.value_ns - 1 / limit_ns) / (1 / before.value_ns - 1 / after.value_ns)
    return before.rate_per_s + min(max(share, 0.0), 1.0) * (after.rate_per_s - before.rate_per_s)


class Chooser:
    """Which rate comes next: first shares of the most IOPS, for the curve; then around the limit until it is tight."""

    def __init__(self, request: CalibrationRequest, refused: Callable[[PhaseRecord], bool]) -> None:
        self._asked, self._refused = request, refused
        self._known: dict[str, RatePoint] = {}  # what was said of a row before

    def __call__(self, closed: Sequence[PhaseRecord], at_rates: Sequence[PhaseRecord]) -> float | None:
        """The next rate; None when the answer is as tight as it gets."""
        most = max(record.measurement.rate_per_s for record in closed)
        if len(at_rates) < len(OPEN_SHARES):
            return _rounded(OPEN_SHARES[len(at_rates)] * most)
        if len(at_rates) >= len(OPEN_SHARES) + MOST_NEAR:
            return None
        points = sorted(map(self._point, at_rates))
        limit_ns, idle = float(self._asked.max_latency_ns), self._point(closed[0])
        if idle.refused:  # a rate that tells stands in for it, if it kept the limit
            kept = (point for point in points if point.tells(limit_ns) and point.within(limit_ns))
            idle = next(kept, idle)
        return next_near(points, idle, limit_ns, HIGHEST_SHARE * most)

    def _point(self, record: PhaseRecord) -> RatePoint:
        name = record.phase.name
        if name not in self._known:
            point = statistic(record, self._asked.quantile)
            self._known[name] = point._replace(refused=self._refused(record))
        return self._known[name]


def next_near(points: Sequence[RatePoint], idle: RatePoint, limit_ns: float, highest: float) -> float | None:
    """The rate that narrows the wider side of the crossing; None where neither can be narrowed."""
    if idle.held(limit_ns) == "broken":
        return None
    known = [point for point in points if point.tells(limit_ns)]
    at_limit = crossing(known, idle, limit_ns)
    middle = at_limit.rate_per_s
    if middle is None or not at_limit.reached:
        later = _beyond(crossing(points, idle, limit_ns), middle or 0.0, highest)
        return next((rate for each in later if (rate := _new(each, points, limit_ns)) is not None), None)
    low, high = at_limit.low_per_s or 0.0, at_limit.high_per_s or highest
    sides = [(middle - low, _below(known, low, middle)), (high - middle, _above(known, middle, high))]
    for gap, rate in sorted(sides, reverse=True):
        wanted = _new(min(rate, highest), points, limit_ns)
        if gap > TIGHT * middle and wanted is not None:
            return wanted
    return None


def _beyond(guess: Crossing, known: float, highest: float) -> tuple[float, ...]:
    """Rates that may break the limit where nothing that tells did: just above where doubtful rows did, or highest."""
    if guess.reached and guess.rate_per_s is not None:
        above = (1 + 0.8 * TIGHT) * guess.rate_per_s
        return above, (1 + 2 * TIGHT) * guess.rate_per_s, (known + above) / 2
    return highest, (known + highest) / 2


def _below(points: Sequence[RatePoint], low: float, middle: float) -> float:
    """A rate that may hold: just below the crossing, or between what holds and what already was unsure."""
    unsure = [point.rate_per_s for point in points if low < point.rate_per_s < (1 - NEAREST / 2) * middle]
    return (low + min(unsure)) / 2 if unsure else (1 - 0.8 * TIGHT) * middle


def _above(points: Sequence[RatePoint], middle: float, high: float) -> float:
    unsure = [point.rate_per_s for point in points if (1 + NEAREST / 2) * middle < point.rate_per_s < high]
    return (high + max(unsure)) / 2 if unsure else (1 + 0.8 * TIGHT) * middle


def _new(rate: float, points: Sequence[RatePoint], limit_ns: float) -> float | None:
    """The rate, unless it was measured already and told something, or twice."""
    wanted = _rounded(rate)
    near = [point for point in points if abs(point.rate_per_s - wanted) < NEAREST * wanted]
    return None if len(near) > 1 or any(point.tells(limit_ns) for point in near) or wanted <= 0 else wanted


def _rounded(rate: float) -> float:
    return float(f"{rate:.3g}")
