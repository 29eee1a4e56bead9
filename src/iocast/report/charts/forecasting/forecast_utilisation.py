"""How much of the storage the load takes: the rates of each verdict side by side, and the rate that is asked for."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.forecast.answer import Answer
from iocast.model.report import Axis, Chart, Column, Row, Table
from iocast.report.charts.drawing.axis_labels import prefixed
from iocast.report.charts.drawing.parts import (
    OWN_COLOUR,
    Spec,
    chart,
    layer,
    legible,
    named,
    needed,
    number,
    quantitative,
)
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.place import Place

PLACE = Place("forecast", wide=True)
HEIGHT = 84
ZONES = (
    Column("zone", "verdict"),
    Column("start", "from IOPS", "rate"),
    Column("end", "to IOPS", "rate"),
)
ASKED = (Column("what", "load"), Column("rate", "IOPS", "rate"), Column("share", "utilisation", "share"))


def tell(of: Answer) -> Iterator[Chart]:
    """The chart of a forecast that knows its headroom."""
    by, room, question = of.forecaster, of.headroom, of.question
    if by is None or room is None:
        return
    most = by.demonstrated_per_s
    ends = [("OK", room.ok_per_s), ("MARGINAL", room.marginal_per_s), ("AT RISK", by.limit_per_s), ("NOT OK", most)]
    if of.forecast is not None and not of.firm:
        ends[0:2] = [("MARGINAL", max(room.ok_per_s, room.marginal_per_s))]
    rows, start = [], 0.0
    for name, end in ends:
        if end > start:
            rows.append(Row({"zone": name, "start": start, "end": end}))
            start = end
    loads = [("asked" if question.profile is None else "peak", question.peak_per_s)]
    if question.profile is not None:
        loads.append(("average", question.profile.mean_per_s))
    asked = tuple(Row({"what": what, "rate": rate, "share": rate / most}) for what, rate in loads)
    shown = text.percent(question.peak_per_s / most)
    yield Chart(
        kind="forecast_utilisation",
        key="forecast-utilisation",
        title="Utilisation",
        summary=f"{text.number(question.peak_per_s)} IOPS take {shown} of the {text.number(most)} demonstrated.",
        x=Axis("IOPS", "rate"),
        y=Axis("", "text"),
        tables=(Table("", ZONES, tuple(rows), key="zones"), Table("", ASKED, asked, key="asked")),
    )


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """A bar of verdicts from 0 to what was demonstrated, and the loads upright."""
    zones, asked = needed(about.table("zones")), needed(about.table("asked"))
    colours = {"OK": theme.fast, "MARGINAL": theme.middling, "AT RISK": theme.slow, "NOT OK": theme.slower}
    end = max(number(row.cells["end"]) or 0.0 for row in zones.rows)
    wide = max([end, *(1.03 * (number(row.cells["rate"]) or 0.0) for row in asked.rows)])
    axis = {"title": about.x.title, "label": prefixed, "grid": False, "tickCount": 8}
    x = quantitative("x", {"domain": [0, wide]}, axis)
    y = quantitative("y", {"domain": [0, 1]})
    bars = [
        {
            "x": row.cells["start"],
            "x2": row.cells["end"],
            "y": 0.12,
            "y2": 0.62,
            "c": colours[str(row.cells["zone"])],
            "tip": f"{row.cells['zone']}: up to {text.rate(number(row.cells['end']))} IOPS",
        }
        for row in zones.rows
    ]
    words = [
        {"x": row.cells["start"], "y": 0.37, "t": row.cells["zone"]}
        for row in zones.rows
        if (number(row.cells["end"]) or 0.0) - (number(row.cells["start"]) or 0.0) > 0.09 * wide
    ]
    marks = [
        {"x": row.cells["rate"], "y": 0.78, "t": f"{row.cells['what']}: {text.percent(number(row.cells['share']))}"}
        for row in asked.rows
    ]
    left = {"type": "text", "align": "left", "baseline": "middle", "dx": 6, "fontSize": 11}
    ends: Spec = {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "y2"}}
    layers = [
        layer("rect", bars, {**ends, "fill": OWN_COLOUR}, silent=False),
        *legible(left, words, named(x, y), theme, color=theme.ink),
        layer("rule", marks, {"x": x}, color=theme.ink, strokeWidth=2),
        *legible({**left, "fontWeight": 600}, marks, named(x, y), theme, color=theme.ink),
    ]
    return chart(width, HEIGHT, layers)
