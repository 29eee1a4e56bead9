"""The sixteen buckets of response times of Kyle Hailey's fio.r, and their colours."""

from __future__ import annotations

from itertools import pairwise

from msgspec import Struct

from iocast import text
from iocast.analyse.statistics import bucket_shares
from iocast.model.histogram import Histogram
from iocast.report.charts.families import Member
from iocast.report.plot.legends import Legend
from iocast.report.plot.theme import Theme

US, MS, SECOND = 1_000, 1_000_000, 1_000_000_000
# fio.r's sixteen buckets end here; the last one has no end and is drawn up to five seconds.
BUCKET_EDGES_NS = (
    *(each * US for each in (50, 100, 250, 500)),
    *(each * MS for each in (1, 2, 4, 10, 20, 50, 100, 250, 500)),
    *(each * SECOND for each in (1, 2)),
)
BUCKET_ENDS_NS = (20 * US, *BUCKET_EDGES_NS, 5 * SECOND)


class Bucket(Struct, frozen=True):
    """The share of the I/Os of a load that took so long."""

    users: int
    depth: int
    low_ns: int
    high_ns: int
    share: float

    @property
    def says(self) -> str:
        """How many I/Os took how long."""
        return f"{text.percent(self.share)} took {text.duration(self.low_ns)} to {text.duration(self.high_ns)}"


def filled_buckets(times: Histogram) -> list[tuple[int, int, float]]:
    """(from, to, share) of the sixteen buckets, those of nothing left out."""
    shares = bucket_shares(times, BUCKET_EDGES_NS)
    ends = pairwise(BUCKET_ENDS_NS)
    return [(low, high, share) for (low, high), share in zip(ends, shares, strict=True) if share]


def buckets_of(ladder: tuple[Member, ...]) -> tuple[Bucket, ...]:
    """The buckets of each load."""
    return tuple(
        Bucket(*member.load, low, high, share) for member in ladder for low, high, share in filled_buckets(member.times)
    )


def bucket_colour(low_ns: float, theme: Theme) -> str:
    """The colour of the bucket that begins at `low_ns`, or nearest to it."""
    at = min(range(len(theme.buckets)), key=lambda each: abs(BUCKET_ENDS_NS[each] - low_ns))
    return theme.buckets[at]


def bucket_legend(theme: Theme) -> Legend:
    """The colours of the sixteen buckets of response times, from fast to slow."""
    first, last = (text.brief_time(BUCKET_ENDS_NS[at]) for at in (1, -2))
    *others, slowest = theme.buckets
    return Legend(f"I/Os that took {first}", (*((each, "") for each in others), (slowest, f"{last} or more")))
