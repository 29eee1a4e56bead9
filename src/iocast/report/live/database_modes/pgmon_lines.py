"""watch pgmon: PostgreSQL in a line: sessions, blocks, tuples, I/O, written buffers, WAL; pgmon.sh has the first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from iocast.analyse.live.database_views import is_seen, rate_of, views_of
from iocast.analyse.live.instance_rates import FigureCode, instance_rates
from iocast.analyse.live.session_shares import Activity, activity
from iocast.model.live.seen import Seen
from iocast.model.view import View
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

_MIB = 1 << 20
_WAIT = "top_io_wait"


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
COLUMNS = (*(column.name for _, group in _GROUPS for column in group), _WAIT)


def _head() -> tuple[str, str]:
    groups = [title.center(sum(column.width for column in group)) for title, group in _GROUPS]
    heads = ["".join(column.head.rjust(column.width) for column in group) for _, group in _GROUPS]
    return " |".join((*groups, "")).rstrip(), " |".join((*heads, " most in"))


HEADING = _head()


def table(seen: Seen) -> Table:
    """One row; ms/blk is the wait a block, which is no latency of an I/O where one call reads several blocks."""
    if not is_seen(seen, DATABASE):
        return Table(COLUMNS, ())
    return Table(COLUMNS, (tuple(_figures(seen)[name] for name in COLUMNS),))


def _figures(seen: Seen) -> dict[str, Cell]:
    bases = list(views_of(seen, DATABASE, "pg_stat_database"))
    known: dict[FigureCode, float | None] = {each.code: each.value for each in instance_rates(seen, DATABASE)}
    wait_ns, sync_ns, log = known["wait_a_block"], known["log_sync"], known["log_bytes"]
    tuples = ("returned", "fetched", "inserted", "updated", "deleted")
    return {
        **_sessions(activity(seen, DATABASE)),
        "blks_hit/s": known["blocks_hit"],
        "blks_read/s": known["blocks_read"],
        "ms/blk": _ms(wait_ns),
        **{f"tup_{each}/s": rate_of(bases, f"tup_{each}") for each in tuples},
        "commits/s": known["commits"],
        "rollbacks/s": known["rollbacks"],
        **_io(seen),
        **_written(seen),
        "wal_MiB/s": None if log is None else log / _MIB,
        "wal_syncs/s": known["log_syncs"],
        "wal_sync_ms": _ms(sync_ns),
    }


def _sessions(found: Activity | None) -> dict[str, Cell]:
    """How many were active, how many of them in I/O, and in which I/O most."""
    if found is None:
        return {"AAS": None, "io_AAS": None, _WAIT: None}
    io = [each for each in found.waits if each.subject.startswith("IO|")]
    return {
        "AAS": found.active_mean,
        "io_AAS": sum((each.active_mean for each in io), 0.0),
        _WAIT: io[0].subject.partition("|")[2] if io else None,
    }


def _io(seen: Seen) -> dict[str, Cell]:
    """pg_stat_io (16 and later) without the log, which 18 counts there and which has columns of its own."""
    data = [
        view for view in views_of(seen, DATABASE, "pg_stat_io") if view.subject.split("|")[1:2] not in (["wal"], [])
    ]
    return {f"io_{each}/s": rate_of(data, each) for each in ("reads", "writes", "extends", "fsyncs")}


def _written(seen: Seen) -> dict[str, Cell]:
    """By whom: 17 moved the checkpoints to a view of their own, and what backends write to pg_stat_io."""
    writer = list(views_of(seen, DATABASE, "pg_stat_bgwriter"))
    checkpoints = list(views_of(seen, DATABASE, "pg_stat_checkpointer"))
    clients = [view for view in views_of(seen, DATABASE, "pg_stat_io") if _is_of_clients(view)]
    return {
        "checkpointer_buffers/s": _first(
            rate_of(checkpoints, "buffers_written"), rate_of(writer, "buffers_checkpoint")
        ),
        "bgwriter_buffers/s": rate_of(writer, "buffers_clean"),
        "backend_writes/s": _first(rate_of(writer, "buffers_backend"), rate_of(clients, "writes")),
    }


def _is_of_clients(view: View) -> bool:
    return view.subject.startswith("client backend|relation|")


def _first(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)


def _ms(value_ns: float | None) -> float | None:
    return None if value_ns is None else value_ns / 1e6


def lines(seen: Seen) -> Iterator[str]:
    """A line an interval, under a heading that comes again from time to time; what is unknown stays blank."""
    found = table(seen)
    if not found.rows:
        yield "(no sample of PostgreSQL in this interval)"
        return
    cells = dict(zip(found.columns, found.rows[0], strict=True))
    groups = [_line(group, cells) for _, group in _GROUPS]
    yield " |".join((*groups, f" {cells[_WAIT] or ''}")).rstrip()


def _line(group: Sequence[_Column], cells: dict[str, Cell]) -> str:
    return "".join(_shown(cells[column.name], column.digits).rjust(column.width) for column in group)


def _shown(value: Cell, digits: int | None) -> str:
    if not isinstance(value, float | int):
        return ""
    return f"{value:.{(0 if value >= 10 or value == 0 else 1) if digits is None else digits}f}"
