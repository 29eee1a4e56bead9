"""The load and the place of a row as an experiment takes them, and how much of the target it may use."""

from __future__ import annotations

from msgspec.structs import replace

from iocast.analyse.load_kind import region
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Workload


def at_depth(record: PhaseRecord, depth: int) -> Workload:
    """The workload of a row at this queue depth, by a single user."""
    return replace(record.phase.workload, users=1, depth=depth)


def same_place(record: PhaseRecord) -> dict[str, int | None]:
    """The region of a row, as an arm takes it."""
    return {
        "region_start_bytes": record.phase.region_start_bytes,
        "region_size_bytes": record.phase.region_size_bytes,
    }


def target_bytes(run: Run) -> int:
    """Bytes of each file, or of the device, that experiments may use."""
    target = run.plan.target
    whole = target.size_bytes if target.kind == "block" else None
    return whole or max((region(record)[0] + region(record)[1] for record in run.phases), default=0)


def mib_below(size_bytes: float, most_mib: int) -> int:
    """This many bytes in whole MiB, at most `most_mib` of them; 0 when there is not one."""
    return min(most_mib, int(size_bytes) >> 20) << 20
