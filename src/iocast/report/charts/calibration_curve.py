"""The limited response time against IOPS: closed loads, rates with their intervals, the limit, and what it allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iocast import text
from iocast.forecast.calibration import Calibration, CurvePoint
from iocast.model.report import Axis, Cell, Chart, Column, Row, Table
from iocast.report.charts.drawing.axis_labels import prefixed
from iocast.report.charts.drawing.parts import (
    LABEL_ROOM,
    Spec,
    chart,
    layer,
    legible,
    named,
    needed,
    number,
    numbers,
    padded_times,
    quantitative,
    time_axis,
    time_scale,
    tip,
)
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.place import Place

PLACE = Place("calibration", wide=True)
HEIGHT = 320
POINTS = (
    Column("name", "row"),
    Column("rate", "IOPS", "rate"),
    Column("time", "response time", "duration"),
    Column("low", "lower end", "duration"),
    Column("high", "upper end", "duration"),
    Column("verdict", "limit", "code"),
    Column("series", "load", "code"),
)
MARKS = (
    Column("limit", "limit", "duration"),
    Column("rate", "IOPS within", "rate"),
    Column("low", "lower end", "rate"),
    Column("high", "upper end", "rate"),
    Column("most", "most IOPS", "rate"),
)


def tell(found: Calibration) -> Iterator[Chart]:
    """The chart of a search with at least two rows of random reads."""
    points = (*found.closed, *found.at_rates)
    if len(points) < 2:
        return
    name = text.statistic(found.asked.quantile)
    within = found.within
    marks = Row(
        {
            "limit": found.asked.max_latency_ns,
            "rate": within.rate_per_s if within else None,
            "low": within.low_per_s if within else None,
            "high": within.high_per_s if within else None,
            "most": found.most.value if found.most else None,
        }
    )
    yield Chart(
        kind="calibration_curve",
        key="calibration-load-curve",
        title=f"{name} against IOPS",
        summary=_summary(found, name),
        x=Axis("IOPS", "rate"),
        y=Axis(name, "duration", log=True),
        tables=(
            Table("", POINTS, tuple(_rows(found.closed, "closed") + _rows(found.at_rates, "open")), key="points"),
            Table("", MARKS, (marks,), key="marks"),
        ),
        notes=("Filled: closed loads. Rings: random arrivals at a rate, with 95% intervals. Grey: refused rows.",),
    )


def _rows(points: Sequence[CurvePoint], series: str) -> list[Row]:
    return [
        Row(
            {
                "name": each.row.name,
                "rate": each.row.measurement.rate_per_s,
                "time": each.at.value_ns,
                "low": each.at.low_ns,
                "high": each.at.high_ns,
                "verdict": "refused" if each.why_not else each.held,
                "series": series,
            }
        )
        for each in points
    ]


def _summary(found: Calibration, name: str) -> str:
    limit = text.brief_time(found.asked.max_latency_ns)
    if found.idle is not None and not found.idle.at.within(found.asked.max_latency_ns):
        return f"No rate is within a {name} of {limit}: the idle storage takes longer."
    if found.within is None or found.within.rate_per_s is None:
        return f"The IOPS within a {name} of {limit} are unknown."
    rate = text.rate(found.within.rate_per_s)
    if not found.within.reached:
        return f"The {name} stays within {limit} up to {rate} IOPS, the highest usable rate."
    return f"The {name} reaches the limit of {limit} at {rate} IOPS."


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """Both curves on a logarithmic time, the limit across, the allowed rate with its interval upright."""
    points, marks = needed(about.table("points")), needed(about.table("marks")).rows[0].cells
    limit, most = number(marks["limit"]) or 1.0, number(marks["most"])
    low, high = padded_times([*numbers(points.rows, "time"), limit], 0.10)
    scale, ticks = time_scale(low, high)
    right = 1.08 * max([*numbers(points.rows, "rate"), most or 0.0])
    x = quantitative("x", {"domain": [0, right]}, {"title": about.x.title, "label": prefixed})
    x["axis"] |= {"grid": False, "tickCount": 8}
    y = quantitative("y", scale, time_axis(ticks, minExtent=LABEL_ROOM))
    place: Spec = {"x": x, "y": y}
    shown = [_place(points, row, low, high) for row in points.rows]
    closed, rates = ([each for each in shown if each["s"] == series] for series in ("closed", "open"))
    layers = [*_band(marks, place, theme), layer("rule", [{"y": limit}], {"y": y}, color=theme.warn, strokeWidth=2)]
    layers += [
        layer("line", [e for e in group if e["used"]], {**place, "order": {"field": "o"}}, color=tone, strokeWidth=2)
        for group, tone in ((closed, theme.muted), (rates, theme.accent))
    ]
    ends = [each for each in rates if each["used"] and each["low"] is not None]
    layers.append(
        layer("rule", ends, {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}}, color=theme.accent)
    )
    layers += _dots(closed, rates, place, theme)
    words = {"type": "text", "align": "left", "baseline": "bottom", "dx": 4, "dy": -3, "fontSize": 11}
    name = [{"x": 0, "y": limit, "t": f"limit {text.brief_time(limit)}"}]
    layers += legible(words, name, named(x, y), theme, color=theme.warn)
    if (rate := number(marks["rate"])) is not None:
        beside = {"type": "text", "align": "right", "baseline": "top", "dx": -5, "dy": 3, "fontSize": 11}
        told = [{"x": rate, "y": high, "t": f"{text.rate(rate)} IOPS"}]
        layers += legible(beside, told, named(x, y), theme, color=theme.ink)
    return chart(width, HEIGHT, layers)


def _place(points: Table, row: Row, low: float, high: float) -> Spec:
    """A row as a point; ends of its interval that are unknown or outside stop at the edge."""
    cells = row.cells
    ends = number(cells["low"]), number(cells["high"])
    return {
        "x": number(cells["rate"]),
        "y": number(cells["time"]),
        "o": number(cells["rate"]) if cells["series"] == "open" else points.rows.index(row),
        "low": None if ends[0] is None else max(low, ends[0]),
        "high": high if ends[1] is None else min(high, ends[1]),
        "s": cells["series"],
        "used": cells["verdict"] != "refused",
        "tip": tip(points, row, "name", ("series",)),
    }


def _band(marks: dict[str, Cell], place: Spec, theme: Theme) -> list[Spec]:
    """The interval of the allowed rate, and the rate itself."""
    rate, low, high = (number(marks[key]) for key in ("rate", "low", "high"))
    found: list[Spec] = []
    if low is not None and high is not None:
        ends = [{"x": low, "x2": high}]
        found.append(layer("rect", ends, {"x": place["x"], "x2": {"field": "x2"}}, color=theme.accent, opacity=0.12))
    if rate is not None:
        found.append(layer("rule", [{"x": rate}], {"x": place["x"]}, color=theme.accent, strokeDash=[4, 3]))
    return found


def _dots(closed: list[Spec], rates: list[Spec], place: Spec, theme: Theme) -> list[Spec]:
    ring = "point"
    refused = [each for each in (*closed, *rates) if not each["used"]]
    return [
        layer("circle", [each for each in closed if each["used"]], place, color=theme.muted, size=46, opacity=1),
        layer(ring, [each for each in rates if each["used"]], place, color=theme.accent, size=46, strokeWidth=2),
        layer(ring, refused, place, color=theme.muted, size=46, strokeWidth=1, opacity=0.6),
        layer("circle", [*closed, *rates], place, silent=False, size=300, opacity=0),
    ]
