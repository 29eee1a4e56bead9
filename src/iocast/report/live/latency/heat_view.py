"""The heat maps of one histogram on a live screen, as wide as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iocast.analyse.live.latency_columns import HeatMap, grid_of, shade
from iocast.model.live.moment import Interval
from iocast.report.live.latency.heat_lines import BOUNDS_NS, bound_label, figure
from iocast.report.live.latency.histogram_choice import Choice, bounds_of, histograms, label, latencies_of
from iocast.report.live.styled_lines import HEATS, Line, Piece, line

_MARGIN = 7 + 9  # the bound on the left, the latest value on the right


def heat_view(recent: Sequence[Interval], chosen: Choice | None, width: int) -> Iterator[Line]:
    """Frequency and intensity of the chosen histogram, or of the busiest; the newest column on the right."""
    if not recent or not (choice := chosen or next(iter(histograms(recent[-1])), None)):
        yield line("No latency histogram in this interval: they need root (see the notes, key n).", "dim")
        return
    columns = max(10, width - _MARGIN)
    heat = HeatMap(grid_of(bounds_of(recent[-1].after, choice), BOUNDS_NS), columns)
    for interval in recent[-columns:]:
        heat.add(latencies_of(interval, choice))
    yield line(label(choice), "strong")
    for title, values in (
        ("Frequency: I/Os or waits per second", heat.frequencies()),
        ("Intensity: time waited, ms per second", heat.intensities()),
    ):
        yield ()
        yield from _map(title, values, heat.bounds, columns)
    newest = heat.columns[-1]
    mean = None if newest is None else newest.mean_ns
    yield ()
    yield line(f"mean of the newest column: {'unknown' if mean is None else f'{mean / 1e6:.3g} ms'}", "dim")


def _map(title: str, values: Sequence[list[float] | None], bounds: Sequence[int], columns: int) -> Iterator[Line]:
    most = max((max(column) for column in values if column is not None), default=0.0)
    yield line(f"{'ms':>6} {title:<{columns}}{'latest':>9}", "head")
    blank = " " * (columns - len(values))
    for at in range(len(bounds), -1, -1):
        cells = [Piece(" ", "plain" if column is None else HEATS[shade(column[at], most)]) for column in values]
        latest = values[-1]
        shown = "" if latest is None else figure(latest[at])
        yield (Piece(f"{bound_label(at, bounds):>6} {blank}"), *cells, Piece(f"{shown:>9}"))
