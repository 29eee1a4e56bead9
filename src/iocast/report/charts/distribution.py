"""The distribution of response times of each row, its modes named: a mean between two modes describes neither."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated

from msgspec import Struct

from iocast import text
from iocast.analyse.modes import Density, Mode, density
from iocast.model.report import Chart
from iocast.model.results.shown import shown
from iocast.report.charts.curves import density_points
from iocast.report.charts.families import Family, Member
from iocast.report.charts.place import Place
from iocast.report.plot.axes import padded_times, rows_axis, time_axis
from iocast.report.plot.marks import Areas, Band, Box, Boxes, Lines, Plot, Point, Rules, Word, Words
from iocast.report.plot.theme import Theme
from iocast.report.result_tables import tip

PLACE = Place("family")
MODES_NOTE = "Modes are named from a thousand I/Os on."
RIDGE_HEIGHT = 46
RIDGE = 0.82  # how much of its room a distribution fills


class Shape(Struct, frozen=True):
    """The response times of a row."""

    row: Annotated[str, shown("row")]
    p50_ns: Annotated[float, shown("p50", "duration")]
    mean_ns: Annotated[float, shown("mean", "duration")]
    modes: Annotated[str, shown("modes")]


class DensityPoint(Struct, frozen=True):
    """The share of the I/Os per decade of time, at a time."""

    row: str
    time_ns: float
    density: float


class NamedMode(Struct, frozen=True):
    """Where a mode stands, and how much it holds."""

    row: str
    time_ns: float
    share: float


class Distribution(Chart, frozen=True, kw_only=True):
    """All rows of a family, one after the other."""

    kind: str = "distribution"
    shapes: tuple[Shape, ...]
    curves: tuple[DensityPoint, ...]
    modes: tuple[NamedMode, ...]


def tell(family: Family) -> Iterator[Distribution]:
    """The chart of all rows of a family that have at least two I/Os."""
    shapes = [(family.name(member), member, shape) for member in family.members if (shape := density(member.times))]
    if not shapes:
        return
    yield Distribution(
        key=f"{family.key}-distribution",
        title=f"{family.title}: response time distribution",
        summary=_summary(family, shapes),
        notes=("Dotted: the mean.", *([MODES_NOTE] if any(not shape.modes for _, _, shape in shapes) else [])),
        shapes=tuple(_shape(*each) for each in shapes),
        curves=tuple(DensityPoint(name, *point) for name, _, shape in shapes for point in density_points(shape)),
        modes=tuple(NamedMode(name, mode.location_ns, mode.share) for name, _, shape in shapes for mode in shape.modes),
    )


def _shape(name: str, member: Member, shape: Density) -> Shape:
    return Shape(name, member.times.quantile_ns(0.5), member.times.mean_ns, ", ".join(map(_in_words, shape.modes)))


def _summary(family: Family, shapes: list[tuple[str, Member, Density]]) -> str:
    several = [(member, shape.modes) for _, member, shape in shapes if len(shape.modes) > 1]
    if not several:
        known = [shape for _, _, shape in shapes if shape.modes]
        return "Each row has one peak." if known else "Too few I/Os to name peaks."
    member, modes = several[0]
    others = len(several) - 1
    said = "" if not others else f" {others} more row{'s have' if others > 1 else ' has'} several."
    peaks = ", ".join(_in_words(mode) for mode in modes)
    return f"{family.spoken(member)} response times have {len(modes)} peaks: {peaks}.{said}"


def _in_words(mode: Mode) -> str:
    return f"{text.percent(mode.share)} around {text.brief_time(mode.location_ns)}"


def draw(chart: Distribution, theme: Theme, width: int) -> Plot:
    """A ridge for each row, as high as its highest point; modes are named, the mean is a line."""
    rows = chart.shapes
    low, high = padded_times([point.time_ns for point in chart.curves], 0.03)
    ridges = list[list[Band]]()
    for at, row in enumerate(rows):
        own = [point for point in chart.curves if point.row == row.row]
        highest = max(point.density for point in own)
        ridges.append([Band(point.time_ns, at, at - RIDGE * point.density / highest) for point in own])
    marks = (
        Areas(ridges, colour=theme.accent, opacity=0.35),
        Lines([[Point(x, top) for x, _, top in ridge] for ridge in ridges], 1.4, colour=theme.accent),
        Rules(
            [Box(row.mean_ns, at, row.mean_ns, at - RIDGE) for at, row in enumerate(rows)],
            dash=(2, 2),
            colour=theme.tail,
        ),
        _peak_names(chart, theme, low, high),
        Boxes(
            [Box(low, at - 0.98, high, at) for at in range(len(rows))],
            tips=[tip(row, "row") for row in rows],
            opacity=0,
        ),
    )
    height = max(1, len(rows)) * RIDGE_HEIGHT + 8
    return Plot(width, height, time_axis(low, high), rows_axis([row.row for row in rows], 0.98, 0.92), marks)


def _peak_names(chart: Distribution, theme: Theme, low_ns: float, high_ns: float) -> Words:
    """Beside each peak, inside of the chart: where it stands, and how much it holds where there are several."""
    places = {row.row: at for at, row in enumerate(chart.shapes)}
    modes = [mode.row for mode in chart.modes]
    words, wide, before = list[Word](), math.log(high_ns / low_ns), None
    lowered = False
    for mode in chart.modes:
        share = f" · {text.percent(mode.share)}" if modes.count(mode.row) > 1 else ""
        right = math.log(mode.time_ns / low_ns) > 0.72 * wide
        # Beside a neighbour that is near, a name stands lower.
        near = before is not None and before.row == mode.row and math.log(mode.time_ns / before.time_ns) < 0.45 * wide
        lowered, before = near and not lowered, mode
        y = places[mode.row] - (0.36 if lowered else 0.72)
        said = text.brief_time(mode.time_ns) + share
        words.append(Word(mode.time_ns, y, said, -9 if right else 9, align="right" if right else "left"))
    return Words(words, baseline="middle", size=11, colour=theme.ink, rim=theme.ground)
