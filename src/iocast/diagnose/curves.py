"""Load curves: the closed rows of a run that differ in nothing but how much is outstanding at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from msgspec.structs import replace

from iocast.diagnose.evidence import is_open_loop
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Closed, Op, Uniform, Workload

Curve = tuple[PhaseRecord, ...]  # from the least to the most at once


def kind(record: PhaseRecord) -> str:
    """What rows of one load curve have in common, whatever they are called: the workload but for users and depth, and
    the place."""
    load = record.phase.workload
    alike = Workload(
        mix=load.mix,
        locality=load.locality,
        arrival=load.arrival,
        direct=load.direct,
        sync=load.sync,
        fsync_every=load.fsync_every,
        payload=load.payload,
    )
    return f"{alike} {record.phase.region_start_bytes} {record.phase.region_size_bytes}"


def curves(run: Run) -> tuple[Curve, ...]:
    """All load curves of a run that iocast made, rows that ran beside others left out; a row alone is one too."""
    found: dict[str, list[PhaseRecord]] = defaultdict(list)
    if run.source is not None:
        return ()
    for record in run.measured:
        if not is_open_loop(record) and record.measurement.ios and not record.phase.together:
            found[kind(record)].append(record)
    return tuple(curve for rows in found.values() for curve in _one_a_load(rows))


def _one_a_load(rows: list[PhaseRecord]) -> Iterator[Curve]:
    """Rows of equal load belong to curves of their own, the one of most I/Os to the first."""
    left = sorted(rows, key=lambda row: (row.measurement.asked_depth, -row.measurement.ios))
    while left:
        first: dict[int, PhaseRecord] = {}
        for row in left:
            first.setdefault(row.measurement.asked_depth, row)
        yield tuple(first.values())
        taken = {id(row) for row in first.values()}
        left = [row for row in left if id(row) not in taken]


def random_curves(run: Run, op: Op) -> Iterator[Curve]:
    """Curves of nothing but one operation of one size at random places, without think time or syncs."""
    for curve in curves(run):
        load = curve[0].phase.workload
        plain = load.arrival == Closed() and load.sync == "none" and not load.fsync_every
        if plain and isinstance(load.locality, Uniform) and [item.op for item in load.mix] == [op]:
            yield curve


def at_depth(record: PhaseRecord, depth: int) -> Workload:
    """The workload of a row with so many at once, by a single user."""
    return replace(record.phase.workload, users=1, depth=depth)


def same_place(record: PhaseRecord) -> dict[str, int | None]:
    """The region of a row, as an arm takes it."""
    return {
        "region_start_bytes": record.phase.region_start_bytes,
        "region_size_bytes": record.phase.region_size_bytes,
    }
