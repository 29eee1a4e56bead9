"""Script: what a plan's next group of phases is; Group: phases that start together, and what may end them early."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import NamedTuple, Protocol

from msgspec import Struct

from iocast.model.plan import Phase
from iocast.model.run import PhaseRecord, SteadyEnd


class StopRule(Protocol):
    """Ends a phase before its length is over. It is asked in the load's own time, real or virtual."""

    def enough(self, elapsed_ns: int, ios: int, response_ns: int) -> bool:
        """True when the phase may end now. Figures count from its start; `response_ns` is the sum over its I/Os."""

    @property
    def end(self) -> SteadyEnd:
        """How it ended, or stands."""


class Group(NamedTuple):
    """Phases that run at the same time."""

    phases: tuple[Phase, ...]
    until: StopRule | None = None  # only of a phase that runs alone


Done = tuple[tuple[PhaseRecord, ...], ...]  # the records of each group so far; a group that reads back has none


class Script(ABC):
    """Chooses the groups of a run, one after the other, from what those before them measured.

    It keeps no state: the same `done` always gives the same answer.
    """

    @abstractmethod
    def next(self, done: Done) -> Group | None:
        """The group that follows, None when the run is complete."""

    def ahead(self, done: Done) -> tuple[tuple[Phase, ...], ...]:
        """The groups to come as far as they are known, first the next one: for whoever shows progress."""
        following = self.next(done)
        return () if following is None else (following.phases,)


class FixedList(Script):
    """All groups are known beforehand and run in order."""

    def __init__(self, groups: Iterable[tuple[Phase, ...]]) -> None:
        self._groups = tuple(groups)

    def next(self, done: Done) -> Group | None:
        """The group after the last one that was done."""
        return Group(self._groups[len(done)]) if len(done) < len(self._groups) else None

    def ahead(self, done: Done) -> tuple[tuple[Phase, ...], ...]:
        """All that are left."""
        return self._groups[len(done) :]


class Share(Struct, frozen=True, kw_only=True):
    """What a phase is whose rate is not known before another one of its run, `of`, has found the maximum: `percent` of
    that, as an open loop with exponential arrivals, or `even` ones.
    """

    of: str
    percent: float
    even: bool = False
    stop_above_ns: int | None = None  # left out once another share of the same maximum answered slower, on average
