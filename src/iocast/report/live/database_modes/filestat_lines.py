"""watch filestat: files of Oracle with their longest read and write since the instance started, the worst first."""

from __future__ import annotations

import time
from collections.abc import Iterator

from iocast.analyse.live.file_times import file_times
from iocast.model.live.moment import Interval
from iocast.model.live.seen import Seen
from iocast.report.live.line_table import Cell, Table

NAME = "filestat"
DATABASE = "oracle"
OBSERVERS = ("oracle.filestat", "oracle.tempstat")
HEADING: tuple[str, ...] = ()
_NAMES = ("INST", "FILES", "FILE#")
COLUMNS = (*_NAMES, "Max ms/Read", "Max ms/Write", "Reads/s", "ms/Read", "Writes/s", "ms/Write")

_NAME_WIDTHS = (5, 10, 6)
_WIDTH = 13
_MOST = 20  # lines an interval; --json and --csv have all


def table(seen: Seen) -> Table:
    """A row a file. The view counts centiseconds: the longest ones are multiples of 10 ms."""
    rows: list[tuple[Cell, ...]] = []
    for each in file_times(seen):
        longest = (_ms(each.read_max_ns), _ms(each.write_max_ns))
        reads, writes = (each.reads_per_s, _ms(each.read_mean_ns)), (each.writes_per_s, _ms(each.write_mean_ns))
        rows.append((each.instance, each.kind, each.number, *longest, *reads, *writes))
    return Table(COLUMNS, tuple(rows))


def _ms(value_ns: float | None) -> float | None:
    return None if value_ns is None else value_ns / 1e6


def lines(interval: Interval) -> Iterator[str]:
    """The worst files; no I/O in the interval, no mean."""
    rows = table(interval).rows
    if not rows:
        yield "(no sample of Oracle's files in this interval)"
        return
    yield _line("time", COLUMNS)
    clock = time.strftime("%H:%M:%S", time.localtime(interval.after.time_ns // 1_000_000_000))
    for row in rows[:_MOST]:
        digits = (0, 0, 0, 3, 0, 3)
        figures = (
            f"{cell:.{d}f}" if isinstance(cell, float | int) else "" for cell, d in zip(row[3:], digits, strict=True)
        )
        yield _line(clock, (*(str(cell) for cell in row[:3]), *figures))
    if len(rows) > _MOST:
        yield f"and {len(rows) - _MOST} files with shorter ones"
    yield ""


def _line(clock: str, cells: tuple[str, ...]) -> str:
    names = " ".join(cell.ljust(width) for cell, width in zip(cells, _NAME_WIDTHS, strict=False))
    return f"{clock:<8} {names}{''.join(cell.rjust(_WIDTH) for cell in cells[len(_NAMES) :])}".rstrip()
