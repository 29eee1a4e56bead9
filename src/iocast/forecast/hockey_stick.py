"""The curve of response times over arrival rates through open-loop points: flat, then up a wall. Where is the wall?

R(x) = R0 + B u^g / (1 - u) with u = x / limit. g near 1: single queues; above 2: servers that share a queue.
Source: models A5, which has the coverage. Nothing is foretold beyond the largest measured rate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

from iocast._core import student_t_quantile
from iocast.analyse.least_squares import Fit, least_squares

LEAST_RATES = 6
LEAST_BEND = 1.5  # of the highest response over the lowest
WIDEST = 1.5  # of the upper end of the limit's interval over its lower one
LEAST_LOAD = 0.7  # of the limit, at the largest rate
WORST_MISFIT = 10.0  # chi squared per degree of freedom
MODEL_ERROR = 0.01  # relative; no point counts for more than this allows
GROWTH = (0.5, 10.0)
STARTS = ((1.02, 1.0), (1.1, 1.0), (1.1, 3.0), (1.4, 1.0), (1.02, 5.0), (2.0, 1.0))  # limit over largest rate, g

Refusal = Literal["few_rates", "no_bend", "limit_unknown", "light_load", "misfit"]


class Point(NamedTuple):
    """A measured open-loop rate: its response time and the relative standard error of that."""

    rate_per_s: float
    response_s: float
    relative_error: float


class HockeyStick(Struct, frozen=True):
    """The fitted curve. The interval of the limit is 95 %, by Student's t; `largest_per_s` ends what was measured."""

    idle_s: float  # R0
    rise_s: float  # B
    limit_per_s: float
    growth: float  # g
    limit_low_per_s: float
    limit_high_per_s: float
    misfit: float  # chi squared per degree of freedom
    largest_per_s: float

    def response_s(self, rate_per_s: float) -> float:
        """The response time at a rate below the limit; infinite from there on."""
        used = rate_per_s / self.limit_per_s
        return math.inf if used >= 1 else self.idle_s + self.rise_s * used**self.growth / (1 - used)


class Fitted(Struct, frozen=True):
    """A curve, or why there is none: what is refused has no figures."""

    curve: HockeyStick | None
    refusal: Refusal | None = None


def fit_hockey_stick(points: Sequence[Point]) -> Fitted:
    """The curve through points of six or more rates, or the reason why none can be given."""
    ordered = sorted(points)
    if len({point.rate_per_s for point in ordered}) < LEAST_RATES:
        return Fitted(None, "few_rates")
    times = [point.response_s for point in ordered]
    if max(times) / min(times) < LEAST_BEND:
        return Fitted(None, "no_bend")
    curve = _curve(ordered)
    if not curve.limit_high_per_s / curve.limit_low_per_s <= WIDEST:
        return Fitted(None, "limit_unknown")
    if curve.largest_per_s < LEAST_LOAD * curve.limit_per_s:
        return Fitted(None, "light_load")
    if curve.misfit > WORST_MISFIT:
        return Fitted(None, "misfit")
    return Fitted(curve)


def _curve(points: Sequence[Point]) -> HockeyStick:
    largest, idle = points[-1].rate_per_s, min(point.response_s for point in points)
    fits = [_fitted(points, (0.0, 0.0, math.log(over), growth), largest, idle) for over, growth in STARTS]
    best = min(fits, key=lambda fit: fit.cost)
    free = len(points) - 4
    misfit = 2 * best.cost / free
    base, rise, over, growth = best.parameters
    half = student_t_quantile(0.975, free) * math.sqrt(max(1.0, misfit) * best.covariance[2][2])
    limit = largest * math.exp(over)
    return HockeyStick(
        idle_s=idle * math.exp(base),
        rise_s=idle * math.exp(rise),
        limit_per_s=limit,
        growth=growth,
        limit_low_per_s=limit * math.exp(-min(half, 700.0)),
        limit_high_per_s=limit * math.exp(min(half, 700.0)),
        misfit=misfit,
        largest_per_s=largest,
    )


def _fitted(points: Sequence[Point], start: Sequence[float], largest: float, idle: float) -> Fit:
    """Least squares in the logarithm of the response, each point weighted by how well it is known.

    Parameters: the logarithms of R0 and B over the least response and of the limit over the largest rate, and g.
    """

    def law(parameters: list[float]) -> tuple[list[float], list[list[float]]]:
        base, rise, over, growth = (math.exp(parameters[0]), math.exp(parameters[1]), parameters[2], parameters[3])
        misses, slopes = [], []
        for rate, response_s, error in points:
            weight = 1 / math.hypot(error, MODEL_ERROR)
            used = rate / largest * math.exp(-over)
            waits = rise * used**growth / (1 - used)
            whole = base + waits
            misses.append(weight * (math.log(whole * idle) - math.log(response_s)))
            by_limit = -waits * (growth + used / (1 - used))
            slopes.append([weight * each / whole for each in (base, waits, by_limit, waits * math.log(used))])
        return misses, slopes

    low = (-20.0, -40.0, 1e-6, GROWTH[0])
    high = (20.0, 20.0, 10.0, GROWTH[1])
    return least_squares(law, start, low, high)
