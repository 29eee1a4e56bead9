"""The distributions of response times of both sides of a comparison: one above a line, the other below."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.analyse.modes import Density, density
from iocast.model.report import Axis, Chart, Column, Row, Table
from iocast.report.charts.drawing.density_curve import density_points
from iocast.report.charts.drawing.parts import (
    OWN_COLOUR,
    Spec,
    chart,
    each_by,
    layer,
    needed,
    number,
    numbers,
    padded_times,
    quantitative,
    time_axis,
    time_scale,
    tip,
)
from iocast.report.charts.drawing.rows import rows_axis
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.place import Place
from iocast.report.charts.subjects.compared_sides import SHAPES, ComparedSides, file_key, shape_row

PLACE = Place("compared times", wide=True)
SPREADS = (
    Column("row", "row"),
    Column("whose", "side"),
    Column("time", "time", "duration"),
    Column("density", "share per decade", "decimal"),
)
PAIR_HEIGHT = 64
HALF = 0.46  # of a row's room: how high the higher of both halves is


def tell(comparison: ComparedSides) -> Iterator[Chart]:
    """Both histograms of each row, on one axis of time: the first above the line, the other below."""
    labels = comparison.labels
    shapes, curves = list[Row](), list[Row]()
    for name, first, other in comparison.rows:
        found = [density(times) if times.spread_known else None for times in (first, other)]
        if not all(found):
            continue
        for label, times, shape in zip(labels, (first, other), found, strict=True):
            assert shape is not None
            shapes.append(shape_row(name, label, times))
            curves += _spread(name, label, shape)
    if not shapes:
        return
    first_label, other_label = labels
    yield Chart(
        kind="sides",
        key=f"sides-{file_key(other_label)}",
        title=f"Response time distribution: {first_label} above the line, {other_label} below",
        summary=_moved(shapes),
        x=Axis("response time", "duration", log=True),
        y=Axis("row", "text"),
        tables=(
            Table("", SHAPES, tuple(shapes), key="shapes"),
            Table("", SPREADS, tuple(curves), key="curves"),
        ),
        notes=("Each half holds all I/Os of its side. Tick: p50. Small dot: p99.",),
    )


def _spread(name: str, label: str, found: Density) -> list[Row]:
    return [Row({"row": name, "whose": label, "time": time, "density": share}) for time, share in density_points(found)]


def _moved(shapes: list[Row]) -> str:
    """The row whose median moved most."""
    found = []
    for one, other in zip(shapes[::2], shapes[1::2], strict=True):
        a, b = one.cells["p50"], other.cells["p50"]
        if isinstance(a, float) and isinstance(b, float) and a > 0 and b > 0:
            found.append((max(a / b, b / a), str(one.cells["row"]), a, b))
    if not found:
        return "Both sides, row by row."
    most, name, a, b = max(found)
    if most < 1.005:
        return "p50 is the same on all rows."
    return f"Largest p50 difference: {name}, {text.brief_time(a)} against {text.brief_time(b)}."


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """Two halves for each row, one above its line and one below; as high as their share a decade."""
    shapes, curves = (needed(about.table(key)) for key in ("shapes", "curves"))
    names = list(dict.fromkeys(str(row.cells["row"]) for row in shapes.rows))
    labels = list(dict.fromkeys(str(row.cells["whose"]) for row in shapes.rows))
    times = numbers(curves.rows, "time")
    low, high = padded_times(times, 0.03)
    scale, ticks = time_scale(low, high)
    x = quantitative("x", scale, time_axis(ticks, orient="top"))
    y = rows_axis(names)
    y["scale"] = {"domain": [len(names) - 0.45, -0.55]}
    shape: Spec = {"x": x, "y": y, "y2": {"field": "y2"}}
    edge: Spec = {"x": x, "y": quantitative("y2", y["scale"], y["axis"])}
    halves = _halves(curves, names, dict(zip(labels, ((-1, theme.accent), (1, theme.tail)), strict=True)))
    layers = [
        layer("rule", [{"y": at} for at in range(len(names))], {"y": y}, color=theme.line),
        layer("area", halves, {**shape, **each_by("row"), "color": OWN_COLOUR}, opacity=0.4),
        layer("line", halves, {**edge, **each_by("row"), "color": OWN_COLOUR}, strokeWidth=1.3),
        *_marks(shapes, names, labels, x, y, theme),
    ]
    hit = [
        {
            "x": low,
            "x2": high,
            "y": at - (0.5 if side == labels[0] else 0),
            "y2": at + (0 if side == labels[0] else 0.5),
            "tip": tip(shapes, row, "row"),
        }
        for row in shapes.rows
        for at, side in [(names.index(str(row.cells["row"])), str(row.cells["whose"]))]
    ]
    layers.append(layer("rect", hit, {**shape, "x2": {"field": "x2"}}, silent=False, opacity=0))
    return chart(width, PAIR_HEIGHT * len(names) + 8, layers)


def _halves(curves: Table, names: list[str], look: dict[str, tuple[int, str]]) -> list[Spec]:
    """The points of all halves, above or below the line of their row, in the colour of their side."""
    most = {name: max(numbers((row for row in curves.rows if row.cells["row"] == name), "density")) for name in names}
    points = []
    for row in curves.rows:
        name = str(row.cells["row"])
        at, (way, tone) = names.index(name), look[str(row.cells["whose"])]
        height = HALF * (number(row.cells["density"]) or 0.0) / most[name]
        points.append({"row": name, "x": number(row.cells["time"]), "y": at, "y2": at + way * height, "c": tone})
    return points


def _marks(shapes: Table, names: list[str], labels: list[str], x: Spec, y: Spec, theme: Theme) -> list[Spec]:
    """A tick at p50 and a dot at p99, each on its own side of the line."""
    layers = []
    for label, way, tone in zip(labels, (-1, 1), (theme.accent, theme.tail), strict=True):
        own = [(names.index(str(row.cells["row"])), row) for row in shapes.rows if row.cells["whose"] == label]
        half = [{"x": number(row.cells["p50"]), "y": at, "y2": at + way * 0.3} for at, row in own]
        layers.append(layer("rule", half, {"x": x, "y": y, "y2": {"field": "y2"}}, color=tone, strokeWidth=2.2))
        tails = [{"x": value, "y": at + way * 0.1} for at, row in own if (value := number(row.cells["p99"]))]
        layers.append(layer("circle", tails, {"x": x, "y": y}, color=tone, size=30, opacity=1))
    return layers
