"""A storage that is slow at times for reasons of its own: a neighbour in bursts, garbage collection, a throttle.

A closed load waits with the storage: while it is slow, fewer I/Os come. Those of production go on coming, and wait one
behind the other until it is quick again, and longer. No closed row has that backlog. What one shows of the slow times
is how slow (n outstanding I/Os that take R come off at n / R a second), how much of the time, and, by how unevenly the
I/Os fall into the intervals of the row, about how long each lasts. The rest is a fluid with two states.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, variance
from typing import NamedTuple

from msgspec import Struct

from iocast.forecast.flow_equivalent import Ladder
from iocast.forecast.response_law import cells_of

LEAST_INTERVALS = 10
BEYOND_CHANCE = 3.0  # standard deviations of a variance: a storage of random times passes it once in 700
SLOW_ALL_THROUGH = 0.9  # of an interval: it goes on into the next one
HARDLY = 1e-4  # of the time: not slow at all
ATOMS = 24  # places at which a distribution of delays is kept
LONGEST = 50.0  # times: slow times that chance could explain as longer are states, which are cut apart elsewhere


class Delay(NamedTuple):
    """Arrivals that wait for a backlog: the share of all, how long, and whether they come in the slow time itself."""

    share: float
    delay_s: float
    slow: bool


Delays = list[Delay]


class Pace(Struct, frozen=True, kw_only=True):
    """How fast a saturated storage worked: the waits of its deepest row, and all saturated rows by interval."""

    users: float
    ahead: float  # of these, those that wait while all servers work
    response_s: tuple[float, ...]  # at the shares of GRID, of the deepest row
    rate_per_s: float
    interval_s: float
    rates: tuple[tuple[float, ...], ...]  # of each saturated row, interval by interval, as a share of its mean


class SlowTimes(Struct, frozen=True):
    """A saturated storage that has two paces."""

    share: float  # of the time in which it has the slower one
    slow_per_s: float
    quick_per_s: float
    lasts_s: float  # how long a slow time lasts on average: most likely, and at most
    most_s: float

    def usual_delays(self, rate_per_s: float) -> Delays:
        """Slow times that all last equally long: half of them by a neighbour in the same queue, whose I/Os are done at
        the quick pace like all that waits, half of the storage itself."""
        both = (self._even(rate_per_s, self.lasts_s, shared=shared) for shared in (True, False))
        return [each._replace(share=each.share / 2) for delays in both for each in delays]

    def most_delays(self, rate_per_s: float) -> Delays:
        """Slow times of random length and the storage itself slow: the longest of them count. The rate is one that the
        storage does on average."""
        rises, falls = rate_per_s - self.slow_per_s, self.quick_per_s - rate_per_s
        if rises <= 0:
            return []
        quick_s = self.most_s * (1 - self.share) / self.share
        falls_off = 1 / (rises * self.most_s) - 1 / (falls * quick_s)
        delays: Delays = []
        for part in _middles():
            ios = -math.log(1 - part) / falls_off
            slow_s = min(ios / self.slow_per_s, self.most_s)
            behind_s = slow_s + max(0.0, ios - self.slow_per_s * slow_s) / self.quick_per_s
            delays.append(Delay(self.share / ATOMS, behind_s, slow=True))
            delays.append(Delay(self.share * rises / falls / ATOMS, ios / self.quick_per_s, slow=False))
        return delays

    def _even(self, rate_per_s: float, lasts_s: float, *, shared: bool) -> Delays:
        rises, falls = rate_per_s - self.slow_per_s, self.quick_per_s - rate_per_s
        delays: Delays = []
        if rises <= 0:
            return delays
        for part in _middles():
            ios, left_s = rises * part * lasts_s, (1 - part) * lasts_s
            after = max(0.0, ios - self.slow_per_s * left_s) / self.quick_per_s
            alone_s = left_s + after if after else ios / self.slow_per_s
            delays.append(Delay(self.share / ATOMS, ios / self.quick_per_s if shared else alone_s, slow=True))
            delays.append(Delay(self.share * rises / falls / ATOMS, ios / self.quick_per_s, slow=False))
        return delays


def pace_of(
    ladder: Ladder,
    response_s: tuple[float, ...],
    own_s: tuple[float, ...],
    rows: Sequence[tuple[float, ...]],
    each_s: float,
) -> Pace | None:
    """The pace of the deepest row of a ladder: its response, without what the own service of an I/O (`own_s`, of the
    least load) differs from its mean. `rows`: I/Os a second in the intervals of `each_s` of all saturated rows."""
    known = [row for row in rows if len(row) >= LEAST_INTERVALS and sum(row) > 0]
    if not known:
        return None
    mean_s = math.fsum(share * time_s for share, time_s in cells_of(own_s))
    waits = tuple(max(each - own + mean_s, each / 2) for each, own in zip(response_s, own_s, strict=True))
    return Pace(
        users=ladder.users[-1],
        ahead=max(1.0, ladder.users[-1] - ladder.saturation_users),
        response_s=waits,
        rate_per_s=ladder.last_per_s,
        interval_s=each_s,
        rates=tuple(tuple(each / fmean(row) for each in row) for row in known),
    )


def slow_times(pace: Pace, service_cv2: float) -> SlowTimes | None:
    """The slower one of two paces; None where chance may make them. `service_cv2`: of its service times, by which
    responses and counts vary at one pace."""
    excess, error = _excess(pace, service_cv2)
    if not excess:
        return None  # what differs from I/O to I/O only (stripes, hits of a cache) comes at all times
    by_response = [(share * time_s, pace.users / time_s) for share, time_s in cells_of(pace.response_s) if time_s > 0]
    by_interval = [(1.0, each * pace.rate_per_s) for row in pace.rates for each in row if each > 0]
    varies = max(1.0, service_cv2)
    for paces, by_chance in (
        (by_response, varies / pace.ahead),
        (by_interval, varies / (pace.rate_per_s * pace.interval_s)),
    ):
        two = _two_paces(paces, by_chance)
        slow = None if two is None else _lasting(pace, *two, excess, error)
        if slow is not None:
            return slow
    return None


def _lasting(pace: Pace, share: float, slow_per_s: float, excess: float, error: float) -> SlowTimes | None:
    """How long the slower one of two paces lasts; None where that is too short for one I/O to be slow from its start to
    its end: then I/Os differ, and not times."""
    quick_per_s = (pace.rate_per_s - share * slow_per_s) / (1 - share)  # so that its mean is what was measured
    apart = (quick_per_s - slow_per_s) / pace.rate_per_s
    if apart <= 0:
        return None
    pieces = _pieces_s(pace, quick_per_s, apart)
    lasts_s = _lasts_s(excess / apart**2, share, pace.interval_s)
    if lasts_s < pace.users / slow_per_s:
        return None
    if lasts_s > pace.interval_s and pieces:
        lasts_s = fmean(pieces)  # they can be counted
    most_s = max(lasts_s * (1 + error), *pieces)
    return SlowTimes(share, slow_per_s, quick_per_s, math.sqrt(lasts_s / (1 + error) * most_s), most_s)


def _two_paces(paces: Sequence[tuple[float, float]], varies: float) -> tuple[float, float] | None:
    """The share of the slower ones, and their mean, of paces with weights: cut where the two groups are furthest apart.
    None where they are not further apart than one pace whose logarithm has the variance `varies`."""
    paces = sorted(paces, key=lambda each: each[1])
    logs = [(weight, math.log(per_s)) for weight, per_s in paces]
    total = math.fsum(weight for weight, _ in logs)
    mean = _mean(logs)
    best, cut, below, sums = 0.0, 0, 0.0, 0.0
    for at, (weight, log) in enumerate(logs[:-1], 1):
        below, sums = below + weight / total, sums + weight / total * log
        between = (mean * below - sums) ** 2 / (below * (1 - below)) if 0 < below < 1 else 0.0
        if between > best:
            best, cut = between, at
    if not cut:
        return None
    share = math.fsum(weight for weight, _ in paces[:cut]) / total
    apart = _mean(logs[cut:]) - _mean(logs[:cut])
    if share < HARDLY or apart < BEYOND_CHANCE * math.sqrt(varies):
        return None
    return share, _mean(paces[:cut])


def _mean(weighted: Sequence[tuple[float, float]]) -> float:
    return math.fsum(weight * each for weight, each in weighted) / math.fsum(weight for weight, _ in weighted)


def _excess(pace: Pace, service_cv2: float) -> tuple[float, float]:
    """By how much the counts of intervals vary more than service times make them, as a share of the mean squared, and
    the error of that; 0 where chance may do it."""
    degrees = sum(len(row) - 1 for row in pace.rates)
    varies = math.fsum(variance(row) * (len(row) - 1) for row in pace.rates) / degrees
    by_service = max(1.0, service_cv2) / (pace.rate_per_s * pace.interval_s)
    error = math.sqrt(2 / degrees)
    excess = varies - by_service
    return (excess if excess > BEYOND_CHANCE * error * by_service else 0.0), 2 * error


def _lasts_s(of_time: float, share: float, interval_s: float) -> float:
    """How long slow times of random length last, if the time that intervals spend in them has a variance of `of_time`
    (as a share of the interval squared)."""
    low, high = 0.0, LONGEST * interval_s
    for _ in range(60):
        stays_s = (low + high) / 2  # the time in which a state is forgotten
        turns = interval_s / stays_s
        if 2 * share * (1 - share) * (turns - 1 + math.exp(-turns)) / turns**2 < of_time:
            low = stays_s
        else:
            high = stays_s
    return high / (1 - share)


def _pieces_s(pace: Pace, quick_per_s: float, apart: float) -> list[float]:
    """The times in one piece in which the storage may have been slow: an interval that was slow all through counts with
    those beside it, in another one it was slow once at most."""
    pieces = []
    for row in pace.rates:
        slow = [min(1.0, max(0.0, (quick_per_s / pace.rate_per_s - each) / apart)) for each in row]
        run, before = 0.0, 0.0
        for each in (*slow, 0.0):
            if each >= SLOW_ALL_THROUGH:
                run += each + (before if not run else 0.0)
            elif run:
                pieces.append(run + each)
                run = 0.0
            elif before:
                pieces.append(before)
            before = each if each < SLOW_ALL_THROUGH else 0.0
    return [each * pace.interval_s for each in pieces if each > 0]


def _middles() -> list[float]:
    return [(at + 0.5) / ATOMS for at in range(ATOMS)]
