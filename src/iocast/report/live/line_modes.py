"""Line modes of a live watch: what people of iostat, ioh and MOATS are used to, one file a mode."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from iocast.model.live.moment import Interval
from iocast.report.live import ioh_lines, iolatency_lines, iostat_lines
from iocast.report.live.database_modes import (
    asm_lines,
    filestat_lines,
    iometric_lines,
    oramon_lines,
    pgmon_lines,
    sessions_lines,
    sysmetric_lines,
)
from iocast.report.live.latency.latencymap_lines import LatencyMapLines
from iocast.report.live.line_table import Table


class LineMode(Protocol):
    """One mode, as a module."""

    @property
    def NAME(self) -> str:
        """As it is called on the command line."""

    @property
    def OBSERVERS(self) -> tuple[str, ...]:
        """Whose samples it reads."""

    @property
    def DATABASE(self) -> str:
        """The kind of database that it needs, as `databases` names it: "postgresql", "oracle"; "" for none."""

    @property
    def HEADING(self) -> tuple[str, ...]:
        """Lines above the first interval, and above others from time to time; none where lines have their own."""

    def table(self, interval: Interval) -> Table:
        """The figures of an interval by column, for --json and --csv; unknown ones are None."""

    def lines(self, interval: Interval) -> Iterator[str]:
        """The same as its model prints them."""


# Those without a memory; `latencymap` has one.
LINE_MODES: tuple[LineMode, ...] = (
    iostat_lines,
    iolatency_lines,
    ioh_lines,
    pgmon_lines,
    oramon_lines,
    sysmetric_lines,
    iometric_lines,
    filestat_lines,
    sessions_lines,
    asm_lines,
)


def line_mode(name: str | None, width: int) -> LineMode | None:
    """A mode by its name, for a screen of so many columns; None for a name that is none."""
    if name == LatencyMapLines.NAME:
        return LatencyMapLines(width)
    return next((each for each in LINE_MODES if name == each.NAME), None)
