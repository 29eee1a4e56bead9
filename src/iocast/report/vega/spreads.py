"""Draws how I/Os are spread over time taken: the overview, distributions, percentiles, and what a device saw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from iocast import text
from iocast.model.report import Chart, Row, Table
from iocast.report.cells import cell_text
from iocast.report.vega.parts import (
    LABEL_ROOM,
    OWN_COLOUR,
    WIDTH,
    Spec,
    apart,
    chart,
    each_by,
    layer,
    legible,
    needed,
    number,
    numbers,
    padded,
    padded_times,
    positions_of,
    quantitative,
    time_axis,
    time_scale,
    tip,
)
from iocast.report.vega.theme import Theme

ROW_HEIGHT = 24
RIDGE_HEIGHT = 46
PERCENTILES_HEIGHT = 240
RIDGE = 0.82  # how much of its room a distribution fills


def rows_axis(names: list[str]) -> Spec:
    """The rows from top to bottom at 0, 1, 2, ..."""
    scale = {"domain": [len(names) - 0.45, -0.55], "nice": False}
    return quantitative("y", scale, {**positions_of(names), "title": None, "labelLimit": 0, "minExtent": _room(names)})


def _room(names: list[str]) -> int:
    """Pixels for the longest name, in whatever font the page has in the end."""
    return round(7.4 * max(len(name) for name in names)) + 8


def overview(about: Chart, theme: Theme, width: int = WIDTH) -> Spec:
    """A bar from p50 to p99 for each row, a thin line on to the maximum."""
    table = about.tables[0]
    names = [str(row.cells["row"]) for row in table.rows]
    found = numbers(table.rows, "p50", "max")
    low, high = padded_times(found)
    scale, ticks = time_scale(low, high)
    y = rows_axis(names)
    x = quantitative("x", scale, time_axis(ticks, orient="top"))
    rows = [_range(at, table, row) for at, row in enumerate(table.rows)]
    tails = [{**row, "x": row["p99_9"]} for row in rows if row["p99_9"] is not None]
    to = {"field": "x2"}
    ends = [{**row, "x": row["max"]} for row in rows]
    hit = [{"x": low, "x2": high, "y": row["y"], "tip": row["tip"]} for row in rows]
    layers = [
        layer("rule", [{**row, "x2": row["max"]} for row in rows], {"x": x, "x2": to, "y": y}, color=theme.shade),
        layer(
            {"type": "bar", "height": 9, "cornerRadius": 2},
            rows,
            {"x": x, "x2": to, "y": y},
            color=theme.accent,
            opacity=0.4,
        ),
        layer({"type": "tick", "thickness": 2, "height": 9}, tails, {"x": x, "y": y}, color=theme.tail),
        layer({"type": "tick", "thickness": 1.5, "height": 9}, ends, {"x": x, "y": y}, color=theme.peak),
        layer("circle", rows, {"x": x, "y": y}, color=theme.accent, size=60, opacity=1),
        layer({"type": "bar", "height": ROW_HEIGHT - 2}, hit, {"x": x, "x2": to, "y": y}, silent=False, opacity=0),
    ]
    return chart(width, ROW_HEIGHT * len(rows) + 12, layers, theme)


def _range(at: int, table: Table, row: Row) -> Spec:
    cells = {key: number(row.cells[key]) for key in ("p50", "p95", "p99", "p99_9", "max")}
    known = [cells[key] for key in ("p99", "p95", "p50") if cells[key] is not None]
    return {"y": at, "x": cells["p50"], "x2": known[0], **cells, "tip": tip(table, row, "row")}


def distribution(about: Chart, theme: Theme, width: int = WIDTH) -> Spec:
    """A ridge for each row, as high as its highest point; modes are named, the mean is a line."""
    shapes, curves, modes = (needed(about.table(key)) for key in ("shapes", "curves", "modes"))
    names = [str(row.cells["row"]) for row in shapes.rows]
    base = {name: float(at) for at, name in enumerate(names)}
    low, high = padded_times(numbers(curves.rows, "time"), 0.03)
    scale, ticks = time_scale(low, high)
    highest = {name: max(_densities(curves, name)) for name in names}
    y = rows_axis(names)
    y["scale"] = {"domain": [len(names) - 0.92, -0.98], "nice": False}
    x = quantitative("x", scale, time_axis(ticks))
    rows = [_ridge_point(row, base, highest) for row in curves.rows]
    ridge: Spec = {"x": x, "y": y, "y2": {"field": "y2"}, **each_by("row")}
    outline: Spec = {"x": x, "y": quantitative("y2", y["scale"], y["axis"]), **each_by("row")}
    layers = [
        layer("area", rows, ridge, color=theme.accent, opacity=0.35),
        layer("line", rows, outline, color=theme.accent, strokeWidth=1.4),
    ]
    means = [
        {"x": number(row.cells["mean"]), "y": base[str(row.cells["row"])], "y2": base[str(row.cells["row"])] - RIDGE}
        for row in shapes.rows
    ]
    layers.append(layer("rule", means, {"x": x, "y": y, "y2": {"field": "y2"}}, color=theme.tail, strokeDash=[2, 2]))
    layers += _peak_names(modes, base, x, y, theme, (low, high))
    hit = [
        {"x": low, "x2": high, "y": at - 0.98, "y2": at, "tip": tip(shapes, row, "row")}
        for at, row in enumerate(shapes.rows)
    ]
    band: Spec = {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "y2"}}
    layers.append(layer("rect", hit, band, silent=False, opacity=0))
    return chart(width, max(1, len(names)) * RIDGE_HEIGHT + 8, layers, theme)


def _ridge_point(row: Row, base: dict[str, float], highest: dict[str, float]) -> Spec:
    name = str(row.cells["row"])
    height = RIDGE * (number(row.cells["density"]) or 0.0) / highest[name]
    return {"row": name, "x": number(row.cells["time"]), "y": base[name], "y2": base[name] - height}


def _densities(curves: Table, name: str) -> list[float]:
    return [number(row.cells["density"]) or 0.0 for row in curves.rows if row.cells["row"] == name]


def _peak_names(
    modes: Table, base: dict[str, float], x: Spec, y: Spec, theme: Theme, bounds: tuple[float, float]
) -> list[Spec]:
    """Beside each peak, inside of the chart: where it stands, and how much it holds where there are several."""
    several = {name for name in base if sum(row.cells["row"] == name for row in modes.rows) > 1}
    rows, wide = list[Spec](), math.log(bounds[1] / bounds[0])
    for row in modes.rows:
        name, at = str(row.cells["row"]), number(row.cells["time"]) or 1.0
        share = f" · {text.percent(number(row.cells['share']))}" if name in several else ""
        right = math.log(at / bounds[0]) > 0.72 * wide
        # Beside a neighbour that is near, a name stands lower.
        near = bool(rows) and rows[-1]["row"] == name and math.log(at / rows[-1]["x"]) < 0.45 * wide
        low = near and not rows[-1]["low"]
        rows.append(
            {
                "x": at,
                "row": name,
                "low": low,
                "y": base[name] - (0.36 if low else 0.72),
                "t": text.duration_in_words(at) + share,
                "dx": -9 if right else 9,
                "r": right,
            }
        )
    mark: dict[str, Any] = {
        "type": "text",
        "baseline": "middle",
        "fontSize": 11,
        "align": {"expr": "datum.r ? 'right' : 'left'"},
        "dx": {"expr": "datum.dx"},
    }
    text_at: Spec = {"x": x, "y": y, "text": {"field": "t"}}
    return legible(mark, rows, text_at, theme, color=theme.ink)


def percentiles(about: Chart, theme: Theme, width: int = WIDTH) -> Spec:
    """A line for each row, from light to dark with the load."""
    names = dict.fromkeys(str(row.cells["row"]) for row in needed(about.table("curves")).rows)
    return percentile_lines(about, theme, [_of_ramp(theme, at, len(names)) for at in range(len(names))], width)


def percentile_lines(about: Chart, theme: Theme, tones: Sequence[str], width: int = WIDTH) -> Spec:
    """A line for each row in its tone; each further nine takes the same room."""
    curves = needed(about.table("curves"))
    names = list(dict.fromkeys(str(row.cells["row"]) for row in curves.rows))
    nines = -math.log10(min(numbers(curves.rows, "beyond")))
    low, high = padded_times(numbers(curves.rows, "time"))
    scale, ticks = time_scale(low, high)
    marks = [math.log10(2), *(float(nine) for nine in range(1, math.floor(nines) + 1))]
    # Room to the right for the names of the lines.
    axis = {"values": marks, "labelExpr": _nines(), "title": about.x.title, "grid": True}
    x = quantitative("x", {"domain": [0, 1.2 * max(nines, 1.0)], "nice": False}, axis)
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
    return chart(width, PERCENTILES_HEIGHT, layers, theme)


def _place(row: Row) -> Spec:
    return {"x": -math.log10(number(row.cells["beyond"]) or 1.0), "y": number(row.cells["time"])}


def _says(row: Row) -> str:
    beyond = number(row.cells["beyond"]) or 1.0
    share = text.three_figures(100 * (1 - beyond)) if beyond > 0.01 else f"{100 * (1 - beyond):.6g}"
    return f"{row.cells['row']}: {share}% within {text.duration(number(row.cells['time']))}"


def _nines() -> str:
    """50 %, 90 %, 99 %, 99.9 %, ..."""
    return "datum.value < 0.5 ? '50%' : format(100 - pow(10, 2 - round(datum.value)), '.10~r') + '%'"


def _of_ramp(theme: Theme, at: int, of: int) -> str:
    """From light to dark, the last always the strongest; a single line has the accent."""
    if of == 1:
        return theme.accent
    usable = theme.ramp[1:] if of < len(theme.ramp) else theme.ramp
    return usable[round(at * (len(usable) - 1) / (of - 1))]


def device(about: Chart, theme: Theme, width: int = WIDTH) -> Spec:
    """A ring for what was asked, a disc for what the device saw, a line where they differ."""
    table = about.tables[0]
    kind = table.columns[1].kind
    names = [str(row.cells["row"]) for row in table.rows]
    found = [value for value in numbers(table.rows, "asked", "device") if value > 0]
    low, high = padded(min(found), max(found), least=0.4)
    step = 2 if math.log2(high / low) <= 9 else 8
    start, end = math.floor(math.log(low, step)), math.ceil(math.log(high, step))
    ticks = [value for value in (float(step) ** at for at in range(start, end + 1)) if low <= value <= high]
    labels = {value: cell_text(kind, value) for value in ticks}
    shown = " : ".join(f"datum.value == {value!r} ? '{label}'" for value, label in labels.items())
    axis = {"values": ticks, "labelExpr": f"{shown} : ''", "title": about.x.title, "grid": True, "orient": "top"}
    x = quantitative("x", {"type": "log", "domain": [low, high]}, axis)
    y = rows_axis(names)
    rows = [
        {
            "y": at,
            "x": max(low, number(row.cells["asked"]) or low),
            "x2": max(low, number(row.cells["device"]) or low),
            "tip": tip(table, row, "row"),
        }
        for at, row in enumerate(table.rows)
    ]
    seen = [{**row, "x": row["x2"]} for row in rows]
    hit = [{"x": low, "x2": high, "y": row["y"], "tip": row["tip"]} for row in rows]
    between: Spec = {"x": x, "x2": {"field": "x2"}, "y": y}
    layers = [
        layer("rule", rows, between, color=theme.tail, strokeWidth=2, opacity=0.6),
        layer("point", rows, {"x": x, "y": y}, color=theme.ink, size=90, strokeWidth=1.6),
        layer("circle", seen, {"x": x, "y": y}, color=theme.tail, size=44, opacity=1),
        layer({"type": "bar", "height": ROW_HEIGHT - 2}, hit, between, silent=False, opacity=0),
    ]
    return chart(width, ROW_HEIGHT * len(rows) + 12, layers, theme)
