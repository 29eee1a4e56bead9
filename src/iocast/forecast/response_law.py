"""Percentiles of the response to random arrivals: who finds n in the storage waits as one of n + 1 closed users does.

Arrivals at random see the storage as it is on average (PASTA), so their response is a mixture of the distributions
that were measured at closed loads, each weighted by how often an arrival meets it. Between two loads a percentile is
straight in the number of users; beyond the last load all are later by as much as the mean is. Exact for servers that
share a queue. Source: models A4, step 4. A service that hardly varies is part done when the next one arrives, while
closed users arrive just as one ends: at the lower end an arrival has up to one fewer before it.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

from msgspec import Struct

from iocast.forecast.flow_equivalent import MOST_IN_SYSTEM, Ladder, response_table, shares

# The shares at which a distribution is kept: each thousandth of the slowest tenth, each hundredth of the rest.
GRID = (
    *(at / 100 for at in range(90)),
    *(at / 1000 for at in range(900, 1000)),
    *(0.9995, 0.9998, 0.9999, 1.0),
)
_WIDTHS = tuple(high - low for low, high in pairwise(GRID))
TAIL = 0.901  # from here on GRID has thousandths
STEPS = 8  # places between two loads at which distributions are interpolated
BEYOND = 1.1  # from place to place, above the last load
LEAST_MASS = 1e-9
CLOSE = 1e-4  # of a percentile, relative


class Law(Struct, frozen=True, dict=True):
    """A ladder with the distribution at each of its loads: the times at the shares of GRID, in seconds."""

    ladder: Ladder
    times_s: tuple[tuple[float, ...], ...]
    regular: float = 0.0  # 1 for a service that never varies: then an arrival finds the one in service half done

    def scaled(self, level: int, factor: float) -> Law:
        """The same with one load slower by a factor; the ladder still rises."""
        means = [each * (factor if at == level else 1.0) for at, each in enumerate(self.ladder.response_s)]
        for at in range(1, len(means)):
            means[at] = max(means[at], means[at - 1])
        times = tuple(
            tuple(each * factor for each in state) if at == level else state for at, state in enumerate(self.times_s)
        )
        return Law(Ladder(self.ladder.users, tuple(means)), times, self.regular)

    def mixture(self, rate_per_s: float, factor: float, from_users: float, *, lowest: bool = False) -> Mixture:
        """The response at a rate of random arrivals; `lowest`: as fast as a convex ladder can be between its loads."""
        places, responses = self._lowest if lowest else self._usual
        state_shares = shares(responses, rate_per_s, factor, from_users)
        top = len(responses) - 1
        mean = math.fsum(share * responses[min(users, top)] for users, share in enumerate(state_shares))
        masses: dict[int, float] = {}
        for users, share in enumerate(state_shares):
            node, part = places[min(users, top)]
            masses[node] = masses.get(node, 0.0) + share * (1 - part)
            if part:
                masses[node + 1] = masses.get(node + 1, 0.0) + share * part
        parts = tuple((mass, self._times(node)) for node, mass in masses.items() if mass > LEAST_MASS)
        return Mixture(parts, mean, state_shares[0])

    def at(self, users: int) -> Mixture:
        """The response of a closed load."""
        times = self._interpolated(float(users))
        return Mixture(((1.0, times),), self.ladder.at(users), 0.0)

    def _times(self, node: int) -> tuple[float, ...]:
        """The distribution at a place, kept once it was made."""
        if node not in self._known:
            self._known[node] = self._interpolated(self._nodes[node])
        return self._known[node]

    def _interpolated(self, users: float) -> tuple[float, ...]:
        loads = self.ladder.users
        if users <= loads[0]:
            return self.times_s[0]
        if users >= loads[-1]:
            later = self.ladder.at(round(users)) - self.ladder.response_s[-1]
            return tuple(each + later for each in self.times_s[-1])
        at = bisect_right(loads, users) - 1
        part = (users - loads[at]) / (loads[at + 1] - loads[at])
        pairs = zip(self.times_s[at], self.times_s[at + 1], strict=True)
        return tuple(fast + part * (slow - fast) for fast, slow in pairs)

    @cached_property
    def _known(self) -> dict[int, tuple[float, ...]]:
        return {}

    @cached_property
    def _nodes(self) -> list[float]:
        return _nodes(self.ladder)

    @cached_property
    def _usual(self) -> tuple[list[tuple[int, float]], list[float]]:
        responses = response_table(self.ladder)
        return _located(self._nodes, [float(users) for users in range(1, len(responses) + 1)]), responses

    @cached_property
    def _lowest(self) -> tuple[list[tuple[int, float]], list[float]]:
        responses = response_table(self.ladder)
        positions = [float(users) for users in range(1, len(responses) + 1)]
        for users in range(1, min(int(self.ladder.users[-1]), len(responses)) + 1):
            positions[users - 1], responses[users - 1] = least_between(self.ladder, users)
        sooner = [max(1.0, position - self.regular) for position in positions]
        return _located(self._nodes, sooner), responses


def cells_of(times_s: Sequence[float]) -> list[tuple[float, float]]:
    """A distribution at the shares of GRID as its cells: the share of each, and its middle."""
    return [
        (high - low, (one + other) / 2)
        for (low, high), (one, other) in zip(pairwise(GRID), pairwise(times_s), strict=True)
    ]


def cv2_of(times_s: Sequence[float]) -> float:
    """The squared coefficient of variation of a distribution at the shares of GRID."""
    cells = cells_of(times_s)
    mean = math.fsum(share * time_s for share, time_s in cells)
    return math.fsum(share * (time_s - mean) ** 2 for share, time_s in cells) / mean**2


class Mixture(Struct, frozen=True, dict=True):
    """Response times: distributions at the shares of GRID, each with its weight; the weights sum to 1."""

    parts: tuple[tuple[float, tuple[float, ...]], ...]
    mean_s: float
    idle: float  # the share of time with nothing to do

    def share_up_to(self, time_s: float) -> float:
        """The share of the I/Os that take no longer."""
        return math.fsum(mass * _share(times, time_s) for mass, times in self.parts)

    def quantile_s(self, q: float) -> float:
        """A percentile, in seconds."""
        if q not in self._quantiles:
            self._quantiles[q] = self._searched(q)
        return self._quantiles[q]

    def as_one(self) -> Mixture:
        """The same as one distribution: for what stands in many others."""
        if len(self.parts) == 1:
            return self
        return Mixture(((1.0, _merged(self.parts)),), self.mean_s, self.idle)

    @cached_property
    def _quantiles(self) -> dict[float, float]:
        return {}

    def _searched(self, q: float) -> float:
        total = math.fsum(mass for mass, _ in self.parts)
        low = min(times[0] for _, times in self.parts)
        high = max(times[-1] for _, times in self.parts)
        while high - low > CLOSE * high:
            middle = math.sqrt(low * high) if low > 0 and high > 2 * low else (low + high) / 2
            if self.share_up_to(middle) >= q * total:
                high = middle
            else:
                low = middle
        return high


class _Change(NamedTuple):
    """When a part of a mixture comes at another pace from then on, and what of it comes at once."""

    time_s: float
    part: int
    pace: float
    at_once: float


def _merged(parts: Sequence[tuple[float, tuple[float, ...]]]) -> tuple[float, ...]:
    """Several distributions as one at the shares of GRID: each comes at a pace that changes at each of its times."""
    total = math.fsum(mass for mass, _ in parts)
    changes: list[_Change] = []
    for number, (mass, times) in enumerate(parts):
        for width, (start, end) in zip(_WIDTHS, pairwise(times), strict=True):
            share = mass / total * width
            pace, at_once = (share / (end - start), 0.0) if end > start else (0.0, share)
            changes.append(_Change(start, number, pace, at_once))
        changes.append(_Change(times[-1], number, 0.0, 0.0))
    changes.sort(key=itemgetter(0))  # those of one part stay in order
    paces = [0.0] * len(parts)
    at, done, pace = changes[0].time_s, 0.0, 0.0
    merged = [at]
    for time_s, number, own_pace, at_once in changes:
        after = done + pace * (time_s - at)
        while len(merged) < len(GRID) - 1 and (share := GRID[len(merged)]) <= after:
            merged.append(min(at + (share - done) / pace, time_s) if pace else time_s)
        paces[number] = own_pace
        at, done, pace = time_s, after + at_once, sum(paces)
        while len(merged) < len(GRID) - 1 and GRID[len(merged)] <= done:
            merged.append(time_s)
    return (*merged, *[at] * (len(GRID) - len(merged)))


def mixed(of: Sequence[tuple[float, Mixture]]) -> Mixture:
    """Several mixtures as one, each weighted by its share of the I/Os."""
    total = math.fsum(weight for weight, _ in of)
    parts = tuple((weight / total * mass, times) for weight, each in of for mass, times in each.parts)
    mean = math.fsum(weight / total * each.mean_s for weight, each in of)
    return Mixture(parts, mean, math.fsum(weight / total * each.idle for weight, each in of))


def least_between(of: Ladder, users: int) -> tuple[float, float]:
    """The least response of a number of users if the curve of responses bends upwards: no less than the lines through
    the neighbouring loads go on to. With the place on the ladder where it is that response.
    """
    loads, times = of.users, of.response_s
    at = min(bisect_right(loads, users) - 1, len(loads) - 2)
    if at < 0 or loads[at] == users:
        return float(users), of.at(users)
    chord = of.at(users)
    before = times[at]
    if at:
        before += (times[at] - times[at - 1]) / (loads[at] - loads[at - 1]) * (users - loads[at])
    if at + 2 < len(loads):
        slope = (times[at + 2] - times[at + 1]) / (loads[at + 2] - loads[at + 1])
        after = times[at + 1] - slope * (loads[at + 1] - users)
    else:
        after = users / of.last_per_s  # the throughput is no higher than at the last load
    least = min(chord, max(before, after, times[at]))
    rise = times[at + 1] - times[at]
    if rise <= 0 or least >= chord:
        return float(users), least
    return loads[at] + (loads[at + 1] - loads[at]) * (least - times[at]) / rise, least


def _nodes(of: Ladder) -> list[float]:
    """The places at which distributions are interpolated: all users where they are few, else some between the loads."""
    nodes = [of.users[0]]
    for low, high in pairwise(of.users):
        steps = min(STEPS, int(high - low))
        nodes += [low + (high - low) * at / steps for at in range(1, steps + 1)]
    while nodes[-1] < MOST_IN_SYSTEM + 1:
        nodes.append(max(nodes[-1] + 1, nodes[-1] * BEYOND))
    return nodes


def _located(nodes: list[float], positions: list[float]) -> list[tuple[int, float]]:
    """Between which places each position lies: the lower one, and how far towards the next."""
    located = []
    for position in positions:
        at = max(0, min(bisect_right(nodes, position) - 1, len(nodes) - 2))
        part = (position - nodes[at]) / (nodes[at + 1] - nodes[at])
        located.append((at, min(max(part, 0.0), 1.0)))
    return located


def _share(times: tuple[float, ...], time_s: float) -> float:
    at = bisect_right(times, time_s)
    if at == 0:
        return 0.0
    if at == len(times):
        return 1.0
    low, high = times[at - 1], times[at]
    return GRID[at - 1] + (GRID[at] - GRID[at - 1]) * (time_s - low) / (high - low)
