"""Snapshots of GV$IOSTAT_FILE: what each file of an Oracle database did between two of them.

What it is: two or more queries of the view in one spool, or in several files in their order, with names above the
columns (SQL*Plus with its rule of dashes, `set colsep '|'`, `set markup csv on`), each row under its time (SYSDATE).
What is read: by name, FILE_NO or FILE_NAME with FILETYPE_NAME (and INST_ID), and the requests and service times in ms
of small and large reads and writes, also as SUM(...): for each file and interval the I/Os and their mean, a row for
small and one for large I/Os.
What it cannot see: percentiles, users, depth; sizes (the view rounds to whole MB). Of asynchronous I/O the service time
ends where Oracle asked for it.
What is refused: a single snapshot; numbers that are not whole (`set numwidth 20`). A counter that fell (a restart), a
file that only one snapshot has, and snapshots out of order leave out their interval, with a warning.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from iocast.model.histogram import Histogram
from iocast.model.run import Run, Source
from iocast.model.stated import Coarse
from iocast.model.workload import Op
from iocast.tools.oracle.view_snapshots import (
    Counters,
    Snapshot,
    ViewRow,
    clock,
    grown,
    has_columns,
    seconds_between,
    snapshots,
    view_rows,
    whole_number,
)
from iocast.tools.source_files import Head, read_whole_lines, refuse
from iocast.tools.stated_rows import SECOND_NS, OpFigures, Row, run, stated

MS_NS = 1_000_000
NEEDS = ("FILETYPE_NAME", "SMALL_READ_REQS")
SIZES = ("SMALL", "LARGE")
OPS: tuple[tuple[str, Op], ...] = (("READ", "read"), ("WRITE", "write"))
COUNTERS = tuple(f"{size}_{op}_{what}" for size in SIZES for op, _ in OPS for what in ("REQS", "SERVICETIME"))
TWO = "query GV$IOSTAT_FILE twice into one spool, some seconds apart, each row with SYSDATE"
CUT = "the file ends within its last table: if it was cut there, files or the last snapshot are missing"


def sniff(head: Head) -> bool:
    """The columns of the view above its rows."""
    return has_columns(head.lines(), NEEDS)


def read(paths: tuple[str, ...]) -> Run:
    """The files of all intervals, a row each for small and large I/Os. Raises SourceError."""
    warnings: list[str] = []
    snapshot_list: list[Snapshot] = []
    for path in paths:
        snapshot_list += _snapshots(path, read_whole_lines(path, warnings), warnings)
    if len(snapshot_list) < 2:
        raise refuse(paths[0], 0, "it has one snapshot; what happened is the difference of two", TWO)
    rows = [row for first, then in pairwise(snapshot_list) for row in _interval(paths[0], first, then, warnings)]
    if not rows:
        raise refuse(paths[0], 0, "no file is known to have done I/O between its snapshots", TWO)
    return run(Source(tool="GV$IOSTAT_FILE", files=paths), rows, warnings=warnings)


def _snapshots(path: str, text: str, warnings: list[str]) -> list[Snapshot]:
    table = view_rows(path, text, NEEDS)
    if not table.ended:
        warnings.append(f"{path}: {CUT}")
    return snapshots(table.rows, _key, lambda row: _counters(path, row))


def _key(row: ViewRow) -> tuple[str, ...]:
    """The instance, the file by its name or number, and its type: numbers of temp files begin at 1 again."""
    cells = row.cells
    return cells.get("INST_ID", ""), cells["FILETYPE_NAME"], cells.get("FILE_NAME") or cells.get("FILE_NO", "")


def _counters(path: str, row: ViewRow) -> Counters:
    values = ((name, whole_number(path, row, name)) for name in COUNTERS)
    return {name: value for name, value in values if value is not None}


def _interval(path: str, first: Snapshot, then: Snapshot, warnings: list[str]) -> Iterable[Row]:
    """The files that did I/O between two snapshots."""
    span = f"{clock(first.stamp)} to {clock(then.stamp)}" if then.stamp else ""
    seconds = seconds_between(first.stamp, then.stamp)
    if seconds is not None and seconds <= 0:
        warnings.append(f"{path}: the snapshot of {then.stamp[:40]} is not later than the one before: left out")
        return
    gone = [key for key in first.keys if key not in then.keys]
    warnings += [f"{path}: {_name(key)} is not in the snapshot {then.stamp[:40]}: unknown from then on" for key in gone]
    for key, now in then.keys.items():
        before = first.keys.get(key)
        went = grown(before, now) if before is not None else None
        if went is None:
            why = "was not there before" if before is None else "has a counter that fell: the instance was restarted"
            warnings.append(f"{path}: {_name(key)}, {span or 'one interval'}: it {why}: left out")
            continue
        yield from _rows(key, span, went, seconds)


def _rows(key: tuple[str, ...], span: str, went: Counters, seconds: float | None) -> Iterable[Row]:
    for size in SIZES:
        ops = tuple(
            OpFigures(op=op, ios=ios, bytes=0, times=_mean(ios, went.get(f"{size}_{word}_SERVICETIME")))
            for word, op in OPS
            if (ios := went.get(f"{size}_{word}_REQS"))
        )
        if ops:
            yield Row(
                name=" ".join(part for part in (_name(key), size.lower(), span) if part),
                test="+".join(each.op for each in ops),
                ops=ops,
                elapsed_ns=round((seconds or 1) * SECOND_NS),
                path=key[2] if "/" in key[2] or key[2].startswith("+") else "",
                derived=("size", *(() if seconds else ("length",))),
            )


def _mean(ios: int, took_ms: int | None) -> Histogram:
    """The mean of an interval. No time for some I/Os: the statistics are off, or all were below a millisecond."""
    return stated(Coarse(total=ios, mean_ns=took_ms * MS_NS / ios)) if took_ms else Histogram()


def _name(key: tuple[str, ...]) -> str:
    instance, kind, file = key
    return " ".join(part for part in (f"instance {instance}" if instance else "", kind, file) if part)
