"""A load through a database becomes a result: the layer below the engine beside its statements, what a commit costs on
its way down, and both beside the same load without a database.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from iocast.analyse.database.beside_raw import CommitsBeside, ReadsBeside
from iocast.analyse.database.memory_shares import engine_ns_per_block, memory_shares
from iocast.analyse.database.server_layers import server_layers
from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.live.layer_times import LayerTime
from iocast.model.codes import LayerCode
from iocast.model.database.database_load import CommitLoad
from iocast.model.finding import Grade
from iocast.model.results.database import CommitsBesideRow, DatabaseCommitRow, DatabaseLoadRow, ReadsBesideRow


def database_loads(facts: Facts) -> tuple[DatabaseLoadRow, ...]:
    """The rows that loaded a database with statements."""
    return tuple(_load(row) for row in _rows(facts, commits=False))


def database_commits(facts: Facts) -> tuple[DatabaseCommitRow, ...]:
    """The rows that loaded a database with commits."""
    return tuple(_commit(row) for row in _rows(facts, commits=True))


def _rows(facts: Facts, *, commits: bool) -> Iterator[RowFacts]:
    for row in facts.rows:
        if row.measurement.database is not None and isinstance(row.record.phase.database, CommitLoad) == commits:
            yield row


def _load(row: RowFacts) -> DatabaseLoadRow:
    did, shares = row.measurement, memory_shares(row)
    database = did.database
    assert database is not None
    below, service = database.below, row.service()
    seconds = did.elapsed_ns / 1e9
    call = _layer(row, "read_call")
    timed = below is not None and below.time_ns is not None and below.reads
    return DatabaseLoadRow(
        phase=row.name,
        reads_per_s=below.reads / seconds if below is not None else None,
        read_mean_ns=below.time_ns / below.reads if timed and below is not None and below.time_ns else None,
        call_mean_ns=call.mean_ns if call else None,
        call_p50_below_ns=call.below_ns(0.5) if call else None,
        call_p99_below_ns=call.below_ns(0.99) if call else None,
        statements_per_s=did.rate_per_s,
        statement_mean_ns=_number(service.mean_ns),
        statement_p99_ns=_number(service.quantile_ns(0.99)),
        engine_per_block_ns=engine_ns_per_block(row),
        engine_cache_share=shares.engine if shares else None,
        page_cache_share=shares.page_cache if shares else None,
        storage_share=shares.storage if shares else None,
    )


def _commit(row: RowFacts) -> DatabaseCommitRow:
    did = row.measurement
    commit = did.database.commit if did.database is not None else None
    service = row.service()

    def mean(layer: LayerCode) -> float | None:
        layer_time = _layer(row, layer)
        return layer_time.mean_ns if layer_time else None

    syncs = commit.syncs if commit is not None else None
    return DatabaseCommitRow(
        phase=row.name,
        commits_per_s=did.rate_per_s,
        commit_mean_ns=_number(service.mean_ns),
        commit_p99_ns=_number(service.quantile_ns(0.99)),
        sync_mean_ns=commit.sync_ns / syncs if commit is not None and commit.sync_ns and syncs else None,
        fdatasync_ns=mean("sync_call"),
        device_write_ns=mean("driver_write"),
        device_flush_ns=mean("driver_flush"),
        commits_per_sync=commit.commits / syncs if commit is not None and syncs else None,
        log_bytes=commit.log_bytes / commit.commits if commit and commit.log_bytes and commit.commits else None,
    )


def _layer(row: RowFacts, layer: LayerCode) -> LayerTime | None:
    """Of the server's calls and the devices below it, where the kernel's layers were watched."""
    layer_time = server_layers(row).layers.get(layer)
    return layer_time if layer_time is not None and layer_time.count else None


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


Trust = Callable[[ReadsBeside | CommitsBeside], Grade | None]


def reads_beside_rows(reads: Sequence[ReadsBeside], trust: Trust) -> tuple[ReadsBesideRow, ...]:
    """Reads of both by their numbers of sessions; `trust` gives the lower letter of both rows."""
    return tuple(
        ReadsBesideRow(
            sessions=each.sessions,
            raw_per_s=each.raw_per_s,
            reads_per_s=each.reads_per_s,
            kept_share=each.kept,
            raw_ns=each.raw_ns,
            read_ns=each.read_ns,
            engine_ns=each.engine_ns,
            statement_ns=each.statement_ns,
            engine_cache_share=each.engine_cache,
            page_cache_share=each.page_cache,
            trust=trust(each),
        )
        for each in reads
    )


def commits_beside_rows(commits: Sequence[CommitsBeside], trust: Trust) -> tuple[CommitsBesideRow, ...]:
    """Commits beside writes of iocast, by the number of sessions; `trust` gives the lower letter of both rows."""
    return tuple(
        CommitsBesideRow(
            sessions=each.sessions,
            raw_per_s=each.raw_per_s,
            commits_per_s=each.commits_per_s,
            raw_ns=each.raw_ns,
            sync_ns=each.sync_ns,
            commit_ns=each.commit_ns,
            commits_per_sync=each.commits_per_sync,
            trust=trust(each),
        )
        for each in commits
    )
