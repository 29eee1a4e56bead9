"""What stalls leave of a service level: the share of random arrivals that wait through one for longer than the limit.

Rows that stalled carry no forecast, so its figures hold between stalls only. Whoever arrives at random while the
storage stands still for D seconds waits for what is left of them: longer than a limit L if he comes in the first D - L.
So of all arrivals the share that is late is the sum of (D - L) over the time that was measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from iocast.analyse.facts import Facts
from iocast.forecast.ladder_search import same_load
from iocast.forecast.measured_ladder import AskedLoad
from iocast.model.row_stops import RowStops


class StalledTime(Struct, frozen=True):
    """Rows that stalled, and the seconds of all rows among which they were found."""

    rows: tuple[RowStops, ...]
    measured_s: float

    @property
    def longest_s(self) -> float:
        """Of all stalls."""
        return max(each for row in self.rows for each in row.seconds)

    def late_s(self, limit_s: float) -> float:
        """The time in which an arrival waits for longer than a limit."""
        return math.fsum(row.share * max(0.0, each - limit_s) for row in self.rows for each in row.seconds)

    def late(self, limit_s: float) -> float:
        """The share of random arrivals that waits for longer than a limit."""
        return min(1.0, self.late_s(limit_s) / self.measured_s)

    @property
    def added_s(self) -> float:
        """What stalls add to the mean: who arrives in one waits for half of it on average."""
        return math.fsum(row.share * each**2 / 2 for row in self.rows for each in row.seconds) / self.measured_s


def stalled_time(facts: Facts, asked: AskedLoad, stops: Sequence[RowStops]) -> StalledTime | None:
    """The stalls of the rows of the asked load; where these had none, those of all rows. None without any."""
    of_load = {row.name for row in facts.rows if same_load(row.record, asked)}
    mine = tuple(each for each in stops if each.name in of_load)
    names = of_load if mine else {row.name for row in facts.rows}
    found = mine or tuple(stops)
    measured_s = math.fsum(row.measurement.elapsed_ns for row in facts.rows if row.name in names) / 1e9
    return StalledTime(found, measured_s) if found and measured_s else None
