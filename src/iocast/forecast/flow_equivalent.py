"""Response times under arrivals of their own, from a ladder of closed loads: the storage as one server of many rates.

A closed load of n users makes X(n) I/Os a second; a server that works at X(n) whenever n are in it, fed by random
arrivals, is the flow-equivalent server (Chandy, Herzog and Woo 1975): exact for product-form systems, an approximation
for others, which is why a bracket is built around it. Source: models A4, which has the coverage on simulated systems.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from iocast.errors import AnalysisError
from iocast.text import share_of

MOST_IN_SYSTEM = 6000
NEGLIGIBLE = 1e-15  # of the chances so far: the tail beyond is left out
BEYOND_LAST = 1.15  # more than was measured at the last load is not expected of it
HIGHEST_LOAD = 0.95  # of the throughput at the last load: nearer to the wall nothing is foretold
FIXED_SHARE = 0.05  # of the response at the least load is service at least
LOWER, UPPER, UPPER_BURSTY = 0.90, 1.15, 1.30  # [J] what the model itself may be wrong by
EXACTLY = 1e-6  # of a number of users: a limit that a load just meets is not passed
BURSTY_SERVICE = 3.0  # squared coefficient of variation of the bottleneck from which UPPER_BURSTY holds


class TooClose(AnalysisError):
    """The load is nearer to the measured limit than a forecast can be trusted."""

    def __init__(self, rate_per_s: float, last_per_s: float) -> None:
        highest, share = f"{HIGHEST_LOAD:.0%}", share_of(rate_per_s / last_per_s)
        if share == f"{highest} of":  # a hair beyond the limit must not read as the limit itself
            share = f"more than {highest} of"
        super().__init__(
            f"{rate_per_s:g} I/Os a second is {share} the {last_per_s:g} measured: no forecast above {highest}",
            "measure more load, or plan for less",
        )


class Ladder(Struct, frozen=True):
    """Closed loads in ascending order and the response time of each: R = N / X, made to rise."""

    users: tuple[float, ...]
    response_s: tuple[float, ...]

    @property
    def last_per_s(self) -> float:
        """Throughput at the last load."""
        return self.users[-1] / self.response_s[-1]

    @property
    def limit_per_s(self) -> float:
        """Towards what throughput tends beyond the last load."""
        slope = (self.response_s[-1] - self.response_s[-2]) / (self.users[-1] - self.users[-2])
        tends = 1 / slope if slope > 0 else math.inf
        return min(max(tends, self.last_per_s), BEYOND_LAST * self.last_per_s)

    @property
    def saturation_users(self) -> float:
        """N*: the users that would just keep the device busy if nothing ever queued."""
        return self.limit_per_s * self.response_s[0]

    @property
    def striping(self) -> float:
        """0 for a pool that serves any request with any server, 1 for disks that each serve their own requests.

        The intercept of the line through the first two loads beyond twice N*, as a share of the least response; where
        the ladder ends before that, of its last two.
        """
        beyond = 2 * self.saturation_users * (1 + EXACTLY)
        starts = [at for at, users in enumerate(self.users[:-1]) if users > beyond]
        at = starts[0] if starts else len(self.users) - 2
        slope = (self.response_s[at + 1] - self.response_s[at]) / (self.users[at + 1] - self.users[at])
        intercept = self.response_s[at] - slope * self.users[at]
        return min(max(intercept / self.response_s[0], 0.0), 1.0)

    def at(self, users: int) -> float:
        """Response time in seconds of a number of users: straight between loads, and beyond the last."""
        if users <= self.users[0]:
            return self.response_s[0]
        if users >= self.users[-1]:
            return self.response_s[-1] + (users - self.users[-1]) / self.limit_per_s
        for (low, fast), (high, slow) in pairwise(zip(self.users, self.response_s, strict=True)):
            if users <= high:
                return fast + (slow - fast) * (users - low) / (high - low)
        raise AssertionError("unreachable: the loads ascend")


def ladder(users: Sequence[float], rates_per_s: Sequence[float]) -> Ladder:
    """The ladder of some closed loads. Raises AnalysisError for fewer than two, or loads that do not ascend."""
    if len(users) < 2 or len(users) != len(rates_per_s) or any(one >= other for one, other in pairwise(users)):
        raise AnalysisError("a ladder needs two or more ascending loads", "measure 1, 2, 4, 8 … users")
    if min(rates_per_s) <= 0 or users[0] <= 0:
        raise AnalysisError("a load of the ladder did nothing", "leave it out, or measure it again")
    rising: list[float] = []
    for load, rate in zip(users, rates_per_s, strict=True):
        rising.append(max([load / rate, *rising[-1:]]))
    return Ladder(tuple(users), tuple(rising))


class Variability(Struct, frozen=True, kw_only=True):
    """How much times vary: squared coefficients of variation (1: random), and how short the least I/O takes."""

    service_cv2: float  # of the response at the least load
    fastest_s: float  # its percentile 0.5: what no I/O goes below is a fixed delay, and hides variance
    arrival_cv2: float = 1.0


class Expected(Struct, frozen=True):
    """The mean response time that is expected, and its bracket before any error of sampling. Seconds."""

    low_s: float
    base_s: float
    high_s: float
    idle: float  # the share of time with nothing to do

    def interval_s(self, sampling: float, bursty: bool) -> tuple[float, float]:
        """What holds 95 % of the time; `sampling` is the standard deviation of the logarithm of the forecast."""
        wide = math.exp(2 * sampling)
        above = UPPER_BURSTY if bursty else UPPER
        return LOWER * min(self.low_s, self.base_s) / wide, above * max(self.base_s, self.high_s) * wide


class Bracket(Struct, frozen=True):
    """Factors by which chances of more in the system are weighted, and from how many on."""

    low: float
    base: float
    high: float
    from_users: float  # where a factor above 1 acts
    bottleneck_cv2: float

    @property
    def bursty(self) -> bool:
        """Whether the service of the bottleneck varies more than the usual bracket covers."""
        return self.bottleneck_cv2 > BURSTY_SERVICE


def bracket(of: Ladder, varies: Variability) -> Bracket:
    """How far a forecast may be off because the model takes service for exponential. Source: models A4, step 5."""
    first = of.response_s[0]
    bottleneck_s = max(first - varies.fastest_s, FIXED_SHARE * first)
    cv2 = varies.service_cv2 * (first / bottleneck_s) ** 2
    by_arrivals = (varies.arrival_cv2 - 1) / 2
    low = max(0.5, 1 + min(0.0, by_arrivals) + min(0.0, (varies.service_cv2 - 1) / 2))
    high = 1 + by_arrivals + max(0.0, (cv2 - 1) / 2) * (1 - of.striping)
    return Bracket(low, 1 + max(0.0, by_arrivals), high, max(1.0, of.limit_per_s * bottleneck_s), cv2)


def response_table(of: Ladder) -> list[float]:
    """Response times in seconds of 1, 2, 3 … users, as `Ladder.at` says them."""
    table = [of.response_s[0]] * min(int(of.users[0]), MOST_IN_SYSTEM)
    for (low, fast), (high, slow) in pairwise(zip(of.users, of.response_s, strict=True)):
        slope = (slow - fast) / (high - low)
        table += [fast + slope * (users - low) for users in range(len(table) + 1, min(int(high), MOST_IN_SYSTEM) + 1)]
    last, each = of.response_s[-1], 1 / of.limit_per_s
    return table + [last + each * (users - of.users[-1]) for users in range(len(table) + 1, MOST_IN_SYSTEM + 1)]


def shares(responses_s: Sequence[float], rate_per_s: float, factor: float, from_users: float) -> list[float]:
    """The share of time with 0, 1, 2 … in a storage of these response times, summing to 1; `factor` acts from
    `from_users` on."""
    weights = [1.0]
    total = 1.0
    for users, response_s in enumerate(responses_s, 1):
        busy = rate_per_s * response_s / users
        if factor != 1 and users > from_users * (1 + EXACTLY) and busy < 1:
            busy = factor * busy / (1 - busy + factor * busy)
        weights.append(weights[-1] * busy)
        total += weights[-1]
        if total > 1e250:  # a product of many growing factors
            weights = [weight / total for weight in weights]
            total = 1.0
        if busy < 1 and weights[-1] < NEGLIGIBLE * total * (1 - busy):
            break
    return [weight / total for weight in weights]


def chances(of: Ladder, rate_per_s: float, factor: float, from_users: float) -> list[float]:
    """The share of time with 0, 1, 2 … in the system, summing to 1; `factor` acts from `from_users` on."""
    return shares(response_table(of), rate_per_s, factor, from_users)


def expected(of: Ladder, rate_per_s: float, varies: Variability) -> Expected:
    """The mean response to random arrivals of a rate. Raises TooClose above 95 % of the demonstrated throughput."""
    require_below_limit(of, rate_per_s)
    within = bracket(of, varies)

    def mean_s(factor: float) -> tuple[float, float]:
        law_chances = chances(of, rate_per_s, factor, within.from_users if factor > 1 else of.saturation_users)
        return sum(share * of.at(users + 1) for users, share in enumerate(law_chances)), law_chances[0]

    (low_s, _), (base_s, _), (high_s, _) = (mean_s(factor) for factor in (within.low, within.base, within.high))
    return Expected(low_s, base_s, high_s, mean_s(1.0)[1])


def require_below_limit(of: Ladder, rate_per_s: float) -> None:
    """Raises TooClose above 95 % of the demonstrated throughput, where nothing is foretold."""
    if rate_per_s > HIGHEST_LOAD * of.last_per_s:
        raise TooClose(rate_per_s, of.last_per_s)
