"""Two heat maps of OraLatencyMap as lines of a terminal: how often each latency came, and how long was waited in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from iocast.analyse.live.latency_columns import SHADES, HeatMap, shade
from iocast.text import harmless_line

# 256 colours, from nothing to the largest value.
BLUES: Final = (15, 51, 45, 39, 33, 27, 21)
REDS: Final = (15, 226, 220, 214, 208, 202, 196)
_RESET = "\x1b[0m"
_US, _MS = 1_000, 1_000_000

# Its bounds: below 128 us, then by powers of two, and a row above the last.
BOUNDS_NS: Final = tuple((1 << power) * _US for power in range(7, 18))


def heat_lines(heat: HeatMap, label: str, width: int) -> Iterator[str]:
    """Both maps, newest column on the right, latency rising upward, and the means below; `width` columns wide."""
    for title, unit, values, colours in (
        ("Frequency: waits per second", "(N/s)", heat.frequencies(), BLUES),
        ("Intensity: time waited per second", "(ms/s)", heat.intensities(), REDS),
    ):
        padded = [*(None for _ in range(width - len(values))), *values]
        yield from _map(title, unit, padded, heat.bounds, colours)
        yield ""
    yield from _footer(heat, label)


def _map(
    title: str, unit: str, values: Sequence[list[float] | None], bounds: Sequence[int], colours: Sequence[int]
) -> Iterator[str]:
    most = max((max(column) for column in values if column is not None), default=0.0)
    yield f"{'ms':>6} {title:<{len(values)}} Latest {unit}"
    legend = _legend(most, colours, max((sum(column) for column in values if column is not None), default=0.0))
    for at in range(len(bounds), -1, -1):
        cells = "".join(_cell(None if column is None else column[at], most, colours) for column in values)
        latest = values[-1] if values else None
        shown = "" if latest is None else figure(latest[at])
        yield f"{bound_label(at, bounds):>6} {cells}{_RESET}{shown:>8}  {next(legend, '')}".rstrip()
    newest = values[-1] if values else None
    yield f"{'':>6} {'':<{len(values)}}{'' if newest is None else figure(sum(newest)):>8}  sum"


def _cell(value: float | None, most: float, colours: Sequence[int]) -> str:
    if value is None:
        return f"{_RESET} "  # unknown, or before the first interval: not the colour of nothing
    return f"\x1b[48;5;{colours[shade(value, most)]}m "


def _legend(most: float, colours: Sequence[int], largest_sum: float) -> Iterator[str]:
    yield f"\x1b[48;5;{colours[0]}m {_RESET} 0"
    for at in range(1, SHADES + 1):
        yield f"\x1b[48;5;{colours[at]}m {_RESET} >{figure(most * (at - 1) / SHADES)}"
    yield f"largest: {figure(most)}"
    yield f"largest sum: {figure(largest_sum)}"


def bound_label(at: int, bounds: Sequence[int]) -> str:
    """In ms, as OraLatencyMap writes it: <.128, .256, 1, 2, … 131, >131."""
    if at == len(bounds):
        return f">{_ms(bounds[-1])}"
    return f"<{_ms(bounds[0])}" if at == 0 else _ms(bounds[at])


def _ms(bound_ns: int) -> str:
    return f"{bound_ns / _MS:.3f}".lstrip("0") if bound_ns < _MS else str(round(bound_ns / _MS))


def figure(value: float) -> str:
    """Two digits below ten, whole numbers above."""
    return f"{value:.2g}" if 0 < value < 10 else str(round(value))


def _footer(heat: HeatMap, label: str) -> Iterator[str]:
    columns = [column for column in heat.columns if column is not None]
    total = sum(column.total for column in columns)
    mean = sum(column.waited_ns for column in columns) / total / _MS if total else None
    newest = heat.columns[-1] if heat.columns else None
    latest = None if newest is None or newest.mean_ns is None else newest.mean_ns / _MS
    yield f"Mean latency: {_blank(mean)} ms over all columns, {_blank(latest)} ms in the newest."
    yield harmless_line(f"{label}, interval {heat.taken}")


def _blank(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3g}"
