"""Throughput at each load, every bar sliced by response time: the third classic chart."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.model.report import Axis, Chart, Column, Row, Table
from iocast.report.cells import cell_text
from iocast.report.charts.drawing.axis_labels import figures
from iocast.report.charts.drawing.latency_buckets import BUCKETS, bucket_colour, bucket_rows
from iocast.report.charts.drawing.legends import bucket_legend
from iocast.report.charts.drawing.loads import load_labels, loads_axis
from iocast.report.charts.drawing.parts import (
    LABEL_ROOM,
    OWN_COLOUR,
    Spec,
    chart,
    layer,
    named,
    needed,
    number,
    quantitative,
    tip,
)
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.place import Place
from iocast.report.charts.subjects.families import Family

PLACE = Place("family", classic=True, legends=(bucket_legend,))
HEIGHT = 132
COLUMNS = (
    Column("load", "load", "load", "users x queue depth"),
    Column("throughput", "MB/s", "bytes_per_s"),
    Column("rate", "IOPS", "rate"),
)


def tell(family: Family) -> Iterator[Chart]:
    """The chart of a ladder of at least two loads that move data."""
    ladder = family.ladder
    if len(ladder) < 2 or not any(member.bytes_per_s for member in ladder):
        return
    rows = tuple(Row({"load": m.load, "throughput": m.bytes_per_s, "rate": m.rate_per_s}) for m in ladder)
    slices = tuple(row for member in ladder for row in bucket_rows(member.load, member.times))
    best = max(ladder, key=lambda member: member.bytes_per_s)
    yield Chart(
        kind="throughput",
        key=f"{family.key}-throughput",
        family=family.key,
        title=f"{family.title}: throughput by load",
        summary=(
            f"{text.brief_throughput(ladder[0].bytes_per_s)} at {ladder[0].load_text}; "
            f"peak {text.brief_throughput(best.bytes_per_s)} at {best.load_text}."
        ),
        x=Axis("load", "load"),
        y=Axis("MB/s", "bytes_per_s"),
        tables=(Table("", COLUMNS, rows, key="loads"), Table("", BUCKETS, slices, key="buckets")),
    )


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """Bars from 0, each sliced in proportion to what its I/Os took."""
    loads, buckets = needed(about.table("loads")), needed(about.table("buckets"))
    labels = load_labels(loads)
    heights = [(number(row.cells["throughput"]) or 0.0) / 1e6 for row in loads.rows]
    x = loads_axis(labels)
    most = max(heights)
    axis = {
        "tickCount": 3,
        "label": lambda value: figures(value, 3),
        "title": "MB/s",
        "minExtent": LABEL_ROOM - 14,
        "grid": True,
    }
    y = quantitative("y", {"domain": [0, 1.2 * most]}, axis)
    slices, below = [], dict.fromkeys(labels, 0.0)
    for row in buckets.rows:
        name = cell_text("load", row.cells["load"])
        share = number(row.cells["share"]) or 0.0
        at, start = labels.index(name), below[name]
        below[name] = start + share
        bottom, top = number(row.cells["low"]) or 0.0, number(row.cells["high"])
        slices.append(
            {
                "x": at - 0.3,
                "x2": at + 0.3,
                "y": heights[at] * start,
                "y2": heights[at] * (start + share),
                "c": bucket_colour(bottom, theme),
                "tip": f"{tip(loads, loads.rows[at], 'load')}; {text.percent(share)} took "
                f"{text.duration(bottom)} to {text.duration(top)}",
            }
        )
    tops = [
        {"x": at, "y": heights[at], "t": text.megabytes_per_s(number(row.cells["throughput"]))}
        for at, row in enumerate(loads.rows)
    ]
    rect: Spec = {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "y2"}, "fill": OWN_COLOUR}
    label = {"type": "text", "baseline": "bottom", "dy": -3, "fontSize": 11}
    layers = [
        layer("rect", slices, rect, silent=False),
        layer(label, tops, named(x, y), color=theme.ink),
    ]
    return chart(width, HEIGHT, layers)
