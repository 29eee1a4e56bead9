"""Ramps of sessions become rows: one for each number of sessions, no name twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from iocast.errors import SpecError
from iocast.model.database.database_load import (
    MOST_WORK_UNIT,
    CommitLoad,
    CommitRamp,
    DatabaseLoad,
    DatabaseRamp,
    LoadRamp,
)
from iocast.model.database.database_result import DatabaseServer
from iocast.model.job import Job
from iocast.model.plan import Length, Phase, Until
from iocast.model.workload import Closed, Hotspot, Locality, MixItem, Poisson, Sequential, Uniform, Workload, Zipf
from iocast.units import rate_text, size_text

MOST_SESSIONS = 4096  # as SLOB has it
LEAST_ROW_BYTES = 1


def load_job(ramp: LoadRamp, server: DatabaseServer) -> Job:
    """The rows of a load on this data set. Raises SpecError for a load that it cannot bear."""
    return Job(name="load-db", phases=rows_of((ramp,), server), description="Load through a database")


def commit_job(ramp: CommitRamp, server: DatabaseServer) -> Job:
    """The rows of a commit test: each number of sessions, with the floor beside it."""
    rows = rows_of((ramp,), server)
    return Job(name="load-db commit", phases=rows, description="Commit test through a database")


def rows_of(ramps: Iterable[DatabaseRamp], server: DatabaseServer) -> tuple[Phase, ...]:
    """The rows of all ramps on this data set, in their order. Raises SpecError for a load that it cannot bear."""
    return _distinct([row for ramp in ramps for row in _rows(ramp, server)])


def _rows(ramp: DatabaseRamp, server: DatabaseServer) -> Iterator[Phase]:
    _refuse_ramp(ramp.sessions, ramp.seconds)
    if isinstance(ramp, CommitRamp):
        return _commit_rows(ramp, server)
    refuse_load(ramp.load, server)
    if ramp.rate_per_s is not None and ramp.rate_per_s <= 0:
        raise SpecError("--rate must be above 0", "leave it out for a closed loop")
    return _load_rows(ramp, server)


def _load_rows(ramp: LoadRamp, server: DatabaseServer) -> Iterator[Phase]:
    test = ramp.test or _test_of(ramp.load)
    first_s = max(2.0, ramp.seconds / 8) if ramp.first_s is None else ramp.first_s
    for count in ramp.sessions:
        yield Phase(
            name=f"{test} {size_text(ramp.load.work_unit * server.block_bytes)} {count}x1",
            test=test,
            workload=_workload(ramp.load, server, count, ramp.rate_per_s),
            length=Length(seconds=ramp.seconds),
            until=Until(first_s=first_s) if ramp.until_steady else None,
            database=ramp.load,
        )


def _commit_rows(ramp: CommitRamp, server: DatabaseServer) -> Iterator[Phase]:
    if not LEAST_ROW_BYTES <= ramp.row_bytes <= server.block_bytes // 2:
        raise SpecError(
            f"a row of {ramp.row_bytes} bytes cannot be inserted",
            f"give {LEAST_ROW_BYTES} to {server.block_bytes // 2} bytes",
        )
    for count in ramp.sessions:
        # Only PostgreSQL lets a session say that it does not wait for the log.
        for durable in (True, False) if ramp.floor and server.product == "PostgreSQL" else (True,):
            test = (ramp.test or "db commit") + ("" if durable else " async")
            load = Workload(
                mix=(MixItem("write", ramp.row_bytes),),
                locality=Sequential(),  # of the log
                users=count,
                direct=False,
                fsync_every=1 if durable else 0,
                fsync_op="fdatasync",
            )
            yield Phase(
                name=f"{test} {count}x1",
                test=test,
                workload=load,
                length=Length(seconds=ramp.seconds),
                database=CommitLoad(row_bytes=ramp.row_bytes, synchronous=durable),
            )


def _distinct(rows: list[Phase]) -> tuple[Phase, ...]:
    """Rows of the same name get the words in which they differ, and where that is not enough "#2"."""
    alike: dict[str, list[set[str]]] = {}
    for row in rows:
        alike.setdefault(row.name, []).append(set(_words(row)))
    counts: dict[str, int] = {}
    named = []
    for row in rows:
        common = set.intersection(*alike[row.name])
        name = " ".join([row.name, *(word for word in _words(row) if word not in common)])
        counts[name] = number = counts.get(name, 0) + 1
        named.append(replace(row, name=name if number == 1 else f"{name} #{number}"))
    return tuple(named)


def _words(row: Phase) -> list[str]:
    """What sets a row apart that its name does not say."""
    work, arrival = row.database, row.workload.arrival
    if isinstance(work, CommitLoad):
        return [f"{work.row_bytes}B"]
    if work is None:
        return []
    words = (
        "" if isinstance(arrival, Closed) else f"@{rate_text(arrival.rate_per_s)}",
        "" if work.driver == "server" else work.driver,
        "" if work.zipf_theta is None else f"zipf={work.zipf_theta:g}",
        "" if work.hot is None else f"hot={size_text(work.hot.size_bytes)}:{work.hot.every}",
        "" if work.think is None else "think",
        "" if work.redo == "lite" else work.redo,
        f"scans={work.scan_blocks}" if work.scan_pct else "",
    )
    return [word for word in words if word]


def refuse_load(load: DatabaseLoad, server: DatabaseServer) -> None:
    """What a data set of this shape cannot bear. Raises SpecError."""
    for name, share in (("--update-pct", load.update_pct), ("--scan-pct", load.scan_pct)):
        if not 0 <= share <= 100:
            raise SpecError(f"{name} is {share}", "give 0 to 100")
    if load.update_pct and server.filling == "full" and server.product == "PostgreSQL":
        raise SpecError(
            "blocks of this data set are full: they have no room for updated rows",
            "build one with --fill row or --fill half, or run without --update-pct",
        )
    if not 1 <= load.work_unit <= min(MOST_WORK_UNIT, server.table_blocks):
        raise SpecError(
            f"--work-unit {load.work_unit} is out of range",
            f"give 1 to {min(MOST_WORK_UNIT, server.table_blocks)} blocks a statement",
        )
    hot = load.hot
    if hot is not None and hot.offset_bytes + hot.size_bytes > server.table_blocks * server.block_bytes:
        raise SpecError(
            "the hot spot ends beyond the table",
            f"each table has {server.table_blocks:,} blocks of {server.block_bytes} bytes",
        )
    if hot is not None and hot.size_bytes < load.work_unit * server.block_bytes:
        raise SpecError("the hot spot is smaller than a work unit", "make it larger, or the work unit smaller")
    if load.zipf_theta is not None and not 0 < load.zipf_theta < 10:
        raise SpecError(f"--zipf {load.zipf_theta} is out of range", "give a theta above 0 and below 10, such as 0.99")
    if load.think is not None and not 0 <= load.think.least_ns <= load.think.most_ns:
        raise SpecError("--think: the shorter time comes first", "for example --think 1ms..5ms:10")


def _refuse_ramp(sessions: tuple[int, ...], seconds: float) -> None:
    if not sessions or not all(1 <= count <= MOST_SESSIONS for count in sessions):
        raise SpecError("--sessions must be numbers from 1 to 4096", "for example --sessions 1,4,8,16")
    if len(set(sessions)) != len(sessions):
        raise SpecError("--sessions names a number twice", "to measure it again, give --repeat")
    if seconds < 1:
        raise SpecError("--time is below 1s", "servers tell their statistics once a second: give 10s or more")


def _test_of(load: DatabaseLoad) -> str:
    parts = []
    if load.update_pct:
        parts.append(f"{load.update_pct}% update")
    if load.scan_pct:
        parts.append(f"{load.scan_pct}% scan")
    return f"db {' '.join(parts)}" if parts else "db read"


def _workload(load: DatabaseLoad, server: DatabaseServer, sessions: int, rate_per_s: float | None) -> Workload:
    """The load as the study knows loads."""
    unit = load.work_unit * server.block_bytes
    scans = (100 - load.update_pct) * load.scan_pct / 100
    weights = (
        ("read", unit, 100 - load.update_pct - scans),
        ("write", unit, float(load.update_pct)),
        ("read", min(load.scan_blocks, server.table_blocks) * server.block_bytes, scans),
    )
    return Workload(
        mix=tuple(MixItem(op, size, weight) for op, size, weight in weights if weight),  # type: ignore[arg-type]
        locality=_locality(load, server),
        arrival=Closed(think_ns=_mean_think(load)) if rate_per_s is None else Poisson(rate_per_s),
        users=sessions,
        direct=server.direct,
    )


def _mean_think(load: DatabaseLoad) -> int:
    think = load.think
    return 0 if think is None else (think.least_ns + think.most_ns) // 2 // think.every


def _locality(load: DatabaseLoad, server: DatabaseServer) -> Locality:
    if load.zipf_theta is not None:
        return Zipf(load.zipf_theta)
    if load.hot is not None:
        space = 100 * load.hot.size_bytes / (server.table_blocks * server.block_bytes)
        access = 100 / load.hot.every
        return Hotspot(space, access + (100 - access) * space / 100)
    return Uniform()
