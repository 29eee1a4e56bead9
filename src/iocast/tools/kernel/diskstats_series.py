"""Copies of /proc/diskstats taken one after another, each under its time.

What it is: what `while sleep 1; do date +%s; cat /proc/diskstats; done` writes, and the samples of pt-diskstats ("TS"
lines). A time is seconds since the epoch, a date of ISO, or a time of day.
What is read: rates and means between two copies: I/Os, merges, bytes (sectors of 512), await, the mean of the queue
and %util, as iostat works them out. Devices without any I/O in the whole file are left out.
What it cannot see: who did the I/O, and any percentile.
What is refused: copies without their times, a single copy; lines of fewer than 14 fields; counters that are not
numbers. Where a counter fell, the device was replaced: that interval is left out with a warning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from iocast import metrics
from iocast.model.run import Run
from iocast.tools.device_series import Machine, Report, seconds_since_first, series
from iocast.tools.foreign_numbers import bounded
from iocast.tools.kernel.disk_counters import parse_counters
from iocast.tools.source_files import Head, refuse, whole_lines

OBSERVER = "diskstats_series"  # rates of intervals; the observer of that file samples its counters
_LINE = re.compile(
    r"^\s*\d{1,6}\s+\d{1,7}\s+(?P<device>[A-Za-z][\w/.!:-]{0,63})(?P<counters>(?:\s+\d{1,20}){11,20})\s*$"
)
_LIKE_LINE = re.compile(r"^\s*\d{1,6}\s+\d{1,7}\s+[A-Za-z][\w/.!:-]{0,63}\s")
_STAMP = re.compile(r"^(?:(?:TS\s+)?(?P<epoch>\d{9,11}(?:\.\d{1,9})?)(?:\s.*)?$|.*\d[:.]\d\d[:.]\d\d)")
# Rate, its counter, and what one of it is worth.
_RATES = (
    (metrics.READS_PER_S, metrics.READS),
    (metrics.READ_MERGES_PER_S, metrics.READS_MERGED),
    (metrics.READ_BYTES_PER_S, metrics.READ_BYTES),
    (metrics.WRITES_PER_S, metrics.WRITES),
    (metrics.WRITE_MERGES_PER_S, metrics.WRITES_MERGED),
    (metrics.WRITE_BYTES_PER_S, metrics.WRITTEN_BYTES),
    (metrics.DISCARDS_PER_S, metrics.DISCARDS),
    (metrics.DISCARD_BYTES_PER_S, metrics.DISCARDED_BYTES),
    (metrics.FLUSHES_PER_S, metrics.FLUSHES),
)
_AWAITS = (
    (metrics.READ_AWAIT_NS, metrics.READ_NS, metrics.READS),
    (metrics.WRITE_AWAIT_NS, metrics.WRITE_NS, metrics.WRITES),
    (metrics.DISCARD_AWAIT_NS, metrics.DISCARD_NS, metrics.DISCARDS),
    (metrics.FLUSH_AWAIT_NS, metrics.FLUSH_NS, metrics.FLUSHES),
)


class _Copy(Struct):
    """One copy: its time as it stands in the file, and the counters of each device."""

    stamp: str
    devices: dict[str, dict[str, int]]


def sniff(head: Head) -> bool:
    """Three lines of devices with their counters."""
    return sum(_LINE.match(line) is not None for line in head.lines()) >= 3 or (
        any(_LINE.match(line) for line in head.lines()) and any(line.startswith("TS ") for line in head.lines())
    )


def read(paths: tuple[str, ...]) -> Run:
    """Each file as a phase of one run. Raises SourceError."""
    return series("/proc/diskstats", paths, _machines, OBSERVER)


def _machines(path: str, text: str, warnings: list[str]) -> list[Machine]:
    return [(None, _reports(path, _copies(path, text, warnings), warnings))]


def _copies(path: str, text: str, warnings: list[str]) -> list[_Copy]:
    copies: list[_Copy] = []
    stamp = ""
    for at, line in enumerate(whole_lines(path, text, warnings), 1):
        if match := _LINE.match(line):
            if not copies or stamp or match["device"] in copies[-1].devices:
                copies.append(_Copy(stamp, {}))
                stamp = ""
            counters = parse_counters(match["counters"].split())
            for name, value in counters.items():
                bounded(path, at, value, name)
            copies[-1].devices[match["device"]] = counters
        elif _LIKE_LINE.match(line):
            raise refuse(path, at, "a device without its eleven counters, or one that is not a number")
        elif time := _STAMP.match(line.strip()[:200]):
            stamp = time["epoch"] or line.strip()
    if len(copies) < 2:
        raise refuse(path, 0, "one copy only: rates need two", "copy /proc/diskstats every second, with its time")
    if not all(each.stamp for each in copies):
        raise refuse(path, 0, "copies without their times", "write the time before each: date +%s; cat /proc/diskstats")
    return copies


def _reports(path: str, copies: Sequence[_Copy], warnings: list[str]) -> list[Report]:
    """The intervals between the copies."""
    seconds = list(seconds_since_first([each.stamp for each in copies]))
    if len(seconds) != len(copies):
        raise refuse(path, 0, "a time that cannot be read among those of the copies")
    alive = {
        device
        for each in copies
        for device, counters in each.devices.items()
        if any(counters.get(name) for name in (metrics.READS, metrics.WRITES, metrics.DISCARDS))
    }
    reports = []
    for place in range(1, len(copies)):
        span_s = seconds[place] - seconds[place - 1]
        if span_s <= 0:
            warnings.append(
                f"{path}: two copies of the same moment, {copies[place].stamp[:40]}: the second is left out"
            )
            continue
        report = Report(copies[place].stamp, {})
        for device, now in copies[place].devices.items():
            before = copies[place - 1].devices.get(device)
            if before is None or device not in alive:
                continue
            went = {name: _went(name, before[name], value) for name, value in now.items() if name in before}
            if any(value < 0 for value in went.values()):
                warnings.append(f"{path}: a counter of {device} fell: that interval is left out")
            else:
                report.devices[device] = _rates(went, span_s)
        reports.append(report)
    if not any(report.devices for report in reports):
        raise refuse(path, 0, "no device did any I/O, or no two copies lie apart")
    return reports


def _went(name: str, before: int, now: int) -> int:
    """How far a counter went; those of times start again after 32 bits of milliseconds."""
    if name == metrics.IN_FLIGHT:
        return 0
    period = metrics.PERIODS.get(name)
    return (now - before) % period if period and now < before and before - now > period // 2 else now - before


def _rates(went: Mapping[str, int], span_s: float) -> dict[str, float]:
    rates = {rate: went[counter] / span_s for rate, counter in _RATES if counter in went}
    for wait, time, count in _AWAITS:
        if went.get(count) and time in went:  # the last column may be cut off
            rates[wait] = went[time] / went[count]
    ios = sum(went.get(name, 0) for name in (metrics.READS, metrics.WRITES, metrics.DISCARDS))
    rates[metrics.IOS_PER_S] = ios / span_s
    if ios:
        busy = sum(went.get(name, 0) for name in (metrics.READ_NS, metrics.WRITE_NS, metrics.DISCARD_NS))
        rates[metrics.AWAIT_NS] = busy / ios
    rates[metrics.QUEUE_MEAN] = went[metrics.QUEUE_NS] / (span_s * 1e9)
    rates[metrics.UTIL_PERCENT] = 100 * went[metrics.BUSY_NS] / (span_s * 1e9)
    return rates
