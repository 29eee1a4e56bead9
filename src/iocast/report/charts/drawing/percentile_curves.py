"""Percentile curves: the points of a histogram, and a line through them for each row (as HdrHistogram draws them)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from iocast import text
from iocast.analyse.statistics import enough_beyond
from iocast.model.histogram import Histogram
from iocast.model.report import Cell, Chart, Column, Row
from iocast.report.charts.drawing.axis_labels import figures
from iocast.report.charts.drawing.parts import (
    LABEL_ROOM,
    OWN_COLOUR,
    Spec,
    apart,
    chart,
    each_by,
    layer,
    needed,
    number,
    numbers,
    padded_times,
    quantitative,
    time_axis,
    time_scale,
)
from iocast.report.charts.drawing.theme import Theme

CURVE = (
    Column("row", "row"),
    Column("beyond", "share beyond", "share"),
    Column("time", "time", "duration"),
    Column("sure", "ten or more I/Os beyond", "count"),
)
STEPS_A_DECADE = 10
GAP, LETTER = 10, 6.4  # pixels beside a line, and of a letter of its name
HEIGHT = 240


def curve(name: str, times: Histogram) -> list[Row]:
    """From the fastest to the slowest; each decade of nines takes the same room."""
    rows = list[Row]()
    step = 0
    while True:
        beyond = 10 ** (-step / STEPS_A_DECADE)
        last = beyond * times.total <= 1
        cells: dict[str, Cell] = {
            "row": name,
            "beyond": max(beyond, 1 / times.total),
            "time": float(times.max_ns) if last else times.quantile_ns(max(1 - beyond, 1 / times.total)),
            "sure": int(enough_beyond(times.total, 1 - beyond)),
        }
        rows.append(Row(cells))
        if last:
            return rows
        step += 1


def percentile_lines(about: Chart, theme: Theme, tones: Sequence[str], width: int) -> Spec:
    """A line for each row in its tone; each further nine takes the same room."""
    curves = needed(about.table("curves"))
    names = list(dict.fromkeys(str(row.cells["row"]) for row in curves.rows))
    nines = -math.log10(min(numbers(curves.rows, "beyond")))
    low, high = padded_times(numbers(curves.rows, "time"))
    scale, ticks = time_scale(low, high)
    marks = [math.log10(2), *(float(nine) for nine in range(1, math.floor(nines) + 1))]
    # Room to the right for the names of the lines.
    room = min(0.5, (GAP + LETTER * max(map(len, names))) / (width - LABEL_ROOM))
    far = max(1.2, 1 / (1 - room)) * max(nines, 1.0)
    axis = {"values": marks, "label": _nines, "title": about.x.title, "grid": True}
    x = quantitative("x", {"domain": [0, far]}, axis)
    y = quantitative("y", scale, time_axis(ticks, minExtent=LABEL_ROOM))
    sure, unsure, points, ends = list[Spec](), list[Spec](), list[Spec](), list[Spec]()
    for name, tone in zip(names, tones, strict=True):
        own = [row for row in curves.rows if row.cells["row"] == name]
        rows = [_place(row) | {"row": name, "c": tone} for row in own]
        known = sum(1 for row in own if row.cells["sure"])
        sure += rows[:known]
        unsure += rows[max(0, known - 1) :]
        points += [_place(row) | {"tip": _says(row)} for row in (*own[:-1:2], own[-1])]
        ends.append({"x": rows[-1]["x"], "y": rows[-1]["y"], "t": name, "c": tone})
    wide = math.log10(high / low)
    places = apart([math.log10(max(low, end["y"]) / low) / wide for end in ends], 0.06, highest=1.0)
    for end, place in zip(ends, places, strict=True):
        end["y"] = low * 10 ** (place * wide)
    lines: Spec = {"x": x, "y": y, **each_by("row"), "color": OWN_COLOUR}
    beside = {"type": "text", "align": "left", "baseline": "middle", "dx": 6, "fontSize": 11, "fontWeight": 600}
    layers = [
        layer("line", sure, lines, strokeWidth=2),
        layer("line", unsure, lines, strokeDash=[1, 3], strokeWidth=1.6),
        # Every second point is near enough to be met; each takes its room in the page.
        layer("circle", points, {"x": x, "y": y}, silent=False, size=180, opacity=0),
        layer(beside, ends, {"x": x, "y": y, "text": {"field": "t"}, "color": OWN_COLOUR}),
    ]
    return chart(width, HEIGHT, layers)


def _place(row: Row) -> Spec:
    return {"x": -math.log10(number(row.cells["beyond"]) or 1.0), "y": number(row.cells["time"])}


def _says(row: Row) -> str:
    beyond = number(row.cells["beyond"]) or 1.0
    share = text.three_figures(100 * (1 - beyond)) if beyond > 0.01 else f"{100 * (1 - beyond):.6g}"
    return f"{row.cells['row']}: {share}% within {text.duration(number(row.cells['time']))}"


def _nines(value: float) -> str:
    """50 %, 90 %, 99 %, 99.9 %, ..."""
    return "50%" if value < 0.5 else f"{figures(100 - 10 ** (2 - round(value)), 10)}%"
