"""fio's log files, line by line, cut into the jobs they hold: I/Os counted, bins added up, or means of intervals."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import IO

from msgspec import Struct

from iocast.model.histogram import Histogram, bucket_index
from iocast.tools.fio.latency_bins import binning
from iocast.tools.foreign_numbers import whole_of
from iocast.tools.source_files import opened, refuse

LINE = re.compile(r"^\s*\d+, *\d+, *\d+(, *\d+)")
NUMBERS = re.compile(r"(?:\d{1,20}|0x[0-9a-fA-F]{1,16})(?:\s*,\s*(?:\d{1,20}|0x[0-9a-fA-F]{1,16}))*", re.ASCII)
COLUMNS = range(4, 8)
BACK_MS = 10  # by which lines of one job may come out of order
LONGEST_LINE = 1 << 17  # characters: 1856 bins of 20 digits are 40 KB
MOST_JOBS = 100_000
EXACT = 1000  # smaller values have a bucket of their own


class Mean(Struct, frozen=True):
    """A line that is the mean of an interval."""

    time_ms: int
    value: int
    direction: int


class Ios(Struct):
    """The I/Os of one direction that have a line each. `buckets` are those of Histogram, of values as logged."""

    count: int = 0
    bytes: int = 0
    smallest: int = 0
    largest: int = 0
    sum: int = 0
    squares: int = 0
    least: int = 0
    most: int = 0
    buckets: Counter[int] = Counter()

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
            self.sum * unit_ns,
            self.squares * unit_ns * unit_ns,
            self.least * unit_ns,
            self.most * unit_ns,
        )


class Bins(Struct):
    """The bins of one direction, all lines of a histogram log added up."""

    bins: int
    counts: Counter[int]
    sizes: set[int]


class JobLog(Struct):
    """The lines of one job in one file of this kind ("bw", "clat_hist" ...). A file may hold several jobs."""

    path: str
    kind: str
    columns: int
    averaged: bool
    first_ms: int
    last_ms: int
    means: list[Mean] = []
    ios: dict[int, Ios] = {}
    bins: dict[int, Bins] = {}
    bin_times_ms: list[int] = []
    beyond_start: bool = False  # a value that in microseconds would have begun before the run

    @property
    def directions(self) -> set[int]:
        """0 reads, 1 writes, 2 trims."""
        return {*self.ios, *self.bins, *(each.direction for each in self.means)}

    def of(self, direction: int) -> list[Mean]:
        """The means of one direction, in order of time."""
        return sorted((each for each in self.means if each.direction == direction), key=lambda each: each.time_ms)

    def unit_ns(self) -> int:
        """What a latency counts: microseconds in fio 2, nanoseconds in fio 3. Raises SourceError."""
        if self.columns > 4:
            return 1
        if self.beyond_start:
            return 1
        most = max([*(each.most for each in self.ios.values()), *(each.value for each in self.means)])
        if most < EXACT:
            return 1000  # as nanoseconds no I/O of all would have taken a microsecond
        raise refuse(self.path, 1, "with four columns the unit of latency (us or ns) is unknown", "give the run's JSON")


def read_log(path: str, kind: str, warnings: list[str]) -> list[JobLog]:
    """The jobs of one file, in its order. Raises SourceError with the line."""
    reader = _Reader(path, kind)
    with opened(path) as file:
        for at, line, whole in _lines(path, file):
            why = reader.take(at, line)
            if not whole and reader.jobs and (why or kind != "clat_hist"):
                # Even a last line of the right width may have lost digits.
                warnings.append(f"{path}:{at}: the last line is truncated: left out")
                break
            if why:
                raise refuse(path, at, why)
            reader.keep()
    if not reader.jobs:
        raise refuse(path, 0, "it has no complete line")
    return reader.jobs


def _lines(path: str, file: IO[bytes]) -> Iterator[tuple[int, str, bool]]:
    """Every line that is not blank, its number, and whether it has its end."""
    at = 0
    while line := file.readline(LONGEST_LINE):
        at += 1
        whole = line.endswith(b"\n")
        if not whole and len(line) == LONGEST_LINE:
            raise refuse(path, at, f"a line of more than {LONGEST_LINE >> 10} KiB: not a log of fio")
        text = line.decode("utf-8", "replace").removeprefix("\ufeff").strip()
        if text:
            yield at, text, whole


class _Reader:
    """Reads line after line into the job that is going on; when time goes back, the next job begins."""

    def __init__(self, path: str, kind: str) -> None:
        self.path, self.kind = path, kind
        self.jobs: list[JobLog] = []
        self.columns = 0
        self.both = False  # its lines hold mean and largest; only the mean is read
        self.averaged = False
        self.values: list[int] = []
        self.latest: dict[int, int] = {}  # of each direction in this job
        self.step_ms = 0  # the longest between two lines of one direction

    def take(self, at: int, line: str) -> str:
        """Reads a line; what is wrong with it ("" when nothing is)."""
        self.values = _numbers(line)
        if not self.columns and self.kind != "clat_hist":
            self.both = _both(self.values)
        if self.both:
            del self.values[2:3]
        return self._why_not()

    def _why_not(self) -> str:
        values, histogram = self.values, self.kind == "clat_hist"
        if not values:
            return "not all of these are whole numbers"
        fits = binning(len(values) - 3) is not None if histogram else len(values) in COLUMNS
        if not fits:
            return f"{len(values)} numbers; not a line of fio's {self.kind} log"
        if not histogram and self.columns and bool(values[3]) == self.averaged:
            return "interval means (size 0) and single I/Os in one log"
        if self.columns not in (0, len(values)):
            return f"{len(values)} numbers after lines of {self.columns}"
        if values[1 if histogram else 2] not in (0, 1, 2):
            return "not a read, write or trim"
        return ""

    def keep(self) -> None:
        """Adds the line that was read last."""
        values, histogram = self.values, self.kind == "clat_hist"
        if not self.columns:
            self.columns = len(values)
            self.averaged = not histogram and not values[3]
        time_ms, direction = values[0], values[1 if histogram else 2]
        if not self.jobs or self._goes_back(time_ms, direction):
            self._begin(time_ms)
        job = self.jobs[-1]
        self.step_ms = max(self.step_ms, time_ms - self.latest.get(direction, time_ms))
        self.latest[direction] = time_ms
        job.last_ms = max(job.last_ms, time_ms)
        job.first_ms = min(job.first_ms, time_ms)
        if histogram:
            self._add_bins(job, direction)
        elif self.averaged:
            job.means.append(Mean(time_ms, values[1], direction))
        else:
            self._add_io(job, direction)
        # In microseconds it would have begun before the run.
        job.beyond_start = job.beyond_start or (not histogram and values[1] > (time_ms + 1) * 1000)

    def _goes_back(self, time_ms: int, direction: int) -> bool:
        """Single I/Os of all directions come in order, means of intervals in the order of each direction."""
        latest = self.jobs[-1].last_ms
        if self.averaged or self.kind == "clat_hist":
            own = self.latest.get(direction, 0)
            interval_ms = self.step_ms or self.jobs[-1].first_ms  # the first line ends the first interval
            return time_ms < own - BACK_MS or time_ms < latest - max(BACK_MS, 2 * interval_ms)
        return time_ms < latest - BACK_MS

    def _begin(self, time_ms: int) -> None:
        if len(self.jobs) == MOST_JOBS:
            raise refuse(self.path, 0, f"time goes back more than {MOST_JOBS} times: not a log of fio")
        self.jobs.append(JobLog(self.path, self.kind, self.columns, self.averaged, time_ms, time_ms))
        self.latest, self.step_ms = {}, 0

    def _add_io(self, job: JobLog, direction: int) -> None:
        _, value, _, size_bytes = self.values[:4]
        ios = job.ios.get(direction)
        if ios is None:
            ios = job.ios[direction] = Ios(smallest=size_bytes, least=value, buckets=Counter())
        ios.count += 1
        ios.bytes += size_bytes
        ios.smallest, ios.largest = min(ios.smallest, size_bytes), max(ios.largest, size_bytes)
        ios.sum += value
        ios.squares += value * value
        ios.least, ios.most = min(ios.least, value), max(ios.most, value)
        ios.buckets[bucket_index(value)] += 1

    def _add_bins(self, job: JobLog, direction: int) -> None:
        counts = self.values[3:]
        bins = job.bins.setdefault(direction, Bins(len(counts), Counter(), set()))
        bins.counts.update({index: count for index, count in enumerate(counts) if count})
        bins.sizes.add(self.values[2])
        job.bin_times_ms.append(self.values[0])


def _both(values: Sequence[int]) -> bool:
    """log_window_value=both puts the largest value of an interval behind its mean."""
    return len(values) > 5 and values[2] > 2 >= values[3] and values[2] >= values[1]


def _numbers(line: str) -> list[int]:
    """The numbers of a line; none when it holds anything else. Priorities are hexadecimal."""
    line = line.rstrip(",")
    if not NUMBERS.fullmatch(line):
        return []
    found = [whole_of(part, 16 if "x" in part else 10) for part in line.split(",")]
    return [value for value in found if value is not None] if None not in found else []
