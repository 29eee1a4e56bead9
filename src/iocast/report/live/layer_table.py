"""The layer table: a row a layer, its rate and mean, and its latencies in columns that double."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from iocast.analyse.live.layer_rows import LayerRow
from iocast.model.codes import ClockCode
from iocast.report.live.latency.latency_cells import CELL, latency_bounds, latency_cells, latency_heads
from iocast.report.live.styled_lines import Line, Piece, line
from iocast.text import brief_time

_NAMES: Final[dict[ClockCode, str]] = {
    "system_call": "call",
    "bio": "block layer",
    "request": "request",
    "driver": "device",
}
_LABEL, _FIGURES, _WITHIN = 26, 8 + 8 + 9, 7


def layer_table(rows: Sequence[LayerRow], width: int, traced_share: float = 1.0) -> Iterator[Line]:
    """As many columns of latencies as fit: from the lowest that has any count to the highest.

    Where only a share of the time was traced, means stand with how far they may be off.
    """
    if not rows:
        yield line("No I/O of the layers in this interval, or they are not watched: see the notes.", "dim")
        return
    in_part = traced_share < 1
    figures_width = _FIGURES + _WITHIN * in_part
    bounds = latency_bounds([row.times for row in rows], max(1, (width - _LABEL - figures_width) // CELL - 1))
    within = f"{'within':>{_WITHIN}}" if in_part else ""
    yield line(f"{'layer':<{_LABEL}}{'/s':>8}{'MB/s':>8}{'mean':>9}{within}{latency_heads(bounds)}", "head")
    for row in rows:
        throughput = row.bytes_per_s
        shown = "" if throughput is None else f"{throughput / 1e6:.1f}"
        mean = row.times.mean_ns
        name = f"{_NAMES[row.layer]} {row.op}{f' {row.where}' if row.where else ''}"
        figures = f"{name:<{_LABEL}.{_LABEL}}{row.per_s:>8.0f}{shown:>8}{'' if mean is None else brief_time(mean):>9}"
        if in_part:
            figures += f"{_within(row.times.mean_within(traced_share)):>{_WITHIN}}"
        yield (Piece(figures), *latency_cells(row.times, bounds))


def _within(share: float | None) -> str:
    return "?" if share is None else f"±{max(1, round(100 * share))}%"
