"""fio's log files: bandwidth, rate, latency, and histograms of completion latency.

What it is: what write_bw_log, write_iops_log, write_lat_log and write_hist_log write: NAME_bw.1.log, _iops, _lat,
_slat, _clat, _clat_hist. The lines do not say what they hold, so the name of the file must.
What is read: logs of one NAME and number given together are one row. With a line for every I/O (each with its size)
latencies become an exact histogram. Lines that are interval means (size 0, log_avg_msec) are kept as samples:
they give rates, but no percentiles. Histogram logs keep fio's own bins.
Latencies are microseconds in fio 2 and nanoseconds in fio 3: the number of bins (1216 or 1856) tells which, more than
four columns mean fio 3, and of four columns microseconds are ruled out when a latency would be longer than the run.
Of mean and largest (log_window_value=both) the mean is kept; priorities may be hexadecimal.
What it cannot see: users and depth; what was not logged; bytes, where bins mix several sizes.
What is refused: lines of other than 4 to 7 numbers, times that go back, another number of bins. A truncated last line
is left out with a warning.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from iocast import metrics
from iocast.formats.fio.job_options import OPS
from iocast.formats.fio.latency_bins import binning, from_bins
from iocast.formats.fio.log_files import LINE, Entry, Log, read_log
from iocast.formats.source_files import Head, read_text, refuse
from iocast.imports import consistency
from iocast.imports.stated_rows import OpFigures, Row, run
from iocast.model.histogram import Histogram, bucket_index
from iocast.model.run import Run, Sample, Source
from iocast.model.workload import Op

NAME = re.compile(r"^(?P<stem>.+)_(?P<kind>bw|iops|slat|clat|lat|clat_hist)(?:\.(?P<job>\d+))?\.log(?:\.gz)?$")
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


def sniff(head: Head) -> bool:
    """By its name, and the numbers in its first line."""
    return bool(NAME.match(head.name)) and bool(LINE.match(next(head.lines(), "")))


def read(paths: tuple[str, ...]) -> Run:
    """The logs of each job, as the rows of one run. Raises SourceError."""
    warnings: list[str] = []
    jobs: dict[tuple[str, str], list[Log]] = {}
    for path in paths:
        found = NAME.match(os.path.basename(path))
        if found is None:
            raise refuse(path, 0, "its name does not say which fio log it is")
        jobs.setdefault((found["stem"], found["job"] or ""), []).append(
            read_log(path, read_text(path), found["kind"], warnings)
        )
    rows = [_row(f"{stem} {job}".strip(), stem, logs) for (stem, job), logs in jobs.items()]
    for row in rows:
        warnings += consistency.inconsistencies(row)
    averaged = any(log.averaged for logs in jobs.values() for log in logs)
    notes = (NOTE, MEANS_NOTE) if averaged else (NOTE,)
    return run(Source(tool="fio", files=paths, notes=notes), rows, warnings=warnings)


def _row(name: str, stem: str, logs: list[Log]) -> Row:
    start_ms = _first_ms(logs) if logs[0].entries[0].time_ms > EPOCH_MS else 0
    end_ms = max(entry.time_ms for log in logs for entry in log.entries)
    elapsed_ns = max(1, end_ms - start_ms) * 1_000_000
    ops, derived = _figures_of(logs, start_ms, elapsed_ns)
    return Row(
        name=name,
        test="+".join(each.op for each in ops) or stem,
        ops=ops,
        elapsed_ns=elapsed_ns,
        started_unix_ns=start_ms * 1_000_000,
        samples=_samples_of(logs),
        derived=derived,
    )


def _first_ms(logs: Sequence[Log]) -> int:
    """When the run began: with its first I/O, or an interval before the first mean."""
    starts = []
    for log in logs:
        times = sorted({entry.time_ms for entry in log.entries})
        gaps = sorted(after - before for before, after in pairwise(times))
        usual = gaps[len(gaps) // 2] if gaps and (log.averaged or log.kind == "clat_hist") else 0
        starts.append(times[0] - usual)
    return min(starts)


def _figures_of(logs: Sequence[Log], start_ms: int, elapsed_ns: int) -> tuple[tuple[OpFigures, ...], tuple[str, ...]]:
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
    unit_ns, joined = binning(len(entries[0].bins)) or (1, 1)
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


def _samples_of(logs: Sequence[Log]) -> tuple[Sample, ...]:
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
