"""Reports of devices over time, and the headed tables that they come in; as the samples of a phase without load.

What each tool adds is which lines are headings, what its columns are called, and how it writes a value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date

from msgspec import Struct

from iocast import metrics
from iocast.model.run import Host, Run, Sample, Source
from iocast.model.workload import Closed
from iocast.tools.foreign_numbers import DAY_S, day_of, moment_ns, number, second_of_day, since_1970
from iocast.tools.source_files import read_text, refuse
from iocast.tools.stated_rows import SECOND_NS, UNKNOWN_HOST, Row, run

LITTLE_SLACK = 0.2  # columns are printed with two decimals
WITH_WRITES = (metrics.READ_AWAIT_NS, metrics.READS_PER_S, metrics.WRITE_AWAIT_NS, metrics.WRITES_PER_S)
LITTLE_LEAST = 0.1  # requests in the queue; less is all rounding
ALL = "all"  # the device of a table that has all of them together

Metrics = Mapping[str, tuple[str, float]]  # of each heading: the metric, and what one of it is worth


class Report(Struct, frozen=True):
    """One report: a moment ("" when it is not stated) and, for each device, its metrics."""

    stamp: str
    devices: dict[str, dict[str, float]]


Machine = tuple[Host | None, Sequence[Report]]


class Column(Struct, frozen=True):
    """A column that is read: where it stands under which heading, of which device, as which metric."""

    place: int
    heading: str
    device: str
    metric: str
    factor: float = 1


def columns_of(headings: Sequence[str], known: Metrics, device: str) -> list[Column]:
    """The columns of a device of which the metric is known."""
    return [
        Column(place, heading, device, *known[heading]) for place, heading in enumerate(headings) if heading in known
    ]


def require_width(path: str, at: int, values: Sequence[str], headings: Sequence[str]) -> None:
    """Raises SourceError for a line of another length than its heading."""
    if len(values) != len(headings):
        raise refuse(path, at, f"{len(values)} values under {len(headings)} headings")


def device_apart(heading: str, headings: Sequence[str], values: Sequence[str]) -> tuple[str, list[str], list[str]]:
    """The device of a line, which may stand in any column, and the other headings and values."""
    place = headings.index(heading)
    return values[place], [*headings[:place], *headings[place + 1 :]], [*values[:place], *values[place + 1 :]]


def report_of(stamp: str, values: Iterable[tuple[Column, float]]) -> Report:
    """The report that the values of one moment are."""
    devices: dict[str, dict[str, float]] = {}
    for column, value in values:
        devices.setdefault(column.device, {})[column.metric] = value * column.factor
    return Report(stamp, devices)


def values_of(path: str, at: int, columns: Iterable[Column], cells: Sequence[str]) -> Iterator[tuple[Column, float]]:
    """The values of a line in the columns that are read. Raises SourceError for one that is no number."""
    for each in columns:
        yield each, number(path, at, cells[each.place], each.heading)


def series(
    tool: str,
    paths: tuple[str, ...],
    machines_of: Callable[[str, str, list[str]], Iterable[Machine]],
    of: str = "",
) -> Run:
    """The run of these files, as samples of the observer `of`, by default the tool. Raises SourceError.

    `machines_of` reads the text of a path, and adds what it warns of to the list that it is given.
    """
    warnings: list[str] = []
    machines = [machine for path in paths for machine in machines_of(path, read_text(path), warnings)]
    return observed(tool, paths, machines, warnings, of)


def _samples(observer: str, reports: Sequence[Report]) -> tuple[tuple[Sample, ...], bool]:
    """The reports as samples; False when their moments are not stated and they are numbered instead."""
    seconds = list(seconds_since_first([report.stamp for report in reports]))
    timed = bool(seconds)
    seconds = seconds or [*range(len(reports))]
    return tuple(
        Sample(round(second * SECOND_NS), observer, device, metric, value)
        for second, report in zip(seconds, reports, strict=True)
        for device, values in report.devices.items()
        for metric, value in values.items()
    ), timed


_1970 = date(1970, 1, 1).toordinal()


def seconds_since_first(stamps: Sequence[str]) -> Iterator[float]:
    """Seconds since the first stamp: since the epoch, by a date, or by the time of day alone."""
    epochs = [epoch for stamp in stamps if (epoch := since_1970(stamp)) is not None]
    if stamps and len(epochs) == len(stamps):
        yield from (max(0.0, epoch - epochs[0]) for epoch in epochs)
        return
    days = [day for stamp in stamps if (day := day_of(stamp)) is not None]
    if len(days) < len(stamps):
        yield from _by_clock(stamps)
        return
    moments = [(day - days[0]) * DAY_S + (second_of_day(stamp) or 0.0) for stamp, day in zip(stamps, days, strict=True)]
    yield from (max(0.0, moment - moments[0]) for moment in moments)


def first_unix_ns(stamps: Sequence[str]) -> int:
    """The first moment since 1970, ns, where it is stated as seconds or in UTC; 0 where its zone is not known."""
    first = stamps[0].strip() if stamps else ""
    if (epoch := since_1970(first)) is not None:
        return moment_ns(epoch)
    day = day_of(first)
    if day is None or not first.endswith("UTC"):
        return 0
    return moment_ns((day - _1970) * DAY_S + (second_of_day(first) or 0.0))


def _by_clock(stamps: Sequence[str]) -> Iterator[float]:
    """Seconds since the first stamp by the time of day; none when one of them has no time."""
    times = [time for stamp in stamps if (time := second_of_day(stamp)) is not None]
    if len(times) < len(stamps):
        return
    days = 0
    for before, time in zip([*times[:1], *times], times, strict=False):
        days += time < before
        yield time - times[0] + days * DAY_S


def observation(observer: str, reports: Sequence[Report], of: str = "") -> tuple[Row, list[str]]:
    """A phase without load that holds the samples of a machine (`of`), and what does not go together in them."""
    samples, timed = _samples(observer, reports)
    span_ns = max((sample.time_ns for sample in samples), default=0)
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
        samples=samples,
        role="probe",
        derived=() if timed else ("length",),
    )
    return row, warnings


def observed(
    tool: str,
    paths: tuple[str, ...],
    machines: Sequence[Machine],
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
        if not (rows := whole or apart):
            continue
        queue = math.fsum(each[metrics.QUEUE_MEAN] for each in rows) / len(rows)
        if whole:
            mean_ns = math.fsum(each[metrics.IOS_PER_S] * each[metrics.AWAIT_NS] for each in rows)
        else:
            rates = (metrics.READS_PER_S, metrics.WRITES_PER_S, metrics.DISCARDS_PER_S, metrics.FLUSHES_PER_S)
            mean_ns = math.fsum(
                each.get(rate, 0.0) * each.get(f"{kind}_await_ns", 0.0)
                for each in rows
                for kind, rate in zip(kinds, rates, strict=True)
            )
        mean_ns /= len(rows) * 1e9
        if max(queue, mean_ns) > LITTLE_LEAST and abs(queue - mean_ns) > LITTLE_SLACK * max(queue, mean_ns):
            yield f"{device}: rate x await gives a queue of {mean_ns:.2g}, its own column says {queue:.2g}"
