"""Concurrent phases that go sequentially through a file from the same byte: a cache answers all but the first."""

from __future__ import annotations

from itertools import groupby

from iocast.model.plan import Phase, Plan
from iocast.model.workload import Sequential


def shared_starts(plan: Plan) -> tuple[str, ...]:
    """A sentence for each set of concurrent phases that start at the same byte (source row K16)."""

    def first_byte(phase: Phase) -> tuple[tuple[int, ...], bool, int]:
        backwards = isinstance(phase.workload.locality, Sequential) and phase.workload.locality.backwards
        start = phase.region_start_bytes
        size = plan.files.size_bytes - start if phase.region_size_bytes is None else phase.region_size_bytes
        return phase.on_files, backwards, start + size if backwards else start

    clashes = []
    for group in plan.groups:
        in_order = sorted((phase for phase in group if _sequential(phase)), key=first_byte)
        for (*_, at), same in groupby(in_order, key=first_byte):
            sharing = tuple(same)
            if len(sharing) > 1:
                clashes.append(_sentence(sharing, at))
    return tuple(clashes)


def _sequential(phase: Phase) -> bool:
    moves = any(item.op in ("read", "write") for item in phase.workload.mix)
    return moves and isinstance(phase.workload.locality, Sequential)


def _sentence(sharing: tuple[Phase, ...], at: int) -> str:
    names = [f'"{phase.name}"' for phase in sharing]
    reading = any(item.op == "read" for phase in sharing for item in phase.workload.mix)
    cost = (
        "a cache may answer all but the first to read a block"
        if reading
        else "they overwrite the same blocks, which a write cache may combine"
    )
    return (
        f"phases {', '.join(names[:-1])} and {names[-1]} run concurrently and start at byte {at:,} of the same file:"
        f" {cost}; give each its own region"
    )
