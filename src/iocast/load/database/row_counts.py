"""What the sessions of a row did, put together: classes, intervals, and what their statements touched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from iocast.load.database.interval_stream import IntervalRow
from iocast.load.database.key_stream import Kind
from iocast.load.database.load_server import Slice
from iocast.load.database.tallies import Tally
from iocast.model.database.database_load import CommitLoad, DatabaseLoad
from iocast.model.database.database_result import Statements
from iocast.model.measurement import ClassResult, UserResult
from iocast.model.workload import Op

Sliced = Sequence[Sequence[tuple[int, Slice]]]
_LATE_INTERVALS = 2  # a slice that took longer tells what happened too late for its interval


class RowCounts(NamedTuple):
    """Everything of a row that its sessions counted."""

    classes: tuple[ClassResult, ...]
    intervals: tuple[IntervalRow, ...]
    users: tuple[UserResult, ...]
    lag: Tally
    statements: Statements
    last_ns: int


def kinds_of(work: DatabaseLoad | CommitLoad, block_bytes: int, rows: int) -> dict[Kind, tuple[Op, int]]:
    """The operation and the size of each kind of statement."""
    if isinstance(work, CommitLoad):
        return {"update": ("write", work.row_bytes)}
    unit = work.work_unit * block_bytes
    scan = min(work.scan_blocks, rows) * block_bytes
    return {"read": ("read", unit), "update": ("write", unit), "scan": ("read", scan)}


def counted(sliced: Sliced, kinds: dict[Kind, tuple[Op, int]], interval_ns: int) -> RowCounts:
    """All slices of all sessions. A statement that crossed the end of its slice counts where it ended."""
    rows: dict[tuple[int, Op, int], IntervalRow] = {}

    def row(interval: int, kind: Kind) -> IntervalRow:
        op, size = kinds[kind]
        return rows.setdefault((interval, op, size), IntervalRow(interval, op, size))

    lag, users = Tally(), []
    done = dict.fromkeys(("read", "update", "scan"), 0)
    touched, late = [0, 0, 0, 0], 0
    for slices in sliced:
        ios = last_ns = 0
        for interval, did in slices:
            for kind, response in did.response.items():
                if response.total:
                    row(interval, kind).response.merge(response)
                    row(interval, kind).service.merge(did.service[kind])
                    done[kind] += response.total
                    ios += response.total
            lag.merge(did.lag)
            last_ns = max(last_ns, did.ended_ns)
            if (over := did.crossing) is not None:
                place = row(over.ended_ns // interval_ns, over.kind)
                place.response.add(over.response_ns)
                place.service.add(over.service_ns)
                lag.add(over.lag_ns)
                done[over.kind] += 1
                ios += 1
                last_ns = max(last_ns, over.ended_ns)
                late += over.ended_ns - interval * interval_ns > _LATE_INTERVALS * interval_ns
            touched = [before + more for before, more in zip(touched, did.touched, strict=True)]
        users.append(UserResult(ios, last_ns))
    statements = Statements(
        reads=done["read"],
        updates=done["update"],
        scans=done["scan"],
        table_blocks=touched[0],
        table_misses=touched[1],
        index_blocks=touched[2],
        index_misses=touched[3],
        late=late,
    )
    ordered = tuple(rows[key] for key in sorted(rows))
    return RowCounts(
        classes=_classes(ordered),
        intervals=ordered,
        users=tuple(users),
        lag=lag,
        statements=statements,
        last_ns=max((user.last_ns for user in users), default=0),
    )


def _classes(rows: tuple[IntervalRow, ...]) -> tuple[ClassResult, ...]:
    classes: dict[tuple[Op, int], tuple[Tally, Tally]] = {}
    for row in rows:
        _, op, size = row.key
        response, service = classes.setdefault((op, size), (Tally(), Tally()))
        response.merge(row.response)
        service.merge(row.service)
    return tuple(
        ClassResult(op, size, response.total, response.total * size, 0, response.histogram(), service.histogram())
        for (op, size), (response, service) in sorted(classes.items())
    )
