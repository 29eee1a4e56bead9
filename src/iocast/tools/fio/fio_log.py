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

from iocast import metrics
from iocast.model.histogram import Histogram
from iocast.model.run import Run, Sample, Source
from iocast.model.workload import Op
from iocast.tools import consistency
from iocast.tools.fio.bulk_log import count_log
from iocast.tools.fio.job_options import OPS
from iocast.tools.fio.latency_bins import binning, from_bins
from iocast.tools.fio.log_files import LINE, JobLog, Mean, read_log
from iocast.tools.source_files import Head, refuse
from iocast.tools.stated_rows import OpFigures, Row, run

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
    stems: dict[tuple[str, str], list[list[JobLog]]] = {}
    for path in paths:
        found = NAME.match(os.path.basename(path))
        if found is None:
            raise refuse(path, 0, "its name does not say which fio log it is")
        kind = found["kind"]
        jobs = count_log(path, kind) or read_log(path, kind, warnings)
        stems.setdefault((found["stem"], found["job"] or ""), []).append(jobs)
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
        found = _by_io(op, direction, mine) or _by_bins(op, direction, mine.get("clat_hist"))
        if found is None:
            found = _by_rate(op, direction, mine, start_ms)
            derived.add("ios")
        ops.append(found)
    return tuple(ops), tuple(sorted(derived))


def _by_io(op: Op, direction: int, logs: dict[str, JobLog]) -> OpFigures | None:
    """Every I/O has a line of its own."""
    single = {kind: log for kind, log in logs.items() if direction in log.ios}
    if not single:
        return None
    timed = next((single[kind] for kind in LATENCIES if kind in single), None)
    ios = (timed or next(iter(single.values()))).ios[direction]
    return OpFigures(
        op=op,
        ios=ios.count,
        bytes=ios.bytes,
        size_bytes=ios.size_bytes,
        times=ios.histogram(timed.unit_ns()) if timed else Histogram(),
    )


def _by_bins(op: Op, direction: int, log: JobLog | None) -> OpFigures | None:
    """The sum of all histograms of a histogram log."""
    if log is None:
        return None
    summed = log.bins[direction]
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
    found = []
    for log in logs:
        if log.averaged and log.kind in METRICS:
            metric, factor = METRICS[log.kind]
            factor = log.unit_ns() if log.kind in LATENCIES else factor
            found += [
                Sample(entry.time_ms * 1_000_000, "fio", OPS[entry.direction], metric, entry.value * factor)
                for entry in log.means
            ]
    return tuple(sorted(found, key=lambda sample: sample.time_ns))
