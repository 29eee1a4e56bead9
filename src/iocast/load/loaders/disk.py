"""Files and block devices of this machine: real I/O in real time.

What it is: the io_uring or sync engine on work files, on an existing file, or on a device.

Needs: permission to open the path; to write to a device, also `--destroy`.
"""

from __future__ import annotations

from iocast.load import core_phases
from iocast.load.core_phases import Answer
from iocast.load.loaders.loader import MeasuredPhase, OnTick, PlannedGroup
from iocast.load.tree_files import lay_out_tree
from iocast.load.trimming import refuse_without_trim
from iocast.load.work_files import Layout, WorkFile, lay_out
from iocast.model.plan import Phase, PhasePlan, Plan
from iocast.model.target import Target


def takes(target: Target) -> bool:
    """True for what this machine can open."""
    return target.kind in ("directory", "file", "block")


class Loader:
    """Hands groups to the core and ends them when their stop rule says so."""

    real_time = True
    step_ns = 1_000_000_000

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def lay_out(self) -> Layout:
        """See work_files, and tree_files."""
        return lay_out(self._plan) if self._plan.tree is None else lay_out_tree(self._plan)

    def check(self, layout: Layout) -> None:
        """Refuses trims where the target cannot trim."""
        refuse_without_trim(self._plan, layout)

    def phase_plan(self, phase: Phase, files: tuple[WorkFile, ...], seed: int) -> PhasePlan:
        """As the plan says it."""
        return core_phases.phase_plan(self._plan, phase, files, seed)

    def measure(self, group: PlannedGroup, on_tick: OnTick) -> tuple[MeasuredPhase, ...]:
        """The stop rule is asked at every tick."""

        def tick(elapsed_ns: int, ios: int, bytes_moved: int, errors: int, response_ns: int) -> Answer:
            goes_on = on_tick(elapsed_ns, ios, bytes_moved, errors)
            if goes_on and group.until is not None and group.until.enough(elapsed_ns, ios, response_ns):
                return "enough"
            return goes_on

        results = core_phases.measure_together(group.plans, tick, opened=group.opened, spool=group.spool)
        return tuple(MeasuredPhase(plan, *result) for plan, result in zip(group.plans, results, strict=True))
