"""The section of a load through a database: the layer below the engine first, the statement beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iocast import text
from iocast.analyse.facts import Facts, RowFacts
from iocast.model.database.database_load import CommitLoad
from iocast.model.report import Section
from iocast.model.results.database import DatabaseCommitRow, DatabaseLoadRow
from iocast.report.result_tables import filled, result_table
from iocast.report.wording import section as titled

NOTE = (
    "Reads and their mean are those of the layer below the engine; the statement stands beside it and holds hits, the"
    " engine's own work and its reads. No row is the sum of the others."
)
FLOOR = "async: commits do not wait for the log (the floor); the difference to the others is what durability costs."


def section(facts: Facts, loads: Sequence[DatabaseLoadRow], commits: Sequence[DatabaseCommitRow]) -> Section | None:
    """None for runs that loaded no database."""
    rows = {row.name: row for row in facts.rows if row.measurement.database is not None}
    if not rows:
        return None
    tables = []
    if loads:
        notes = (NOTE, *_notes([rows[each.phase] for each in loads]))
        tables.append(filled(result_table(DatabaseLoadRow, loads, key="database_loads", notes=notes)))
    if commits:
        of_commits = [rows[each.phase] for each in commits]
        floor = (FLOOR,) if any(_is_floor(row) for row in of_commits) else ()
        notes = (*floor, *_notes(of_commits))
        tables.append(filled(result_table(DatabaseCommitRow, commits, key="database_commits", notes=notes)))
    return titled("database", (*_anchor(facts), *_late(list(rows.values()))), tuple(tables))


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


def _notes(rows: list[RowFacts]) -> Iterator[str]:
    """Why a figure is missing."""
    for row in rows:
        database = row.measurement.database
        if database is None:
            continue
        if database.below is not None and database.below.why_not:
            yield f"{row.name}: no read latency: {database.below.why_not}."
        if (say := database.statements.misses_say) and database.statements.table_misses is None:
            yield f"{row.name}: shares of the caches are not known: {say}."
        elif say:
            yield f"{row.name}: the storage has at most this share, the engine's cache at least: {say}."
        yield from (f"{row.name}: {note}." for note in database.notes)


def _late(rows: list[RowFacts]) -> Iterator[str]:
    late = [row for row in rows if row.measurement.database and row.measurement.database.statements.late]
    if late:
        names = ", ".join(row.name for row in late)
        slices = sum(row.measurement.database.statements.late for row in late if row.measurement.database)
        yield (
            f"{text.counted(slices, 'slice')} told what it did over a second late ({names}): one statement took that"
            " long. Each statement counts in the second in which it ended."
        )
