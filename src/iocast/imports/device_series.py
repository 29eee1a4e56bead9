"""Reports of devices become a phase without load that holds them as samples, and what does not fit in them is told."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from iocast import metrics
from iocast.formats.sysstat.device_reports import Report
from iocast.imports.stated_rows import SECOND_NS, Row
from iocast.model.run import Sample
from iocast.model.workload import Closed

LITTLE_SLACK = 0.2  # columns are printed with two decimals
LITTLE_LEAST = 0.1  # requests in the queue; less is all rounding


def _samples(observer: str, reports: Sequence[Report]) -> tuple[tuple[Sample, ...], bool]:
    """The reports as samples; False when their moments are not stated and they are numbered instead."""
    seconds = list(_seconds([report.stamp for report in reports]))
    timed = bool(seconds)
    seconds = seconds or [float(place) for place in range(len(reports))]
    return tuple(
        Sample(round(second * SECOND_NS), observer, device, metric, value)
        for second, report in zip(seconds, reports, strict=True)
        for device, found in report.devices.items()
        for metric, value in found.items()
    ), timed


_CLOCK = re.compile(r"(\d{1,2})[:.](\d\d)[:.](\d\d)\s*([AP]M)?")


def _seconds(stamps: Sequence[str]) -> Iterator[float]:
    """Seconds since the first stamp: by the time of day, since dates are written as each locale likes."""
    clocks = [_CLOCK.search(stamp) for stamp in stamps]
    if not all(clocks):
        return
    first = previous = days = 0
    for place, found in enumerate(clocks):
        assert found is not None
        hour = int(found[1]) % 12 + (12 if found[4] == "PM" else 0) if found[4] else int(found[1])
        now = hour * 3600 + int(found[2]) * 60 + int(found[3])
        if not place:
            first = previous = now
        days += now < previous
        previous = now
        yield float(now - first + days * 86_400)


def observation(observer: str, reports: Sequence[Report]) -> tuple[Row, list[str]]:
    """A phase without load that holds the samples, and what does not go together in them."""
    found, timed = _samples(observer, reports)
    span_ns = max((sample.time_ns for sample in found), default=0)
    warnings = [] if timed else ["The reports have no timestamps: they are numbered, one second each."]
    warnings += _little(reports)
    row = Row(
        name=observer,
        test=observer,
        ops=(),
        elapsed_ns=span_ns,
        arrival=Closed(),
        samples=found,
        role="probe",
        derived=() if timed else ("length",),
    )
    return row, warnings


def _little(reports: Sequence[Report]) -> Iterator[str]:
    """Little's law: requests in the queue are rate x await, over all reports."""
    kinds = ("read", "write", "discard", "flush")
    for device in dict.fromkeys(device for report in reports for device in report.devices):
        seen = [report.devices[device] for report in reports if device in report.devices]
        queue = math.fsum(each.get(metrics.QUEUE_MEAN, 0.0) for each in seen) / len(seen)
        if metrics.AWAIT_NS in seen[0] and metrics.IOS_PER_S in seen[0]:
            made = math.fsum(each[metrics.IOS_PER_S] * each[metrics.AWAIT_NS] for each in seen)
        elif metrics.READ_AWAIT_NS in seen[0] and metrics.READS_PER_S in seen[0]:
            rates = (metrics.READS_PER_S, metrics.WRITES_PER_S, metrics.DISCARDS_PER_S, metrics.FLUSHES_PER_S)
            made = math.fsum(
                each.get(rate, 0.0) * each.get(f"{kind}_await_ns", 0.0)
                for each in seen
                for kind, rate in zip(kinds, rates, strict=True)
            )
        else:
            continue
        made /= len(seen) * 1e9
        if max(queue, made) > LITTLE_LEAST and abs(queue - made) > LITTLE_SLACK * max(queue, made):
            yield f"{device}: rate x await gives a queue of {made:.2g}, its own column says {queue:.2g}"
