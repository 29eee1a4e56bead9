"""Response time against the IOPS achieved, in the order of the loads, with the knee."""

from __future__ import annotations

import math
from collections.abc import Iterator

from iocast import text
from iocast.analyse.ladder import one_for_each
from iocast.analyse.statistics import published
from iocast.model.report import Axis, Chart, Column, Row, Table
from iocast.model.workload import Closed
from iocast.report.charts.drawing.axis_labels import prefixed
from iocast.report.charts.drawing.loads import load_labels
from iocast.report.charts.drawing.parts import (
    LABEL_ROOM,
    OWN_COLOUR,
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
from iocast.report.charts.subjects.families import Family, Member, curve_of

PLACE = Place("family")
HEIGHT = 240
NEAR = 0.06  # of the width and the height: names of points this near would lie on each other
COLUMNS = (
    Column("load", "load", "load", "users x queue depth"),
    Column("rate", "IOPS", "rate"),
    Column("p50", "p50", "duration"),
    Column("mean", "mean", "duration"),
    Column("p99", "p99", "duration"),
)
KNEES = (
    Column("load", "load", "load", "users x queue depth"),
    Column("rate", "IOPS", "rate"),
    Column("p50", "p50", "duration"),
)
NOTE = (
    "Knee: the load with the best ratio of IOPS to response time. The grade uses the load from which the storage is"
    " full, which may be another."
)


def tell(family: Family) -> Iterator[Chart]:
    """The chart of a ladder of at least three loads: two points are no curve."""
    ladder = _ladder(family)
    if len(ladder) < 3:
        return
    knee = _knee(ladder)
    marks = (Row({"load": knee.load, "rate": knee.rate_per_s, "p50": knee.times.quantile_ns(0.5)}),) if knee else ()
    yield Chart(
        kind="load_curve",
        key=f"{family.key}-load-curve",
        title=f"{family.title}: response time against IOPS",
        summary=_summary(ladder, knee),
        x=Axis("IOPS", "rate"),
        y=Axis("response time", "duration", log=True),
        tables=(
            Table("", COLUMNS, tuple(_row(member) for member in ladder), key="loads"),
            Table("", KNEES, marks, key="knees"),
        ),
        notes=(NOTE,) if knee else (),
    )


def _ladder(family: Family) -> tuple[Member, ...]:
    """Loads of a closed loop ascend by what was kept in flight, those of an open loop by what was asked for."""
    if all(isinstance(member.record.phase.workload.arrival, Closed) for member in family.members):
        return family.ladder
    return one_for_each(family.members, lambda member: member.record.measurement.asked_rate_per_s or 0.0)


def _row(member: Member) -> Row:
    return Row(
        {
            "load": member.load,
            "rate": member.rate_per_s,
            "p50": member.times.quantile_ns(0.5),
            "mean": member.times.mean_ns,
            "p99": published(member.times, 0.99),
        }
    )


def _knee(ladder: tuple[Member, ...]) -> Member | None:
    if not all(isinstance(member.record.phase.workload.arrival, Closed) for member in ladder):
        return None
    found = curve_of(ladder).knee
    if found is None or not found.saturated:
        return None
    return next(member for member in ladder if member.at_once == found.max_power_load)


def _summary(ladder: tuple[Member, ...], knee: Member | None) -> str:
    most = max(ladder, key=lambda member: member.rate_per_s)
    words = f"{most.load_text} reaches {text.rate(most.rate_per_s)} IOPS"
    if knee is None:
        return f"{words}; the ladder shows no knee."
    if knee is ladder[0]:
        return f"{words}; the knee is at {knee.load_text}, the first load: more load mostly adds waiting."
    half = text.brief_time(knee.times.quantile_ns(0.5))
    if knee is most:
        return f"{words} at the knee, with a p50 of {half}."
    rate = text.rate(knee.rate_per_s)
    return f"{words}; the knee is at {knee.load_text}: {rate} IOPS, p50 {half}."


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """p50 and p99 against the rate, joined in the order of the loads: past saturation the curve folds back."""
    loads, knees = needed(about.table("loads")), needed(about.table("knees"))
    rates = numbers(loads.rows, "rate")
    found = numbers(loads.rows, "p50", "p99")
    low, high = padded_times(found, 0.12)
    scale, ticks = time_scale(low, high)
    x = quantitative("x", {"domain": [0, 1.1 * max(rates)]}, {"title": about.x.title, "label": prefixed})
    x["axis"] |= {"grid": False, "tickCount": 5}
    y = quantitative("y", scale, time_axis(ticks, minExtent=LABEL_ROOM))
    layers: list[Spec] = []
    for row in knees.rows:
        at = number(row.cells["rate"])
        layers.append(layer("rule", [{"x": at}], {"x": x}, color=theme.warn, strokeDash=[4, 3]))
        mark = {"type": "text", "align": "right", "baseline": "top", "dx": -5, "fontSize": 11}
        layers.append(layer(mark, [{"x": at, "y": high, "t": "knee"}], named(x, y), color=theme.warn))
    ends = []
    for key, tone in (("p99", theme.tail), ("p50", theme.accent)):
        rows = [
            {"x": number(row.cells["rate"]), "y": number(row.cells[key]), "o": at, "tip": tip(loads, row, "load")}
            for at, row in enumerate(loads.rows)
            if row.cells[key] is not None
        ]
        if not rows:
            continue
        layers.append(layer("line", rows, {"x": x, "y": y, "order": {"field": "o"}}, color=tone, strokeWidth=2))
        layers.append(layer("circle", rows, {"x": x, "y": y}, color=tone, size=40, opacity=1))
        layers.append(layer("circle", rows, {"x": x, "y": y}, silent=False, size=500, opacity=0))
        ends.append({**rows[-1], "x": max(rates), "t": key, "c": tone})  # to the right of where it folds back
    names = _load_names(loads, max(rates), math.log10(high / low))
    below = {"type": "text", "align": "center", "baseline": "top", "dy": 7, "fontSize": 11}
    layers += legible(below, names, named(x, y), theme, color=theme.muted)
    beside = {"type": "text", "align": "left", "baseline": "middle", "dx": 8, "fontSize": 11, "fontWeight": 600}
    layers += legible(beside, ends, {**named(x, y), "color": OWN_COLOUR}, theme)
    return chart(width, HEIGHT, layers)


def _load_names(loads: Table, most: float, decades: float) -> list[Spec]:
    """The load below each point; points that lie on each other share a name."""
    names = list[Spec]()
    for row, label in zip(loads.rows, load_labels(loads), strict=True):
        x, y = number(row.cells["rate"]) or 0.0, number(row.cells["p50"]) or 1.0
        on = [each for each in names if abs(each["x"] - x) < NEAR * most]
        same = next((each for each in on if abs(math.log10(each["y"] / y)) < NEAR * decades), None)
        if same is not None:
            same["t"] += f", {label}"
        else:
            names.append({"x": x, "y": y, "t": label})
    return names
