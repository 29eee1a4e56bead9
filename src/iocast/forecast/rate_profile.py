"""Load that changes over time: bursts and series of rates, settled stretch by stretch, with a backlog above capacity.

Each stretch lasts long against the response time, so that it settles; response times over all of it are weighted by
I/Os, not by time. Where a stretch asks for more than the storage can do, the rest waits, and later I/Os wait behind
it. Source: models A8.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from iocast.errors import SpecError
from iocast.forecast.laws.bursts import Stretch, token_bucket
from iocast.forecast.load_forecast import Figure, Forecaster, Sampling, Three
from iocast.forecast.response_law import mixed

MOST_LEVELS = 24  # of a series: nearer rates are forecast as one, at the higher of them


class Profile(Struct, frozen=True):
    """Stretches that repeat. `says` is how it was given."""

    stretches: tuple[Stretch, ...]
    says: str = ""

    @property
    def peak_per_s(self) -> float:
        """The highest rate."""
        return max(each.demand_per_s for each in self.stretches)

    @property
    def mean_per_s(self) -> float:
        """Over all of the time."""
        return self.ios / self.seconds

    @property
    def ios(self) -> float:
        """In all stretches."""
        return math.fsum(each.seconds * each.demand_per_s for each in self.stretches)

    @property
    def seconds(self) -> float:
        """Of all stretches."""
        return math.fsum(each.seconds for each in self.stretches)


class Overload(Struct, frozen=True, kw_only=True):
    """What waits when a profile asks for more than the storage can do; as a fluid, at a capacity."""

    capacity_per_s: float
    backlog_ios: float
    delay_s: float  # of an I/O behind the largest backlog
    affected: float  # the share of the I/Os that arrive above capacity or before the backlog is gone
    lasting: bool  # the backlog is not gone before the next round


def burst_profile(base_per_s: float, burst_per_s: float, seconds: float, every_s: float) -> Profile:
    """A burst in every period. Raises SpecError."""
    if not 0 < seconds < every_s:
        raise SpecError("a burst must be shorter than the time from one to the next", "for example 9000/s:30s/10m")
    says = f"{burst_per_s:,.0f} IOPS for {seconds:g} s in every {every_s:g} s"
    return Profile((Stretch(seconds, burst_per_s), Stretch(every_s - seconds, base_per_s)), says)


def settled(of: Profile, by: Forecaster, q: float | None) -> Figure | None:
    """A figure over all stretches, each weighted by its I/Os; None where one asks for more than is foretold."""
    levels = _levels(of)
    if any(rate > by.limit_per_s for rate, _ in levels):
        return None
    threes = [(ios, by.three(rate)) for rate, ios in levels if rate > 0]
    whole = Three(*(mixed([(ios, getattr(each, end)) for ios, each in threes]) for end in ("low", "base", "high")))
    chances = [by.chance(rate, q) for rate, _ in _levels(of, 4) if rate > 0]
    return by.figure(whole, q, Sampling(_largest([e.figure for e in chances]), _largest([e.mean for e in chances])))


def _largest(errors: Sequence[float | None]) -> float | None:
    known = [each for each in errors if each is not None]
    return max(known) if len(known) == len(errors) else None


def overload(of: Profile, capacity_per_s: float) -> Overload | None:
    """What waits at a capacity; None where it is never exceeded."""
    if of.peak_per_s <= capacity_per_s:
        return None
    once = token_bucket(capacity_per_s, 0.0, of.stretches)
    behind, affected = 0.0, 0.0
    for seconds, rate in of.stretches:
        spare = capacity_per_s - rate
        clears = math.inf if spare <= 0 else behind / spare
        affected += rate * (seconds if spare <= 0 else min(seconds, clears))
        behind = max(0.0, behind - spare * seconds)
    return Overload(
        capacity_per_s=capacity_per_s,
        backlog_ios=once.peak_backlog_ios,
        delay_s=once.peak_delay_s,
        affected=affected / of.ios,
        lasting=of.mean_per_s >= capacity_per_s,
    )


def _levels(of: Profile, most: int = MOST_LEVELS) -> list[tuple[float, float]]:
    """Rates and how many I/Os each makes; neighbours together, at the higher rate, where they are many."""
    ordered = sorted((each.demand_per_s, each.demand_per_s * each.seconds) for each in of.stretches)
    size = max(1, math.ceil(len(ordered) / most))
    groups: Sequence[list[tuple[float, float]]] = [ordered[at : at + size] for at in range(0, len(ordered), size)]
    return [(group[-1][0], math.fsum(ios for _, ios in group)) for group in groups]
