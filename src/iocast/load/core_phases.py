"""Runs phases on the core, one or several at once: a Phase and its files in, a Measurement and its series out."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Literal, Protocol

import msgspec
from msgspec.structs import replace

from iocast.errors import LoadError
from iocast.load.tree_files import tree_file
from iocast.load.work_files import WorkFile
from iocast.model.measurement import Measurement
from iocast.model.plan import Concatenated, FileRegion, Phase, PhasePlan, Plan, Striped
from iocast.model.tree import TreePlan, tree_plan
from iocast.model.workload import Step

Answer = bool | Literal["enough"]
CoreTick = Callable[[int, int, int, int, int], Answer]


class Intervals(Protocol):
    """The interval series, as an Arrow C stream."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule with the stream."""

    def __len__(self) -> int:
        """Rows: interval x op x size."""


_SHARED = 1_000_002  # the number of all phases that go to the same blocks; no plan has so many


def phase_seed(plan: Plan, phase: Phase, number: int) -> int:
    """The seed of the plan's phase `number`: the same whatever was laid out before it."""
    if phase.same_offsets:
        number = _SHARED
    return (plan.seed * 1_000_003 + number) % 2**64


def phase_plan(plan: Plan, phase: Phase, files: tuple[WorkFile, ...], seed: int) -> PhasePlan:
    """What crosses into the core."""
    start, tree = phase.region_start_bytes, plan.tree_of(phase)
    if tree is not None:
        files = (tree_file(plan, tree, files),)
    elif phase.on_files:
        files = tuple(files[number] for number in phase.on_files)
    regions = tuple(
        FileRegion(file.path, start, min(phase.region_size_bytes or file.size_bytes, file.size_bytes - start))
        for file in files
    )
    workload = phase.workload
    return PhasePlan(
        name=phase.name,
        role=phase.role,
        engine=phase.engine or plan.engine,
        polling=plan.polling,
        files=regions,
        layout=Striped(plan.files.stripe_bytes) if plan.files.stripe_bytes and len(files) > 1 else Concatenated(),
        mix=workload.mix,
        locality=workload.locality,
        arrival=workload.arrival,
        users=workload.users,
        depth=workload.depth,
        direct=workload.direct,
        sync=workload.sync,
        fsync_every=workload.fsync_every,
        fsync_op=workload.fsync_op,
        payload=workload.payload,
        length=phase.length,
        interval_ns=plan.interval_ns,
        seed=seed,
        payload_seed=secrets.randbits(64),
        simulated=plan.target.simulated,
        replay=phase.replay,
        steps=tuple(_within(step, regions) for step in workload.steps),
        tree=_tree(plan, phase),
    )


def _tree(plan: Plan, phase: Phase) -> TreePlan | None:
    tree = plan.tree_of(phase)
    if tree is None:
        return None
    core_plan = tree_plan(tree, plan.most_users, phase.workload.select)
    return replace(core_plan, stop_after=phase.workload.stop_after, cold=phase.cold)


def _within(step: Step, regions: tuple[FileRegion, ...]) -> Step:
    """The step with a region of a known size: without one, to the end of the file in which it begins."""
    if step.size_bytes:
        return step
    end = 0
    for region in regions:
        end += region.size_bytes
        if step.start_bytes < end:
            break
    return replace(step, size_bytes=max(0, end - step.start_bytes))


class World(Protocol):
    """What a simulated device remembers from phase to phase."""

    def copied(self) -> World:
        """The same as it is now, to go another way from here."""


def sim_world() -> World:
    """A simulated device as it is delivered; `measure` takes it. Raises LoadError."""
    simulated: World = core().SimWorld()
    return simulated


def measure(plan: PhasePlan, on_tick: CoreTick, world: World | None = None) -> tuple[Measurement, Intervals]:
    """Runs one phase: `measure_together` with nothing beside it."""
    return measure_together((plan,), on_tick, world)[0]


def measure_together(
    plans: tuple[PhasePlan, ...],
    on_tick: CoreTick,
    world: World | None = None,
    opened: Mapping[str, int] | None = None,
    spool: str | None = None,
) -> tuple[tuple[Measurement, Intervals], ...]:
    """Runs phases at once, from one start. Raises LoadError.

    `on_tick(elapsed_ns, ios, bytes, errors, response_ns)`, of all together, returns False to stop, "enough" to end
    them well (which means nothing on virtual time). `response_ns` is the sum over all I/Os so far.
    A simulated device is the one that earlier phases left in `world` (see `sim_world`), a new one without. Files in
    `opened` (path: descriptor) are reached by that descriptor, whatever is at their paths by then. A series that is too
    long for memory (64 MiB) waits in a nameless file in the directory `spool`; without one it stays in memory.
    """
    module = core()
    try:
        plans_json = [msgspec.json.encode(plan).decode() for plan in plans]
        results = module.run_together(plans_json, on_tick, world, dict(opened or {}), spool)
    except module.CoreError as error:
        message, hint, _errno = error.args
        raise LoadError(f"{' and '.join(plan.name for plan in plans)}: {message}", hint) from error
    return tuple((msgspec.json.decode(result, type=Measurement), intervals) for result, intervals in results)


def memory_bytes_per_s(budget_s: float) -> int:
    """Bytes a second that one core copies in memory. Raises LoadError."""
    return int(core().memory_copy_bytes_per_s(budget_s))


def core() -> ModuleType:
    """The load engine. Raises LoadError when it is not built."""
    try:
        from iocast import _core
    except ImportError as error:
        raise LoadError(
            f"the load engine is not built: {error}", "in a checkout, build it with `make setup`"
        ) from error
    return _core
