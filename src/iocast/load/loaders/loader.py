"""What every loader is: it makes the I/O of groups of phases in one world, in that world's own time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from iocast.load.core_phases import Intervals
from iocast.load.work_files import Layout, WorkFile
from iocast.model.measurement import Measurement
from iocast.model.plan import Phase, PhasePlan
from iocast.model.script import StopRule

# (elapsed_ns, ios, bytes, errors) of the whole group, about ten times a second of real time; False stops it.
OnTick = Callable[[int, int, int, int], bool]


class PlannedGroup(NamedTuple):
    """Phases that run at the same time, as the core is told of them, and what may end them early."""

    plans: tuple[PhasePlan, ...]
    until: StopRule | None = None
    opened: Mapping[str, int] = {}  # descriptors of their files, by path
    spool: str | None = None  # directory for series that are too long for memory


class MeasuredPhase(NamedTuple):
    """What came of one phase. `plan` is what was really run: a stop rule may have made it shorter."""

    plan: PhasePlan
    measurement: Measurement
    intervals: Intervals


class Loader(Protocol):
    """Makes the load of one run; it is made for each run anew."""

    real_time: bool  # the time of its load passes on this machine's clock, and observers can see its work
    step_ns: int  # the intervals of its load by which a phase is judged steady

    def lay_out(self) -> Layout:
        """What the plan works on, and what must be written first. Writes nothing. Raises TargetError."""

    def check(self, layout: Layout) -> None:
        """Raises TargetError when the target cannot do what the plan asks for."""

    def phase_plan(self, phase: Phase, files: tuple[WorkFile, ...], seed: int) -> PhasePlan:
        """What the core is told of one phase."""

    def measure(self, group: PlannedGroup, on_tick: OnTick) -> tuple[MeasuredPhase, ...]:
        """Runs a group from one start. Raises LoadError."""
