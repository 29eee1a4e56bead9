"""fio's log files, line by line: I/Os one by one, bins, or means of intervals."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from iocast.formats.fio.latency_bins import binning
from iocast.formats.source_files import refuse

LINE = re.compile(r"^\s*\d+, *\d+, *\d+(, *\d+)")
NUMBER = re.compile(r"\d{1,20}|0x[0-9a-fA-F]{1,16}")  # priorities are hexadecimal
COLUMNS = range(4, 8)
OUT_OF_ORDER_MS = 60_000  # lines of several directions and threads come a little out of order


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
        return binning(columns - 3) is not None

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
        raise refuse(self.path, 1, "with four columns the unit of latency (us or ns) is unknown", "give the run's JSON")


def read_log(path: str, text: str, kind: str, warnings: list[str]) -> Log:
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
            warnings.append(f"{path}:{at}: the last line is truncated: left out")
            break
        if why:
            raise refuse(path, at, why)
        log.columns = len(values)
        log.entries.append(_entry(log, values))
    if not log.entries:
        raise refuse(path, 0, "it has no complete line")
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
        return "not all of these are whole numbers"
    fits = log.bins_fit(len(values)) if log.kind == "clat_hist" else len(values) in COLUMNS
    if not fits:
        return f"{len(values)} numbers; not a line of fio's {log.kind} log"
    if log.kind != "clat_hist" and log.entries and bool(values[3]) == log.averaged:
        return "interval means (size 0) and single I/Os in one log"
    if log.columns not in (0, len(values)):
        return f"{len(values)} numbers after lines of {log.columns}"
    if log.entries and values[0] < log.entries[-1].time_ms - OUT_OF_ORDER_MS:
        return "time goes back: two logs in one file"
    if values[1 if log.kind == "clat_hist" else 2] not in (0, 1, 2):
        return "not a read, write or trim"
    return ""


def _entry(log: Log, values: Sequence[int]) -> Entry:
    if log.kind == "clat_hist":
        return Entry(values[0], 0, values[1], values[2], tuple(values[3:]))
    return Entry(values[0], values[1], values[2], values[3])
