"""A ladder: the rungs of a plan in order, from light to heavy, until a heavier one brings next to nothing more."""

from __future__ import annotations

from collections.abc import Iterable

from iocast.model.plan import Phase
from iocast.model.run import PhaseRecord
from iocast.model.script import Done, FixedList, Group, Script

LEAST_GAIN = 0.05  # of the throughput of the rung before


class Ladder(Script):
    """Closed rungs (more users or more depth each) that end where throughput stops growing.

    The rung that brought nothing more is run: without it nobody would know that the one before was the last.
    """

    def __init__(self, rungs: Iterable[tuple[Phase, ...]], least_gain: float = LEAST_GAIN) -> None:
        self._rungs, self._least_gain = FixedList(rungs), least_gain

    def next(self, done: Done) -> Group | None:
        """The next rung, unless the last one did not pay."""
        if len(done) > 1 and _rate(done[-1]) < _rate(done[-2]) * (1 + self._least_gain):
            return None
        return self._rungs.next(done)

    def ahead(self, done: Done) -> tuple[tuple[Phase, ...], ...]:
        """All rungs that may follow."""
        return self._rungs.ahead(done) if self.next(done) is not None else ()


def _rate(records: tuple[PhaseRecord, ...]) -> float:
    return sum(record.measurement.rate_per_s for record in records)
