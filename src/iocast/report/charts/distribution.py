"""The distribution of response times of each row, its modes named: a mean between two modes describes neither."""

from __future__ import annotations

import math
from collections.abc import Iterator

from iocast import text
from iocast.analyse.modes import Density, Mode, density
from iocast.model.report import Axis, Chart, Column, Row, Table
from iocast.report.charts.drawing.density_curve import density_points
from iocast.report.charts.drawing.parts import (
    Spec,
    chart,
    each_by,
    layer,
    legible,
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
from iocast.report.charts.subjects.families import Family, Member

PLACE = Place("family")
COLUMNS = (
    Column("row", "row"),
    Column("p50", "p50", "duration"),
    Column("mean", "mean", "duration"),
    Column("modes", "modes"),
)
CURVE = (Column("row", "row"), Column("time", "time", "duration"), Column("density", "share per decade", "decimal"))
MODES = (Column("row", "row"), Column("time", "time", "duration"), Column("share", "share", "share"))
MODES_NOTE = "Modes are named from a thousand I/Os on."
RIDGE_HEIGHT = 46
RIDGE = 0.82  # how much of its room a distribution fills


def tell(family: Family) -> Iterator[Chart]:
    """The chart of all rows of a family that have at least two I/Os."""
    shapes = [(family.name(member), member, found) for member in family.members if (found := density(member.times))]
    if not shapes:
        return
    modes = tuple(
        Row({"row": name, "time": mode.location_ns, "share": mode.share})
        for name, _, found in shapes
        for mode in found.modes
    )
    yield Chart(
        kind="distribution",
        key=f"{family.key}-distribution",
        title=f"{family.title}: response time distribution",
        summary=_summary(family, shapes),
        x=Axis("response time", "duration", log=True),
        y=Axis("row", "text"),
        tables=(
            Table("", COLUMNS, tuple(_row(*shape) for shape in shapes), key="shapes"),
            Table("", CURVE, tuple(row for name, _, found in shapes for row in _curve(name, found)), key="curves"),
            Table("", MODES, modes, key="modes"),
        ),
        notes=("Dotted: the mean.", *([MODES_NOTE] if any(not found.modes for _, _, found in shapes) else [])),
    )


def _row(name: str, member: Member, found: Density) -> Row:
    return Row(
        {
            "row": name,
            "p50": member.times.quantile_ns(0.5),
            "mean": member.times.mean_ns,
            "modes": ", ".join(_in_words(mode) for mode in found.modes),
        }
    )


def _curve(name: str, found: Density) -> list[Row]:
    return [Row({"row": name, "time": time, "density": share}) for time, share in density_points(found)]


def _summary(family: Family, shapes: list[tuple[str, Member, Density]]) -> str:
    several = [(member, found.modes) for _, member, found in shapes if len(found.modes) > 1]
    if not several:
        known = [found for _, _, found in shapes if found.modes]
        return "Each row has one peak." if known else "Too few I/Os to name peaks."
    member, modes = several[0]
    others = len(several) - 1
    said = "" if not others else f" {others} more row{'s have' if others > 1 else ' has'} several."
    peaks = ", ".join(_in_words(mode) for mode in modes)
    return f"{family.spoken(member)} response times have {len(modes)} peaks: {peaks}.{said}"


def _in_words(mode: Mode) -> str:
    return f"{text.percent(mode.share)} around {text.brief_time(mode.location_ns)}"


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """A ridge for each row, as high as its highest point; modes are named, the mean is a line."""
    shapes, curves, modes = (needed(about.table(key)) for key in ("shapes", "curves", "modes"))
    names = [str(row.cells["row"]) for row in shapes.rows]
    base = {name: float(at) for at, name in enumerate(names)}
    low, high = padded_times(numbers(curves.rows, "time"), 0.03)
    scale, ticks = time_scale(low, high)
    highest = {name: max(_densities(curves, name)) for name in names}
    y = rows_axis(names)
    y["scale"] = {"domain": [len(names) - 0.92, -0.98]}
    x = quantitative("x", scale, time_axis(ticks))
    rows = [_ridge_point(row, base, highest) for row in curves.rows]
    ridge: Spec = {"x": x, "y": y, "y2": {"field": "y2"}, **each_by("row")}
    outline: Spec = {"x": x, "y": quantitative("y2", y["scale"], y["axis"]), **each_by("row")}
    layers = [
        layer("area", rows, ridge, color=theme.accent, opacity=0.35),
        layer("line", rows, outline, color=theme.accent, strokeWidth=1.4),
    ]
    means = [
        {"x": number(row.cells["mean"]), "y": base[str(row.cells["row"])], "y2": base[str(row.cells["row"])] - RIDGE}
        for row in shapes.rows
    ]
    layers.append(layer("rule", means, {"x": x, "y": y, "y2": {"field": "y2"}}, color=theme.tail, strokeDash=[2, 2]))
    layers += _peak_names(modes, base, x, y, theme, (low, high))
    hit = [
        {"x": low, "x2": high, "y": at - 0.98, "y2": at, "tip": tip(shapes, row, "row")}
        for at, row in enumerate(shapes.rows)
    ]
    band: Spec = {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "y2"}}
    layers.append(layer("rect", hit, band, silent=False, opacity=0))
    return chart(width, max(1, len(names)) * RIDGE_HEIGHT + 8, layers)


def _ridge_point(row: Row, base: dict[str, float], highest: dict[str, float]) -> Spec:
    name = str(row.cells["row"])
    height = RIDGE * (number(row.cells["density"]) or 0.0) / highest[name]
    return {"row": name, "x": number(row.cells["time"]), "y": base[name], "y2": base[name] - height}


def _densities(curves: Table, name: str) -> list[float]:
    return [number(row.cells["density"]) or 0.0 for row in curves.rows if row.cells["row"] == name]


def _peak_names(
    modes: Table, base: dict[str, float], x: Spec, y: Spec, theme: Theme, bounds: tuple[float, float]
) -> list[Spec]:
    """Beside each peak, inside of the chart: where it stands, and how much it holds where there are several."""
    several = {name for name in base if sum(row.cells["row"] == name for row in modes.rows) > 1}
    rows, wide = list[Spec](), math.log(bounds[1] / bounds[0])
    for row in modes.rows:
        name, at = str(row.cells["row"]), number(row.cells["time"]) or 1.0
        share = f" · {text.percent(number(row.cells['share']))}" if name in several else ""
        right = math.log(at / bounds[0]) > 0.72 * wide
        # Beside a neighbour that is near, a name stands lower.
        near = bool(rows) and rows[-1]["row"] == name and math.log(at / rows[-1]["x"]) < 0.45 * wide
        low = near and not rows[-1]["low"]
        rows.append(
            {
                "x": at,
                "row": name,
                "low": low,
                "y": base[name] - (0.36 if low else 0.72),
                "t": text.brief_time(at) + share,
                "dx": -9 if right else 9,
                "align": "right" if right else "left",
            }
        )
    mark: Spec = {"type": "text", "baseline": "middle", "fontSize": 11}
    text_at: Spec = {"x": x, "y": y, "text": {"field": "t"}}
    return legible(mark, rows, text_at, theme, color=theme.ink)
