"""The points of a density, as many as can be seen."""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.modes import GRID, Density

STEP = 2  # of the grid: 0.02 decades are finer than a pixel
FAINT = 0.004  # of the highest point, below which a curve is not seen


def density_points(found: Density) -> Iterator[tuple[float, float]]:
    """Time in ns and share a decade, from the first that is seen to the last."""
    highest = max(found.values)
    seen = [at for at in range(0, len(found.values), STEP) if found.values[at] > FAINT * highest]
    first, last = max(0, seen[0] - STEP), min(seen[-1] + STEP + 1, len(found.values))
    for at in range(first, last, STEP):
        yield 10 ** (found.low + at * GRID), found.values[at]
