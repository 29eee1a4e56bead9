"""Latency records between <begin record> and <end record>: a moment, a unit, a label, and counts by power of two.

Equal bounds in one record are of several instances (gv$ views of a cluster): their counts are added up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from msgspec import Struct

from iocast.tools.foreign_numbers import whole
from iocast.tools.source_files import refuse

BEGIN, END = "<begin record>", "<end record>"
DAY_US = 86_400_000_000
UNITS_NS = {"nanosec": 1, "microsec": 1_000, "millisec": 1_000_000}
_QUANTIZE = re.compile(r"^\s*(\d{1,18})\s*\|@*\s+(\d{1,18})\s*$")
_MOMENT = re.compile(r"(?:microsec|musec|usec)\s*,\s*(\d{1,18})\b")
_LOWER = ("dtrace", "systemtap", "stap", "bpf")
_UPPER = ("oracle", "event_histogram", "histogram historical data from awr")
_LIKE_BUCKET = re.compile(r"^\d+\s*[|,]")
_PAIR = re.compile(r"^\s*(\d{1,18})\s*,\s*(\d{1,18})\s*$")


class Record(Struct):
    """One record being read."""

    line: int
    moment_us: int | None = None
    clock: str = ""  # the same moment as people read it, in the form of its source
    unit_ns: int | None = None
    label: str = ""
    source: str = ""
    drawn: bool = False  # as a quantize() of DTrace
    counts: dict[int, int] = {}


def is_record(text: str) -> bool:
    """Whether a record begins in this text."""
    return BEGIN in text and "latencyunit" in text


def records(path: str, text: str, warnings: list[str]) -> list[Record]:
    """The whole records of a file; what is cut is told in `warnings`. Raises SourceError."""
    record_list: list[Record] = []
    begun, lines = 0, list[tuple[int, str]]()
    for at, line in enumerate(text.splitlines(), 1):
        plain = line.strip()
        if plain == BEGIN:
            begun, lines = at, []
        elif plain == END and begun:
            record = Record(begun)
            for place, each in lines:
                _line(path, place, each, record)
            record_list.append(record)
            begun = 0
        elif begun:
            lines.append((at, plain))
    if begun:
        warnings.append(f"{path}:{begun}: the last record is truncated: left out")
    if not record_list:
        raise refuse(path, 0, "it has no complete record")
    return record_list


def edges_ns(path: str, record: Record, bound: int) -> tuple[int, int]:
    """Where the bucket of a bound begins and ends: Oracle names the upper edge, all others the lower one."""
    if record.unit_ns is None or record.moment_us is None:
        raise refuse(path, record.line, "a record without timestamp or unit")
    source = record.source or record.label.lower()
    lower = record.drawn or any(name in source for name in _LOWER)
    if not lower and not any(name in source for name in _UPPER):
        raise refuse(path, record.line, "its source is unknown, and so whether bounds are lower or upper edges")
    low, high = (bound, bound * 2) if lower else (bound // 2, bound)
    return low * record.unit_ns, high * record.unit_ns


def span_us(first_us: int, last_us: int) -> int:
    """From one moment to the other: Oracle's scripts count from midnight, and begin again there."""
    if last_us < first_us - DAY_US // 2 and first_us < DAY_US:
        return last_us - first_us + DAY_US
    return last_us - first_us


def _line(path: str, at: int, line: str, record: Record) -> None:
    key, _, value = (part.strip() for part in line.partition(","))
    if key == "timestamp":
        moment = _MOMENT.match(value)
        if not moment:
            raise refuse(path, at, "a timestamp that is not in microseconds")
        record.moment_us = whole(path, at, moment[1], "the timestamp")
        record.clock = value[moment.end() :].strip(" ,")
    elif key == "latencyunit":
        if value not in UNITS_NS:
            raise refuse(path, at, f'"{value}" is not a unit of latency')
        record.unit_ns = UNITS_NS[value]
    elif key == "label":
        record.label = value
    elif key == "datasource":
        record.source = value.lower()
    elif match := _QUANTIZE.match(line) or _PAIR.match(line):
        record.drawn = record.drawn or "|" in line
        bound, count = (whole(path, at, match[place], "a bucket") for place in (1, 2))
        record.counts[bound] = record.counts.get(bound, 0) + count
    elif _LIKE_BUCKET.match(line):
        raise refuse(path, at, "an unreadable bucket")


SOURCE = "systemtap"  # the tools know oracle (upper edges), dtrace and systemtap (lower ones)


class Series(Struct, frozen=True):
    """What was counted of one label: where it begins, and the new counts by lower edge in ns up to each moment."""

    label: str
    started_us: int
    steps: tuple[tuple[int, Mapping[int, int]], ...]  # moment in us, counts


def records_text(every: Iterable[Series]) -> str:
    """The records of all series."""
    counts: dict[int, int] = {}
    lines = []
    for series in every:
        for moment_us, grown in ((series.started_us, {}), *series.steps):
            for bound, count in grown.items():
                counts[bound] = counts.get(bound, 0) + count
            lines.append(_record(series.label, moment_us, counts))
    return "".join(lines)


def _record(label: str, moment_us: int, counts: Mapping[int, int]) -> str:
    seconds, rest = divmod(moment_us, 1_000_000)
    when = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
    rows = (f"{bound},{count}" for bound, count in sorted(counts.items()))
    head = (f"timestamp,microsec,{moment_us},{when}.{rest:06} UTC", f"label,{label}")
    lines = (BEGIN, *head, "latencyunit,nanosec", f"datasource,{SOURCE}", *rows, END)
    return "\n".join(lines) + "\n\n"
