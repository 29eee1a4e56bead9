"""Writes vdbench's flatfile: a table with a line for each interval of each run, and the average but for the first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from iocast.tools.vdbench.console_writing import MIB, IntervalFigures, RunFigures, average

UNKNOWN = "n/a"  # as vdbench writes a figure that it has not
UNCONTROLLED = 999988.0  # what it writes as the rate of a run without one
GIB = 1 << 30
COLUMNS: dict[str, str] = {
    "tod": "Time of day",
    "Run": "Name of the run",
    "Interval": "Number of the interval, from 1",
    "reqrate": "Rate that was asked for",
    "rate": "I/Os, or operations, per second",
    "MB/sec": "Megabytes per second (MB=1024*1024)",
    "bytes/io": "Mean size",
    "read%": "Share of reads",
    "resp": "Mean response time, ms",
    "read_resp": "Mean response time of reads, ms",
    "write_resp": "Mean response time of writes, ms",
    "resp_max": "Longest response time, ms",
    "resp_std": "Standard deviation, ms",
    "xfersize": "Size that was asked for",
    "threads": "Threads that were asked for",
    "rdpct": "Share of reads that was asked for",
    "rhpct": "Read hits that were asked for",
    "whpct": "Write hits that were asked for",
    "seekpct": "Share of random access that was asked for",
    "lunsize": "Gigabytes of all files (GB=1024*1024*1024)",
    "version": "Version of vdbench",
    "compratio": "Compression that was asked for",
    "dedupratio": "Deduplication that was asked for",
    "queue_depth": "Mean outstanding I/Os",
    "cpu_used": "CPU, user and system",
    "cpu_user": "CPU, user",
    "cpu_kernel": "CPU, system",
    "cpu_wait": "CPU, waiting",
    "cpu_idle": "CPU, idle",
}


class FlatfileRequest(Struct, frozen=True, kw_only=True):
    """What was asked of a run; None where a column has no one value for it."""

    xfersize_bytes: int | None
    threads: int
    read_percent: float | None
    seek_percent: float | None
    size_bytes: int | None  # of all files


def flatfile_text(runs: Sequence[tuple[RunFigures, FlatfileRequest]]) -> str:
    """The legend, the heading, and the lines of all runs."""
    width = max(map(len, COLUMNS))
    legend = [f"* {name:{width}} : {says}" for name, says in COLUMNS.items()]
    legend.append(f"* {UNKNOWN!r:{width}} : unknown, or several values")
    rows = [[*COLUMNS], *(row for figures, request in runs for row in _rows(figures, request))]
    return "\n".join(("*", *legend, "*", *map(_line, rows))) + "\n"


def _line(cells: Sequence[str]) -> str:
    widths = [12, *(max(10, len(name)) for name in list(COLUMNS)[1:])]
    return " ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)) + " "


def _rows(run: RunFigures, request: FlatfileRequest) -> Iterator[list[str]]:
    last = len(run.intervals)
    for at, each in enumerate(run.intervals, 1):
        yield _row(run, request, at, str(at), each)
    if last > 1:
        yield _row(run, request, last, f"avg_2-{last}", average(run.intervals))


def _row(run: RunFigures, request: FlatfileRequest, at: int, label: str, figures: IntervalFigures) -> list[str]:
    every, seconds = figures.every, figures.seconds
    ios = every.total
    moment = datetime.fromtimestamp(run.started_unix_ns / 1e9 + at * run.interval_s, UTC)
    cells = [
        f"{moment:%H:%M:%S}.{moment.microsecond // 1000:03}",
        run.name,
        label,
        _figure(UNCONTROLLED if run.rate_per_s is None else run.rate_per_s),
        _figure(ios / seconds),
        _figure(figures.bytes / seconds / MIB),
        str(round(figures.bytes / ios) if ios else 0),
        _figure(100 * figures.reads.total / ios if ios else 0.0),
        *(_ms(each.mean_ns) for each in (every, figures.reads, figures.writes)),
        _ms(every.most_ns),
        _ms(every.stdev_ns),
        UNKNOWN if request.xfersize_bytes is None else str(request.xfersize_bytes),
        _figure(request.threads),
        _known(request.read_percent),
        _figure(0.0),
        _figure(0.0),
        _known(request.seek_percent),
        UNKNOWN if request.size_bytes is None else _figure(request.size_bytes / GIB),
    ]
    after = [UNKNOWN] * (len(COLUMNS) - len(cells))
    after[list(COLUMNS).index("queue_depth") - len(cells)] = _figure(every.sum_ns / seconds / 1e9)
    return cells + after


def _known(value: float | None) -> str:
    return UNKNOWN if value is None else _figure(value)


def _figure(value: float) -> str:
    return f"{value:.4f}"


def _ms(value_ns: float) -> str:
    """Milliseconds; 0 of nothing, as vdbench prints it."""
    return _figure(value_ns / 1e6 if value_ns == value_ns else 0.0)
