"""watch oramon: Oracle's I/O waits in a line, the columns of oramon.sh: ms and IOP/s of each kind of I/O."""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.live.wait_kinds import WAIT_KINDS, waits_by_kind
from iocast.model.codes import WaitKindCode
from iocast.model.live.readings import Readings
from iocast.report.live.line_table import Cell, Table

NAME = "oramon"
DATABASE = "oracle"
OBSERVERS = ("oracle.system_event",)

TITLES: dict[WaitKindCode, str] = {
    "single_block": "single block",
    "log_write": "logfile write",
    "multi_block": "multi block",
    "direct_read": "direct read",
    "direct_read_temp": "direct read temp",
    "direct_write_temp": "direct write temp",
}
_WIDTH = 8
HEADING = (
    " ".join(TITLES[kind].center(2 * _WIDTH + 1) for kind in WAIT_KINDS).rstrip(),
    " ".join(f"{'ms':>{_WIDTH}} {'IOP/s':>{_WIDTH}}" for _ in WAIT_KINDS),
    "(direct: a wait for several I/Os together, not the latency of one)",
)
COLUMNS = tuple(f"{kind}_{figure}" for kind in WAIT_KINDS for figure in ("ms", "iops"))


def table(readings: Readings) -> Table:
    """One row, of all instances together. No I/O, no ms; unknown after a restart of the instance."""
    kinds = waits_by_kind(readings)
    if kinds is None:
        return Table(COLUMNS, ())
    cells: list[Cell] = []
    for kind in WAIT_KINDS:
        waits = kinds[kind]
        cells += [None if waits.mean_ns is None else waits.mean_ns / 1e6, waits.per_s]
    return Table(COLUMNS, (tuple(cells),))


def lines(readings: Readings) -> Iterator[str]:
    """A line an interval, figures as Oracle's SQL*Plus prints them: `.57`, and nothing for what is unknown."""
    rows = table(readings)
    if not rows.rows:
        yield "(no sample of Oracle's waits in this interval)"
        return
    yield " ".join(_shown(cell) for cell in rows.rows[0]).rstrip()


def _shown(value: Cell) -> str:
    text = f"{value:.2f}" if isinstance(value, float | int) else ""
    return text.removeprefix("0" if text.startswith("0.") else "").rjust(_WIDTH)
