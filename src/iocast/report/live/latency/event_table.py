"""The table of events with their latencies: a row an event, its rate, mean and counts in columns that double."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from iocast.analyse.live.event_rows import EventRow
from iocast.analyse.live.latency_columns import grid_of
from iocast.report.live.latency.histogram_choice import label
from iocast.report.live.latency.latency_cells import BOUNDS_NS, CELL, latency_bounds, latency_cells, latency_heads
from iocast.report.live.styled_lines import Line, Piece, line
from iocast.text import brief_time

_MOST: Final = 8
_NARROW, _NAME, _FIGURES = 26, 40, 8 + 9


def event_table(rows: Sequence[EventRow], width: int) -> Iterator[Line]:
    """The events that took most time, as many columns of latencies as fit; nothing without events."""
    shown = rows[:_MOST]
    known = [row.found for row in shown if row.found is not None]
    if not shown:
        return
    grid = grid_of((upper for each in known for upper in each.counts), BOUNDS_NS)
    room = _NARROW if width < 120 else _NAME
    columns = max(1, (width - room - _FIGURES) // CELL - 1)
    bounds = latency_bounds(known, columns, grid) if any(each.counts for each in known) else ()
    yield line(f"{'event':<{room}}{'/s':>8}{'mean':>9}{latency_heads(bounds) if bounds else ''}", "head")
    for row in shown:
        name = label((row.observer, row.subject))
        if row.found is None or row.per_s is None:
            yield line(f"{name:<{room}.{room}}{'unknown: its counters began anew':>{CELL * 6}}", "dim")
            continue
        mean = row.found.mean_ns
        figures = f"{name:<{room}.{room}}{row.per_s:>8.0f}{'' if mean is None else brief_time(mean):>9}"
        yield (Piece(figures), *(latency_cells(row.found, bounds) if bounds else ()))
    if more := len(rows) - len(shown):
        yield line(f"{more} more with less time", "dim")
