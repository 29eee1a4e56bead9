"""Events that a source counts by their latency: waits of a database, labels of latency records; busiest first.

Oracle's histograms have no sums of times. Those of `system_event` stand beside them by name: with them means are exact.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from iocast.analyse.live.latency_columns import Latencies, latencies
from iocast.metrics import LATENCY_MAP
from iocast.model.live.readings import Readings


class EventRow(Struct, frozen=True):
    """One event of one source. `times` is None where its counters began anew: the interval is unknown."""

    observer: str
    subject: str
    times: Latencies | None

    @property
    def per_s(self) -> float | None:
        """Waits or I/Os a second."""
        return None if self.times is None else self.times.total * 1e9 / self.times.elapsed_ns


def event_rows(readings: Readings) -> list[EventRow]:
    """Those that took most time first. Observers of databases have a dot in their names, those of the kernel none."""
    rows = []
    for observer in readings.observers:
        if observer != LATENCY_MAP and "." not in observer:
            continue
        for subject, view in readings.views(observer).items():
            times = _with_sum(readings, observer, subject, latencies(view))
            if (times is not None and times.total) or (times is None and observer == LATENCY_MAP):
                rows.append(EventRow(observer, subject, times))
    return sorted(rows, key=lambda row: (-(row.times.waited_ns if row.times else 0.0), row.observer, row.subject))


def _with_sum(readings: Readings, observer: str, subject: str, times: Latencies | None) -> Latencies | None:
    """With the time of its waits where another view has their mean."""
    database, _, view = observer.partition(".")
    if times is None or times.sum_ns is not None or not view.startswith("event_histogram"):
        return times
    waits = readings.views(f"{database}.system_event").get(subject)
    mean_ns = None if waits is None else waits.mean("time_waited_ns", of="total_waits")
    return times if mean_ns is None else replace(times, sum_ns=round(mean_ns * times.total))
