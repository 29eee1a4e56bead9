"""Closed rows, then the rates that they show to be within reach: an open loop of more would only fall behind."""

from __future__ import annotations

from collections.abc import Iterable

from iocast.model.plan import Phase
from iocast.model.script import Done, Group, Script
from iocast.model.workload import Closed, Poisson


class WithinReach(Script):
    """The groups of a plan in order, without rates above a share of the most IOPS of the closed rows before them."""

    def __init__(self, groups: Iterable[tuple[Phase, ...]], share: float) -> None:
        self._groups, self._share = tuple(groups), share

    def next(self, done: Done) -> Group | None:
        """The next group that is within reach."""
        waiting = self.ahead(done)
        return Group(waiting[0]) if waiting else None

    def ahead(self, done: Done) -> tuple[tuple[Phase, ...], ...]:
        """All that may follow."""
        closed = [group for group in self._groups if isinstance(group[0].workload.arrival, Closed)]
        rates = [group for group in self._groups if group not in closed]
        if len(done) < len(closed) or not closed:
            return (*closed, *rates)[len(done) :]
        most = max(record.measurement.rate_per_s for group in done[: len(closed)] for record in group)
        return tuple(group for group in rates if self._share * most >= _rate_per_s(group[0]))[len(done) - len(closed) :]


def _rate_per_s(phase: Phase) -> float:
    arrival = phase.workload.arrival
    return arrival.rate_per_s if isinstance(arrival, Poisson) else 0.0
