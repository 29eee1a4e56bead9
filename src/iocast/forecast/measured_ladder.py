"""The ladder of closed rows that a forecast stands on, with its laws; or why there is none."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from iocast.forecast.flow_equivalent import Ladder, ladder
from iocast.forecast.response_law import GRID, Law, cells_of, cv2_of
from iocast.forecast.uneven_pace import Pace

LEAST_LOADS = 3
SATURATED_GAIN = 1.10  # of a doubling of the load
DEEP = 4.0  # times N*: from here on the ladder shows whether the storage is one pool or striped
QUANTILES = (0.5, 0.95, 0.99)
EVEN_PACE = 0.02  # [J] squared coefficient of variation of a cap's pace; of servers this regular it is taken for one
ONE_SIGMA = (0.16, 0.84)  # the shares between which two standard deviations lie
LEAST_SERVICE = 0.05  # of the response of one user: an I/O takes this at least
HARDLY_HELD = 0.02  # of that response: less is left out
SETTLED = 1e-4  # of the pace: nearer than this a search for it ends
ROUNDS = 500

Missing = Literal["imported", "no_such_rows", "refused_rows", "few_loads", "no_single", "too_short"]


class RequestedLoad(Struct, frozen=True, kw_only=True):
    """What I/O production makes: random, of one size, a share of it reads."""

    size_bytes: int
    read_share: float = 1.0


class Level(Struct, frozen=True, kw_only=True):
    """One load of a ladder. Errors are half 95 % intervals of logarithms; None: too few independent I/Os to say."""

    names: tuple[str, ...]  # the rows
    users: float
    rate_per_s: float
    ios: int
    times_s: tuple[float, ...]  # at the shares of GRID
    mean_error: float
    errors: Mapping[float, float | None]  # by quantile

    @property
    def response_s(self) -> float:
        """R = N / X."""
        return self.users / self.rate_per_s


class MeasuredLadder(Struct, frozen=True, kw_only=True):
    """What was measured. `composed`: put together from a ladder of reads and one of writes. `between`: the ladders of
    the next smaller and the next larger size, where the asked one was not measured.

    `service_cv2` and `fastest_s` are those of the least load.
    """

    levels: tuple[Level, ...]
    load: RequestedLoad
    read_share: float
    service_cv2: float
    fastest_s: float
    composed: bool = False
    between: tuple[MeasuredLadder, ...] = ()
    excluded: Mapping[str, str] = {}  # rows of the same load, and why
    unsure: Mapping[str, str] = {}  # rows of trust C, and why
    pace: Pace | None = None  # of the saturated storage; None where no interval shows it

    @property
    def ladder(self) -> Ladder:
        """Users and response times, made to rise."""
        return ladder([each.users for each in self.levels], [each.rate_per_s for each in self.levels])

    @property
    def law(self) -> Law:
        """With the distributions."""
        regular = max(0.0, 1 - min(self.service_cv2, self.saturated_cv2))
        return Law(self.ladder, tuple(each.times_s for each in self.levels), regular)

    @property
    def last_gain(self) -> float:
        """How many times the throughput the last doubling of the load brought."""
        before, last = self.levels[-2:]
        return math.exp(math.log(last.rate_per_s / before.rate_per_s) / math.log2(last.users / before.users))

    @property
    def saturated(self) -> bool:
        """True when a heavier load would have brought next to nothing more."""
        return self.last_gain < SATURATED_GAIN and all(each.saturated for each in self.between)

    @property
    def saturated_cv2(self) -> float:
        """How much the pace of a saturated storage varies. Who waits for n others, beyond those that are served side by
        side, waits for the sum of n such times: its variance is n times theirs. 1: random; 0: a throttle that lets I/Os
        pass at equal distances."""
        first, last = self.levels[0], self.levels[-1]
        waits, ahead = last.response_s - first.response_s, last.users - self.ladder.saturation_users
        if not self.saturated or waits <= 0 or ahead < 1:
            return 1.0
        more = cv2_of(last.times_s) * last.response_s**2 - cv2_of(first.times_s) * first.response_s**2
        return max(0.0, more * ahead / waits**2)

    @property
    def evenly_paced(self) -> bool:
        """True when a saturated storage lets I/Os pass at equal distances, as a cap on IOPS or MB/s does.

        By the middle two thirds of the times: who started first never waited, and that tells nothing of the pace.
        """
        first, last = self.levels[0], self.levels[-1]
        waits, ahead = last.response_s - first.response_s, last.users - self.ladder.saturation_users
        if not self.saturated or waits <= 0 or ahead < 1:
            return False
        more = _sigma_s(last.times_s) ** 2 - _sigma_s(first.times_s) ** 2
        return more * ahead < EVEN_PACE * waits**2

    @property
    def held_s(self) -> float:
        """What an I/O of one user may wait for a cap that it meets alone, in seconds; 0 where none shows.

        One user behind a cap of T between two I/Os sees R = max(0, T - S) + S, S being the service of the I/O before
        and of this one. The mean wait, w = E[max(0, T - S)], is the largest that solves w = E[max(0, T + w - R)]:
        too long rather than too short, as R varies more than S. Where every I/O is held, S is only known by its
        spread: that of R is the root of two times wider.
        """
        if not self.evenly_paced:
            return 0.0
        first, last = self.levels[0], self.levels[-1]
        pace_s = last.response_s / last.users * math.exp(first.mean_error + last.mean_error)
        mean_s = first.response_s
        least_s = max(LEAST_SERVICE * mean_s, (mean_s - first.times_s[1]) / math.sqrt(2))
        held = max(0.0, mean_s - least_s)
        for _ in range(ROUNDS):
            less = min(held, _mean_below(first.times_s, pace_s + held))
            if held - less < SETTLED * pace_s:
                break
            held = less
        return held if held > HARDLY_HELD * mean_s else 0.0

    @property
    def deep(self) -> bool:
        """True when the ladder goes far beyond the saturation load."""
        return self.levels[-1].users >= DEEP * self.ladder.saturation_users

    @property
    def names(self) -> tuple[str, ...]:
        """The rows, in the order of their loads."""
        return tuple(dict.fromkeys(name for level in self.levels for name in level.names))


class Absent(Struct, frozen=True):
    """Why there is no ladder: `rows` are those that were looked at, `known` the mixes and sizes that were measured."""

    code: Missing
    rows: Mapping[str, str] = {}
    known: tuple[RequestedLoad, ...] = ()


def _sigma_s(times_s: Sequence[float]) -> float:
    """The standard deviation by the middle two thirds."""
    low, high = (times_s[GRID.index(share)] for share in ONE_SIGMA)
    return (high - low) / 2


def _mean_below(times_s: Sequence[float], limit_s: float) -> float:
    """By how much times stay below a limit on average, in seconds; those beyond it count as 0."""
    return math.fsum(share * max(0.0, limit_s - time_s) for share, time_s in cells_of(times_s))
