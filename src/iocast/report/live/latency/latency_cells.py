"""Columns of latencies that double, and the counts of a histogram in them, shaded: the right side of tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from iocast.analyse.live.latency_columns import Latencies, on_grid, shade
from iocast.report.live.styled_lines import HEATS, Piece

CELL: Final = 6  # characters of a column
_US: Final = 1_000
BOUNDS_NS: Final = tuple((1 << power) * _US for power in range(3, 18))  # 8 us to 131 ms


def latency_bounds(times: Sequence[Latencies], most: int, grid: Sequence[int] = BOUNDS_NS) -> tuple[int, ...]:
    """Bounds from below the lowest count to above the highest; where they are too many, those with fewest counts go.

    What lies below the first counts in it, what lies above the last has the column for more.
    """
    counts = [sum(column) for column in zip(*(on_grid(each, grid) for each in times), strict=True)][:-1]
    filled = [at for at, count in enumerate(counts) if count]
    low, high = (filled[0], filled[-1]) if filled else (len(grid) - 1, len(grid) - 1)
    while high - low >= most:
        low, high = (low + 1, high) if counts[low] <= counts[high] else (low, high - 1)
    return tuple(grid[low : high + 1])


def latency_heads(bounds: Sequence[int]) -> str:
    """The heads of the columns, and of the one for what lies above them."""
    return "".join(f"{_bound(bound):>{CELL}}" for bound in bounds) + f"{'more':>{CELL}}"


def latency_cells(times: Latencies, bounds: Sequence[int]) -> Iterator[Piece]:
    """Its counts, each in the colour of its share of the largest."""
    counts = on_grid(times, bounds)
    most = max(counts)
    for count in counts:
        yield Piece(f"{_count(count):>{CELL}}", HEATS[shade(count, most)])


def _count(count: int) -> str:
    if not count:
        return "."
    return str(count) if count < 100_000 else f"{count / 1000:.0f}k" if count < 10_000_000 else f"{count / 1e6:.0f}M"


def _bound(bound_ns: int) -> str:
    """Its upper bound: 8u, 64u, .5m, 1m, 131m."""
    if bound_ns < 256 * _US:
        return f"{bound_ns // _US}u"
    return f".{round(bound_ns / 1e5)}m" if bound_ns < 950 * _US else f"{bound_ns // 1_000_000}m"
