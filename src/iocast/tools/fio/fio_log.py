"""fio's log files: bandwidth, rate, latency, and histograms of completion latency.

What it is: what write_bw_log, write_iops_log, write_lat_log and write_hist_log write: NAME_bw.1.log, _iops, _lat,
_slat, _clat, _clat_hist. The lines do not say what they hold, so the name of the file must.
What is read: logs of one NAME and number given together are one row. With a line for every I/O (each with its size)
latencies become an exact histogram. Lines that are interval means (size 0, log_avg_msec) are kept as samples:
they give rates, but no percentiles. Histogram logs keep fio's own bins.
Latencies are microseconds in fio 2 and nanoseconds in fio 3: the number of bins (1216 or 1856) tells which, more than
four columns mean fio 3, and of four columns microseconds are ruled out when a latency would be longer than the run.
Of mean and largest (log_window_value=both) the mean is kept; priorities may be hexadecimal. Where time goes back, the
next job of the same file begins (per_job_logs=0): each job is a row, its logs those of the same number in each file.
What it cannot see: users and depth; what was not logged; bytes, where bins mix several sizes; whether the jobs of one
file ran at the same time.
What is refused: lines of other than 4 to 7 numbers, another number of bins, logs given together that hold different
numbers of jobs. A truncated last line is left out with a warning.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import pairwise

import msgspec
from msgspec import Struct

from iocast import metrics
from iocast.model.histogram import Histogram, bucket_index
from iocast.model.run import Run, Sample, Source
from iocast.model.workload import Op
from iocast.tools import consistency
from iocast.tools.fio.job_options import OPS
from iocast.tools.fio.latency_bins import binning, from_bins
from iocast.tools.source_files import WRONG_FILE, Head, opened, refuse
from iocast.tools.stated_rows import OpFigures, Row, run

NAME = re.compile(r"^(?P<stem>.+)_(?P<kind>bw|iops|slat|clat|lat|clat_hist)(?:\.(?P<job>\d+))?\.log(?:\.gz)?$")
LINE = re.compile(r"^\s*\d+, *\d+, *\d+(, *\d+)")
PART_BYTES = 1 << 20  # that are read at once
EXACT = 1000  # smaller values have a bucket of their own
EPOCH_MS = 10**11  # log_unix_epoch: milliseconds since 1970
LATENCIES = ("lat", "clat")  # the better one first
METRICS = {
    "bw": (metrics.BYTES_PER_S, 1024),
    "iops": (metrics.IOS_PER_S, 1),
    "lat": (metrics.LAT_NS, 1),
    "clat": (metrics.CLAT_NS, 1),
}

NOTE = "In a log, lat counts from the start of submission and clat from its end; lat is used where both are given."
MEANS_NOTE = "Where the log holds interval means (log_avg_msec), not I/Os, rates are shown but no percentiles."


class Mean(Struct, frozen=True, array_like=True):
    """A line that is the mean of an interval."""

    time_ms: int
    value: int
    direction: int


class Halves(Struct, frozen=True, array_like=True):
    """A whole number of up to 128 bits."""

    upper: int
    lower: int

    @property
    def whole(self) -> int:
        """The number."""
        return (self.upper << 64) + self.lower


class Ios(Struct, frozen=True):
    """The I/Os of one direction that have a line each. `buckets` are those of Histogram, of values as logged."""

    direction: int
    count: int
    bytes: Halves
    smallest: int
    largest: int
    sum: Halves
    squares: Halves
    least: int
    most: int
    buckets: dict[int, int]

    @property
    def size_bytes(self) -> int | None:
        """The size of each; None when they differ."""
        return self.smallest if self.smallest == self.largest else None

    def histogram(self, unit_ns: int) -> Histogram:
        """The exact distribution of their values, which count `unit_ns`."""
        # Only values below EXACT are ever logged in another unit than ns: a bucket is a value then.
        buckets = self.buckets if unit_ns == 1 else {bucket_index(at * unit_ns): n for at, n in self.buckets.items()}
        order = sorted(buckets)
        return Histogram(
            tuple(order),
            tuple(buckets[at] for at in order),
            self.sum.whole * unit_ns,
            self.squares.whole * unit_ns * unit_ns,
            self.least * unit_ns,
            self.most * unit_ns,
        )


class Bins(Struct, frozen=True):
    """The bins of one direction, all lines of a histogram log added up."""

    direction: int
    bins: int
    counts: dict[int, int]
    sizes: list[int]


class JobLog(Struct):
    """The lines of one job in one file of this kind ("bw", "clat_hist" ...), as the core read them."""

    columns: int
    averaged: bool
    first_ms: int
    last_ms: int
    means: list[Mean]
    ios: list[Ios]
    bins: list[Bins]
    bin_times_ms: list[int]
    beyond_start: bool  # a value that in microseconds would have begun before the run
    path: str = ""
    kind: str = ""

    @property
    def directions(self) -> set[int]:
        """0 reads, 1 writes, 2 trims."""
        return {each.direction for part in (self.ios, self.bins, self.means) for each in part}

    def ios_of(self, direction: int) -> Ios | None:
        """The single I/Os of one direction."""
        return next((each for each in self.ios if each.direction == direction), None)

    def of(self, direction: int) -> list[Mean]:
        """The means of one direction, in order of time."""
        return sorted((each for each in self.means if each.direction == direction), key=lambda each: each.time_ms)

    def unit_ns(self) -> int:
        """What a latency counts: microseconds in fio 2, nanoseconds in fio 3. Raises SourceError."""
        if self.columns > 4:
            return 1
        if self.beyond_start:
            return 1
        most = max([*(each.most for each in self.ios), *(each.value for each in self.means)])
        if most < EXACT:
            return 1000  # as nanoseconds no I/O of all would have taken a microsecond
        raise refuse(self.path, 1, "with four columns the unit of latency (us or ns) is unknown", "give the run's JSON")


class _Counted(Struct, frozen=True):
    """What the core found in a file: its jobs, its last line where that is cut, what is wrong and in which line."""

    jobs: list[JobLog]
    truncated: int | None
    refused: tuple[int, str] | None


def sniff(head: Head) -> bool:
    """By its name, and the numbers in its first line."""
    return bool(NAME.match(head.name)) and bool(LINE.match(next(head.lines(), "")))


def read(paths: tuple[str, ...]) -> Run:
    """The logs of each job, as the rows of one run. Raises SourceError."""
    warnings: list[str] = []
    stems: dict[tuple[str, str], list[list[JobLog]]] = {}
    for path in paths:
        match = NAME.match(os.path.basename(path))
        if match is None:
            raise refuse(path, 0, "its name does not say which fio log it is")
        kind = match["kind"]
        jobs = _jobs_of(path, kind, warnings)
        stems.setdefault((match["stem"], match["job"] or ""), []).append(jobs)
    rows = []
    for (stem, job), files in stems.items():
        name = f"{stem} {job}".strip()
        if len(files[0]) > 1:
            warnings.append(
                f"{name}: time goes back in the log: {len(files[0])} jobs in one file (per_job_logs=0). Each is a row;"
                " whether they ran at the same time is not stated"
            )
        rows += [_row(name, stem, logs) for logs in _jobs(files)]
    for row in rows:
        warnings += consistency.inconsistencies(row)
    averaged = any(log.averaged for files in stems.values() for jobs in files for log in jobs)
    notes = (NOTE, MEANS_NOTE) if averaged else (NOTE,)
    return run(Source(tool="fio", files=paths, notes=notes), rows, warnings=warnings)


def _jobs_of(path: str, kind: str, warnings: list[str]) -> list[JobLog]:
    """The jobs of one file, in its order. Raises SourceError with the line."""
    from iocast._core import FioLog

    log = FioLog(kind)
    with opened(path) as file:
        while (part := file.read(PART_BYTES)) and log.feed(part):
            pass
    counted = msgspec.json.decode(log.finish(), type=_Counted)
    if counted.refused:
        raise refuse(path, *counted.refused, WRONG_FILE)
    if counted.truncated:
        warnings.append(f"{path}:{counted.truncated}: the last line is truncated: left out")
    for job in counted.jobs:
        job.path, job.kind = path, kind
    return counted.jobs


def _jobs(files: Sequence[list[JobLog]]) -> list[tuple[JobLog, ...]]:
    """The logs of each job, of files that hold several jobs in the same order. Raises SourceError."""
    first = files[0]
    for other in files[1:]:
        if len(other) != len(first):
            raise refuse(
                other[0].path,
                0,
                f"{len(other)} jobs in it, but {len(first)} in {first[0].path}: which belong together is unknown",
                "give one log of each job, or let fio write a file for each job (per_job_logs=1)",
            )
    return list(zip(*files, strict=True))


def _row(name: str, stem: str, logs: Sequence[JobLog]) -> Row:
    start_ms = _first_ms(logs) if logs[0].first_ms > EPOCH_MS else 0
    end_ms = max(log.last_ms for log in logs)
    elapsed_ns = max(1, end_ms - start_ms) * 1_000_000
    ops, derived = _figures_of(logs, start_ms)
    return Row(
        name=name,
        test="+".join(each.op for each in ops) or stem,
        ops=ops,
        elapsed_ns=elapsed_ns,
        started_unix_ns=start_ms * 1_000_000,
        samples=_samples_of(logs),
        derived=derived,
    )


def _first_ms(logs: Sequence[JobLog]) -> int:
    """When the run began: with its first I/O, or an interval before the first mean."""
    starts = []
    for log in logs:
        times = sorted({*log.bin_times_ms, *(each.time_ms for each in log.means)})
        gaps = sorted(after - before for before, after in pairwise(times))
        starts.append(log.first_ms - (gaps[len(gaps) // 2] if gaps else 0))
    return min(starts)


def _figures_of(logs: Sequence[JobLog], start_ms: int) -> tuple[tuple[OpFigures, ...], tuple[str, ...]]:
    """What was done by each operation, and which of it is worked out from rates."""
    ops, derived = [], set()
    for direction, op in enumerate(OPS):
        mine = {log.kind: log for log in logs if direction in log.directions}
        if not mine:
            continue
        figures = _by_io(op, direction, mine) or _by_bins(op, direction, mine.get("clat_hist"))
        if figures is None:
            figures = _by_rate(op, direction, mine, start_ms)
            derived.add("ios")
        ops.append(figures)
    return tuple(ops), tuple(sorted(derived))


def _by_io(op: Op, direction: int, logs: dict[str, JobLog]) -> OpFigures | None:
    """Every I/O has a line of its own."""
    single = {kind: figures for kind, log in logs.items() if (figures := log.ios_of(direction))}
    if not single:
        return None
    timed = next((kind for kind in LATENCIES if kind in single), "")
    ios = single[timed] if timed else next(iter(single.values()))
    return OpFigures(
        op=op,
        ios=ios.count,
        bytes=ios.bytes.whole,
        size_bytes=ios.size_bytes,
        times=ios.histogram(logs[timed].unit_ns()) if timed else Histogram(),
    )


def _by_bins(op: Op, direction: int, log: JobLog | None) -> OpFigures | None:
    """The sum of all histograms of a histogram log."""
    if log is None:
        return None
    summed = next(each for each in log.bins if each.direction == direction)
    unit_ns, joined = binning(summed.bins) or (1, 1)
    times = from_bins(summed.counts, unit_ns, joined)
    size = next(iter(summed.sizes)) if len(summed.sizes) == 1 else None
    # Of several sizes in an interval a line names one only: what was moved is not known then.
    moved = times.total * size if size else 0
    return OpFigures(op=op, ios=times.total, bytes=moved, size_bytes=size, times=Histogram.stated(times))


def _by_rate(op: Op, direction: int, logs: dict[str, JobLog], start_ms: int) -> OpFigures:
    """Rates times the lengths of their intervals."""
    ios = round(_area(logs["iops"].of(direction), start_ms)) if "iops" in logs else 0
    moved = round(_area(logs["bw"].of(direction), start_ms) * 1024) if "bw" in logs else 0
    return OpFigures(op=op, ios=ios, bytes=moved)


def _area(entries: Sequence[Mean], start_ms: int) -> float:
    times = [start_ms, *(entry.time_ms for entry in entries)]
    return sum(
        entry.value * max(0, end - begin) / 1000 for entry, (begin, end) in zip(entries, pairwise(times), strict=True)
    )


def _samples_of(logs: Sequence[JobLog]) -> tuple[Sample, ...]:
    """The means of intervals, as samples on the clock of the log."""
    samples = []
    for log in logs:
        if log.averaged and log.kind in METRICS:
            metric, factor = METRICS[log.kind]
            factor = log.unit_ns() if log.kind in LATENCIES else factor
            samples += [
                Sample(entry.time_ms * 1_000_000, "fio", OPS[entry.direction], metric, entry.value * factor)
                for entry in log.means
            ]
    return tuple(sorted(samples, key=lambda sample: sample.time_ns))
