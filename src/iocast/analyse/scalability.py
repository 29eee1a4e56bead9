"""The universal scalability law of a load curve: contention, crosstalk, and the load at which throughput peaks.

X(n) = g n / (1 + a (n-1) + b n (n-1)), after Gunther. To describe what was measured, not to foretell beyond it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

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
    import numpy as np
    from scipy.optimize import least_squares
    from scipy.special import stdtrit

    n, x = np.asarray(loads, dtype=float), np.asarray(rates_per_s, dtype=float)
    scale = float(x.max())

    def misses(parameters: Any) -> Any:
        g, a, b = parameters
        return (g * n / (1 + a * (n - 1) + b * n * (n - 1)) * (x[0] / n[0]) - x) / scale

    fits = [least_squares(misses, (1.0, a, b), bounds=((0, 0, 0), (np.inf, 1, np.inf))) for a, b in STARTS]
    best = min(fits, key=lambda fit: fit.cost)
    free = len(n) - 3
    variance = 2 * best.cost / free
    slopes = np.asarray(best.jac, dtype=float)
    covariance = variance * np.linalg.pinv(slopes.T @ slopes)
    half = float(stdtrit(free, 0.975)) * math.sqrt(max(0.0, float(covariance[2, 2])))
    g, a, b = (float(each) for each in best.x)
    return Scalability(g * float(x[0] / n[0]), a, b, b - half, b + half)
