"""Parts that several charts share: axes of time, tips, labels that do not lie on each other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from iocast.model.report import Cell, Column, Row, Table
from iocast.report.cells import cell_text
from iocast.report.charts.drawing.axis_labels import one_of, response_time
from iocast.report.charts.drawing.theme import Theme

Spec = dict[str, Any]

# Fonts of the same widths first, so that a picture is the same where one of them is.
FONT = "'Liberation Sans', Arial, Helvetica, sans-serif"
NARROW, WIDE = 500, 984  # pixels of the plot itself, without its axes: in a column of a page, and across it
FONT_SIZE = 12
LABEL_ROOM = 66  # beside a chart, for labels in whatever font the page has in the end

OWN_COLOUR: Spec = {"field": "c"}  # each row of data brings its own


def chart(width: int, height: int, layers: list[Spec]) -> Spec:
    """A whole specification: layers on a plot of this size."""
    return {"width": width, "height": height, "layers": layers}


def layer(mark: str | Spec, rows: Iterable[Spec], encoding: Spec, *, silent: bool = True, **about: Any) -> Spec:
    """One layer with its own rows. One that is not silent says the "tip" of a row under the pointer."""
    shape: Spec = {"type": mark} if isinstance(mark, str) else dict(mark)
    return {"mark": shape | {"tips": not silent, **about}, "rows": list(rows), "encoding": encoding}


def quantitative(field: str, scale: Spec | None = None, axis: Spec | None = None) -> Spec:
    """A channel that shows a number; `axis` None shows none."""
    channel: Spec = {"field": field, "axis": axis}
    return channel | ({"scale": scale} if scale else {})


def each_by(field: str) -> Spec:
    """One line, or one area, for each value of a field: far cheaper to draw than a layer for each."""
    return {"detail": {"field": field}}


def number(cell: Cell) -> float | None:
    """A cell as a number, None when it is none."""
    return float(cell) if isinstance(cell, int | float) and not math.isnan(cell) else None


def numbers(rows: Iterable[Row], *keys: str) -> list[float]:
    """All numbers under these keys."""
    return [value for row in rows for key in keys if (value := number(row.cells.get(key))) is not None]


def tip(table: Table, row: Row, first: str = "", leave: Sequence[str] = ()) -> str:
    """What a row says under the pointer: "4x16: p50 1.3ms, p99 9.0ms"."""
    said = [
        f"{_title(column)} {shown}"
        for column in table.columns
        if column.key != first
        and column.key not in leave
        and (shown := cell_text(column.kind, row.cells.get(column.key)))
    ]
    head = next((cell_text(column.kind, row.cells.get(first)) for column in table.columns if column.key == first), "")
    return (f"{head}: " if head else "") + ", ".join(said)


def _title(column: Column) -> str:
    return " ".join(column.title.split("\n"))


def time_scale(low_ns: float, high_ns: float) -> tuple[Spec, list[float]]:
    """A logarithmic scale with the ticks that fit."""
    low, high = max(low_ns, 1.0), max(high_ns, 2.0)
    return {"type": "log", "domain": [low, high], "clamp": True}, _ticks(low, high)


def _ticks(low: float, high: float) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7), (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)):
        found = [step * 10.0**decade for decade in decades for step in steps]
        inside = [tick for tick in found if low * 0.999 <= tick <= high * 1.001]
        if len(inside) >= 3:
            return inside
    return [low, high]


def time_axis(ticks: list[float], title: str | None = None, **more: Any) -> Spec:
    """An axis of times in ns."""
    return {"values": ticks, "label": response_time, "title": title, "grid": True, **more}


def padded(low: float, high: float, share: float = 0.06, least: float = 0.25) -> tuple[float, float]:
    """Bounds of a logarithmic axis with room at both ends, at least `least` decades wide on either side of a point."""
    wide = math.log10(high / low) if high > low else 0.0
    room = 10 ** max(wide * share, (2 * least - wide) / 2 if wide < 2 * least else 0.0)
    return low / room, high * room


def padded_times(times: Sequence[float], share: float = 0.06) -> tuple[float, float]:
    """The same around times in ns. One of 0, as tools state it that count microseconds, stands at 1 ns."""
    return padded(max(1.0, min(times)), max(1.0, *times), share)


def needed(table: Table | None) -> Table:
    """A table that every chart of its kind has."""
    assert table is not None, "a chart of this kind has this table"
    return table


def positions_of(labels: Sequence[str]) -> Spec:
    """An axis of equal steps that shows a text at 0, 1, 2, ..."""
    return {
        "values": list(range(len(labels))),
        "label": one_of(labels),
        "grid": False,
        "labelOverlap": False,
    }


def legible(mark: Spec, rows: list[Spec], encoding: Spec, theme: Theme, **look: Any) -> list[Spec]:
    """A layer of words that can be read on anything: behind it is its twin, with a rim of the ground's colour."""
    behind = {channel: value for channel, value in encoding.items() if channel != "color"}
    rim: Spec = {"stroke": theme.ground, "strokeWidth": 3, "strokeJoin": "round", "opacity": 0.85}
    return [layer(mark, rows, behind, **rim), layer(mark, rows, encoding, **look)]


def apart(wanted: Sequence[float], distance: float, highest: float = math.inf) -> list[float]:
    """The same positions moved so that neighbours are at least `distance` apart, as little as that takes, and none
    is above `highest`."""
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    placed = list(wanted)
    for _ in range(50):
        moved = False
        for one, other in pairwise(order):
            gap = placed[other] - placed[one]
            if gap < distance - 1e-9:
                placed[one] -= (distance - gap) / 2
                placed[other] += (distance - gap) / 2
                moved = True
        if not moved:
            break
    for at in reversed(order):
        placed[at] = min(placed[at], highest)
        highest = placed[at] - distance
    return placed


def named(x: Spec, y: Spec) -> Spec:
    """The channels of words at a place."""
    return {"x": x, "y": y, "text": {"field": "t"}}
