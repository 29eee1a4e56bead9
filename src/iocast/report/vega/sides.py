"""Draws a comparison: ratios with their intervals, both sides of each row on one axis, runs beside each other."""

from __future__ import annotations

import math

from iocast.model.report import Chart, Row, Table
from iocast.report.vega.parts import (
    OWN_COLOUR,
    WIDTH,
    Spec,
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
    tip,
)
from iocast.report.vega.spreads import percentile_lines, rows_axis
from iocast.report.vega.theme import Theme

LINE_HEIGHT = 18
PAIR_HEIGHT = 64
HALF = 0.46  # of a row's room: how high the higher of both halves is
SAME = (0.9, 1 / 0.9)  # the band in which both count as the same (models B5)
STEPS = (1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 1000.0, 1e4)


def ratios(about: Chart, theme: Theme, width: int = WIDTH) -> Spec:
    """A dot for each ratio, a line for its interval, the band of the same behind."""
    table = about.tables[0]
    found = [value for value in numbers(table.rows, "ratio_value", "ratio_low", "ratio_high") if value > 0]
    reach = 1.1 * max(max(value, 1 / value) for value in (*found, *SAME))
    x = quantitative("x", {"type": "log", "domain": [1 / reach, reach]}, _ratio_axis(reach))
    y = rows_axis([str(row.cells["row"]) for row in table.rows])
    to: Spec = {"x": x, "x2": {"field": "x2"}, "y": y}
    colours = {"better": theme.faster, "worse": theme.lost, "same": theme.muted}
    rows = [
        _interval(at, table, row, reach) | {"c": colours[str(row.cells["side"])]} for at, row in enumerate(table.rows)
    ]
    last = len(rows) - 0.5
    band: Spec = {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "y2"}}
    hit = [{"x": 1 / reach, "x2": reach, "y": row["y"], "tip": row["tip"]} for row in rows]
    layers = [
        layer("rect", [{"x": SAME[0], "x2": SAME[1], "y": -0.5, "y2": last}], band, color=theme.middling),
        layer("rule", [{"x": 1}], {"x": x}, color=theme.muted, strokeWidth=1),
        layer("rule", rows, {**to, "color": OWN_COLOUR}, strokeWidth=2, opacity=0.75),
        layer(
            "circle",
            [{**row, "x": row["at"]} for row in rows],
            {"x": x, "y": y, "color": OWN_COLOUR},
            size=52,
            opacity=1,
        ),
        layer({"type": "bar", "height": LINE_HEIGHT - 2}, hit, to, silent=False, opacity=0),
    ]
    return chart(width, LINE_HEIGHT * len(rows) + 12, layers, theme)


def repeats(about: Chart, theme: Theme, width: int = WIDTH) -> Spec:
    """A dot for each run of a row, the band of the same behind."""
    table = about.tables[0]
    names = list(dict.fromkeys(str(row.cells["row"]) for row in table.rows))
    reach = 1.1 * max(max(value, 1 / value) for value in (*numbers(table.rows, "ratio"), *SAME) if value > 0)
    x = quantitative("x", {"type": "log", "domain": [1 / reach, reach]}, _ratio_axis(reach))
    y = rows_axis(names)
    dots = [
        {
            "x": max(number(row.cells["ratio"]) or 0.0, 1 / reach),
            "y": names.index(str(row.cells["row"])),
            "tip": f"{row.cells['row']}, run {row.cells['run']}: {row.cells['value']}",
        }
        for row in table.rows
    ]
    band: Spec = {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "y2"}}
    same = [{"x": SAME[0], "x2": SAME[1], "y": -0.5, "y2": len(names) - 0.5}]
    layers = [
        layer("rect", same, band, color=theme.middling),
        layer("rule", [{"x": 1}], {"x": x}, color=theme.muted, strokeWidth=1),
        layer("circle", dots, {"x": x, "y": y}, color=theme.accent, size=46, opacity=0.75),
        layer("circle", dots, {"x": x, "y": y}, silent=False, size=260, opacity=0),
    ]
    return chart(width, LINE_HEIGHT * len(names) + 12, layers, theme)


def _interval(at: int, table: Table, row: Row, reach: float) -> Spec:
    value = number(row.cells["ratio_value"]) or 1.0
    low, high = (number(row.cells[key]) or value for key in ("ratio_low", "ratio_high"))
    says = tip(table, row, "row", leave=("test", "what"))
    return {"y": at, "at": value, "x": max(low, 1 / reach), "x2": min(high, reach), "tip": says}


def _ratio_axis(reach: float) -> Spec:
    """Ticks at the same factors to both sides of 1, written as people say them: ÷2, 1, ×2."""
    usable = [step for step in STEPS if step <= reach]
    wide = math.log(reach)
    # Neighbours are at least a sixteenth of the width apart.
    kept = list[float]()
    for step in usable:
        if math.log(step) - (math.log(kept[-1]) if kept else 0.0) >= wide / 8:
            kept.append(step)
    values = [*(1 / step for step in reversed(kept)), 1.0, *kept]
    label = (
        "abs(datum.value - 1) < 1e-6 ? 'same' : datum.value > 1 ? '×' + format(datum.value, '.3~r') "
        ": '÷' + format(1 / datum.value, '.3~r')"
    )
    return {"values": values, "labelExpr": label, "title": None, "grid": True, "orient": "top"}


def sides(about: Chart, theme: Theme, width: int = WIDTH) -> Spec:
    """Two halves for each row, one above its line and one below; as high as their share a decade."""
    shapes, curves = (needed(about.table(key)) for key in ("shapes", "curves"))
    names = list(dict.fromkeys(str(row.cells["row"]) for row in shapes.rows))
    labels = list(dict.fromkeys(str(row.cells["whose"]) for row in shapes.rows))
    times = numbers(curves.rows, "time")
    low, high = padded_times(times, 0.03)
    scale, ticks = time_scale(low, high)
    x = quantitative("x", scale, time_axis(ticks, orient="top"))
    y = rows_axis(names)
    y["scale"] = {"domain": [len(names) - 0.45, -0.55], "nice": False}
    shape: Spec = {"x": x, "y": y, "y2": {"field": "y2"}}
    edge: Spec = {"x": x, "y": quantitative("y2", y["scale"], y["axis"])}
    halves = _halves(curves, names, dict(zip(labels, ((-1, theme.accent), (1, theme.tail)), strict=True)))
    layers = [
        layer("rule", [{"y": at} for at in range(len(names))], {"y": y}, color=theme.line),
        layer("area", halves, {**shape, **each_by("row"), "color": OWN_COLOUR}, opacity=0.4),
        layer("line", halves, {**edge, **each_by("row"), "color": OWN_COLOUR}, strokeWidth=1.3),
        *_marks(shapes, names, labels, x, y, theme),
    ]
    hit = [
        {
            "x": low,
            "x2": high,
            "y": at - (0.5 if side == labels[0] else 0),
            "y2": at + (0 if side == labels[0] else 0.5),
            "tip": tip(shapes, row, "row"),
        }
        for row in shapes.rows
        for at, side in [(names.index(str(row.cells["row"])), str(row.cells["whose"]))]
    ]
    layers.append(layer("rect", hit, {**shape, "x2": {"field": "x2"}}, silent=False, opacity=0))
    return chart(width, PAIR_HEIGHT * len(names) + 8, layers, theme)


def _halves(curves: Table, names: list[str], look: dict[str, tuple[int, str]]) -> list[Spec]:
    """The points of all halves, above or below the line of their row, in the colour of their side."""
    most = {name: max(numbers((row for row in curves.rows if row.cells["row"] == name), "density")) for name in names}
    points = []
    for row in curves.rows:
        name = str(row.cells["row"])
        at, (way, tone) = names.index(name), look[str(row.cells["whose"])]
        height = HALF * (number(row.cells["density"]) or 0.0) / most[name]
        points.append({"row": name, "x": number(row.cells["time"]), "y": at, "y2": at + way * height, "c": tone})
    return points


def _marks(shapes: Table, names: list[str], labels: list[str], x: Spec, y: Spec, theme: Theme) -> list[Spec]:
    """A tick at p50 and a dot at p99, each on its own side of the line."""
    layers = []
    for label, way, tone in zip(labels, (-1, 1), (theme.accent, theme.tail), strict=True):
        own = [(names.index(str(row.cells["row"])), row) for row in shapes.rows if row.cells["whose"] == label]
        half = [{"x": number(row.cells["p50"]), "y": at, "y2": at + way * 0.3} for at, row in own]
        layers.append(layer("rule", half, {"x": x, "y": y, "y2": {"field": "y2"}}, color=tone, strokeWidth=2.2))
        tails = [{"x": value, "y": at + way * 0.1} for at, row in own if (value := number(row.cells["p99"]))]
        layers.append(layer("circle", tails, {"x": x, "y": y}, color=tone, size=30, opacity=1))
    return layers


def side_percentiles(about: Chart, theme: Theme, width: int = WIDTH) -> Spec:
    """The percentile curves of one row, in the colours that the sides have in all charts."""
    return percentile_lines(about, theme, (theme.accent, theme.tail), width)
