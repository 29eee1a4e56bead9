"""Simulated devices (`sim:`): calculated I/O in virtual time.

What it is: the load engine's sim engine, which answers as the device that the target describes. The device keeps
from phase to phase what it learned, and is new in each run.

Why it matters: its answers are known beforehand, so that everything above it can be tested.
"""

from __future__ import annotations

from msgspec.structs import replace

from iocast.archive import series
from iocast.load import core_phases
from iocast.load.core_phases import World
from iocast.load.loaders.loader import MeasuredPhase, OnTick, PlannedGroup
from iocast.load.work_files import Layout, WorkFile
from iocast.model.plan import Phase, PhasePlan, Plan
from iocast.model.run import Series
from iocast.model.script import StopRule
from iocast.model.target import Target


def takes(target: Target) -> bool:
    """True for a target that describes a device."""
    return target.kind == "sim"


class Loader:
    """Hands groups to the core together with the one simulated device of the run."""

    real_time = False

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._device: World | None = None
        self.step_ns = plan.interval_ns

    def lay_out(self) -> Layout:
        """The device as it is: nothing is written to it beforehand."""
        target = self._plan.target
        return Layout((WorkFile(target.path, target.size_bytes or 0, fill=False),), own=False)

    def check(self, layout: Layout) -> None:
        """Simulated devices can do everything."""

    def phase_plan(self, phase: Phase, files: tuple[WorkFile, ...], seed: int) -> PhasePlan:
        """Always the sim engine; it stores no data, so that nothing about it is drawn by chance."""
        return replace(core_phases.phase_plan(self._plan, phase, files, seed), engine="sim", payload_seed=0)

    def measure(self, group: PlannedGroup, on_tick: OnTick) -> tuple[MeasuredPhase, ...]:
        """Nobody can be asked while virtual time passes: with a stop rule the phase is run for its full length, the
        rule is asked afterwards, and the phase is run again from the same state for exactly as long as it took.
        """
        if self._device is None:
            self._device = core_phases.sim_world()
        before = self._device.copied() if group.until is not None else None
        measured = self._run(group.plans, on_tick, group.spool)
        if group.until is None or before is None:
            return measured
        ((plan, measurement, intervals),) = measured
        seconds = enough_after(series(intervals, plan.interval_ns, measurement), group.until)
        if seconds is None or measurement.stopped != "finished":
            return measured
        self._device = before
        shorter = replace(plan, length=replace(plan.length, seconds=seconds))
        return self._run((shorter,), on_tick, group.spool)

    def _run(self, plans: tuple[PhasePlan, ...], on_tick: OnTick, spool: str | None) -> tuple[MeasuredPhase, ...]:
        def tick(elapsed_ns: int, ios: int, bytes_moved: int, errors: int, _response_ns: int) -> bool:
            return on_tick(elapsed_ns, ios, bytes_moved, errors)

        results = core_phases.measure_together(plans, tick, self._device, spool=spool)
        return tuple(MeasuredPhase(plan, *result) for plan, result in zip(plans, results, strict=True))


def enough_after(series: Series, rule: StopRule) -> float | None:
    """Asks a stop rule after each interval of a phase that is over; the seconds after which it said yes."""
    ios = response_ns = 0
    for number, (more_ios, more_ns) in enumerate(zip(series.ios, series.response_ns, strict=True), 1):
        ios, response_ns = ios + more_ios, response_ns + more_ns
        if rule.enough(number * series.interval_ns, ios, response_ns):
            return number * series.interval_ns / 1e9
    return None
