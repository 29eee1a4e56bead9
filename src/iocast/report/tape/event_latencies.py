"""The latencies of a database's events, or of latency records, in all of a tape: a table of its report."""

from __future__ import annotations

from typing import Final

from iocast.analyse.live.event_rows import event_rows
from iocast.analyse.live.latency_columns import ENDLESS_NS, Latencies
from iocast.model.live.seen import Seen
from iocast.model.report import Column, Row, Table
from iocast.report.live.latency.histogram_choice import label

_EVENTS: Final = (
    Column("event", "event"),
    Column("rate", "per s", "rate"),
    Column("count", "count", "count"),
    Column("mean", "mean", "duration"),
    Column("half", "half below", "duration"),
    Column("most", "99% below", "duration"),
)
_MOST: Final = 15


def event_latencies(seen: Seen) -> Table:
    """Those that took most time first. A share stands below the bound of the bucket in which it ends."""
    rows = tuple(
        Row(
            {
                "event": label((each.observer, each.subject)),
                "rate": each.per_s,
                "count": each.found.total,
                "mean": each.found.mean_ns,
                "half": _below(each.found, 0.5),
                "most": _below(each.found, 0.99),
            }
        )
        for each in event_rows(seen)[:_MOST]
        if each.found is not None
    )
    return Table("", _EVENTS, rows, key="events")


def _below(found: Latencies, share: float) -> float | None:
    """None where it ends above the last bound."""
    reached = 0
    for upper_ns, count in sorted(found.counts.items()):
        reached += count
        if reached >= share * found.total:
            return None if upper_ns == ENDLESS_NS else float(upper_ns)
    return None
