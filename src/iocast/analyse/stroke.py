"""How the time of a random read grows with the part of the disk that is used: the arm's share of it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

MEAN_OF_ROOT = 8 / 15  # the mean root of the distance of two places, drawn evenly from a stroke of one


class Stroke(Struct, frozen=True):
    """time(f) = base + span * 8/15 * sqrt(f), f the fraction of the stroke in use (models A1)."""

    base_ns: float  # what a read costs without any distance: turn, command, transfer
    span_ns: float  # what the whole stroke adds to a seek
    worst_ns: float  # how far the worst point lies from the curve

    def time_ns(self, fraction: float) -> float:
        """The mean time of a read when so much of the stroke is in use."""
        return self.base_ns + self.span_ns * MEAN_OF_ROOT * math.sqrt(fraction)


def fit_stroke(points: Sequence[tuple[float, float]]) -> Stroke | None:
    """The curve through (fraction of the stroke, mean time in ns), by least squares; None below two fractions."""
    roots = [MEAN_OF_ROOT * math.sqrt(fraction) for fraction, _ in points]
    if len(set(roots)) < 2:
        return None
    times = [time for _, time in points]
    middle, mean = math.fsum(roots) / len(roots), math.fsum(times) / len(times)
    spread = math.fsum((root - middle) ** 2 for root in roots)
    span = math.fsum((root - middle) * (time - mean) for root, time in zip(roots, times, strict=True)) / spread
    base = mean - span * middle
    worst = max(abs(base + span * root - time) for root, time in zip(roots, times, strict=True))
    return Stroke(base, span, worst)
