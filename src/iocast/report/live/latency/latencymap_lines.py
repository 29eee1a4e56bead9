"""watch latencymap: the two heat maps of OraLatencyMap, frequency and intensity, after each interval."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final

from iocast.analyse.live.latency_columns import HeatMap, Latencies, grid_of
from iocast.model.live.moment import Interval
from iocast.report.live.latency.heat_lines import BOUNDS_NS, heat_lines
from iocast.report.live.latency.histogram_choice import Choice, bounds_of, histograms, label, latencies_of
from iocast.report.live.line_table import Table

NAME: Final = "latencymap"
COLUMNS: Final = ("histogram", "below_ms", "per_s", "ms_per_s")
_BESIDE: Final = 7 + 8 + 2 + 22  # bounds on the left, latest values and legend on the right


class LatencyMapLines:
    """A line mode with a memory: a column an interval, of the busiest histogram of the first that has any."""

    NAME = NAME
    OBSERVERS: tuple[str, ...] = ()
    DATABASE = ""
    HEADING: tuple[str, ...] = ()

    def __init__(self, width: int = 80) -> None:
        self._columns = max(10, width - _BESIDE)
        self._recent: deque[Latencies | None] = deque(maxlen=self._columns)
        self._choice: Choice | None = None
        self._taken = 0

    def table(self, interval: Interval) -> Table:
        """The newest column: a row a bucket, in the source's own bounds; no rows where it is unknown."""
        choice = self._chosen(interval)
        times = None if choice is None else latencies_of(interval, choice)
        if choice is None or times is None:
            return Table(COLUMNS, ())
        grid = tuple(sorted(bounds_of(interval.after, choice)))
        heat = HeatMap(grid, 1)
        heat.add(times)
        (frequencies,), (intensities,) = heat.frequencies(), heat.intensities()
        shown = [None if bound is None else bound / 1e6 for bound in (*grid, None)]
        rows = zip(shown, frequencies or (), intensities or (), strict=True)
        return Table(COLUMNS, tuple((label(choice), *row) for row in rows if row[0] is not None or row[1]))

    def lines(self, interval: Interval) -> Iterator[str]:
        """Both maps; the colours are the figures, so they stay in a pipe, as those of OraLatencyMap do."""
        choice = self._chosen(interval)
        if choice is None:
            yield "No latency histogram in this interval."
            return
        self._recent.append(latencies_of(interval, choice))
        self._taken += 1
        heat = HeatMap(grid_of(bounds_of(interval.after, choice), BOUNDS_NS), self._columns)
        for each in self._recent:
            heat.add(each)
        heat.taken = self._taken
        yield from heat_lines(heat, label(choice), self._columns)
        yield ""

    def _chosen(self, interval: Interval) -> Choice | None:
        if self._choice is None:
            self._choice = next(iter(histograms(interval)), None)
        return self._choice
