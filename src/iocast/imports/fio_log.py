"""fio's log files: bandwidth, rate, latency, and histograms of completion latency.

What it is: what write_bw_log, write_iops_log, write_lat_log and write_hist_log write: NAME_bw.1.log, _iops, _lat,
_slat, _clat, _clat_hist. The lines do not say what they hold, so the name of the file must.
What is read: logs of one NAME and number given together are one row. With a line for every I/O (each with its size)
latencies become an exact histogram. Lines that are means of an interval (size 0, log_avg_msec) are kept as samples:
from means come rates, no percentiles. Histogram logs keep fio's own bins.
Latencies are microseconds in fio 2 and nanoseconds in fio 3: bins tell which (1216 or 1856 of them), more than four
columns mean fio 3, and of four columns microseconds are ruled out when a latency would be longer than the run.
Of mean and largest (log_window_value=both) the mean is kept; priorities may be hexadecimal.
What it cannot see: users and depth; what was not logged; what was moved where bins are of several sizes.
What is refused: lines of other than 4 to 7 numbers, times that go back, another number of bins. A last line without its
end is cut: it is left out with a warning.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from iocast.imports import consistency
from iocast.imports.fio_entries import Entry, Log, figures_of, first_ms, samples_of
from iocast.imports.source_files import Head, read_text, refuse
from iocast.imports.stated_rows import Row, run
from iocast.model.run import Run, Source

NAME = re.compile(r"^(?P<stem>.+)_(?P<kind>bw|iops|slat|clat|lat|clat_hist)(?:\.(?P<job>\d+))?\.log(?:\.gz)?$")
LINE = re.compile(r"^\s*\d+, *\d+, *\d+(, *\d+)")
NUMBER = re.compile(r"\d{1,20}|0x[0-9a-fA-F]{1,16}")  # priorities are hexadecimal
COLUMNS = range(4, 8)
OUT_OF_ORDER_MS = 60_000  # lines of several directions and threads come a little out of order
EPOCH_MS = 10**11  # log_unix_epoch: milliseconds since 1970

NOTE = (
    "A log's lat counts from the start of submission, its clat from the end of it; lat is taken where both are given."
)
MEANS_NOTE = "Where the log holds means of intervals (log_avg_msec), not I/Os, rates are told and no percentiles."


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
            raise refuse(path, 0, "its name does not say which log of fio it is")
        jobs.setdefault((found["stem"], found["job"] or ""), []).append(_log(path, found["kind"], warnings))
    rows = [_row(f"{stem} {job}".strip(), stem, logs) for (stem, job), logs in jobs.items()]
    for row in rows:
        warnings += consistency.inconsistencies(row)
    averaged = any(log.averaged for logs in jobs.values() for log in logs)
    notes = (NOTE, MEANS_NOTE) if averaged else (NOTE,)
    return run(Source(tool="fio", files=paths, notes=notes), rows, warnings=warnings)


def _log(path: str, kind: str, warnings: list[str]) -> Log:
    text = read_text(path)
    log = Log(path, kind)
    lines = text.splitlines()
    for at, line in enumerate(lines, 1):
        if not line.strip():
            continue
        values = _numbers(line)
        if not log.entries:
            log.both = _both(kind, values)
        if log.both:
            del values[2:3]
        cut = at == len(lines) and not text.endswith("\n")
        why = _why_not(log, values)
        if cut and log.entries and (why or kind != "clat_hist"):
            # Even a last line of the right width may have lost digits.
            warnings.append(f"{path}:{at}: the last line is cut: left out")
            break
        if why:
            raise refuse(path, at, why)
        log.columns = len(values)
        log.entries.append(_entry(log, values))
    if not log.entries:
        raise refuse(path, 0, "there is no whole line in it")
    return log


def _both(kind: str, values: Sequence[int]) -> bool:
    """log_window_value=both puts the largest value of an interval behind its mean."""
    return kind != "clat_hist" and len(values) > 5 and values[2] > 2 >= values[3] and values[2] >= values[1]


def _numbers(line: str) -> list[int]:
    parts = [part.strip() for part in line.strip().rstrip(",").split(",")]
    if not all(NUMBER.fullmatch(part) for part in parts):
        return []
    return [int(part, 16 if part.startswith("0x") else 10) for part in parts]


def _why_not(log: Log, values: Sequence[int]) -> str:
    """What is wrong with a line ("" when nothing is)."""
    if not values:
        return "these are not all whole numbers"
    fits = log.bins_fit(len(values)) if log.kind == "clat_hist" else len(values) in COLUMNS
    if not fits:
        return f"{len(values)} numbers, which is no line of fio's {log.kind} log"
    if log.kind != "clat_hist" and log.entries and bool(values[3]) == log.averaged:
        return "means of intervals (size 0) and single I/Os in one log"
    if log.columns not in (0, len(values)):
        return f"{len(values)} numbers after lines of {log.columns}"
    if log.entries and values[0] < log.entries[-1].time_ms - OUT_OF_ORDER_MS:
        return "time goes back: two logs one after the other"
    if values[1 if log.kind == "clat_hist" else 2] not in (0, 1, 2):
        return "neither read nor write nor trim"
    return ""


def _entry(log: Log, values: Sequence[int]) -> Entry:
    if log.kind == "clat_hist":
        return Entry(values[0], 0, values[1], values[2], tuple(values[3:]))
    return Entry(values[0], values[1], values[2], values[3])


def _row(name: str, stem: str, logs: list[Log]) -> Row:
    start_ms = first_ms(logs) if logs[0].entries[0].time_ms > EPOCH_MS else 0
    end_ms = max(entry.time_ms for log in logs for entry in log.entries)
    elapsed_ns = max(1, end_ms - start_ms) * 1_000_000
    ops, derived = figures_of(logs, start_ms, elapsed_ns)
    return Row(
        name=name,
        test="+".join(each.op for each in ops) or stem,
        ops=ops,
        elapsed_ns=elapsed_ns,
        started_unix_ns=start_ms * 1_000_000,
        samples=samples_of(logs),
        derived=derived,
    )
