"""How the I/Os of each row are spread over time taken, with the modes named: a mean between two describes none."""

from __future__ import annotations

from iocast import text
from iocast.analyse.modes import GRID, Density, Mode, density
from iocast.model.report import Axis, Chart, Column, Row, Table
from iocast.report.charts.families import Family, Member

COLUMNS = (
    Column("row", "row"),
    Column("p50", "p50", "duration"),
    Column("mean", "mean", "duration"),
    Column("modes", "modes"),
)
CURVE = (Column("row", "row"), Column("time", "time", "duration"), Column("density", "share a decade", "decimal"))
MODES = (Column("row", "row"), Column("time", "time", "duration"), Column("share", "share", "share"))
MODES_NOTE = "Modes are named where a thousand I/Os or more were measured."
STEP = 2  # of the grid: 0.02 decades are finer than a pixel
FAINT = 0.004  # of the highest point, below which a curve is not seen


def distribution(family: Family) -> Chart | None:
    """The chart of all rows of a family that have at least two I/Os."""
    shapes = [(family.name(member), member, found) for member in family.members if (found := density(member.times))]
    if not shapes:
        return None
    modes = tuple(
        Row({"row": name, "time": mode.location_ns, "share": mode.share})
        for name, _, found in shapes
        for mode in found.modes
    )
    return Chart(
        kind="distribution",
        key=f"{family.key}-distribution",
        title=f"{family.title}: how long the I/Os take",
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
    highest = max(found.values)
    seen = [at for at in range(0, len(found.values), STEP) if found.values[at] > FAINT * highest]
    first, last = max(0, seen[0] - STEP), seen[-1] + STEP + 1
    return [
        Row({"row": name, "time": 10 ** (found.low + at * GRID), "density": found.values[at]})
        for at in range(first, min(last, len(found.values)), STEP)
    ]


def _summary(family: Family, shapes: list[tuple[str, Member, Density]]) -> str:
    several = [(member, found.modes) for _, member, found in shapes if len(found.modes) > 1]
    if not several:
        known = [found for _, _, found in shapes if found.modes]
        return "Each row has one peak." if known else "There are too few I/Os to name peaks."
    member, modes = several[0]
    others = len(several) - 1
    said = "" if not others else f" {others} more row{'s have' if others > 1 else ' has'} several."
    return (
        f"{family.spoken(member)} there are {len(modes)} peaks: {', '.join(_in_words(mode) for mode in modes)}.{said}"
    )


def _in_words(mode: Mode) -> str:
    return f"{text.percent(mode.share)} around {text.duration_in_words(mode.location_ns)}"
