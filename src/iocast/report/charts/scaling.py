"""How response time grew with each step of the load, and whether throughput grew: the second classic chart."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.analyse.latency_growth import ScalingStep
from iocast.model.report import Axis, Chart, Column, Row, Table
from iocast.report.charts.drawing.loads import load_labels, load_tips, loads_axis
from iocast.report.charts.drawing.parts import (
    LABEL_ROOM,
    OWN_COLOUR,
    Spec,
    chart,
    layer,
    legible,
    needed,
    number,
    numbers,
    quantitative,
    time_axis,
    tip,
)
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.place import Place
from iocast.report.charts.subjects.families import Family, Member, curve_of

PLACE = Place("family", classic=True)
HEIGHT = 132
LOADS = (
    Column("load", "load", "load", "users x queue depth"),
    Column("mean", "mean", "duration"),
    Column("p50", "p50", "duration"),
)
STEPS = (
    Column("before", "from load", "load"),
    Column("after", "to load", "load"),
    Column("ratio", "response time growth / load growth", "decimal", "1: the step added only waiting"),
    Column("bar", "2^(10 ratio) / 1024", "decimal"),
    Column("verdict", "verdict"),
)
WORDS = {
    "faster": "response time fell",
    "slower": "response time rose",
    "lost": "throughput fell",
}
NOTE = "Full-height bar: the step added only waiting. Strong red: throughput fell as well."


def tell(family: Family) -> Iterator[Chart]:
    """The chart of a ladder of at least two loads; none where means are 0, as a tool may state what took no tick."""
    ladder = family.ladder
    steps = curve_of(ladder).scaling
    if not steps or len(steps) < len(ladder) - 1:
        return
    rows = tuple(_step_row(*each) for each in zip(steps, ladder, ladder[1:], strict=False))
    loads = tuple(
        Row({"load": each.load, "mean": each.times.mean_ns, "p50": each.times.quantile_ns(0.5)}) for each in ladder
    )
    yield Chart(
        kind="scaling",
        key=f"{family.key}-scaling",
        family=family.key,
        title=f"{family.title}: cost of more load",
        summary=_summary(steps, ladder),
        x=Axis("load", "load"),
        y=Axis("mean and median", "duration"),
        tables=(Table("", STEPS, rows, key="steps"), Table("", LOADS, loads, key="loads")),
        notes=(NOTE,),
    )


def _step_row(step: ScalingStep, one: Member, other: Member) -> Row:
    return Row(
        {
            "before": one.load,
            "after": other.load,
            "ratio": step.ratio,
            "bar": step.bar,
            "verdict": WORDS[step.verdict],
            "colour": step.verdict,
        }
    )


def _summary(steps: tuple[ScalingStep, ...], ladder: tuple[Member, ...]) -> str:
    lost = [index for index, step in enumerate(steps) if step.verdict == "lost"]
    grown = ladder[-1].times.mean_ns / ladder[0].times.mean_ns
    more = ladder[-1].at_once / ladder[0].at_once
    times = text.whole(more) if more == int(more) else text.decimal(more)
    words = f"{times}x the load costs {text.decimal(grown)}x the mean response time"
    if lost:
        at = ladder[lost[0]].load_text
        return f"{words}; throughput falls from {at} on."
    return f"{words}; throughput never falls."


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """Mean and median on a linear axis; between the loads a bar of what the step cost."""
    steps, loads = needed(about.table("steps")), needed(about.table("loads"))
    labels = load_labels(loads)
    high = 1.12 * max(numbers(loads.rows, "mean", "p50"))
    x, scale = loads_axis(labels), {"domain": [0, high], "nice": False}
    y = quantitative("y", scale, time_axis([high / 1.12 * part for part in (0, 0.5, 1)], minExtent=LABEL_ROOM))
    y["axis"] |= {"labelExpr": _linear_time(high)}
    colours = {"faster": theme.faster, "slower": theme.slower, "lost": theme.lost}
    bars = [
        {
            "x": at + 0.3,
            "x2": at + 0.7,
            "y": 0,
            "y2": high * min(1.0, number(row.cells["bar"]) or 0.0),
            "c": colours[str(row.cells["colour"])],
            "t": text.three_figures(number(row.cells["ratio"]) or 0.0),
            "tip": tip(steps, row, leave=("bar",)),
            "at": at + 0.5,
        }
        for at, row in enumerate(steps.rows)
    ]
    lines = [
        layer(
            {"type": "line", "point": {"aria": False, "filled": True, "size": 26, "color": tone}},
            [{"x": at, "y": number(row.cells[key])} for at, row in enumerate(loads.rows)],
            {"x": x, "y": y},
            color=tone,
            **look,
        )
        for key, tone, look in (
            ("p50", theme.accent, {"strokeDash": [2, 2], "strokeWidth": 1.6}),
            ("mean", theme.ink, {"strokeWidth": 1.6}),
        )
    ]
    above = {"type": "text", "baseline": "bottom", "dy": -3, "fontSize": 10}
    ratio: Spec = {"x": {**x, "field": "at"}, "y": quantitative("y2", scale, y["axis"]), "text": {"field": "t"}}
    rect: Spec = {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "y2"}, "fill": OWN_COLOUR}
    layers = [
        layer("rect", bars, rect, silent=False),
        *lines,
        *legible(above, bars, ratio, theme, color=theme.muted),
        load_tips(loads, x, y, "mean"),
    ]
    return chart(width, HEIGHT, layers, theme)


def _linear_time(high: float) -> str:
    """All ticks of a linear axis in the unit of the highest."""
    for factor, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")):
        if high >= factor:
            return f"format(datum.value / {factor:.0f}, '.3~r') + ' {unit}'"
    return "format(datum.value, '.3~r')"
