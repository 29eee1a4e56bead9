"""Lines of an interval under the time at which it ended: a clock, names to the left, figures to the right."""

from __future__ import annotations

import time
from collections.abc import Sequence

from iocast.model.live.moment import Interval
from iocast.report.live.line_table import Cell


def clock(interval: Interval) -> str:
    """The local time at which it ended."""
    return time.strftime("%H:%M:%S", time.localtime(interval.after.time_ns // 1_000_000_000))


def figure(value: Cell, digits: int) -> str:
    """With so many digits behind the point; blank where it is unknown."""
    return f"{value:.{digits}f}" if isinstance(value, float | int) else ""


def columns(first: str, cells: Sequence[str], name_widths: Sequence[int], width: int) -> str:
    """A line: what stands first, a name for each of the name widths, and figures of one width."""
    names = " ".join(cell.ljust(each) for cell, each in zip(cells, name_widths, strict=False))
    return f"{first:<8} {names}{''.join(cell.rjust(width) for cell in cells[len(name_widths) :])}".rstrip()
