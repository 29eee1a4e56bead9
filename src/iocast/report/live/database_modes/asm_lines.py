"""watch asm: disks and groups of Oracle's ASM, in the columns of asm_metrics.pl."""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.live.asm_disks import AsmDirection, asm_rows
from iocast.model.live.moment import Interval
from iocast.model.live.readings import Readings
from iocast.report.live.database_modes.under_a_clock import clock, columns, figure
from iocast.report.live.line_table import Cell, Table

NAME = "asm"
DATABASE = "oracle"
OBSERVERS = ("oracle.asm_disk_iostat", "oracle.asm_disk_stat", "oracle.asm_diskgroup_stat")
HEADING: tuple[str, ...] = ()
_NAMES = ("INST", "DBINST", "DG", "FG", "DSK")
COLUMNS = (
    *_NAMES,
    *("Reads/s", "KbyRead/s", "ms/Read", "By/Read"),
    *("Writes/s", "KbyWrite/s", "ms/Write", "By/Write"),
)

_KIB = 1024
_NAME_WIDTHS = (5, 10, 10, 16, 16)
_DIGITS = (0, 0, 3, 0) * 2
_WIDTH = 11


def table(readings: Readings) -> Table:
    """A row a group (without FG and DSK), then one a disk. Kby are of 1024 bytes."""
    rows: list[tuple[Cell, ...]] = []
    for row in asm_rows(readings):
        names = (row.instance, row.database_instance, row.group, row.fail_group or None, row.disk or None)
        rows.append((*names, *_figures(row.reads), *_figures(row.writes)))
    return Table(COLUMNS, tuple(rows))


def _figures(asm_direction: AsmDirection) -> tuple[float | None, float | None, float | None, float | None]:
    return (
        asm_direction.per_s,
        None if asm_direction.bytes_per_s is None else asm_direction.bytes_per_s / _KIB,
        None if asm_direction.mean_ns is None else asm_direction.mean_ns / 1e6,
        asm_direction.size_bytes,
    )


def lines(interval: Interval) -> Iterator[str]:
    """A table an interval; no I/O, no ms and no size."""
    rows = table(interval).rows
    if not rows:
        yield "(no sample of ASM's disks in this interval)"
        return
    yield columns("time", COLUMNS, _NAME_WIDTHS, _WIDTH)
    for row in rows:
        figures = (figure(cell, digits) for cell, digits in zip(row[len(_NAMES) :], _DIGITS, strict=True))
        yield columns(
            clock(interval), (*(str(cell or "") for cell in row[: len(_NAMES)]), *figures), _NAME_WIDTHS, _WIDTH
        )
    yield ""
