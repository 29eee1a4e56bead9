"""Throughput over I/O size, a line for each load: what larger I/Os bring, and which rate no size exceeds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from iocast import text
from iocast.model.report import Chart
from iocast.model.results.shown import shown
from iocast.report.charts.families import Family, Member
from iocast.report.charts.loads import AtLoad
from iocast.report.charts.place import Place
from iocast.report.charts.subjects import file_key
from iocast.report.plot.axes import LABEL_ROOM, Axis, Scale, names_axis
from iocast.report.plot.axis_labels import figures
from iocast.report.plot.marks import Dots, Lines, Plot, Point, Word, Words
from iocast.report.plot.theme import Theme
from iocast.report.plot.words import apart
from iocast.report.result_tables import tip

PLACE = Place("sizes", wide=True)
HEIGHT = 220
LEAST_SIZES = 3  # two points are no curve
NEAR = 0.98  # of the peak: the first row that comes so near has reached it
EDGE, END = 0.3, 0.7  # steps before the first size and behind the last, where the loads are named


class SizeRate(AtLoad, frozen=True):
    """What I/Os of one size moved at a load."""

    size_bytes: Annotated[int, shown("I/O size", "size")]
    throughput_bytes_per_s: Annotated[float, shown("MB/s", "bytes_per_s")]
    rate_per_s: Annotated[float, shown("IOPS", "rate")]


class ThroughputBySize(Chart, frozen=True, kw_only=True):
    """The rows of a test that differ in their size, the smallest load and the smallest size first."""

    kind: str = "throughput_by_size"
    rows: tuple[SizeRate, ...]


def tell(families: Sequence[Family]) -> Iterator[ThroughputBySize]:
    """A chart for each test and operation that was measured at three sizes or more under one load."""
    groups: dict[tuple[str, str, str], list[Member]] = {}
    for member in (member for family in families for member in family.members):
        phase = member.record.phase
        if member.size_bytes and member.bytes_per_s:
            pattern = type(phase.workload.locality).__name__.lower()
            groups.setdefault((phase.test, member.op, pattern), []).append(member)
    ladders = {group: rows for group, members in groups.items() if (rows := _rows(members))}
    for (test, op, pattern), rows in ladders.items():
        title = test if op in test else f"{test} {op}s"
        if sum((test, op) == other[:2] for other in ladders) > 1:
            title += f", {pattern}"
        yield _chart(title, rows)


def _chart(title: str, rows: tuple[SizeRate, ...]) -> ThroughputBySize:
    peak = max(row.throughput_bytes_per_s for row in rows)
    near = (row for row in rows if row.throughput_bytes_per_s >= NEAR * peak)
    first = min(near, key=lambda row: (row.size_bytes, row.users * row.depth))
    smallest = text.size(first.size_bytes)
    return ThroughputBySize(
        key=f"{file_key(title)}-by-size",
        title=f"{title}: throughput by I/O size",
        summary=f"Peak {text.brief_throughput(peak)}, reached with {smallest} at {first.label}.",
        rows=rows,
    )


def _rows(members: Sequence[Member]) -> tuple[SizeRate, ...]:
    """The first row of each load and size, of loads that have enough sizes."""
    rows: dict[tuple[int, int], dict[int, SizeRate]] = {}
    for each in members:
        size = each.size_bytes or 0
        rows.setdefault(each.load, {}).setdefault(size, SizeRate(*each.load, size, each.bytes_per_s, each.rate_per_s))
    enough = [by_size for _, by_size in sorted(rows.items()) if len(by_size) >= LEAST_SIZES]
    return tuple(row for by_size in enough for _, row in sorted(by_size.items()))


def draw(chart: ThroughputBySize, theme: Theme, width: int) -> Plot:
    """Lines on an axis from 0, from light to dark with the load, named where they end."""
    sizes = sorted({row.size_bytes for row in chart.rows})
    lines: dict[str, list[SizeRate]] = {}
    for row in chart.rows:
        lines.setdefault(row.label, []).append(row)
    points = {load: [_place(row, sizes) for row in rows] for load, rows in lines.items()}
    most = 1.12 * max(row.throughput_bytes_per_s / 1e6 for row in chart.rows)
    tones = [theme.tone(at, len(lines)) for at in range(len(lines))]
    ends = apart([rows[-1].throughput_bytes_per_s / 1e6 / most for rows in lines.values()], 0.08, highest=1.0)
    names = [Word(line[-1].x, at * most, load) for (load, line), at in zip(points.items(), ends, strict=True)]
    every = [point for line in points.values() for point in line]
    marks = (
        Lines(list(points.values()), 2, colours=tones),
        Dots(every, 36, colour=theme.ink, opacity=1),
        Dots(every, 500, tips=[tip(row, "users") for rows in lines.values() for row in rows], opacity=0),
        Words(names, "left", "middle", dx=8, size=11, weight=600, colours=tones, rim=theme.ground),
    )
    x = names_axis([text.size(size) for size in sizes], -EDGE, len(sizes) - 1 + END, "I/O size")
    y = Axis(Scale(0, most), "MB/s", lambda value: figures(value, 3), count=4, room=LABEL_ROOM)
    return Plot(width, HEIGHT, x, y, marks)


def _place(row: SizeRate, sizes: Sequence[int]) -> Point:
    return Point(sizes.index(row.size_bytes), row.throughput_bytes_per_s / 1e6)
