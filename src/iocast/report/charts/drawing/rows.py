"""Rows under each other: an axis of names, from top to bottom."""

from __future__ import annotations

from iocast.report.charts.drawing.parts import Spec, positions_of, quantitative

ROW_HEIGHT = 24


def rows_axis(names: list[str]) -> Spec:
    """The rows from top to bottom at 0, 1, 2, ..."""
    scale = {"domain": [len(names) - 0.45, -0.55]}
    return quantitative("y", scale, {**positions_of(names), "title": None, "labelLimit": 0, "minExtent": _room(names)})


def _room(names: list[str]) -> int:
    """Pixels for the longest name, in whatever font the page has in the end."""
    return round(7.4 * max(len(name) for name in names)) + 8
