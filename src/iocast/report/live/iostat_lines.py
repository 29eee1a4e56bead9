"""watch iostat: the columns of `iostat -x` (sysstat 12.6) of each device, from the same counters."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import metrics
from iocast.model.live.moment import Interval
from iocast.model.view import View
from iocast.report.live.line_table import Cell, Table

NAME = "iostat"
OBSERVERS = (metrics.DISKSTATS,)
DATABASE = ""
HEADING: tuple[str, ...] = ()

_KIB = 1024
# Requests, merged ones, bytes and times of each direction, as the columns stand.
_DIRECTIONS = (
    ("r", metrics.READS, metrics.READS_MERGED, metrics.READ_BYTES, metrics.READ_NS),
    ("w", metrics.WRITES, metrics.WRITES_MERGED, metrics.WRITTEN_BYTES, metrics.WRITE_NS),
    ("d", metrics.DISCARDS, metrics.DISCARDS_MERGED, metrics.DISCARDED_BYTES, metrics.DISCARD_NS),
)
_OF_DIRECTION = ("{0}/s", "{0}kB/s", "{0}rqm/s", "%{0}rqm", "{0}_await", "{0}areq-sz")
_COLUMNS = (
    "Device",
    *(column.format(letter) for letter, *_ in _DIRECTIONS for column in _OF_DIRECTION),
    "f/s",
    "f_await",
    "aqu-sz",
    "%util",
)
_WIDTHS = (10, *(7, 9, 8, 6, 7, 8) * len(_DIRECTIONS), 7, 7, 7, 6)  # as sysstat prints them


def table(interval: Interval) -> Table:
    """One row a device; times in ms, sizes in kB of 1024 bytes. An await without requests is 0, as iostat has it."""
    return Table(_COLUMNS, tuple(_row(view) for view in interval.views(metrics.DISKSTATS).values()))


def _row(view: View) -> tuple[Cell, ...]:
    cells: list[Cell] = [view.subject]
    for _, requests, merged, moved, spent in _DIRECTIONS:
        throughput, size = view.per_s(moved), _mean(view, moved, requests)
        cells += [
            view.per_s(requests),
            None if throughput is None else throughput / _KIB,
            view.per_s(merged),
            _share(view.delta(merged), view.sum(merged, requests)),
            _ms(_mean(view, spent, requests)),
            None if size is None else size / _KIB,
        ]
    cells += [view.per_s(metrics.FLUSHES), _ms(_mean(view, metrics.FLUSH_NS, metrics.FLUSHES))]
    utilisation = view.utilisation
    return (*cells, view.queue_mean, None if utilisation is None else 100 * utilisation)


def _mean(view: View, metric: str, of: str) -> float | None:
    """Per request; 0 where there was none, None where the kernel does not count them."""
    return 0.0 if view.delta(of) == 0 and view.delta(metric) is not None else view.mean(metric, of)


def _share(part: int | None, whole: int | None) -> float | None:
    return None if part is None or whole is None else 100 * part / whole if whole else 0.0


def _ms(value_ns: float | None) -> float | None:
    return None if value_ns is None else value_ns / 1e6


def lines(interval: Interval) -> Iterator[str]:
    """A header and a line a device, as wide as iostat's own; unknown figures stay blank."""
    yield _line(_COLUMNS)
    for row in table(interval).rows:
        yield _line(row)
    yield ""


def _line(cells: tuple[Cell, ...]) -> str:
    shown = ("" if cell is None else cell if isinstance(cell, str) else f"{cell:.2f}" for cell in cells)
    name, *rest = (cell.rjust(width) for cell, width in zip(shown, _WIDTHS, strict=True))
    return " ".join((name.strip().ljust(_WIDTHS[0]), *rest))
