"""watch iometric: Oracle's I/O by function over the last minute, in the columns of iometric_details.sql."""

from __future__ import annotations

import time
from collections.abc import Iterator

from iocast.analyse.live.io_functions import READS, WRITES, IoFunction, io_functions, minutes, summed
from iocast.model.live.moment import Interval
from iocast.model.live.readings import Readings
from iocast.report.live.line_table import Cell, Table

NAME = "iometric"
DATABASE = "oracle"
OBSERVERS = ("oracle.iofuncmetric",)
HEADING: tuple[str, ...] = ()
_FIGURES = (
    ("RD_IOPS_SM", "small_read_iops"),
    ("RD_IOPS_LG", "large_read_iops"),
    ("RD_MBPS_SM", "small_read_mbps"),
    ("RD_MBPS_LG", "large_read_mbps"),
    ("WT_IOPS_SM", "small_write_iops"),
    ("WT_IOPS_LG", "large_write_iops"),
    ("WT_MBPS_SM", "small_write_mbps"),
    ("WT_MBPS_LG", "large_write_mbps"),
)
COLUMNS = ("INST_ID", "BEGIN_TIME", "FUNCTION", *(name for name, _ in _FIGURES))
_TOTALS = ("READ_TOT_IOPS", "READ_TOT_MBPS", "WRITE_TOT_IOPS", "WRITE_TOT_MBPS")
_FUNCTION_WIDTH = 20
_WIDTH = 11


def table(readings: Readings) -> Table:
    """A row an instance and function. Begin: the server's own clock."""
    rows = [
        (each.instance, _clock(each.begin_s) or None, each.function, *(each.figures.get(key) for _, key in _FIGURES))
        for each in io_functions(readings)
    ]
    return Table(COLUMNS, tuple(rows))


def lines(interval: Interval) -> Iterator[str]:
    """Rounded as the script does; then all of them together, and whether they are of the same minute."""
    functions = io_functions(interval)
    if not functions:
        yield "(no sample of Oracle's I/O by function in this interval)"
        return
    yield _row(COLUMNS)
    for row in table(interval).rows:
        yield _row((*(str(cell or "") for cell in row[:3]), *(_shown(cell) for cell in row[3:])))
    yield ""
    spans = minutes(functions)
    yield "".join(name.rjust(_WIDTH + 5) for name in ("BEGIN", "END", *_TOTALS))
    edges = (
        (min(begin for begin, _ in spans.values()), max(end for _, end in spans.values())) if spans else (None, None)
    )
    totals = [summed(functions, kinds, unit) for kinds in (READS, WRITES) for unit in ("iops", "mbps")]
    yield "".join(cell.rjust(_WIDTH + 5) for cell in (*map(_clock, edges), *map(_shown, totals)))
    yield from _mismatch(functions, spans)
    yield ""


def _mismatch(functions: tuple[IoFunction, ...], spans: dict[str, tuple[float, float]]) -> Iterator[str]:
    """Rates of different minutes are added up: the total is of none of them."""
    if len(set(spans.values())) > 1:
        names = "; ".join(f"{instance} {_clock(begin)} to {_clock(end)}" for instance, (begin, end) in spans.items())
        yield f"The minutes of the instances differ: {names}. The total is of no minute of its own."
    untold = sorted({each.instance for each in functions} - set(spans))
    if untold and len({each.instance for each in functions}) > 1:
        yield f"Unknown which minute: instance {', '.join(untold)}. The totals may be of different minutes."


def _row(cells: tuple[str, ...]) -> str:
    names = f"{cells[0]:<8}{cells[1]:<11}{cells[2]:<{_FUNCTION_WIDTH}}"
    return (names + "".join(cell.rjust(_WIDTH) for cell in cells[3:])).rstrip()


def _clock(at_s: float | None) -> str:
    """A date of the server, which was made a number as if its zone were UTC."""
    return "" if at_s is None else time.strftime("%H:%M:%S", time.gmtime(at_s))


def _shown(value: Cell) -> str:
    return f"{value:.0f}" if isinstance(value, float | int) else ""
