"""The rows of a load through a database beside those of the same load without one, by their numbers of sessions."""

from __future__ import annotations

import math

from msgspec import Struct

from iocast.analyse.database.memory_shares import engine_ns_per_block, memory_shares
from iocast.analyse.facts import Facts, RowFacts
from iocast.model.database.database_load import CommitLoad


class ReadsBeside(Struct, frozen=True, kw_only=True):
    """Random reads of one block. None: not known."""

    sessions: int
    rows: tuple[str, str]  # the names of both
    raw_per_s: float
    raw_ns: float
    reads_per_s: float
    read_ns: float | None  # by the engine's own clock
    statement_ns: float
    engine_ns: float | None  # of a statement, above its reads
    engine_cache: float | None  # share of the blocks that it answered
    page_cache: float | None  # the same
    cpu_idle: float | None = None  # share of the time of all processors that nobody used under the engine

    @property
    def kept(self) -> float:
        """How much of the rate is left."""
        return self.reads_per_s / self.raw_per_s

    @property
    def longer_ns(self) -> float | None:
        """How much longer a read takes under the engine than alone; below 0: shorter."""
        return None if self.read_ns is None else self.read_ns - self.raw_ns


class CommitsBeside(Struct, frozen=True, kw_only=True):
    """Commits of a row beside a write with fdatasync. None: not known."""

    sessions: int
    rows: tuple[str, str]
    raw_per_s: float
    raw_ns: float
    commits_per_s: float
    commit_ns: float
    sync_ns: float | None  # of the log, by the engine's own clock
    commits_per_sync: float | None


def reads_beside(raw: Facts, loaded: Facts, test: str, block_bytes: int) -> list[ReadsBeside]:
    """For each number of sessions that both have a row of, ascending."""
    alone = {
        row.workload.users: row for row in raw.rows if row.record.phase.test == test and _is_plain(row, block_bytes)
    }
    beside = []
    for row in _rows(loaded, commits=False):
        did, other = row.measurement.database, alone.get(row.workload.users)
        if did is None or did.below is None or other is None or not other.measurement.rate_per_s:
            continue
        below, shares = did.below, memory_shares(row)
        beside.append(
            ReadsBeside(
                sessions=row.workload.users,
                rows=(other.name, row.name),
                raw_per_s=other.measurement.rate_per_s,
                raw_ns=other.service().mean_ns,
                reads_per_s=below.reads * 1e9 / row.measurement.elapsed_ns,
                read_ns=below.time_ns / below.reads if below.time_ns and below.reads else None,
                statement_ns=row.service().mean_ns,
                engine_ns=engine_ns_per_block(row) or None,  # 0: less than what its statistics tell late
                engine_cache=shares.engine if shares else None,
                page_cache=shares.page_cache if shares else None,
                cpu_idle=row.processors.idle_share,
            )
        )
    return sorted(beside, key=lambda each: each.sessions)


def commits_beside(raw: Facts, loaded: Facts, test: str) -> list[CommitsBeside]:
    """The same for commits."""
    alone = {row.workload.users: row for row in raw.rows if row.record.phase.test == test}
    beside = []
    for row in _rows(loaded, commits=True):
        did, other = row.measurement.database, alone.get(row.workload.users)
        if did is None or did.commit is None or other is None or not other.measurement.rate_per_s:
            continue
        path = did.commit
        beside.append(
            CommitsBeside(
                sessions=row.workload.users,
                rows=(other.name, row.name),
                raw_per_s=other.response("write").total * 1e9 / other.measurement.elapsed_ns,
                raw_ns=sum(mean for op in ("write", "fdatasync") if not math.isnan(mean := _mean(other, op))),
                commits_per_s=row.measurement.rate_per_s,
                commit_ns=row.service().mean_ns,
                sync_ns=path.sync_ns / path.syncs if path.sync_ns and path.syncs else None,
                commits_per_sync=path.commits / path.syncs if path.syncs else None,
            )
        )
    return sorted(beside, key=lambda each: each.sessions)


def _mean(row: RowFacts, op: str) -> float:
    return row.service(op).mean_ns  # type: ignore[arg-type]


def _rows(loaded: Facts, *, commits: bool) -> list[RowFacts]:
    return [
        row
        for row in loaded.rows
        if row.record.phase.database is not None and isinstance(row.record.phase.database, CommitLoad) == commits
    ]


def _is_plain(row: RowFacts, block_bytes: int) -> bool:
    """One user, one outstanding I/O of one block."""
    (first, *more) = row.workload.mix
    return not more and first.size_bytes == block_bytes and row.workload.depth == 1
