"""The lines of fio's logs, and what they make together: I/Os one by one, bins, or means of intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from iocast.imports.fio_words import BINS_NS, BINS_US, from_bins
from iocast.imports.source_files import refuse
from iocast.imports.stated_rows import OpFigures
from iocast.model.histogram import Histogram, bucket_index
from iocast.model.run import Sample
from iocast.model.workload import Op

OPS: tuple[Op, ...] = ("read", "write", "trim")
LATENCIES = ("lat", "clat")  # the better one first
COARSENESS = range(7)  # fio joins 2**n bins
METRICS = {"bw": ("bytes_per_s", 1024), "iops": ("ios_per_s", 1), "lat": ("lat_ns", 1), "clat": ("clat_ns", 1)}


class Entry(Struct, frozen=True):
    """One line. `size_bytes` is 0 when it is the mean of an interval."""

    time_ms: int
    value: int
    direction: int
    size_bytes: int
    bins: tuple[int, ...] = ()


class Log:
    """One file: its kind ("bw", "clat_hist" ...) and its lines."""

    def __init__(self, path: str, kind: str) -> None:
        self.path, self.kind = path, kind
        self.columns = 0
        self.both = False  # its lines hold mean and largest; only the mean is read
        self.entries: list[Entry] = []

    @property
    def averaged(self) -> bool:
        """True when its lines are means of intervals."""
        return self.kind != "clat_hist" and not self.entries[0].size_bytes

    @staticmethod
    def bins_fit(columns: int) -> bool:
        """Whether a line of a histogram log has as many numbers."""
        return _binning(columns - 3) is not None

    def of(self, direction: int) -> list[Entry]:
        """The lines of one direction, in order of time."""
        return sorted((entry for entry in self.entries if entry.direction == direction), key=lambda e: e.time_ms)

    def unit_ns(self) -> int:
        """What a latency counts: microseconds in fio 2, nanoseconds in fio 3. Raises SourceError."""
        if self.columns > 4:
            return 1
        if any(entry.value > (entry.time_ms + 1) * 1000 for entry in self.entries):
            return 1  # as microseconds it would have begun before the run
        if max(entry.value for entry in self.entries) < 1000:
            return 1000  # as nanoseconds no I/O of all would have taken a microsecond
        raise refuse(
            self.path, 1, "four columns do not say whether latencies are micro- or nanoseconds", "give the run's JSON"
        )


def _binning(bins: int) -> tuple[int, int] | None:
    """The unit in ns and how many of fio's bins are joined in one, for a number of bins."""
    for full, unit_ns in ((BINS_NS, 1), (BINS_US, 1000)):
        for power in COARSENESS:
            if bins == full >> power:
                return unit_ns, 1 << power
    return None


def first_ms(logs: Sequence[Log]) -> int:
    """When the run began: with its first I/O, or an interval before the first mean."""
    starts = []
    for log in logs:
        times = sorted({entry.time_ms for entry in log.entries})
        gaps = sorted(after - before for before, after in pairwise(times))
        usual = gaps[len(gaps) // 2] if gaps and (log.averaged or log.kind == "clat_hist") else 0
        starts.append(times[0] - usual)
    return min(starts)


def figures_of(logs: Sequence[Log], start_ms: int, elapsed_ns: int) -> tuple[tuple[OpFigures, ...], tuple[str, ...]]:
    """What was done by each operation, and which of it is worked out from rates."""
    ops, derived = [], set()
    for direction, op in enumerate(OPS):
        mine = {log.kind: log for log in logs if any(entry.direction == direction for entry in log.entries)}
        if not mine:
            continue
        found = _by_io(op, direction, mine) or _by_bins(op, direction, mine.get("clat_hist"))
        if found is None:
            found = _by_rate(op, direction, mine, start_ms)
            derived.add("ios")
        ops.append(found)
    return tuple(ops), tuple(sorted(derived))


def _by_io(op: Op, direction: int, logs: dict[str, Log]) -> OpFigures | None:
    """Every I/O has a line of its own."""
    single = {kind: log for kind, log in logs.items() if kind != "clat_hist" and not log.averaged}
    if not single:
        return None
    timed = next((single[kind] for kind in LATENCIES if kind in single), None)
    entries = (timed or next(iter(single.values()))).of(direction)
    sizes = {entry.size_bytes for entry in entries}
    return OpFigures(
        op=op,
        ios=len(entries),
        bytes=sum(entry.size_bytes for entry in entries),
        size_bytes=sizes.pop() if len(sizes) == 1 else None,
        times=_exact([entry.value * timed.unit_ns() for entry in entries]) if timed else Histogram(),
    )


def _exact(values_ns: Sequence[int]) -> Histogram:
    counts = Counter(bucket_index(value) for value in values_ns)
    order = sorted(counts)
    squares = float(sum(value * value for value in values_ns))
    return Histogram(
        tuple(order), tuple(counts[i] for i in order), sum(values_ns), squares, min(values_ns), max(values_ns)
    )


def _by_bins(op: Op, direction: int, log: Log | None) -> OpFigures | None:
    """The sum of all histograms of a histogram log."""
    if log is None:
        return None
    entries = log.of(direction)
    unit_ns, joined = _binning(len(entries[0].bins)) or (1, 1)
    counts: Counter[int] = Counter()
    for entry in entries:
        counts.update({index: count for index, count in enumerate(entry.bins) if count})
    times = from_bins(counts, unit_ns, joined)
    sizes = {entry.size_bytes for entry in entries}
    size = sizes.pop() if len(sizes) == 1 else None
    # Of several sizes in an interval a line names one only: what was moved is not known then.
    moved = times.total * size if size else 0
    return OpFigures(op=op, ios=times.total, bytes=moved, size_bytes=size, times=Histogram.stated(times))


def _by_rate(op: Op, direction: int, logs: dict[str, Log], start_ms: int) -> OpFigures:
    """Rates times the lengths of their intervals."""
    ios = round(_area(logs["iops"].of(direction), start_ms)) if "iops" in logs else 0
    moved = round(_area(logs["bw"].of(direction), start_ms) * 1024) if "bw" in logs else 0
    return OpFigures(op=op, ios=ios, bytes=moved)


def _area(entries: Sequence[Entry], start_ms: int) -> float:
    times = [start_ms, *(entry.time_ms for entry in entries)]
    return sum(
        entry.value * max(0, end - begin) / 1000 for entry, (begin, end) in zip(entries, pairwise(times), strict=True)
    )


def samples_of(logs: Sequence[Log]) -> tuple[Sample, ...]:
    """The means of intervals, as samples on the clock of the log."""
    found = []
    for log in logs:
        if log.averaged and log.kind in METRICS:
            metric, factor = METRICS[log.kind]
            factor = log.unit_ns() if log.kind in LATENCIES else factor
            found += [
                Sample(entry.time_ms * 1_000_000, "fio", OPS[entry.direction], metric, float(entry.value * factor))
                for entry in log.entries
            ]
    return tuple(sorted(found, key=lambda sample: sample.time_ns))
