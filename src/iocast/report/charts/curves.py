"""Curves that several charts share: percentiles, a line for each row (as HdrHistogram draws them), and densities."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Annotated

from msgspec import Struct

from iocast import text
from iocast.analyse.modes import GRID, Density
from iocast.analyse.statistics import enough_beyond, published
from iocast.model.histogram import Histogram
from iocast.model.results.shown import shown
from iocast.report.plot.axes import LABEL_ROOM, Axis, Scale, padded_times, time_axis
from iocast.report.plot.axis_labels import figures
from iocast.report.plot.marks import Dots, Lines, Plot, Point, Word, Words
from iocast.report.plot.words import apart

STEPS_A_DECADE = 10
GAP, LETTER = 10, 6.4  # pixels beside a line, and of a letter of its name
HEIGHT = 240
STEP = 2  # of the grid of a density: 0.02 decades are finer than a pixel
FAINT = 0.004  # of the highest point, below which a density is not seen


class Percentile(Struct, frozen=True):
    """A share of the I/Os of a row took longer than a time; `sure` where ten or more did."""

    row: str
    beyond_share: float
    time_ns: float
    sure: int

    @property
    def at(self) -> Point:
        """Its place: each further nine takes the same room."""
        return Point(-math.log10(self.beyond_share), self.time_ns)

    @property
    def says(self) -> str:
        """What it says under the pointer."""
        within = 100 * (1 - self.beyond_share)
        share = text.three_figures(within) if self.beyond_share > 0.01 else f"{within:.6g}"
        return f"{self.row}: {share}% within {text.duration(self.time_ns)}"


def percentile_curve(name: str, times: Histogram) -> Iterator[Percentile]:
    """From the fastest to the slowest; each decade of nines takes the same room."""
    step, last = 0, False
    while not last:
        beyond = 10 ** (-step / STEPS_A_DECADE)
        last = beyond * times.total <= 1
        yield Percentile(
            name,
            max(beyond, 1 / times.total),
            float(times.max_ns) if last else times.quantile_ns(max(1 - beyond, 1 / times.total)),
            int(enough_beyond(times.total, 1 - beyond)),
        )
        step += 1


def curves_by_row(points: Sequence[Percentile]) -> list[list[Percentile]]:
    """The points of each row."""
    by_row: dict[str, list[Percentile]] = {}
    for each in points:
        by_row.setdefault(each.row, []).append(each)
    return list(by_row.values())


def percentile_lines(points: Sequence[Percentile], tones: Sequence[str], width: int) -> Plot:
    """A line for each row in its tone; each further nine takes the same room."""
    curves = curves_by_row(points)
    nines = -math.log10(min(each.beyond_share for each in points))
    low, high = padded_times([each.time_ns for each in points])
    # Room to the right for the names of the lines.
    room = min(0.5, (GAP + LETTER * max(len(curve[0].row) for curve in curves)) / (width - LABEL_ROOM))
    far = max(1.2, 1 / (1 - room)) * max(nines, 1.0)
    ticks = [math.log10(2), *(float(nine) for nine in range(1, math.floor(nines) + 1))]
    sure = [[each.at for each in curve if each.sure] for curve in curves]
    unsure = [[each.at for each in curve[max(0, len(known) - 1) :]] for curve, known in zip(curves, sure, strict=True)]
    # Every second point is near enough to be met; each takes its room in the page.
    met = [each for curve in curves for each in (*curve[:-1:2], curve[-1])]
    wide = math.log10(high / low)
    ends = apart([math.log10(max(low, curve[-1].time_ns) / low) / wide for curve in curves], 0.06, highest=1.0)
    names = [
        Word(curve[-1].at.x, low * 10 ** (place * wide), curve[-1].row)
        for curve, place in zip(curves, ends, strict=True)
    ]
    marks = (
        Lines(sure, 2, colours=tones),
        Lines(unsure, 1.6, (1, 3), colours=tones),
        Dots([each.at for each in met], 180, tips=[each.says for each in met], opacity=0),
        Words(names, "left", "middle", dx=6, size=11, weight=600, colours=tones),
    )
    x = Axis(Scale(0, far), "percentile", _nines, ticks)
    return Plot(width, HEIGHT, x, time_axis(low, high, room=LABEL_ROOM), marks)


def _nines(value: float) -> str:
    """50 %, 90 %, 99 %, 99.9 %, ..."""
    return "50%" if value < 0.5 else f"{figures(100 - 10 ** (2 - round(value)), 10)}%"


class SideShape(Struct, frozen=True):
    """The response times of a row on one side of a comparison; p99 where it is known."""

    row: Annotated[str, shown("row")]
    whose: Annotated[str, shown("side")]
    p50_ns: Annotated[float, shown("p50", "duration")]
    p99_ns: Annotated[float | None, shown("p99", "duration")]
    max_ns: Annotated[float, shown("max", "duration")]


def side_shape(name: str, label: str, times: Histogram) -> SideShape:
    """A row on one side."""
    return SideShape(name, label, times.quantile_ns(0.5), published(times, 0.99), float(times.max_ns))


def density_points(density: Density) -> Iterator[tuple[float, float]]:
    """Time in ns and share a decade, from the first that is seen to the last, as many as can be seen."""
    highest = max(density.values)
    values = [at for at in range(0, len(density.values), STEP) if density.values[at] > FAINT * highest]
    first, last = max(0, values[0] - STEP), min(values[-1] + STEP + 1, len(density.values))
    for at in range(first, last, STEP):
        yield 10 ** (density.low + at * GRID), density.values[at]
