"""Response time by percentile, the tail drawn out (as HdrHistogram does)."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.analyse.statistics import published
from iocast.model.report import Axis, Chart, Column, Row, Table
from iocast.report.charts.drawing.parts import Spec, needed
from iocast.report.charts.drawing.percentile_curves import CURVE, curve, percentile_lines
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.place import Place
from iocast.report.charts.subjects.families import Family, Member

PLACE = Place("family")
SHOWN = (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99_9", 0.999), ("p99_99", 0.9999))
COLUMNS = (
    Column("row", "row"),
    *(Column(key, key.replace("_", "."), "duration") for key, _ in SHOWN),
    Column("max", "max", "duration"),
)


def tell(family: Family) -> Iterator[Chart]:
    """The chart of all rows of a family."""
    members = [member for member in family.members if member.times.total > 1 and member.times.coarse is None]
    if not members:
        return
    yield Chart(
        kind="percentiles",
        key=f"{family.key}-percentiles",
        title=f"{family.title}: percentiles",
        summary=_summary(family, members),
        x=Axis("percentile", "share", log=True),
        y=Axis("response time", "duration", log=True),
        tables=(
            Table("", COLUMNS, tuple(_row(family, member) for member in members), key="percentiles"),
            Table(
                "", CURVE, tuple(row for each in members for row in curve(family.name(each), each.times)), key="curves"
            ),
        ),
        notes=("Dotted: unknown, because fewer than ten I/Os lie beyond.",),
    )


def _row(family: Family, member: Member) -> Row:
    shown = {key: published(member.times, q) for key, q in SHOWN}
    return Row({"row": family.name(member), **shown, "max": member.times.max_ns})


def _summary(family: Family, members: list[Member]) -> str:
    said = []
    for member in (members[0], members[-1])[: len(members)]:
        tail = published(member.times, 0.99)
        half = text.brief_time(member.times.quantile_ns(0.5))
        most = f"p99 {text.brief_time(tail)}, " if tail else ""
        slowest = text.brief_time(member.times.max_ns)
        said.append(f"{family.name(member)}: p50 {half}, {most}max {slowest}.")
    return " ".join(dict.fromkeys(said))


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """A line for each row, from light to dark with the load."""
    names = dict.fromkeys(str(row.cells["row"]) for row in needed(about.table("curves")).rows)
    return percentile_lines(about, theme, [_of_ramp(theme, at, len(names)) for at in range(len(names))], width)


def _of_ramp(theme: Theme, at: int, of: int) -> str:
    """From light to dark, the last always the strongest; a single line has the accent."""
    if of == 1:
        return theme.accent
    usable = theme.ramp[1:] if of < len(theme.ramp) else theme.ramp
    return usable[round(at * (len(usable) - 1) / (of - 1))]
