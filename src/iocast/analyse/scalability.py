"""The universal scalability law of a load curve: contention, crosstalk, and the load at which throughput peaks.

X(n) = g n / (1 + a (n-1) + b n (n-1)), after Gunther. To describe what was measured, not to foretell beyond it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from iocast._core import student_t_quantile
from iocast.analyse.least_squares import least_squares

LEAST_POINTS = 5  # three parameters, and something left to tell the noise by
STARTS = ((0.01, 1e-5), (0.1, 1e-3), (0.3, 1e-2))


class Scalability(Struct, frozen=True):
    """The fitted law. Intervals are 95 %, by Student's t; `crosstalk_low` above 0: throughput really falls."""

    single_per_s: float  # g: the throughput of one
    contention: float  # a: what waits in line
    crosstalk: float  # b: what each costs all others
    crosstalk_low: float
    crosstalk_high: float

    @property
    def peak_load(self) -> float:
        """The load with the most throughput; infinite without crosstalk."""
        if self.crosstalk <= 0:
            return math.inf
        return math.sqrt(max(0.0, 1 - self.contention) / self.crosstalk)

    def rate_per_s(self, load: float) -> float:
        """Throughput at a load."""
        below = 1 + self.contention * (load - 1) + self.crosstalk * load * (load - 1)
        return self.single_per_s * load / below


def scalability(loads: Sequence[float], rates_per_s: Sequence[float]) -> Scalability | None:
    """The law through a load curve by least squares; None for fewer than five points, or when nothing was done.

    Source: models A3; checked against the vectors `usl.fit`.
    """
    if len(loads) < LEAST_POINTS or len(loads) != len(rates_per_s) or min(rates_per_s) <= 0:
        return None
    scale, first = max(rates_per_s), rates_per_s[0] / loads[0]

    def law(parameters: list[float]) -> tuple[list[float], list[list[float]]]:
        g, a, b = parameters
        misses, slopes = [], []
        for n, x in zip(loads, rates_per_s, strict=True):
            below = 1 + a * (n - 1) + b * n * (n - 1)
            one = n / below * first / scale
            misses.append(g * one - x / scale)
            slopes.append([one, -g * one * (n - 1) / below, -g * one * n * (n - 1) / below])
        return misses, slopes

    fits = [least_squares(law, (1.0, a, b), (0.0, 0.0, 0.0), (math.inf, 1.0, math.inf)) for a, b in STARTS]
    best = min(fits, key=lambda fit: fit.cost)
    free = len(loads) - 3
    variance = 2 * best.cost / free
    half = student_t_quantile(0.975, free) * math.sqrt(max(0.0, variance * best.covariance[2][2]))
    g, a, b = best.parameters
    return Scalability(g * first, a, b, b - half, b + half)
