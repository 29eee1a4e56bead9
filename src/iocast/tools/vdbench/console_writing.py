"""Writes what vdbench 5.04.07 prints: a line for each interval, and the average of all but the first."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec import Struct

from iocast.model.histogram import Histogram, merge

MIB = 1 << 20
_HEADS = (
    "    interval        i/o   MB/sec   bytes   read     resp     read    write     read    write     resp"
    "  queue  cpu%  cpu%",
    "                   rate  1024**2     i/o    pct     time     resp     resp      max      max   stddev"
    "  depth sys+u   sys",
)
UNKNOWN = "NaN"  # as vdbench prints a figure that it has not


class IntervalFigures(Struct, frozen=True):
    """What completed in some seconds of a run."""

    seconds: float
    bytes: int
    reads: Histogram
    writes: Histogram
    others: Histogram = Histogram()  # operations on names, flushes

    @property
    def every(self) -> Histogram:
        """All operations."""
        return merge((self.reads, self.writes, self.others))


class RunFigures(Struct, frozen=True, kw_only=True):
    """A run: what it is called, its rate (None: uncontrolled), its intervals of equal length."""

    name: str
    started_unix_ns: int
    rate_per_s: float | None
    loops: str
    interval_s: float
    intervals: tuple[IntervalFigures, ...]


def run_text(run: RunFigures) -> str:
    """The heading, a line for each interval, and avg_2-N where there are two or more."""
    rate = "Uncontrolled MAX" if run.rate_per_s is None else f"{run.rate_per_s:g}"
    elapsed = f"{run.interval_s * len(run.intervals):g}"
    began = datetime.fromtimestamp(run.started_unix_ns / 1e9, UTC)
    lines = [
        f"{_clock(run, 0)} Starting RD={run.name}; I/O rate: {rate}; elapsed={elapsed}; For loops: {run.loops}",
        "",
    ]
    lines += [f"{began:%b %d, %Y}{_HEADS[0]}", f"{'':12}{_HEADS[1]}"]
    lines += [_line(_clock(run, at), str(at), each) for at, each in enumerate(run.intervals, 1)]
    last = len(run.intervals)
    if last > 1:
        lines.append(_line(_clock(run, last), f"avg_2-{last}", average(run.intervals)))
    return "\n".join(lines) + "\n"


def average(intervals: Sequence[IntervalFigures]) -> IntervalFigures:
    """All intervals but the first as one."""
    kept = intervals[1:]
    return IntervalFigures(
        sum(each.seconds for each in kept),
        sum(each.bytes for each in kept),
        merge(each.reads for each in kept),
        merge(each.writes for each in kept),
        merge(each.others for each in kept),
    )


def _clock(run: RunFigures, interval: int) -> str:
    at = datetime.fromtimestamp(run.started_unix_ns / 1e9 + interval * run.interval_s, UTC)
    return f"{at:%H:%M:%S}.{at.microsecond // 1000:03}"


def _line(clock: str, label: str, figures: IntervalFigures) -> str:
    every, ios, seconds = figures.every, figures.every.total, figures.seconds
    size = round(figures.bytes / ios) if ios else 0
    reads = 100 * figures.reads.total / ios if ios else 0.0
    return (
        f"{clock}{label:>12}{ios / seconds:>11.1f}{figures.bytes / seconds / MIB:>9.2f}{size:>8}{reads:>7.2f}"
        f"{_ms(every.mean_ns):>9.3f}{_ms(figures.reads.mean_ns):>9.3f}{_ms(figures.writes.mean_ns):>9.3f}"
        f"{_ms(figures.reads.most_ns):>9.2f}{_ms(figures.writes.most_ns):>9.2f}{_ms(every.stdev_ns):>9.3f}"
        f"{every.sum_ns / seconds / 1e9:>7.1f}{UNKNOWN:>6}{UNKNOWN:>6}"
    )


def _ms(value_ns: float) -> float:
    """Milliseconds; 0 of nothing, as vdbench prints it."""
    return value_ns / 1e6 if value_ns == value_ns else 0.0
