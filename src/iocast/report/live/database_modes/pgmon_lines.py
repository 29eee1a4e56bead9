"""watch pgmon: PostgreSQL in a line: sessions, blocks, tuples, I/O, written buffers, WAL; pgmon.sh has the first."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from iocast.analyse.live.postgresql_figures import TOP_IO_WAIT, postgresql_figures
from iocast.model.live.readings import Readings
from iocast.report.live.line_table import Cell, Table

NAME = "pgmon"
DATABASE = "postgresql"
OBSERVERS = (
    "postgresql.waits",
    "postgresql.pg_stat_database",
    "postgresql.pg_stat_io",
    "postgresql.pg_stat_bgwriter",
    "postgresql.pg_stat_checkpointer",
    "postgresql.pg_stat_wal",
)


class _Column(Struct, frozen=True):
    """A column: its name for programs, its head and width in a line, and the digits after the point."""

    name: str
    head: str
    width: int
    digits: int | None = None  # None: whole from 10 on, one digit below


_GROUPS: tuple[tuple[str, tuple[_Column, ...]], ...] = (
    ("sessions", (_Column("AAS", "AAS", 6, 1), _Column("io_AAS", "in I/O", 7, 1))),
    (
        "blocks/s",
        (_Column("blks_hit/s", "hit", 9), _Column("blks_read/s", "read", 8), _Column("ms/blk", "ms/blk", 8, 3)),
    ),
    (
        "tuples/s",
        (
            _Column("tup_returned/s", "returned", 9),
            _Column("tup_fetched/s", "fetched", 8),
            _Column("tup_inserted/s", "inserted", 9),
            _Column("tup_updated/s", "updated", 8),
            _Column("tup_deleted/s", "deleted", 8),
        ),
    ),
    ("transactions/s", (_Column("commits/s", "commits", 8), _Column("rollbacks/s", "rolled back", 12))),
    (
        "pg_stat_io, a second",
        (
            _Column("io_reads/s", "reads", 8),
            _Column("io_writes/s", "writes", 7),
            _Column("io_extends/s", "extends", 8),
            _Column("io_fsyncs/s", "fsyncs", 7),
        ),
    ),
    (
        "buffers written/s by",
        (
            _Column("checkpointer_buffers/s", "checkpoint", 11),
            _Column("bgwriter_buffers/s", "bgwriter", 9),
            _Column("backend_writes/s", "backend", 8),
        ),
    ),
    (
        "WAL",
        (
            _Column("wal_MiB/s", "MiB/s", 7, 2),
            _Column("wal_syncs/s", "syncs/s", 8),
            _Column("wal_sync_ms", "ms/sync", 8, 3),
        ),
    ),
)
COLUMNS = (*(column.name for _, group in _GROUPS for column in group), TOP_IO_WAIT)


def _head() -> tuple[str, str]:
    groups = [title.center(sum(column.width for column in group)) for title, group in _GROUPS]
    heads = ["".join(column.head.rjust(column.width) for column in group) for _, group in _GROUPS]
    return " |".join((*groups, "")).rstrip(), " |".join((*heads, " most in"))


HEADING = _head()


def table(readings: Readings) -> Table:
    """One row; ms/blk is the wait a block, which is no latency of an I/O where one call reads several blocks."""
    figures = postgresql_figures(readings)
    if figures is None:
        return Table(COLUMNS, ())
    return Table(COLUMNS, (tuple(figures[name] for name in COLUMNS),))


def lines(readings: Readings) -> Iterator[str]:
    """A line an interval, under a heading that comes again from time to time; what is unknown stays blank."""
    rows = table(readings)
    if not rows.rows:
        yield "(no sample of PostgreSQL in this interval)"
        return
    *figures, most_in = rows.rows[0]
    cells = iter(figures)
    groups = ["".join(_shown(next(cells), each).rjust(each.width) for each in group) for _, group in _GROUPS]
    yield " |".join((*groups, f" {most_in or ''}")).rstrip()


def _shown(value: Cell, column: _Column) -> str:
    if not isinstance(value, float | int):
        return ""
    digits = column.digits
    return f"{value:.{(0 if value >= 10 or value == 0 else 1) if digits is None else digits}f}"
