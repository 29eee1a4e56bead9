"""A heat map over time: cells as one picture, a clock below, and what each moment was like under the pointer."""

from __future__ import annotations

from collections.abc import Sequence

from iocast.model.report import Table
from iocast.report.cells import numbers as several
from iocast.report.charts.drawing.axis_labels import clock
from iocast.report.charts.drawing.cell_image import data_url, levels
from iocast.report.charts.drawing.parts import Spec, chart, layer, number, quantitative, tip
from iocast.report.charts.drawing.theme import Theme

HEIGHT = 230


def time_grid(table: Table, key: str, y: Spec, low: float, high: float, theme: Theme, width: int) -> Spec:
    """The chart of a table whose rows have "start" and "end" in ns and the counts of their cells under `key`."""
    columns = [several(row.cells[key]) for row in table.rows]
    end = max(number(row.cells["end"]) or 0.0 for row in table.rows) / 1e9
    x = quantitative("x", {"domain": [0, end]}, clock_axis())
    image = {"type": "image", "width": width, "height": HEIGHT, "align": "left", "baseline": "top"}
    place: Spec = {"x": {"value": 0}, "y": {"value": 0}, "url": {"field": "url"}}
    picture = layer(image, [{"url": data_url(levels(columns))}], place)
    band: Spec = {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "y2"}}
    return chart(width, HEIGHT, [picture, layer("rect", _tips(table, low, high), band, silent=False, opacity=0)])


def clock_axis() -> Spec:
    """An axis of seconds from the start."""
    return {"title": None, "grid": False, "tickCount": 8, "label": clock}


def _tips(table: Table, low: float, high: float) -> list[Spec]:
    return [
        {
            "x": (number(row.cells["start"]) or 0.0) / 1e9,
            "x2": (number(row.cells["end"]) or 0.0) / 1e9,
            "y": low,
            "y2": high,
            "tip": tip(table, row, "start"),
        }
        for row in table.rows
    ]


def together(count: int, most: int) -> Sequence[range]:
    """Neighbours in groups, at most `most` of them."""
    step = -(-count // most) if count else 1
    return [range(at, min(count, at + step)) for at in range(0, count, step)]
