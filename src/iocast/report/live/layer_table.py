"""The layer table: a row a layer, its rate and mean, and its latencies in columns that double."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from iocast.analyse.live.latency_columns import on_grid, shade
from iocast.analyse.live.layer_rows import ClockCode, LayerRow
from iocast.report.live.styled_lines import HEATS, Line, Piece, line
from iocast.text import brief_time

_US: Final = 1_000
_BOUNDS_NS: Final = tuple((1 << power) * _US for power in range(3, 18))  # 8 us to 131 ms
_NAMES: Final[dict[ClockCode, str]] = {
    "system_call": "call",
    "bio": "block layer",
    "request": "request",
    "driver": "device",
}
_LABEL, _FIGURES, _CELL = 26, 8 + 8 + 9, 6


def layer_table(rows: Sequence[LayerRow], width: int) -> Iterator[Line]:
    """As many columns of latencies as fit: from the lowest that has any count to the highest."""
    if not rows:
        yield line("No I/O of the layers in this interval, or they are not watched (key n: notes).", "dim")
        return
    columns = _columns(rows, max(1, (width - _LABEL - _FIGURES) // _CELL - 1))
    heads = [f"{_bound(bound):>{_CELL}}" for bound in columns]
    yield line(f"{'layer':<{_LABEL}}{'/s':>8}{'MB/s':>8}{'mean':>9}{''.join(heads)}{'more':>{_CELL}}", "head")
    for row in rows:
        yield tuple(_row(row, columns))


def _row(row: LayerRow, bounds: Sequence[int]) -> Iterator[Piece]:
    throughput = row.bytes_per_s
    shown = "" if throughput is None else f"{throughput / 1e6:.1f}"
    mean = row.found.mean_ns
    name = f"{_NAMES[row.layer]} {row.op}{f' {row.where}' if row.where else ''}"
    yield Piece(f"{name:<{_LABEL}.{_LABEL}}{row.per_s:>8.0f}{shown:>8}{'' if mean is None else brief_time(mean):>9}")
    counts = on_grid(row.found, bounds)
    most = max(counts)
    for count in counts:
        yield Piece(f"{_count(count):>{_CELL}}", HEATS[shade(count, most)])


def _columns(rows: Sequence[LayerRow], most: int) -> tuple[int, ...]:
    """Bounds from below the lowest count to above the highest; where they are too many, the lowest go."""
    uppers = [upper_ns for row in rows for upper_ns in row.found.counts]
    low = next((at for at, bound in enumerate(_BOUNDS_NS) if bound >= min(uppers)), len(_BOUNDS_NS) - 1)
    high = next((at for at, bound in enumerate(_BOUNDS_NS) if bound >= max(uppers)), len(_BOUNDS_NS) - 1)
    return _BOUNDS_NS[max(low, high + 1 - most) : high + 1]


def _count(count: int) -> str:
    if not count:
        return "."
    return str(count) if count < 100_000 else f"{count / 1000:.0f}k" if count < 10_000_000 else f"{count / 1e6:.0f}M"


def _bound(bound_ns: int) -> str:
    """Its upper bound: 8u, 64u, .5m, 1m, 131m."""
    if bound_ns < 256 * _US:
        return f"{bound_ns // _US}u"
    return f".{round(bound_ns / 1e5)}m" if bound_ns < 950 * _US else f"{bound_ns // 1_000_000}m"
