"""Reports of devices become a phase without load that holds them as samples, and what does not fit in them is told."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from datetime import date

from iocast import metrics
from iocast.formats.sysstat.device_reports import Report
from iocast.imports.stated_rows import SECOND_NS, UNKNOWN_HOST, Row, run
from iocast.model.run import Host, Run, Sample, Source
from iocast.model.workload import Closed

LITTLE_SLACK = 0.2  # columns are printed with two decimals
WITH_WRITES = (metrics.READ_AWAIT_NS, metrics.READS_PER_S, metrics.WRITE_AWAIT_NS, metrics.WRITES_PER_S)
LITTLE_LEAST = 0.1  # requests in the queue; less is all rounding


def _samples(observer: str, reports: Sequence[Report]) -> tuple[tuple[Sample, ...], bool]:
    """The reports as samples; False when their moments are not stated and they are numbered instead."""
    seconds = list(seconds_since_first([report.stamp for report in reports]))
    timed = bool(seconds)
    seconds = seconds or [float(place) for place in range(len(reports))]
    return tuple(
        Sample(round(second * SECOND_NS), observer, device, metric, value)
        for second, report in zip(seconds, reports, strict=True)
        for device, found in report.devices.items()
        for metric, value in found.items()
    ), timed


_CLOCK = re.compile(r"(\d{1,2})[:.](\d\d)[:.](\d\d)\s*([AP]M)?")
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)[ T](?=\d{1,2}[:.]\d\d[:.]\d\d)")
_1970 = date(1970, 1, 1).toordinal()
_EPOCH = re.compile(r"(\d{9,11}(?:\.\d{1,9})?)$")


def seconds_since_first(stamps: Sequence[str]) -> Iterator[float]:
    """Seconds since the first stamp: since the epoch, by a date of ISO, or by the time of day alone.

    Other dates are written as each locale likes.
    """
    if stamps and all(_EPOCH.match(stamp) for stamp in stamps):
        first = float(stamps[0])
        yield from (max(0.0, float(stamp) - first) for stamp in stamps)
        return
    days = [_day(stamp) for stamp in stamps]
    if any(day is None for day in days):
        yield from _by_clock(stamps)
        return
    for stamp, day in zip(stamps, days, strict=True):
        assert day is not None
        assert days[0] is not None
        yield max(0.0, (day - days[0]) * 86_400 + _of_day(stamp) - _of_day(stamps[0]))


def _day(stamp: str) -> int | None:
    """The number of a day whose date stands before the time."""
    found = _DATE.search(stamp)
    try:
        return date(int(found[1]), int(found[2]), int(found[3])).toordinal() if found else None
    except ValueError:
        return None


def _of_day(stamp: str) -> float:
    found = _CLOCK.search(stamp)
    if not found:
        return 0.0
    hour = int(found[1]) % 12 + (12 if found[4] == "PM" else 0) if found[4] else int(found[1])
    return float(hour * 3600 + int(found[2]) * 60 + int(found[3]))


def first_unix_ns(stamps: Sequence[str]) -> int:
    """The first moment since 1970, ns, where it is stated as seconds or in UTC; 0 where its zone is not known."""
    first = stamps[0].strip() if stamps else ""
    if _EPOCH.match(first):
        return round(float(first) * SECOND_NS)
    day = _day(first)
    if day is None or not first.endswith("UTC"):
        return 0
    return round(((day - _1970) * 86_400 + _of_day(first)) * SECOND_NS)


def _by_clock(stamps: Sequence[str]) -> Iterator[float]:
    """Seconds since the first stamp by the time of day; none when one of them has no time."""
    if not all(_CLOCK.search(stamp) for stamp in stamps):
        return
    first = previous = 0.0
    days = 0
    for place, stamp in enumerate(stamps):
        now = _of_day(stamp)
        if not place:
            first = previous = now
        days += now < previous
        previous = now
        yield now - first + days * 86_400


def observation(observer: str, reports: Sequence[Report], of: str = "") -> tuple[Row, list[str]]:
    """A phase without load that holds the samples of a machine (`of`), and what does not go together in them."""
    found, timed = _samples(observer, reports)
    span_ns = max((sample.time_ns for sample in found), default=0)
    warnings = (
        [] if timed or len(reports) < 2 else ["The reports have no timestamps: they are numbered, one second each."]
    )
    warnings += _little(reports)
    row = Row(
        name=f"{observer} {of}".strip(),
        test=observer,
        ops=(),
        elapsed_ns=span_ns,
        arrival=Closed(),
        started_unix_ns=first_unix_ns([report.stamp for report in reports]),
        samples=found,
        role="probe",
        derived=() if timed else ("length",),
    )
    return row, warnings


def observed(
    tool: str,
    paths: tuple[str, ...],
    machines: Sequence[tuple[Host | None, Sequence[Report]]],
    warnings: list[str],
    observer: str = "",
) -> Run:
    """The run of several series: each is a phase, named by its machine when there are several."""
    known = list(dict.fromkeys(host for host, _ in machines if host))
    rows = []
    for host, reports in machines:
        row, said = observation(observer or tool, reports, host.name if host and len(known) > 1 else "")
        rows.append(row)
        warnings += said
    host = known[0] if len(known) == 1 else UNKNOWN_HOST
    return run(Source(tool=tool, files=paths), rows, warnings=warnings, host=host)


def _little(reports: Sequence[Report]) -> Iterator[str]:
    """Little's law: requests in the queue are rate x await, over all reports."""
    kinds = ("read", "write", "discard", "flush")
    for device in dict.fromkeys(device for report in reports for device in report.devices):
        every = [report.devices[device] for report in reports if device in report.devices]
        whole = [each for each in every if {metrics.QUEUE_MEAN, metrics.AWAIT_NS, metrics.IOS_PER_S} <= {*each}]
        apart = [each for each in every if {metrics.QUEUE_MEAN, *WITH_WRITES} <= {*each}]
        if not (seen := whole or apart):
            continue
        queue = math.fsum(each[metrics.QUEUE_MEAN] for each in seen) / len(seen)
        if whole:
            made = math.fsum(each[metrics.IOS_PER_S] * each[metrics.AWAIT_NS] for each in seen)
        else:
            rates = (metrics.READS_PER_S, metrics.WRITES_PER_S, metrics.DISCARDS_PER_S, metrics.FLUSHES_PER_S)
            made = math.fsum(
                each.get(rate, 0.0) * each.get(f"{kind}_await_ns", 0.0)
                for each in seen
                for kind, rate in zip(kinds, rates, strict=True)
            )
        made /= len(seen) * 1e9
        if max(queue, made) > LITTLE_LEAST and abs(queue - made) > LITTLE_SLACK * max(queue, made):
            yield f"{device}: rate x await gives a queue of {made:.2g}, its own column says {queue:.2g}"
