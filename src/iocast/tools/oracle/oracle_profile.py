"""What AWR and Statspack state of the whole instance: its reads and writes with their bytes, and the means of waits."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from iocast.model.workload import Op
from iocast.tools.foreign_numbers import number, whole
from iocast.tools.oracle.report_tables import Table
from iocast.tools.source_files import refuse
from iocast.tools.stated_rows import SECOND_NS, OpFigures, Row

ACTIVITY: Final = "Instance Activity Stats"
WAITS: Final = ("Foreground Wait Events", "Background Wait Events")
ACTIVITY_NOTE: Final = (
    "Rows of the instance count all I/Os of rows of waits and files once more: what every process of it read and wrote,"
    " backups and redo too. Their bytes are stated, their times are not."
)
# Row → operation → its statistics: how many, and how many bytes.
_STATISTICS: Final[dict[str, dict[Op, tuple[str, str]]]] = {
    "all I/O of the instance": {
        "read": ("physical read total IO requests", "physical read total bytes"),
        "write": ("physical write total IO requests", "physical write total bytes"),
    },
    "data blocks of the instance": {
        "read": ("physical read IO requests", "physical read bytes"),
        "write": ("physical write IO requests", "physical write bytes"),
    },
    "redo of the instance": {"write": ("redo writes", "redo size")},
}
INSTANCE: Final = tuple(_STATISTICS)
_COUNT = re.compile(r"\d{1,3}(?:,\d{3}){1,6}|\d{1,19}")
_ROUNDED = re.compile(r"\d(?:\.\d{1,9})?E\+\d{1,2}")
_STATED_MEAN = re.compile(r"(\d{1,3}(?:,\d{3}){1,4}|\d{1,9})(\.\d{1,3})?(ns|us|ms|s)")
_UNITS_NS: Final = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
LEAST_SECONDS: Final = 60  # which the report rounds to one: within 1 %
LEAST_SHARE: Final = 0.99  # of the waits must have a mean, so that theirs is that of all


def instance_rows(path: str, table: Table, minutes: float | None) -> list[Row]:
    """What the instance read and wrote, a row each. Raises SourceError."""
    stated = {cells[0]: (line, cells[1]) for line, cells in table.rows if len(cells) > 1}
    rows = []
    for name, parts in _STATISTICS.items():
        ops = []
        for op, (ios, size) in parts.items():
            if ios in stated and size in stated:
                count = _count(path, *stated[ios], ios)
                if count:
                    ops.append(OpFigures(op=op, ios=count, bytes=_count(path, *stated[size], size)))
        if ops:
            rows.append(
                Row(
                    name=name,
                    test="+".join(each.op for each in ops),
                    ops=tuple(ops),
                    elapsed_ns=round((minutes or 0) * 60 * SECOND_NS) or SECOND_NS,
                    derived=("size", *(() if minutes else ("length",))),
                )
            )
    return rows


def _count(path: str, line: int, cell: str, statistic: str) -> int:
    """A total; one that is too wide for its column is printed as 1.2345678E+12."""
    if _COUNT.fullmatch(cell):
        return whole(path, line, cell.replace(",", ""), statistic)
    if _ROUNDED.fullmatch(cell):
        return round(number(path, line, cell, statistic))
    raise refuse(path, line, f'{statistic}: "{cell[:20]}" is not a count')


def wait_means(
    path: str, tables: Sequence[Table], event_of: Callable[[str, int | None], str | None]
) -> dict[str, float]:
    """The mean wait of each event, in ns, over the tables together; events without a good one are left out.

    `event_of` tells the full name from a cell and the width of its column. Raises SourceError.
    """
    parts: dict[str, list[tuple[int, float | None]]] = {}
    for table in tables:
        seconds = next((at for at, head in enumerate(table.head) if head.endswith("Time (s)")), None)
        if seconds is None or len(table.head) < 4:
            continue
        for line, cells in table.rows:
            name = event_of(cells[0], table.width)
            if name and len(cells) == len(table.head) and _COUNT.fullmatch(cells[1]):
                waits = _count(path, line, cells[1], name)
                parts.setdefault(name, []).append((waits, _mean_ns(path, line, waits, cells, seconds)))
    return {name: mean for name, each in parts.items() if (mean := _together(each)) is not None}


def _mean_ns(path: str, line: int, waits: int, cells: list[str], seconds: int) -> float | None:
    """The mean of one line: as stated with a unit, else from seconds that are not rounded away."""
    for cell in cells[seconds + 1 : seconds + 2]:
        if stated := _STATED_MEAN.fullmatch(cell):
            mean = number(path, line, stated[1].replace(",", "") + (stated[2] or ""), "a mean")
            return mean * _UNITS_NS[stated[3]]
    total = cells[seconds].replace(",", "")
    if not total.isdecimal():
        return None
    total_s = whole(path, line, total, "a time")
    return total_s * 1e9 / waits if waits and total_s >= LEAST_SECONDS else None


def _together(parts: list[tuple[int, float | None]]) -> float | None:
    """The mean of several lines, each with its waits."""
    known = [(waits, mean) for waits, mean in parts if mean is not None]
    counted = sum(waits for waits, _ in known)
    if not counted or counted < LEAST_SHARE * sum(waits for waits, _ in parts):
        return None
    return sum(waits * mean for waits, mean in known) / counted
