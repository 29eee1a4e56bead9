"""Writes latency records as LatencyMap tools read them: cumulative counts by lower edges of powers of two, in ns.

They subtract each record from the one before it, whatever its label: so counts go on from one series to the next, and
each series begins with a record of what was counted before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from msgspec import Struct

from iocast.tools.latency_map.latency_records import BEGIN, END

SOURCE = "systemtap"  # the tools know oracle (upper edges), dtrace and systemtap (lower ones)


class Series(Struct, frozen=True):
    """What was counted of one label: where it begins, and the new counts by lower edge in ns up to each moment."""

    label: str
    started_us: int
    steps: tuple[tuple[int, Mapping[int, int]], ...]  # moment in us, counts


def records_text(every: Iterable[Series]) -> str:
    """The records of all series."""
    counts: dict[int, int] = {}
    found = []
    for series in every:
        for moment_us, grown in ((series.started_us, {}), *series.steps):
            for bound, count in grown.items():
                counts[bound] = counts.get(bound, 0) + count
            found.append(_record(series.label, moment_us, counts))
    return "".join(found)


def _record(label: str, moment_us: int, counts: Mapping[int, int]) -> str:
    seconds, rest = divmod(moment_us, 1_000_000)
    when = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
    rows = (f"{bound},{count}" for bound, count in sorted(counts.items()))
    head = (f"timestamp,microsec,{moment_us},{when}.{rest:06} UTC", f"label,{label}")
    lines = (BEGIN, *head, "latencyunit,nanosec", f"datasource,{SOURCE}", *rows, END)
    return "\n".join(lines) + "\n\n"
