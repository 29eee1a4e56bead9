"""The section of a load through a database: the layer below the engine first, the statement beside it."""

from __future__ import annotations

import math
from collections.abc import Iterator

from iocast import text
from iocast.analyse.database.memory_shares import engine_ns_per_block, memory_shares
from iocast.analyse.database.server_layers import server_layers
from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.live.layer_times import LayerTime
from iocast.model.codes import LayerCode
from iocast.model.database.database_load import CommitLoad
from iocast.model.report import Column, Row, Section, Table
from iocast.report.wording import section as titled

LOADS = (
    Column("test", "row"),
    Column("reads", "reads\n/s", "rate", "that the engine sent below, not found in its own cache"),
    Column("read_mean", "read\nmean", "duration", "by the engine's own clock"),
    Column("call_mean", "pread\nmean", "duration", "the server's read calls, by the kernel", spare=4),
    Column("call_p50_below", "pread\np50 <", "duration", "the upper edge of a bucket: powers of two", spare=3),
    Column("call_p99_below", "pread\np99 <", "duration", "the upper edge of a bucket: powers of two", spare=2),
    Column("statements", "stmts\n/s", "rate"),
    Column("statement_mean", "stmt\nmean", "duration"),
    Column("statement_p99", "stmt\np99", "duration"),
    Column("engine_per_block", "engine\n/ block", "duration", "statement less read, by block", spare=6),
    Column("engine_cache", "engine\ncache", "share", "of the table blocks that statements asked for"),
    Column("page_cache", "page\ncache", "share", spare=5),
    Column("storage", "storage", "share"),
)
COMMITS = (
    Column("test", "row"),
    Column("commits", "commits\n/s", "rate"),
    Column("commit_mean", "commit\nmean", "duration"),
    Column("commit_p99", "commit\np99", "duration"),
    Column("sync_mean", "WAL\nsync", "duration", "by the engine's own clock"),
    Column("fdatasync", "fdatasync\nmean", "duration", "the server's sync calls, by the kernel"),
    Column("device_write", "device\nwrite", "duration", "from the driver to its answer"),
    Column("device_flush", "device\nflush", "duration", "from the driver to its answer"),
    Column("commits_per_sync", "commits\n/ sync", "ratio", "group commit"),
    Column("log", "WAL\n/ commit", "bytes", spare=1),
)
NOTE = (
    "Reads and their mean are those of the layer below the engine; the statement stands beside it and holds hits, the"
    " engine's own work and its reads. One row is no sum of the others."
)
FLOOR = "async: commits do not wait for the log (the floor); the difference to the others is what durability costs."


def section(facts: Facts) -> Section | None:
    """None for runs that loaded no database."""
    rows = [row for row in facts.rows if row.measurement.database is not None]
    if not rows:
        return None
    loads = [row for row in rows if not isinstance(row.record.phase.database, CommitLoad)]
    commits = [row for row in rows if isinstance(row.record.phase.database, CommitLoad)]
    tables = []
    if loads:
        tables.append(_table("database_loads", LOADS, [_load(row) for row in loads], (NOTE, *_notes(loads))))
    if commits:
        floor = (FLOOR,) if any(_is_floor(row) for row in commits) else ()
        tables.append(
            _table("database_commits", COMMITS, [_commit(row) for row in commits], (*floor, *_notes(commits)))
        )
    return titled("database", (*_anchor(facts), *_late(rows)), tuple(tables))


def _anchor(facts: Facts) -> Iterator[str]:
    """pg_test_fsync, where it was run."""
    server = facts.run.plan.target.database
    if server is None or not server.sync_anchor_ns:
        return
    own = server.settings.get("wal_sync_method", "")
    each = ", ".join(
        f"{name} {text.duration(ns)}{' (that of the server)' if name == own else ''}"
        for name, ns in server.sync_anchor_ns.items()
    )
    yield f"pg_test_fsync, one durable write of 8 kB in the folder of the server: {each}."


def _is_floor(row: RowFacts) -> bool:
    work = row.record.phase.database
    return isinstance(work, CommitLoad) and not work.synchronous


def _table(key: str, columns: tuple[Column, ...], rows: list[Row], notes: tuple[str, ...]) -> Table:
    seen = tuple(column for column in columns if any(row.cells.get(column.key) is not None for row in rows))
    return Table("", seen, tuple(rows), key=key, notes=notes)


def _load(row: RowFacts) -> Row:
    did, shares = row.measurement, memory_shares(row)
    told = did.database
    assert told is not None
    below, service = told.below, row.service()
    seconds = did.elapsed_ns / 1e9
    call = _layer(row, "read_call")
    timed = below is not None and below.time_ns is not None and below.reads
    return Row(
        {
            "test": row.name,
            "phase": row.name,
            "reads": below.reads / seconds if below is not None else None,
            "read_mean": below.time_ns / below.reads if timed and below is not None and below.time_ns else None,
            "call_mean": call.mean_ns if call else None,
            "call_p50_below": call.below_ns(0.5) if call else None,
            "call_p99_below": call.below_ns(0.99) if call else None,
            "statements": did.rate_per_s,
            "statement_mean": _number(service.mean_ns),
            "statement_p99": _number(service.quantile_ns(0.99)),
            "engine_per_block": engine_ns_per_block(row),
            "engine_cache": shares.engine if shares else None,
            "page_cache": shares.page_cache if shares else None,
            "storage": shares.storage if shares else None,
        }
    )


def _commit(row: RowFacts) -> Row:
    did = row.measurement
    told = did.database.commit if did.database is not None else None
    service = row.service()

    def mean(layer: LayerCode) -> float | None:
        found = _layer(row, layer)
        return found.mean_ns if found else None

    syncs = told.syncs if told is not None else None
    return Row(
        {
            "test": row.name,
            "phase": row.name,
            "commits": did.rate_per_s,
            "commit_mean": _number(service.mean_ns),
            "commit_p99": _number(service.quantile_ns(0.99)),
            "sync_mean": told.sync_ns / syncs if told is not None and told.sync_ns and syncs else None,
            "fdatasync": mean("sync_call"),
            "device_write": mean("driver_write"),
            "device_flush": mean("driver_flush"),
            "commits_per_sync": told.commits / syncs if told is not None and syncs else None,
            "log": told.log_bytes / told.commits if told and told.log_bytes and told.commits else None,
        }
    )


def _layer(row: RowFacts, layer: LayerCode) -> LayerTime | None:
    """Of the server's calls and the devices below it, where the kernel's layers were watched."""
    made = server_layers(row).layers.get(layer)
    return made if made is not None and made.count else None


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _notes(rows: list[RowFacts]) -> Iterator[str]:
    """Why a figure is missing."""
    for row in rows:
        told = row.measurement.database
        if told is None:
            continue
        if told.below is not None and told.below.why_not:
            yield f"{row.name}: no read latency: {told.below.why_not}."
        if (say := told.statements.misses_say) and told.statements.table_misses is None:
            yield f"{row.name}: shares of the caches are not known: {say}."
        elif say:
            yield f"{row.name}: the storage has at most this share, the engine's cache at least: {say}."
        yield from (f"{row.name}: {note}." for note in told.notes)


def _late(rows: list[RowFacts]) -> Iterator[str]:
    late = [row for row in rows if row.measurement.database and row.measurement.database.statements.late]
    if late:
        names = ", ".join(row.name for row in late)
        slices = sum(row.measurement.database.statements.late for row in late if row.measurement.database)
        yield (
            f"{text.counted(slices, 'slice')} told what it did over a second late ({names}): one statement took that"
            " long. Each statement counts in the second in which it ended."
        )
