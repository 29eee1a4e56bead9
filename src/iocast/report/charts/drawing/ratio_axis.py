"""An axis of ratios around 1, with the band in which two figures count as the same."""

from __future__ import annotations

import math
from collections.abc import Iterable

from iocast.report.charts.drawing.axis_labels import figures
from iocast.report.charts.drawing.parts import Spec, layer, quantitative
from iocast.report.charts.drawing.theme import Theme

LINE_HEIGHT = 18
SAME = (0.9, 1 / 0.9)  # the band in which both count as the same (models B5)
STEPS = (1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 1000.0, 1e4)


def ratio_reach(ratios: Iterable[float]) -> float:
    """How far the axis reaches to both sides of 1, as a factor."""
    return 1.1 * max(max(value, 1 / value) for value in (*ratios, *SAME) if value > 0)


def ratio_axis(reach: float) -> Spec:
    """Ticks at the same factors to both sides of 1, written as people say them: ÷2, 1, ×2."""
    usable = [step for step in STEPS if step <= reach]
    wide = math.log(reach)
    # Neighbours are at least a sixteenth of the width apart.
    kept = list[float]()
    for step in usable:
        if math.log(step) - (math.log(kept[-1]) if kept else 0.0) >= wide / 8:
            kept.append(step)
    values = [*(1 / step for step in reversed(kept)), 1.0, *kept]
    axis = {"values": values, "label": _factor, "title": None, "grid": True, "orient": "top"}
    return quantitative("x", {"type": "log", "domain": [1 / reach, reach]}, axis)


def _factor(value: float) -> str:
    if abs(value - 1) < 1e-6:
        return "same"
    return f"×{figures(value, 3)}" if value > 1 else f"÷{figures(1 / value, 3)}"


def same_band(count: int, x: Spec, y: Spec, theme: Theme) -> list[Spec]:
    """Behind `count` rows: the band of the same, and the line of 1."""
    band: Spec = {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "y2"}}
    same = [{"x": SAME[0], "x2": SAME[1], "y": -0.5, "y2": count - 0.5}]
    return [
        layer("rect", same, band, color=theme.middling),
        layer("rule", [{"x": 1}], {"x": x}, color=theme.muted, strokeWidth=1),
    ]
