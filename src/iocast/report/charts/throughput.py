"""Throughput at each load, every bar sliced by how long its I/Os took: the third classic chart."""

from __future__ import annotations

from iocast import text
from iocast.model.report import Axis, Chart, Column, Row, Table
from iocast.report.charts.families import Family
from iocast.report.charts.latency_by_load import BUCKETS, buckets

COLUMNS = (
    Column("load", "users", "load"),
    Column("throughput", "MB/s", "bytes_per_s"),
    Column("rate", "IOPS", "rate"),
)


def throughput(family: Family) -> Chart | None:
    """The chart of a ladder of at least two loads that move data."""
    ladder = family.ladder
    if len(ladder) < 2 or not any(member.bytes_per_s for member in ladder):
        return None
    rows = tuple(Row({"load": m.load, "throughput": m.bytes_per_s, "rate": m.rate_per_s}) for m in ladder)
    slices = tuple(row for member in ladder for row in buckets(member))
    best = max(ladder, key=lambda member: member.bytes_per_s)
    return Chart(
        kind="throughput",
        key=f"{family.key}-throughput",
        title=f"{family.title}: throughput at each load",
        summary=(
            f"Throughput is {text.throughput_in_words(ladder[0].bytes_per_s)} with {ladder[0].load_text} at once "
            f"and highest with {best.load_text}: {text.throughput_in_words(best.bytes_per_s)}."
        ),
        x=Axis("users", "load"),
        y=Axis("MB/s", "bytes_per_s", log=True),
        tables=(Table("", COLUMNS, rows, key="loads"), Table("", BUCKETS, slices, key="buckets")),
    )
