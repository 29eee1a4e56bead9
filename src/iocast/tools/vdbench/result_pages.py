"""What vdbench's pages state of each run: its average, the intervals before it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from iocast.tools.foreign_numbers import DAY_S, bounded, number
from iocast.tools.source_files import refuse
from iocast.tools.vdbench.run_tables import (
    Line,
    flat_lines,
    second_of_day,
    span_of,
    start_of,
    summary_lines,
    text_of,
    ungrouped,
)

SAME_SIZE = 0.01  # MB/s is printed with two decimals or more
BESIDE = ("Mkdir", "Rmdir", "Create", "Open", "Close", "Delete", "Getattr", "Setattr", "Access", "Copy", "Move")

RunKey = tuple[str, int]  # a run's name, and the how manieth of that name it is: "for" loops repeat it


class Interval(Struct, frozen=True):
    """One reporting interval: its time of day in seconds, its rate, its mean."""

    second: float
    rate_per_s: float
    resp_ms: float | None


class RunFigures(Struct, frozen=True, kw_only=True):
    """The average of one run definition. None: n/a, or no such column."""

    rate_per_s: float
    mb_per_s: float
    read_percent: float
    intervals: list[Interval]
    read_mb_per_s: float | None = None
    write_mb_per_s: float | None = None
    resp_ms: float | None = None
    read_resp_ms: float | None = None
    write_resp_ms: float | None = None
    max_ms: float | None = None
    read_max_ms: float | None = None
    write_max_ms: float | None = None
    stdev_ms: float | None = None
    read_stdev_ms: float | None = None
    write_stdev_ms: float | None = None
    size_bytes: int | None = None  # None as well when sizes are mixed
    threads: int | None = None
    seek_percent: float | None = None  # below 0: sequential
    asked_per_s: float | None = None
    queue_depth: float | None = None
    seconds: float | None = None
    beside: tuple[str, ...] = ()  # operations of a file system run that are neither reads nor writes


def completed(first: RunFigures, second: RunFigures) -> RunFigures:
    """The figures of a page, and of another page what the first does not state."""
    missing = {name: getattr(second, name) for name in first.__struct_fields__ if getattr(first, name) is None}
    if first.size_bytes is None:
        missing.pop("size_bytes", None)  # the first knows that they are mixed
    return replace(first, **missing)


def averages(path: str, text: str, kind: str, warnings: list[str]) -> dict[RunKey, RunFigures]:
    """The average of each run definition. Raises SourceError."""
    lines = flat_lines(path, text) if kind == "flatfile" else summary_lines(path, text)
    runs: dict[RunKey, list[Line]] = {}
    for line in lines:
        runs.setdefault((line.run, line.nth), []).append(line)
    by_run = {}
    for key, own in runs.items():
        last = own[-1]
        if any(span_of(each.cells["interval"]) for each in own[:-1]):
            raise refuse(
                path, last.at, f"figures after the average of {key[0]}: the first line of the next run is damaged"
            )
        figures = _figures(path, last, own[:-1]) if span_of(last.cells["interval"]) else None
        if figures is not None:
            by_run[key] = figures
        elif span_of(last.cells["interval"]):
            warnings.append(f"{path}:{last.at}: run {key[0]} ended before its second interval: left out")
        else:
            warnings.append(f"{path}:{last.at}: run {key[0]} has no average, so it is truncated: left out")
    if kind != "flatfile":
        warnings += _without_lines(path, text, runs)
    return by_run


def _without_lines(path: str, text: str, runs: dict[RunKey, list[Line]]) -> list[str]:
    """Runs that began and of which there is no line."""
    said = []
    counts: dict[str, int] = {}
    for at, line in enumerate(text.splitlines(), 1):
        if start := start_of(text_of(line)):
            counts[start[0]] = counts.get(start[0], -1) + 1
            if (start[0], counts[start[0]]) not in runs:
                said.append(f"{path}:{at}: run {start[0]} has no average, so it is truncated: left out")
    return said


def _value(path: str, at: int, row: dict[str, str], name: str) -> float | None:
    text = row.get(name, "n/a")
    return None if text in ("n/a", "") else number(path, at, ungrouped(text), name)


def _signed(path: str, at: int, row: dict[str, str], name: str) -> float | None:
    """A column in which a value below 0 is a word: seekpct=seq, sizes or threads that differ."""
    text = row.get(name, "n/a")
    return -1.0 if text.startswith("-") else _value(path, at, row, name)


def _figures(path: str, line: Line, own: Sequence[Line]) -> RunFigures | None:
    """The average that stands in this line; None when the run ended before there was one."""
    at, row = line.at, line.cells
    files = "Read_rate" in row
    if files:
        row = {**row, **_as_storage(path, at, row)}
    rate, mb, read = (_value(path, at, row, name) for name in ("rate", "MB/sec", "read%"))
    if rate is None or mb is None or read is None:
        raise refuse(path, at, "an average without its rate, MB/sec or read%")
    if read > 100:
        raise refuse(path, at, f"{read:g} % of the I/Os are reads")
    first, last = span_of(row["interval"]) or (0, 0)
    if first == last + 1 and last and not rate:
        return None
    intervals = [_interval(path, each, files) for each in own]
    threads = _signed(path, at, row, "threads")
    return RunFigures(
        rate_per_s=rate,
        mb_per_s=mb,
        read_percent=read,
        read_mb_per_s=_value(path, at, row, "MB_read"),
        write_mb_per_s=_value(path, at, row, "MB_write"),
        resp_ms=_value(path, at, row, "resp"),
        read_resp_ms=_value(path, at, row, "read_resp"),
        write_resp_ms=_value(path, at, row, "write_resp"),
        max_ms=_value(path, at, row, "resp_max"),
        read_max_ms=_value(path, at, row, "read_max"),
        write_max_ms=_value(path, at, row, "write_max"),
        stdev_ms=_value(path, at, row, "resp_std"),
        read_stdev_ms=_value(path, at, row, "read_std"),
        write_stdev_ms=_value(path, at, row, "write_std"),
        size_bytes=None if files else _size(path, at, row, own, rate, mb),
        threads=round(threads) if threads and threads > 0 else None,
        seek_percent=_signed(path, at, row, "seekpct"),
        asked_per_s=_value(path, at, row, "reqrate"),
        queue_depth=_value(path, at, row, "queue_depth"),
        seconds=_seconds(path, at, row, intervals),
        intervals=intervals,
        beside=_beside(path, at, row),
    )


def _beside(path: str, at: int, row: dict[str, str]) -> tuple[str, ...]:
    """The operations of a file system run that are neither reads nor writes, with their rates."""
    rates = ((name.lower(), _value(path, at, row, f"{name}_rate")) for name in BESIDE)
    return tuple(f"{name} {rate:g}/s" for name, rate in rates if rate)


def _as_storage(path: str, at: int, row: dict[str, str]) -> dict[str, str]:
    """The columns of a file system run by the names of a storage run: its I/Os are its reads and writes."""
    reads, writes = (_value(path, at, row, name) or 0.0 for name in ("Read_rate", "Write_rate"))
    read_resp, write_resp = (_value(path, at, row, name) or 0.0 for name in ("Read_resp", "Write_resp"))
    rate = reads + writes
    own = {
        "rate": str(rate),
        "read%": str(100 * reads / rate if rate else 0.0),
        "resp": str((reads * read_resp + writes * write_resp) / rate) if rate else "n/a",
        "resp_max": "n/a",  # those of all operations, opening and closing too
        "resp_std": "n/a",
        "read_resp": str(read_resp) if reads else "n/a",
        "write_resp": str(write_resp) if writes else "n/a",
    }
    for name in ("read", "write"):
        for what in ("max", "std"):
            own[f"{name}_{what}"] = row.get(f"{name.capitalize()}_resp_{what}", "n/a")
    return own


def _size(path: str, at: int, row: dict[str, str], own: Sequence[Line], rate: float, mb: float) -> int | None:
    """The size of every I/O. Of a mix the page names the first size only, so the mean must agree with it."""
    size, mean = _signed(path, at, row, "xfersize"), _value(path, at, row, "bytes/io")
    if mean is None and rate:
        mean = mb * (1 << 20) / rate
    if not mean:
        return None
    if size and size > 0:
        return round(size) if math.isclose(size, mean, rel_tol=SAME_SIZE, abs_tol=1) else None
    means = {each.cells.get("bytes/io") for each in own} | {row.get("bytes/io")}
    return round(bounded(path, at, mean, "bytes/io")) if len(means) == 1 and mean % 512 == 0 else None


def _interval(path: str, line: Line, files: bool) -> Interval:
    row = {**line.cells, **_as_storage(path, line.at, line.cells)} if files else line.cells
    resp = row.get("resp", "n/a")
    return Interval(
        second_of_day(path, line.at, row["tod"]),
        number(path, line.at, ungrouped(row["rate"]), "rate"),
        None if resp == "n/a" else number(path, line.at, ungrouped(resp), "resp"),
    )


def _seconds(path: str, at: int, row: dict[str, str], intervals: Sequence[Interval]) -> float | None:
    """The length of the average: how many intervals it spans, times the usual distance of two of them."""
    first, last = span_of(row["interval"]) or (0, 0)
    spans = last - first + 1
    if spans < 1 or not first:
        raise refuse(path, at, f"{row['interval']} is not a range of intervals")
    if row.get("seconds"):  # the line that begins the run: all its intervals take elapsed and warm-up together
        return spans * ((_value(path, at, row, "seconds") or 0.0) + (_value(path, at, row, "warmup") or 0.0)) / last
    if len(intervals) < 2:
        return None
    whole = (intervals[-1].second - intervals[0].second) % DAY_S
    return spans * max(1.0, round(whole / (len(intervals) - 1)))
