"""The response over the rate of arrivals: measured points, forecast with its interval, SLO and the load asked for."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.forecast.answer import Answer
from iocast.forecast.load_forecast import Forecaster
from iocast.forecast.measured_ladder import MeasuredLadder
from iocast.forecast.response_law import GRID
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
from iocast.report.forecast.forecast_sentences import between

PLACE = Place("forecast", wide=True)
HEIGHT = 300
STEPS = 24
NS = 1e9
CURVE = (
    Column("rate", "IOPS", "rate"),
    Column("low", "from", "duration"),
    Column("expected", "expected", "duration"),
    Column("high", "to", "duration"),
)
POINTS = (
    Column("row", "row"),
    Column("kind", "kind"),
    Column("rate", "IOPS", "rate"),
    Column("value", "response", "duration"),
)
MARKS = (
    Column("rate", "IOPS asked for", "rate"),
    Column("slo", "SLO", "duration"),
    Column("low", "from", "duration"),
    Column("high", "to", "duration"),
)
STICK = (Column("rate", "IOPS", "rate"), Column("value", "hockey stick", "duration"))


def tell(of: Answer) -> Iterator[Chart]:
    """The chart of a forecast from a ladder."""
    by, question = of.forecaster, of.question
    if by is None or not isinstance(of.ladder, MeasuredLadder):
        return
    name = text.statistic(question.q)
    rates = [by.limit_per_s * at / STEPS for at in range(1, STEPS + 1)]
    figures = by.curve(question.q, rates)
    curve = tuple(
        Row({"rate": rate, "low": each.low_s * NS, "expected": each.base_s * NS, "high": each.high_s * NS})
        for rate, each in zip(rates, figures, strict=True)
        if each.known
    )
    asked: dict[str, Cell] = {"rate": question.peak_per_s, "slo": question.limit_s * NS}
    figure = of.slo_figure
    if figure is not None and figure.known:
        asked |= {"low": figure.low_s * NS, "high": figure.high_s * NS}
    yield Chart(
        kind="forecast_curve",
        key="forecast-curve",
        title=f"Response ({name}) over IOPS",
        summary=_summary(of, name),
        x=Axis("IOPS", "rate"),
        y=Axis(name, "duration", log=True),
        tables=(
            Table("", CURVE, curve, key="forecast"),
            Table("", POINTS, tuple(_points(of, by)), key="measured"),
            Table("", MARKS, (Row(asked),), key="asked"),
            Table("", STICK, tuple(_stick(of)), key="hockey_stick"),
        ),
        notes=(
            "Line: expected. Band: 95% interval. Dots: open-loop rows. Rings: rows of the ladder at the IOPS that they"
            " reached; past saturation they stand above each other.",
        ),
    )


def _points(of: Answer, by: Forecaster) -> Iterator[Row]:
    """What was measured: open-loop rows, and those of the ladder."""
    q = of.question.q
    for row in of.rows:
        has = next((each for each in row.measured if each.q == q and each.enough), None)
        if has is not None:
            yield Row({"row": row.name, "kind": "open loop", "rate": row.done_per_s, "value": has.value_s * NS})
    for level in by.measured.levels:
        value = (
            level.response_s if q is None else level.times_s[min(range(len(GRID)), key=lambda at: abs(GRID[at] - q))]
        )
        name = " + ".join(level.names)
        yield Row({"row": name, "kind": "ladder", "rate": level.rate_per_s, "value": value * NS})


def _stick(of: Answer) -> Iterator[Row]:
    curve = None if of.fit is None else of.fit.curve
    if curve is None:
        return
    for at in range(1, STEPS + 1):
        rate = curve.largest_per_s * at / STEPS
        yield Row({"rate": rate, "value": curve.response_s(rate) * NS})


def _summary(of: Answer, name: str) -> str:
    question, figure = of.question, of.slo_figure
    asked = f"{text.number(question.peak_per_s)} IOPS"
    limit = text.duration(question.limit_s * NS)
    if figure is None or not figure.known:
        return f"Nothing is foretold at {asked}; SLO {limit}."
    return f"At {asked} the {name} will be {between(figure)}; SLO {limit}."


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """A band with its line, the SLO across, the load asked for upright."""
    curve, points = needed(about.table("forecast")), needed(about.table("measured"))
    asked, stick = needed(about.table("asked")), needed(about.table("hockey_stick"))
    mark = asked.rows[0].cells
    times = [*numbers(curve.rows, "low", "high"), *numbers(asked.rows, "slo"), *numbers(points.rows, "value")]
    rates = [*numbers(curve.rows, "rate"), *numbers(asked.rows, "rate"), *numbers(points.rows, "rate")]
    low, high = padded_times(times, 0.06)
    scale, ticks = time_scale(low, high)
    axis = {"title": about.x.title, "label": prefixed, "grid": False, "tickCount": 8}
    x = quantitative("x", {"domain": [0, 1.06 * max(rates)]}, axis)
    y = quantitative("y", scale, time_axis(ticks, minExtent=LABEL_ROOM))
    band = [{"x": row.cells["rate"], "y": row.cells["low"], "y2": row.cells["high"]} for row in curve.rows]
    line = [{"x": row.cells["rate"], "y": row.cells["expected"], "tip": tip(curve, row, "rate")} for row in curve.rows]
    sticks = [{"x": row.cells["rate"], "y": row.cells["value"]} for row in stick.rows]
    dots = [
        {"x": row.cells["rate"], "y": row.cells["value"], "k": row.cells["kind"], "tip": tip(points, row, "row")}
        for row in points.rows
    ]
    place: Spec = {"x": x, "y": y}
    slo = [{"x": 0, "y": number(mark["slo"]), "t": "SLO"}]
    at = [{"x": number(mark["rate"]), "y": high, "t": f"asked: {text.rate(number(mark['rate']))} IOPS"}]
    left = {"type": "text", "align": "left", "baseline": "bottom", "dx": 5, "dy": -3, "fontSize": 11, "fontWeight": 600}
    top = {"type": "text", "align": "right", "baseline": "top", "dx": -5, "dy": 2, "fontSize": 11, "fontWeight": 600}
    layers = [
        layer("area", band, {**place, "y2": {"field": "y2"}}, color=theme.accent, opacity=0.18),
        layer("line", sticks, place, color=theme.tail, strokeWidth=1.6, strokeDash=[2, 3]),
        layer("line", line, place, color=theme.accent, strokeWidth=2),
        layer("rule", slo, {"y": y}, color=theme.peak, strokeDash=[6, 4], strokeWidth=1.4),
        layer("rule", at, {"x": x}, color=theme.ink, strokeDash=[3, 3], strokeWidth=1.2),
        layer(
            "point",
            [each for each in dots if each["k"] == "ladder"],
            place,
            color=theme.muted,
            size=44,
        ),
        layer("circle", [each for each in dots if each["k"] != "ladder"], place, color=theme.tail, size=60, opacity=1),
        *legible(left, slo, named(x, y), theme, color=theme.peak),
        *legible(top, at, named(x, y), theme, color=theme.ink),
        layer("circle", [*dots, *line], place, silent=False, size=260, opacity=0),
    ]
    return chart(width, HEIGHT, layers)
