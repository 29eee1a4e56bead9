"""The layer table: a row a layer, its rate and mean, and its latencies in columns that double."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from iocast.analyse.live.layer_rows import ClockCode, LayerRow
from iocast.report.live.latency.latency_cells import CELL, latency_bounds, latency_cells, latency_heads
from iocast.report.live.styled_lines import Line, Piece, line
from iocast.text import brief_time

_NAMES: Final[dict[ClockCode, str]] = {
    "system_call": "call",
    "bio": "block layer",
    "request": "request",
    "driver": "device",
}
_LABEL, _FIGURES = 26, 8 + 8 + 9


def layer_table(rows: Sequence[LayerRow], width: int) -> Iterator[Line]:
    """As many columns of latencies as fit: from the lowest that has any count to the highest."""
    if not rows:
        yield line("No I/O of the layers in this interval, or they are not watched (key n: notes).", "dim")
        return
    bounds = latency_bounds([row.found for row in rows], max(1, (width - _LABEL - _FIGURES) // CELL - 1))
    yield line(f"{'layer':<{_LABEL}}{'/s':>8}{'MB/s':>8}{'mean':>9}{latency_heads(bounds)}", "head")
    for row in rows:
        throughput = row.bytes_per_s
        shown = "" if throughput is None else f"{throughput / 1e6:.1f}"
        mean = row.found.mean_ns
        name = f"{_NAMES[row.layer]} {row.op}{f' {row.where}' if row.where else ''}"
        figures = f"{name:<{_LABEL}.{_LABEL}}{row.per_s:>8.0f}{shown:>8}{'' if mean is None else brief_time(mean):>9}"
        yield (Piece(figures), *latency_cells(row.found, bounds))
