"""Throughput at each load, every bar sliced by response time: the third classic chart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from iocast import text
from iocast.model.report import Chart
from iocast.model.results.shown import shown
from iocast.report.charts.families import Family
from iocast.report.charts.latency_buckets import Bucket, bucket_colour, bucket_legend, buckets_of
from iocast.report.charts.loads import AtLoad, loads_axis
from iocast.report.charts.place import Place
from iocast.report.plot.axes import LABEL_ROOM, Axis, Scale
from iocast.report.plot.axis_labels import figures
from iocast.report.plot.marks import Box, Boxes, Plot, Word, Words
from iocast.report.plot.theme import Theme
from iocast.report.result_tables import tip

PLACE = Place("family", classic=True, legends=(bucket_legend,))
HEIGHT = 132


class LoadRate(AtLoad, frozen=True):
    """What a load moved."""

    throughput_bytes_per_s: Annotated[float, shown("MB/s", "bytes_per_s")]
    rate_per_s: Annotated[float, shown("IOPS", "rate")]


class Throughput(Chart, frozen=True, kw_only=True):
    """The loads of a ladder, and the shares of their response times."""

    kind: str = "throughput"
    loads: tuple[LoadRate, ...]
    buckets: tuple[Bucket, ...]


def tell(family: Family) -> Iterator[Throughput]:
    """The chart of a ladder of at least two loads that move data."""
    ladder = family.ladder
    if len(ladder) < 2 or not any(member.bytes_per_s for member in ladder):
        return
    best = max(ladder, key=lambda member: member.bytes_per_s)
    yield Throughput(
        key=f"{family.key}-throughput",
        family=family.key,
        title=f"{family.title}: throughput by load",
        summary=(
            f"{text.brief_throughput(ladder[0].bytes_per_s)} at {ladder[0].load_text}; "
            f"peak {text.brief_throughput(best.bytes_per_s)} at {best.load_text}."
        ),
        loads=tuple(LoadRate(*each.load, each.bytes_per_s, each.rate_per_s) for each in ladder),
        buckets=buckets_of(ladder),
    )


def draw(chart: Throughput, theme: Theme, width: int) -> Plot:
    """Bars from 0, each sliced in proportion to what its I/Os took."""
    loads = chart.loads
    heights = [load.throughput_bytes_per_s / 1e6 for load in loads]
    places = {(load.users, load.depth): at for at, load in enumerate(loads)}
    slices, tips, below = list[Box](), list[str](), [0.0] * len(loads)
    for each in chart.buckets:
        at = places[each.users, each.depth]
        start = below[at]
        below[at] = start + each.share
        slices.append(Box(at - 0.3, heights[at] * start, at + 0.3, heights[at] * (start + each.share)))
        tips.append(f"{tip(loads[at], 'users')}; {each.says}")
    tops = [Word(at, heights[at], text.megabytes_per_s(load.throughput_bytes_per_s)) for at, load in enumerate(loads)]
    marks = (
        Boxes(slices, colours=[bucket_colour(each.low_ns, theme) for each in chart.buckets], tips=tips),
        Words(tops, baseline="bottom", dy=-3, size=11, colour=theme.ink),
    )
    scale = Scale(0, 1.2 * max(heights))
    y = Axis(scale, "MB/s", lambda value: figures(value, 3), count=3, room=LABEL_ROOM - 14)
    return Plot(width, HEIGHT, loads_axis([load.label for load in loads]), y, marks)
