"""The sixteen buckets of response times of Kyle Hailey's fio.r, and their colours."""

from __future__ import annotations

from itertools import pairwise

from iocast.analyse.statistics import bucket_shares
from iocast.model.histogram import Histogram
from iocast.model.report import Cell, Column, Row
from iocast.report.charts.drawing.theme import Theme

US, MS, SECOND = 1_000, 1_000_000, 1_000_000_000
# fio.r's sixteen buckets end here; the last one has no end and is drawn up to five seconds.
BUCKET_EDGES_NS = (
    *(each * US for each in (50, 100, 250, 500)),
    *(each * MS for each in (1, 2, 4, 10, 20, 50, 100, 250, 500)),
    *(each * SECOND for each in (1, 2)),
)
BUCKET_ENDS_NS = (20 * US, *BUCKET_EDGES_NS, 5 * SECOND)
BUCKETS = (
    Column("load", "load", "load", "users x queue depth"),
    Column("low", "from", "duration"),
    Column("high", "to", "duration"),
    Column("share", "share", "share"),
)


def bucket_rows(load: Cell, times: Histogram) -> list[Row]:
    """The shares of the sixteen buckets at one load, those of nothing left out."""
    shares = bucket_shares(times, BUCKET_EDGES_NS)
    return [
        Row({"load": load, "low": low, "high": high, "share": share})
        for (low, high), share in zip(pairwise(BUCKET_ENDS_NS), shares, strict=True)
        if share
    ]


def bucket_colour(low_ns: float, theme: Theme) -> str:
    """The colour of the bucket that begins at `low_ns`, or nearest to it."""
    at = min(range(len(theme.buckets)), key=lambda each: abs(BUCKET_ENDS_NS[each] - low_ns))
    return theme.buckets[at]
