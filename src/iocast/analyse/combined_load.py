"""Phases that ran concurrently as the one load that the devices saw: asked and done, added up."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from iocast.model.added_measurements import added
from iocast.model.measurement import Measurement
from iocast.model.plan import FileRegion
from iocast.model.run import PhaseRecord
from iocast.model.workload import MixItem, Sync, Workload


class AddedUp(Struct, frozen=True):
    """What phases that ran concurrently asked and did together."""

    workload: Workload
    measurement: Measurement
    files: tuple[FileRegion, ...]
    direct: bool


def added_up(group: tuple[PhaseRecord, ...]) -> AddedUp:
    """Bytes, I/Os, depth, errors and operations are those of all; the time is that of the longest.

    Times of single I/Os are added up too, which says little: ask the phase itself for them.
    """
    regions = {(region.path, region.start_bytes): region for each in group for region in each.plan.files}
    return AddedUp(
        workload=_all_workloads([each.phase.workload for each in group]),
        measurement=added([each.measurement for each in group]),
        files=tuple(regions.values()),
        direct=all(each.plan.direct for each in group),
    )


def seen_by_devices(record: PhaseRecord, every: AddedUp) -> PhaseRecord:
    """The phase as all that ran concurrently with it: a device's counters do not tell them apart."""
    phase = replace(record.phase, workload=every.workload)
    plan = replace(record.plan, files=every.files, direct=every.direct)
    return replace(record, phase=phase, plan=plan, measurement=every.measurement)


def _all_workloads(loads: list[Workload]) -> Workload:
    """What is asked of the devices at the same time; durable when any of it is."""
    mix: dict[tuple[str, int], MixItem] = {}
    for item in (item for load in loads for item in load.mix):
        mix.setdefault((item.op, item.size_bytes), item)
    durable: list[Sync] = [load.sync for load in loads if load.sync != "none"]
    return replace(
        loads[0],
        mix=tuple(mix.values()),
        users=sum(load.users for load in loads),
        depth=max(load.depth for load in loads),
        direct=all(load.direct for load in loads),
        sync=durable[0] if durable else "none",
        fsync_every=max(load.fsync_every for load in loads),
    )
