"""Response time by percentile, the tail drawn out (as HdrHistogram does)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from msgspec import Struct

from iocast import text
from iocast.analyse.statistics import published
from iocast.model.report import Chart
from iocast.model.results.shown import shown
from iocast.report.charts.curves import Percentile, curves_by_row, percentile_curve, percentile_lines
from iocast.report.charts.families import Family, Member
from iocast.report.charts.place import Place
from iocast.report.plot.marks import Plot
from iocast.report.plot.theme import Theme

PLACE = Place("family")


class RowPercentiles(Struct, frozen=True):
    """The percentiles of a row, those that are known."""

    row: Annotated[str, shown("row")]
    p50_ns: Annotated[float | None, shown("p50", "duration")]
    p90_ns: Annotated[float | None, shown("p90", "duration")]
    p99_ns: Annotated[float | None, shown("p99", "duration")]
    p99_9_ns: Annotated[float | None, shown("p99.9", "duration")]
    p99_99_ns: Annotated[float | None, shown("p99.99", "duration")]
    max_ns: Annotated[float, shown("max", "duration")]


class Percentiles(Chart, frozen=True, kw_only=True):
    """All rows of a family."""

    kind: str = "percentiles"
    percentiles: tuple[RowPercentiles, ...]
    curves: tuple[Percentile, ...]


def tell(family: Family) -> Iterator[Percentiles]:
    """The chart of all rows of a family."""
    members = [member for member in family.members if member.times.total > 1 and member.times.coarse is None]
    if not members:
        return
    yield Percentiles(
        key=f"{family.key}-percentiles",
        title=f"{family.title}: percentiles",
        summary=_summary(family, members),
        notes=("Dotted: unknown, because fewer than ten I/Os lie beyond.",),
        percentiles=tuple(_percentiles(family.name(each), each) for each in members),
        curves=tuple(point for each in members for point in percentile_curve(family.name(each), each.times)),
    )


def _percentiles(name: str, member: Member) -> RowPercentiles:
    times = member.times
    return RowPercentiles(
        row=name,
        p50_ns=published(times, 0.5),
        p90_ns=published(times, 0.9),
        p99_ns=published(times, 0.99),
        p99_9_ns=published(times, 0.999),
        p99_99_ns=published(times, 0.9999),
        max_ns=times.max_ns,
    )


def _summary(family: Family, members: list[Member]) -> str:
    said = []
    for member in (members[0], members[-1])[: len(members)]:
        tail = published(member.times, 0.99)
        half = text.brief_time(member.times.quantile_ns(0.5))
        most = f"p99 {text.brief_time(tail)}, " if tail else ""
        slowest = text.brief_time(member.times.max_ns)
        said.append(f"{family.name(member)}: p50 {half}, {most}max {slowest}.")
    return " ".join(dict.fromkeys(said))


def draw(chart: Percentiles, theme: Theme, width: int) -> Plot:
    """A line for each row, from light to dark with the load."""
    of = len(curves_by_row(chart.curves))
    return percentile_lines(chart.curves, [theme.tone(at, of) for at in range(of)], width)
