"""Loads beside each other: an axis of equal steps, and the figures of each load under the pointer."""

from __future__ import annotations

from collections.abc import Sequence

from iocast.model.report import Table
from iocast.report.cells import cell_text
from iocast.report.charts.drawing.parts import Spec, layer, number, positions_of, quantitative, tip

EDGE = 0.62  # before the first load, in steps: room for what is written left of it
END = 1.1  # behind the last one, so that its histogram has room


def load_labels(table: Table) -> list[str]:
    """The loads of a table as they are written at an axis."""
    return [cell_text("load", row.cells["load"]) for row in table.rows]


def loads_axis(labels: Sequence[str]) -> Spec:
    """The loads from left to right at 0, 1, 2, ..."""
    scale = {"domain": [-EDGE, len(labels) - 1 + END]}
    return quantitative("x", scale, {**positions_of(labels), "title": "load (users x queue depth)"})


def load_tips(loads: Table, x: Spec, y: Spec, key: str) -> Spec:
    """Unseen, and large enough to be met by a finger: what says the figures."""
    rows = [{"x": at, "y": number(row.cells[key]), "tip": tip(loads, row, "load")} for at, row in enumerate(loads.rows)]
    return layer("circle", rows, {"x": x, "y": y}, silent=False, size=500, opacity=0)
