"""watch filestat: files of Oracle with their longest read and write since the instance started, the worst first."""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.live.file_times import file_times
from iocast.model.live.moment import Interval
from iocast.model.live.readings import Readings
from iocast.report.live.database_modes.under_a_clock import clock, columns, figure
from iocast.report.live.line_table import Cell, Table

NAME = "filestat"
DATABASE = "oracle"
OBSERVERS = ("oracle.filestat", "oracle.tempstat")
HEADING: tuple[str, ...] = ()
_NAMES = ("INST", "FILES", "FILE#")
COLUMNS = (*_NAMES, "Max ms/Read", "Max ms/Write", "Reads/s", "ms/Read", "Writes/s", "ms/Write")

_NAME_WIDTHS = (5, 10, 6)
_DIGITS = (0, 0, 0, 3, 0, 3)
_WIDTH = 13
_MOST = 20  # lines an interval; --json and --csv have all


def table(readings: Readings) -> Table:
    """A row a file. The view counts centiseconds: the longest ones are multiples of 10 ms."""
    rows: list[tuple[Cell, ...]] = []
    for each in file_times(readings):
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
    yield columns("time", COLUMNS, _NAME_WIDTHS, _WIDTH)
    for row in rows[:_MOST]:
        figures = (figure(cell, digits) for cell, digits in zip(row[len(_NAMES) :], _DIGITS, strict=True))
        yield columns(clock(interval), (*map(str, row[: len(_NAMES)]), *figures), _NAME_WIDTHS, _WIDTH)
    if len(rows) > _MOST:
        yield f"and {len(rows) - _MOST} files with shorter ones"
    yield ""
