"""Users or concurrent phases that go through a file from the same byte: a cache answers all but the first."""

from __future__ import annotations

from itertools import groupby

from iocast.model.plan import Phase, Plan
from iocast.model.workload import Sequential


def shared_starts(plan: Plan) -> tuple[str, ...]:
    """A sentence for the users of a phase, or the concurrent phases, that start at the same byte (source row K16)."""

    def first_byte(phase: Phase) -> tuple[tuple[int, ...], bool, int]:
        backwards = isinstance(phase.workload.locality, Sequential) and phase.workload.locality.backwards
        start = phase.region_start_bytes
        size = plan.files.size_bytes - start if phase.region_size_bytes is None else phase.region_size_bytes
        return phase.on_files, backwards, start + size if backwards else start

    clashes = [
        f'the {phase.workload.users} users of phase "{phase.name}" start at the same byte: {_cost((phase,))}'
        for phase in plan.phases
        if phase.workload.starts_together and _sequential(phase)
    ]
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


def _cost(sharing: tuple[Phase, ...]) -> str:
    reading = any(item.op == "read" for phase in sharing for item in phase.workload.mix)
    return (
        "a cache may answer all but the first to read a block"
        if reading
        else "they overwrite the same blocks, which a write cache may combine"
    )


def _sentence(sharing: tuple[Phase, ...], at: int) -> str:
    names = [f'"{phase.name}"' for phase in sharing]
    return (
        f"phases {', '.join(names[:-1])} and {names[-1]} run concurrently and start at byte {at:,} of the same file:"
        f" {_cost(sharing)}; give each its own region"
    )
