"""How response time grew with each step of the load, and whether throughput grew: the second classic chart."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.analyse.latency_growth import LEAST_FALL, ScalingStep
from iocast.model.report import Axis, Chart, Column, Row, Table
from iocast.report.cells import cell_text
from iocast.report.charts.drawing.loads import END, loads_axis
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
    quantitative,
    tip,
)
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.place import Place
from iocast.report.charts.subjects.families import Family, Member, curve_of

PLACE = Place("family", classic=True)
HEIGHT = 132
STEPS = (
    Column("before", "from load", "load"),
    Column("after", "to load", "load"),
    Column("ratio", "response time growth / load growth", "decimal", "1: the step added only waiting"),
    Column("verdict", "verdict"),
)
WORDS = {
    "faster": "response time fell",
    "slower": "response time rose",
    "lost": "throughput fell",
}
SAME = "response time stayed the same"
NOTE = (
    "Growth of the mean response time over growth of the load. 1: the step added only waiting. Strong red: throughput"
    " fell as well."
)


def tell(family: Family) -> Iterator[Chart]:
    """The chart of a ladder of at least two loads; none where means are 0, as a tool may state what took no tick."""
    ladder = family.ladder
    steps = curve_of(ladder).scaling
    if not steps or len(steps) < len(ladder) - 1:
        return
    rows = tuple(_step_row(*each) for each in zip(steps, ladder, ladder[1:], strict=False))
    yield Chart(
        kind="scaling",
        key=f"{family.key}-scaling",
        family=family.key,
        title=f"{family.title}: cost of more load",
        summary=_summary(steps, ladder),
        x=Axis("load", "load"),
        y=Axis("response time growth / load growth", "decimal"),
        tables=(Table("", STEPS, rows, key="steps"),),
        notes=(NOTE,),
    )


def _step_row(step: ScalingStep, one: Member, other: Member) -> Row:
    return Row(
        {
            "before": one.load,
            "after": other.load,
            "ratio": step.ratio,
            "verdict": _words(step),
            "colour": step.verdict,
        }
    )


def _words(step: ScalingStep) -> str:
    """What the step did; a change that is too small to be written is none."""
    growth = step.ratio * step.after / step.before
    return SAME if step.verdict != "lost" and abs(growth - 1) < LEAST_FALL else WORDS[step.verdict]


def _summary(steps: tuple[ScalingStep, ...], ladder: tuple[Member, ...]) -> str:
    lost = [index for index, step in enumerate(steps) if step.verdict == "lost"]
    grown = ladder[-1].times.mean_ns / ladder[0].times.mean_ns
    more = ladder[-1].at_once / ladder[0].at_once
    times = text.whole(more) if more == int(more) else text.decimal(more)
    words = f"{times}x the load costs {text.decimal(grown)}x the mean response time"
    if lost:
        at = ladder[lost[0]].load_text
        if lost == list(range(lost[0], len(steps))):
            return f"{words}; throughput falls from {at} on."
        return f"{words}; throughput falls from {at} to {ladder[lost[0] + 1].load_text}."
    return f"{words}; throughput never falls."


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """Between two loads a bar of what the step cost, on an axis from 0: 1 where it added only waiting."""
    steps = needed(about.table("steps"))
    labels = [cell_text("load", row.cells["before"]) for row in steps.rows]
    labels += [cell_text("load", row.cells["after"]) for row in steps.rows[-1:]]
    high = 1.2 * max(1.0, *numbers(steps.rows, "ratio"))
    x, scale = loads_axis(labels), {"domain": [0, high]}
    axis = {"tickCount": 3, "title": None, "minExtent": LABEL_ROOM, "grid": True}
    y = quantitative("y", scale, axis)
    colours = {"faster": theme.faster, "slower": theme.slower, "lost": theme.lost}
    bars = [
        {
            "x": at + 0.3,
            "x2": at + 0.7,
            "y": 0,
            "y2": number(row.cells["ratio"]) or 0.0,
            "c": colours[str(row.cells["colour"])],
            "t": text.three_figures(number(row.cells["ratio"]) or 0.0),
            "tip": tip(steps, row),
            "at": at + 0.5,
        }
        for at, row in enumerate(steps.rows)
    ]
    above = {"type": "text", "baseline": "bottom", "dy": -3, "fontSize": 10}
    ratio: Spec = {"x": {**x, "field": "at"}, "y": quantitative("y2", scale, axis), "text": {"field": "t"}}
    rect: Spec = {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "y2"}, "fill": OWN_COLOUR}
    end = {"type": "text", "align": "right", "baseline": "bottom", "dy": -3, "fontSize": 10}
    waiting = [{"x": len(labels) - 1 + END, "y": 1.0, "t": "only waiting"}]
    layers = [
        layer("rect", bars, rect, silent=False),
        layer("rule", [{"y": 1.0}], {"y": y}, color=theme.warn, strokeDash=[6, 4], strokeWidth=1.2),
        *legible(end, waiting, named(x, y), theme, color=theme.warn),
        *legible(above, bars, ratio, theme, color=theme.muted),
    ]
    return chart(width, HEIGHT, layers)
