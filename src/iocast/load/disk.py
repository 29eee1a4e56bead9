"""Runs one phase on the core: a Phase and its files in, a Measurement and the interval series out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

from iocast.errors import LoadError
from iocast.load.files import WorkFile
from iocast.model.measurement import Measurement
from iocast.model.plan import FileRegion, Phase, PhasePlan, Plan

OnTick = Callable[[int, int, int, int], bool]


class Intervals(Protocol):
    """The interval series, as an Arrow C stream."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule with the stream."""

    def __len__(self) -> int:
        """Rows: interval x op x size."""


def phase_plan(plan: Plan, phase: Phase, files: tuple[WorkFile, ...], number: int) -> PhasePlan:
    """What crosses into the core. Each phase has a seed of its own, made from the plan's and its number."""
    start = phase.region_start_bytes
    regions = tuple(
        FileRegion(file.path, start, min(phase.region_size_bytes or file.size_bytes, file.size_bytes - start))
        for file in files
    )
    workload = phase.workload
    return PhasePlan(
        name=phase.name,
        role=phase.role,
        engine=plan.engine,
        files=regions,
        mix=workload.mix,
        locality=workload.locality,
        arrival=workload.arrival,
        users=workload.users,
        depth=workload.depth,
        direct=workload.direct,
        sync=workload.sync,
        fsync_every=workload.fsync_every,
        payload=workload.payload,
        length=phase.length,
        interval_ns=plan.interval_ns,
        seed=plan.seed * 1_000_003 + number,
        simulated=plan.target.simulated,
    )


def measure(plan: PhasePlan, on_tick: OnTick) -> tuple[Measurement, Intervals]:
    """Runs the phase. `on_tick(elapsed_ns, ios, bytes, errors)` returns False to stop. Raises LoadError."""
    from iocast import _core

    try:
        result, intervals = _core.run_phase(msgspec.json.encode(plan).decode(), on_tick)
    except _core.CoreError as error:
        message, hint, _errno = error.args
        raise LoadError(f"{plan.name}: {message}", hint) from error
    return msgspec.json.decode(result, type=Measurement), intervals
