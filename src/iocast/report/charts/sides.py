"""The distributions of response times of both sides of a comparison: one above a line, the other below."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from iocast import text
from iocast.analyse.modes import density
from iocast.model.report import Chart
from iocast.report.charts.curves import SideShape, density_points, side_shape
from iocast.report.charts.place import Place
from iocast.report.charts.subjects import ComparedSides, file_key
from iocast.report.plot.axes import padded_times, rows_axis, time_axis
from iocast.report.plot.marks import Areas, Band, Box, Boxes, Dots, Levels, Lines, Mark, Plot, Point, Rules
from iocast.report.plot.theme import Theme
from iocast.report.result_tables import tip

PLACE = Place("compared times", wide=True)
PAIR_HEIGHT = 64
HALF = 0.46  # of a row's room: how high the higher of both halves is


class SideDensity(Struct, frozen=True):
    """The share of the I/Os of a side per decade of time, at a time."""

    row: str
    whose: str
    time_ns: float
    density: float


class Sides(Chart, frozen=True, kw_only=True):
    """Each row on both sides."""

    kind: str = "sides"
    shapes: tuple[SideShape, ...]
    curves: tuple[SideDensity, ...]


def tell(comparison: ComparedSides) -> Iterator[Sides]:
    """Both histograms of each row, on one axis of time: the first above the line, the other below."""
    shapes, curves = list[SideShape](), list[SideDensity]()
    for name, *both in comparison.rows:
        densities = [density(times) if times.spread_known else None for times in both]
        if not all(densities):
            continue
        for label, times, shape in zip(comparison.labels, both, densities, strict=True):
            assert shape is not None
            shapes.append(side_shape(name, label, times))
            curves += (SideDensity(name, label, *point) for point in density_points(shape))
    if not shapes:
        return
    first, other = comparison.labels
    yield Sides(
        key=f"sides-{file_key(other)}",
        title=f"Response time distribution: {first} above the line, {other} below",
        summary=_moved(shapes),
        notes=("Each half holds all I/Os of its side. Tick: p50. Small dot: p99.",),
        shapes=tuple(shapes),
        curves=tuple(curves),
    )


def _moved(shapes: list[SideShape]) -> str:
    """The row whose median moved most."""
    pairs = ((one.row, one.p50_ns, other.p50_ns) for one, other in zip(shapes[::2], shapes[1::2], strict=True))
    moves = [(max(a / b, b / a), name, a, b) for name, a, b in pairs if a > 0 and b > 0]
    if not moves:
        return "Both sides, row by row."
    most, name, a, b = max(moves)
    if most < 1.005:
        return "p50 is the same on all rows."
    return f"Largest p50 difference: {name}, {text.brief_time(a)} against {text.brief_time(b)}."


def draw(chart: Sides, theme: Theme, width: int) -> Plot:
    """Two halves for each row, one above its line and one below; as high as their share a decade."""
    names = list(dict.fromkeys(shape.row for shape in chart.shapes))
    sides = list(dict.fromkeys(shape.whose for shape in chart.shapes))
    low, high = padded_times([point.time_ns for point in chart.curves], 0.03)
    halves, tones = list[list[Band]](), list[str]()
    most = {name: max(each.density for each in chart.curves if each.row == name) for name in names}
    for shape in chart.shapes:
        at, way = names.index(shape.row), 1 if sides.index(shape.whose) else -1
        own = [each for each in chart.curves if (each.row, each.whose) == (shape.row, shape.whose)]
        halves.append([Band(each.time_ns, at, at + way * (HALF * each.density / most[shape.row])) for each in own])
        tones.append(theme.tail if sides.index(shape.whose) else theme.accent)
    hit = [
        Box(low, at - (0.5 if side == sides[0] else 0), high, at + (0 if side == sides[0] else 0.5))
        for at, side in ((names.index(shape.row), shape.whose) for shape in chart.shapes)
    ]
    marks = (
        Levels([*range(len(names))], colour=theme.line),
        Areas(halves, colours=tones, opacity=0.4),
        Lines([[Point(x, end) for x, _, end in half] for half in halves], 1.3, colours=tones),
        *_figures(chart, names, sides, theme),
        Boxes(hit, tips=[tip(shape, "row") for shape in chart.shapes], opacity=0),
    )
    axis = time_axis(low, high, top=True)
    return Plot(width, PAIR_HEIGHT * len(names) + 8, axis, rows_axis(names), marks)


def _figures(chart: Sides, names: list[str], sides: list[str], theme: Theme) -> Iterator[Mark]:
    """A tick at p50 and a dot at p99, each on its own side of the line."""
    for side, way, tone in zip(sides, (-1, 1), (theme.accent, theme.tail), strict=True):
        own = [(names.index(shape.row), shape) for shape in chart.shapes if shape.whose == side]
        yield Rules([Box(each.p50_ns, at, each.p50_ns, at + way * 0.3) for at, each in own], 2.2, colour=tone)
        tails = [Point(each.p99_ns, at + way * 0.1) for at, each in own if each.p99_ns]
        yield Dots(tails, colour=tone, opacity=1)
