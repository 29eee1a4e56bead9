"""How response time grew with each step of the load, and whether throughput grew: the second classic chart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from msgspec import Struct

from iocast import text
from iocast.analyse.latency_growth import LEAST_FALL, ScalingStep
from iocast.model.report import Chart
from iocast.model.results.shown import shown
from iocast.report.charts.families import Family, Member, curve_of
from iocast.report.charts.loads import END, loads_axis
from iocast.report.charts.place import Place
from iocast.report.plot.axes import LABEL_ROOM, Axis, Scale
from iocast.report.plot.marks import Box, Boxes, Levels, Plot, Word, Words
from iocast.report.plot.theme import Theme
from iocast.report.result_tables import tip

PLACE = Place("family", classic=True)
HEIGHT = 132
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


class LoadStep(Struct, frozen=True):
    """What a step from one load to the next cost."""

    from_users: Annotated[int, shown("from load", "load", pair="from_depth")]
    from_depth: int
    users: Annotated[int, shown("to load", "load", pair="depth")]
    depth: int
    ratio: Annotated[
        float, shown("response time growth / load growth", "decimal", explain="1: the step added only waiting")
    ]
    verdict: Annotated[str, shown("verdict")]
    colour: Literal["faster", "slower", "lost"]


class Scaling(Chart, frozen=True, kw_only=True):
    """The steps of a ladder."""

    kind: str = "scaling"
    steps: tuple[LoadStep, ...]


def tell(family: Family) -> Iterator[Scaling]:
    """The chart of a ladder of at least two loads; none where means are 0, as a tool may state what took no tick."""
    ladder = family.ladder
    steps = curve_of(ladder).scaling
    if not steps or len(steps) < len(ladder) - 1:
        return
    yield Scaling(
        key=f"{family.key}-scaling",
        family=family.key,
        title=f"{family.title}: cost of more load",
        summary=_summary(steps, ladder),
        notes=(NOTE,),
        steps=tuple(
            LoadStep(*one.load, *other.load, step.ratio, _words(step), step.verdict)
            for step, one, other in zip(steps, ladder, ladder[1:], strict=False)
        ),
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


def draw(chart: Scaling, theme: Theme, width: int) -> Plot:
    """Between two loads a bar of what the step cost, on an axis from 0: 1 where it added only waiting."""
    steps, last = chart.steps, chart.steps[-1]
    labels = [*(text.load(step.from_users, step.from_depth) for step in steps), text.load(last.users, last.depth)]
    colours = {"faster": theme.faster, "slower": theme.slower, "lost": theme.lost}
    waiting = Word(len(labels) - 1 + END, 1.0, "only waiting")
    costs = [Word(at + 0.5, step.ratio, text.three_figures(step.ratio)) for at, step in enumerate(steps)]
    marks = (
        Boxes(
            [Box(at + 0.3, 0, at + 0.7, step.ratio) for at, step in enumerate(steps)],
            colours=[colours[step.colour] for step in steps],
            tips=[tip(step) for step in steps],
        ),
        Levels([1.0], 1.2, (6, 4), colour=theme.warn),
        Words([waiting], "right", "bottom", dy=-3, size=10, colour=theme.warn, rim=theme.ground),
        Words(costs, baseline="bottom", dy=-3, size=10, colour=theme.muted, rim=theme.ground),
    )
    y = Axis(Scale(0, 1.2 * max(1.0, *(step.ratio for step in steps))), count=3, room=LABEL_ROOM)
    return Plot(width, HEIGHT, loads_axis(labels), y, marks)
