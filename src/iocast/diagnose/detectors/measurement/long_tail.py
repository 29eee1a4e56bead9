"""A histogram of another tool has a long tail: many I/Os far beyond its median.

What it is: more than one I/O in a hundred takes sixteen times the median or more. Of exponential times, as of a queue
before one server, one in sixty thousand does.
Why it matters: a transaction of a hundred reads meets the tail each time; neither the mean nor the median shows it.
How it shows: in the buckets that the source states; the edges of the bucket of the median decide. Rows that iocast
measured itself have their p99 and p99.9, and stalls are found in their intervals.
How to confirm: it is counted. When the slow I/Os came only a course over time can show.
What to change: look for what makes a few I/Os wait: a full queue, stalls, retries, neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.facts import Facts
from iocast.diagnose.preconditions import Only
from iocast.model.codes import FindingCode
from iocast.model.finding import Finding
from iocast.model.stated import Coarse
from iocast.text import brief_percent, brief_time

NEEDS: tuple[str, ...] = ()
ONLY: Only = ()

CODE: FindingCode = "long_tail"
FAR = 16  # times the upper edge of the median's bucket [J]
SHARE = 0.01  # of the I/Os [J]
ENOUGH = 1000  # I/Os in all, as for peaks


def detect(facts: Facts) -> Iterator[Finding]:
    """Rows whose source states a histogram with a long tail."""
    for row in facts.rows:
        stated = row.response().coarse
        tail = _tail(stated) if stated is not None and stated.total >= ENOUGH else None
        if tail is None:
            continue
        from_ns, share, median_ns = tail
        yield Finding(
            code=CODE,
            severity="note",
            phase=row.name,
            says=f"The times have a long tail: {brief_percent(share)} of the I/Os take more than {brief_time(from_ns)},"
            f" the median is below {brief_time(median_ns)}.",
            evidence={"share": share, "from_ns": from_ns, "median_below_ns": median_ns},
            remedy="Report the percentiles beside the mean; look for what makes a few I/Os wait.",
        )


def _tail(stated: Coarse) -> tuple[float, float, float] | None:
    """From where on it counts as tail, its share, and the upper edge of the median; None where there is none."""
    bounds = stated.bounds_ns(0.5) if stated.buckets else None
    if bounds is None or not 0 < bounds[1] < float("inf"):
        return None
    far = [bucket for bucket in stated.buckets if bucket.low_ns >= FAR * bounds[1]]
    share = sum(bucket.weight for bucket in far) / stated.whole if stated.whole else 0.0
    return (far[0].low_ns, share, bounds[1]) if share >= SHARE else None
