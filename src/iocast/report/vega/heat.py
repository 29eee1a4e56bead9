"""Draws latency over time: cells as one image, rows apart, marks where something happened."""

from __future__ import annotations

from iocast.model.report import Chart, Row, Table
from iocast.report.cells import numbers as several
from iocast.report.vega.parts import (
    LABEL_ROOM,
    WIDTH,
    Spec,
    chart,
    layer,
    needed,
    number,
    quantitative,
    time_axis,
    time_scale,
    tip,
)
from iocast.report.vega.picture import data_url, levels
from iocast.report.vega.theme import Theme

HEIGHT = 230
HEAD = 18  # pixels above the picture for the names of the rows
ON_DARK = "#ffffff"
ALERT = "#7fe7ff"  # a colour that the picture has not
LETTER = 5.5  # pixels
BAR, LEAST = 4, 3  # pixels: how high the bar of a finding is, and how wide at least
LINE, LINES = 14, 3  # of names below the bars
BEHIND: Spec = {"stroke": "#000000", "strokeWidth": 3, "strokeJoin": "round", "opacity": 0.7}


def heat(about: Chart, theme: Theme, width: int = WIDTH) -> Spec:
    """The chart; its wide form is `width` of a whole page."""
    moments, cells, spans, rows, marks = (
        needed(about.table(key)) for key in ("moments", "cells", "spans", "rows", "marks")
    )
    end = max(number(row.cells["end"]) or 0.0 for row in rows.rows) / 1e9
    low, high = number(spans.rows[0].cells["low"]) or 1.0, number(spans.rows[-1].cells["high"]) or 2.0
    scale, ticks = time_scale(low, high)
    x = quantitative("x", {"domain": [0, end], "nice": False}, {"title": None, "grid": False, "values": _clock(end)})
    x["axis"] |= {"labelExpr": "datum.value >= 120 ? format(datum.value / 60, '.4~r') + ' min' : datum.value + ' s'"}
    y = quantitative("y", scale, time_axis(ticks, grid=False, minExtent=LABEL_ROOM))
    image = {"type": "image", "width": width, "height": HEIGHT, "aspect": False, "align": "left", "baseline": "top"}
    place: Spec = {"x": {"value": 0}, "y": {"value": 0}, "url": {"field": "url", "type": "nominal"}}
    layers = [
        layer({**image, "smooth": False}, [{"url": data_url(_grid(cells, end))}], place),
        *_stretches(rows, x, end, theme, width),
        _tips(moments, cells, x, low, high, y),  # below the marks, which have more to say
        *_marks(marks, x, y, low, high),
        *_findings(marks, x, end, width),
    ]
    return chart(width, HEIGHT, layers, theme)


def _clock(end_s: float) -> list[float]:
    """Whole steps of a clock, some ten of them."""
    steps = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200)
    step = next((step for step in steps if end_s / step <= 11), 21_600)
    return [round(at * step, 3) for at in range(int(end_s / step) + 1)]


def _grid(cells: Table, end_s: float) -> list[list[float]]:
    """The cells on equal steps of time, so that a pause and a short interval are as wide as they were."""
    starts = [(number(row.cells["start"]) or 0.0, number(row.cells["end"]) or 0.0) for row in cells.rows]
    step = min(end - start for start, end in starts)
    coloured = levels([several(row.cells["counts"]) for row in cells.rows])
    empty = [0.0] * len(coloured[0])
    wide = max(1, min(2000, round(end_s * 1e9 / step)))
    grid = [empty] * wide
    for (start, end), column in zip(starts, coloured, strict=True):
        first = min(wide - 1, round(start / step))
        for at in range(first, max(first + 1, min(wide, round(end / step)))):
            grid[at] = column
    return grid


def _stretches(rows: Table, x: Spec, end: float, theme: Theme, width: int) -> list[Spec]:
    """A line where a row begins, its name above the picture where there is room."""
    starts = [{"x": (number(row.cells["start"]) or 0.0) / 1e9} for row in rows.rows if row.cells["start"]]
    names, free = list[Spec](), 0.0
    for row in rows.rows:
        name, start = str(row.cells["row"]), (number(row.cells["start"]) or 0.0) / 1e9
        if start / end >= free:
            names.append({"x": start, "t": name})
            free = start / end + len(name) * LETTER / width + 0.02
    text = {"type": "text", "align": "left", "baseline": "bottom", "dx": 2, "dy": -4, "fontSize": 11}
    return [
        layer("rule", starts, {"x": x}, color=ON_DARK, opacity=0.55, strokeWidth=1),
        layer(text, names, {"x": x, "y": {"value": 0}, "text": {"field": "t"}}, color=theme.muted),
    ]


def _marks(marks: Table, x: Spec, y: Spec, low: float, high: float) -> list[Spec]:
    slow = [
        _mark(row) | {"y": min(high, number(row.cells["time"]) or low)}
        for row in marks.rows
        if row.cells["kind"] == "slow"
    ]
    changes = [_mark(row) | {"y": low, "y2": high} for row in marks.rows if row.cells["kind"] == "change"]
    found = []
    if changes:
        ends: Spec = {"x": x, "y": y, "y2": {"field": "y2"}}
        found.append(layer("rule", changes, ends, color=ALERT, strokeDash=[5, 3], strokeWidth=1.6))
        found.append(layer("rule", changes, ends, silent=False, opacity=0, strokeWidth=12))
    if slow:
        found.append(layer("point", slow, {"x": x, "y": y}, silent=False, color=ALERT, size=80, strokeWidth=1.6))
    return found


def _findings(marks: Table, x: Spec, end: float, width: int) -> list[Spec]:
    """Each finding as a bar at the top and a thin wash below it; the first of a name in a row is named."""
    found = [row for row in marks.rows if row.cells["kind"] == "finding"]
    found.sort(key=lambda row: number(row.cells["at"]) or 0.0)
    if not found:
        return []
    bars, names = [_bar(row, LEAST * end / width, end) for row in found], _names(found, end, width)
    across: Spec = {"x": x, "x2": {"field": "x2"}, "y": {"value": 0}}
    text: Spec = {"type": "text", "align": "left", "baseline": "top", "dx": 2, "dy": {"expr": "datum.dy"}}
    text |= {"fontSize": 11}
    at: Spec = {"x": x, "y": {"value": 0}, "text": {"field": "t"}}
    return [
        layer("rect", bars, {**across, "y2": {"value": HEIGHT}}, color=ALERT, opacity=0.1),
        layer("rect", bars, {**across, "y2": {"value": BAR}}, color=ALERT, opacity=1),
        layer("rect", bars, {**across, "y2": {"value": BAR + LINE}}, silent=False, opacity=0),
        layer(text, names, at, **BEHIND),
        layer(text, names, at, color=ALERT),
    ]


def _bar(row: Row, least: float, end: float) -> Spec:
    bar = _mark(row)
    start = min(bar["x"], end - least)
    return bar | {"x": start, "x2": max((number(row.cells["end"]) or 0.0) / 1e9, start + least)}


def _names(found: list[Row], end: float, width: int) -> list[Spec]:
    """Names below the bars, on the first line that has room; none where all lines are full: the bar still tells."""
    free, named = [0.0] * LINES, set[tuple[str, str]]()
    names = list[Spec]()
    for row in found:
        name, of = str(row.cells["name"]), str(row.cells["says"])
        wide = (len(name) + 1) * LETTER / width
        at = min((number(row.cells["at"]) or 0.0) / 1e9 / end, 1 - wide)
        line = next((line for line in range(LINES) if free[line] <= at), None)
        if line is not None and (name, of) not in named:
            named.add((name, of))
            free[line] = at + wide + 0.01
            names.append({"x": at * end, "dy": BAR + 2 + line * LINE, "t": name})
    return names


def _mark(row: Row) -> Spec:
    return {"x": (number(row.cells["at"]) or 0.0) / 1e9, "tip": str(row.cells["says"])}


def _tips(moments: Table, cells: Table, x: Spec, low: float, high: float, y: Spec) -> Spec:
    """Unseen columns that say what each moment was like."""
    rows = [
        {
            "x": (number(cell.cells["start"]) or 0.0) / 1e9,
            "x2": (number(cell.cells["end"]) or 0.0) / 1e9,
            "y": low,
            "y2": high,
            "tip": tip(moments, moment, "row"),
        }
        for moment, cell in zip(moments.rows, cells.rows, strict=True)
    ]
    band: Spec = {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "y2"}}
    return layer("rect", rows, band, silent=False, opacity=0)
