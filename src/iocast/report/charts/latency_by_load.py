"""The classic chart of Kyle Hailey's fio.r: latency against load, with a histogram at every load.

Mean, p95, p99 and maximum as lines, behind them the shares of the I/Os up to 1 ms, up to 10 ms and above, and at
each load a histogram of sixteen buckets on its side.
"""

from __future__ import annotations

from itertools import pairwise

from iocast import text
from iocast.analyse.statistics import bucket_shares, published
from iocast.model.report import Axis, Chart, Column, Row, Table
from iocast.report.charts.families import Family, Member

US, MS, SECOND = 1_000, 1_000_000, 1_000_000_000
# fio.r's sixteen buckets end here; the last one has no end and is drawn up to five seconds.
BUCKET_EDGES_NS = (
    *(each * US for each in (50, 100, 250, 500)),
    *(each * MS for each in (1, 2, 4, 10, 20, 50, 100, 250, 500)),
    *(each * SECOND for each in (1, 2)),
)
BUCKET_ENDS_NS = (20 * US, *BUCKET_EDGES_NS, 5 * SECOND)
SHARE_EDGES_NS = (1 * MS, 10 * MS)
GOOD_NS = 10 * MS  # where fio.r draws its line

COLUMNS = (
    Column("load", "users", "load"),
    Column("mean", "mean", "duration"),
    Column("p50", "p50", "duration"),
    Column("p95", "p95", "duration"),
    Column("p99", "p99", "duration"),
    Column("max", "max", "duration"),
    Column("fast", "up to 1 ms", "share"),
    Column("middling", "1 to 10 ms", "share"),
    Column("slow", "above 10 ms", "share"),
)
BUCKETS = (
    Column("load", "users", "load"),
    Column("low", "from", "duration"),
    Column("high", "to", "duration"),
    Column("share", "share", "share"),
)


def latency_by_load(family: Family) -> Chart | None:
    """The chart of a ladder of at least two loads."""
    ladder = family.ladder
    if len(ladder) < 2:
        return None
    return Chart(
        kind="latency_by_load",
        key=f"{family.key}-latency",
        title=f"{family.title}: latency at each load",
        summary=_summary(ladder),
        x=Axis("users", "load"),
        y=Axis("response time", "duration", log=True),
        tables=(
            Table("", COLUMNS, tuple(_row(member) for member in ladder), key="loads"),
            Table("", BUCKETS, tuple(row for member in ladder for row in buckets(member)), key="buckets"),
        ),
    )


def _row(member: Member) -> Row:
    times = member.times
    fast, middling, slow = bucket_shares(times, SHARE_EDGES_NS)
    return Row(
        {
            "load": member.load,
            "mean": times.mean_ns,
            "p50": times.quantile_ns(0.5),
            "p95": times.quantile_ns(0.95),
            "p99": times.quantile_ns(0.99),
            "max": times.max_ns,
            "fast": fast,
            "middling": middling,
            "slow": slow,
        },
        note="" if published(times, 0.99) is not None else "fewer than ten I/Os lie beyond the p99",
    )


def buckets(member: Member) -> list[Row]:
    """The shares of the sixteen buckets, those of nothing left out."""
    shares = bucket_shares(member.times, BUCKET_EDGES_NS)
    return [
        Row({"load": member.load, "low": low, "high": high, "share": share})
        for (low, high), share in zip(pairwise(BUCKET_ENDS_NS), shares, strict=True)
        if share
    ]


def _summary(ladder: tuple[Member, ...]) -> str:
    first, last = ladder[0], ladder[-1]
    said = []
    for member in (first, last):
        slow = 1 - member.times.count_up_to(GOOD_NS) / member.times.total
        half = text.duration_in_words(member.times.quantile_ns(0.5))
        most = text.duration_in_words(member.times.quantile_ns(0.95))
        beyond = f", {text.percent(slow)} take longer than 10 ms" if slow else ""
        said.append(f"With {member.load_text} at once half of the I/Os take {half}, 95 in 100 {most}{beyond}")
    return ". ".join(said) + "."
