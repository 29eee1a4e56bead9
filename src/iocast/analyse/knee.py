"""Where a ladder of loads stops paying: the knees of a closed ladder, from concurrency and throughput."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

SATURATED_BELOW = 1.10  # a doubling of the load that gains less than this ends the ladder


class Knee(Struct, frozen=True):
    """Several answers to one question; the first is neutral, the second depends on what was plotted."""

    max_power_load: float  # largest throughput per response time
    chord_load: float  # farthest from the straight line between first and last point (Kneedle)
    chord_distance: float
    least_load: float  # N*: the load that would just keep the device busy if nothing ever queued
    limit_per_s: float  # throughput towards which the last two points tend
    saturated: bool  # the last step gained less than a tenth for a doubling


def closed_ladder(loads: Sequence[float], rates_per_s: Sequence[float]) -> Knee | None:
    """The knees of a ladder of ascending loads; None for fewer than three, or when nothing was done.

    Response is load / rate (Little's law without think time), so power is rate x rate / load.
    """
    if len(loads) < 3 or len(loads) != len(rates_per_s) or min(rates_per_s) <= 0:
        return None
    power = [rate * rate / load for load, rate in zip(loads, rates_per_s, strict=True)]
    distances = _from_chord(loads, rates_per_s)
    at = max(range(len(loads)), key=distances.__getitem__)
    limit = _limit(loads, rates_per_s)
    gain = rates_per_s[-1] / rates_per_s[-2]
    doubling = 1 + (gain - 1) * 2 / max(loads[-1] / loads[-2], 1.0)
    return Knee(
        max_power_load=loads[max(range(len(loads)), key=power.__getitem__)],
        chord_load=loads[at],
        chord_distance=distances[at],
        least_load=limit * loads[0] / rates_per_s[0],
        limit_per_s=limit,
        saturated=doubling < SATURATED_BELOW,
    )


def _from_chord(loads: Sequence[float], rates: Sequence[float]) -> list[float]:
    wide = loads[-1] - loads[0]
    high = max(rates) - rates[0]
    return [
        ((rate - rates[0]) / high if high else 0.0) - (load - loads[0]) / wide
        for load, rate in zip(loads, rates, strict=True)
    ]


def _limit(loads: Sequence[float], rates: Sequence[float]) -> float:
    """1/rate is straight in 1/load for queues of one server each; where it leads for an endless load."""
    last, before = 1 / loads[-1], 1 / loads[-2]
    slope = (1 / rates[-2] - 1 / rates[-1]) / (before - last)
    at_zero = 1 / rates[-1] - slope * last
    return max(max(rates), 1 / at_zero) if slope > 0 and at_zero > 0 else max(rates)
