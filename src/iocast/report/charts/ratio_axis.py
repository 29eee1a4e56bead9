"""An axis of ratios around 1, with the band in which two figures count as the same."""

from __future__ import annotations

import math
from collections.abc import Iterable

from iocast.report.plot.axes import Axis, Scale
from iocast.report.plot.axis_labels import figures
from iocast.report.plot.marks import Box, Boxes, Mark, Uprights
from iocast.report.plot.theme import Theme

LINE_HEIGHT = 18
SAME = (0.9, 1 / 0.9)  # the band in which both count as the same (models B5)
STEPS = (1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 1000.0, 1e4)


def ratio_reach(ratios: Iterable[float]) -> float:
    """How far the axis reaches to both sides of 1, as a factor."""
    return 1.1 * max(max(value, 1 / value) for value in (*ratios, *SAME) if value > 0)


def ratio_axis(reach: float) -> Axis:
    """Ticks at the same factors to both sides of 1, written as people say them: ÷2, 1, ×2."""
    usable = [step for step in STEPS if step <= reach]
    wide = math.log(reach)
    # Neighbours are at least a sixteenth of the width apart.
    kept = list[float]()
    for step in usable:
        if math.log(step) - (math.log(kept[-1]) if kept else 0.0) >= wide / 8:
            kept.append(step)
    ticks = [*(1 / step for step in reversed(kept)), 1.0, *kept]
    return Axis(Scale(1 / reach, reach, log=True), label=_factor, ticks=ticks, top=True)


def _factor(value: float) -> str:
    if abs(value - 1) < 1e-6:
        return "same"
    return f"×{figures(value, 3)}" if value > 1 else f"÷{figures(1 / value, 3)}"


def same_band(count: int, theme: Theme) -> tuple[Mark, Mark]:
    """Behind `count` rows: the band of the same, and the line of 1."""
    band = Box(SAME[0], -0.5, SAME[1], count - 0.5)
    return Boxes([band], colour=theme.middling), Uprights([1.0], 1, colour=theme.muted)
