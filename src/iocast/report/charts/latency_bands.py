"""How the I/Os of each load share out over bands of response time: up to 1 ms, up to 10 ms, longer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from iocast import text
from iocast.analyse.statistics import bucket_shares
from iocast.model.report import Chart
from iocast.model.results.shown import shown
from iocast.report.charts.families import Family
from iocast.report.charts.loads import AtLoad, loads_axis
from iocast.report.charts.place import Place
from iocast.report.plot.axes import LABEL_ROOM, Axis, Scale
from iocast.report.plot.axis_labels import percent
from iocast.report.plot.legends import Legend
from iocast.report.plot.marks import Box, Boxes, Plot, Word, Words
from iocast.report.plot.theme import Theme
from iocast.report.result_tables import tip


def share_legend(theme: Theme) -> Legend:
    """The colours of the bands."""
    shares = ((theme.fast, "up to 1 ms"), (theme.middling, "1 to 10 ms"), (theme.slow, "above 10 ms"))
    return Legend("share of I/Os", shares)


PLACE = Place("family", classic=True, legends=(share_legend,))
HEIGHT = 88
EDGES_NS = (1_000_000, 10_000_000)  # where fio.r draws its lines
NAMED = 0.12  # a share from which it is written into its bar


class LoadShares(AtLoad, frozen=True):
    """The shares of the bands at a load."""

    fast_share: Annotated[float, shown("up to 1 ms", "share")]
    middling_share: Annotated[float, shown("1 to 10 ms", "share")]
    slow_share: Annotated[float, shown("above 10 ms", "share")]

    @property
    def slow(self) -> str:
        """How many took long."""
        return f"{text.percent(self.slow_share)} at {self.label}"


class LatencyBands(Chart, frozen=True, kw_only=True):
    """The loads of a ladder."""

    kind: str = "latency_bands"
    loads: tuple[LoadShares, ...]


def tell(family: Family) -> Iterator[LatencyBands]:
    """The chart of a ladder of at least two loads."""
    if len(family.ladder) < 2:
        return
    loads = tuple(LoadShares(*each.load, *bucket_shares(each.times, EDGES_NS)) for each in family.ladder)
    yield LatencyBands(
        key=f"{family.key}-bands",
        family=family.key,
        title=f"{family.title}: share of I/Os by response time",
        summary=f"Above 10 ms: {loads[0].slow}, {loads[-1].slow}.",
        loads=loads,
    )


def draw(chart: LatencyBands, theme: Theme, width: int) -> Plot:
    """A bar of all I/Os for each load, cut into its bands, on an axis from 0 to 100%."""
    boxes, words, colours, tips = list[Box](), list[Word](), list[str](), list[str]()
    for at, load in enumerate(chart.loads):
        below = 0.0
        shares = ((load.fast_share, theme.fast), (load.middling_share, theme.middling), (load.slow_share, theme.slow))
        for share, colour in shares:
            if share:
                boxes.append(Box(at - 0.3, below, at + 0.3, below + share))
                colours.append(colour)
                tips.append(tip(load, "users"))
            if share >= NAMED:
                words.append(Word(at, below + share / 2, text.percent(share)))
            below += share
    y = Axis(Scale(0, 1), label=percent, ticks=[0, 0.5, 1], room=LABEL_ROOM)
    marks = (
        Boxes(boxes, colours=colours, tips=tips),
        Words(words, baseline="middle", size=10, rim=theme.ground),
    )
    return Plot(width, HEIGHT, loads_axis([load.label for load in chart.loads]), y, marks)
