"""What a database did in an interval: transactions, blocks, log; by the names of its own counters."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from msgspec import Struct

from iocast.analyse.live.database_views import views_of
from iocast.model.live.readings import Readings
from iocast.model.view import View

FigureCode = Literal[
    "commits",
    "rollbacks",
    "statements",
    "calls",
    "soft_parses",
    "hard_parses",
    "cursor_hits",
    "blocks_read",
    "blocks_hit",
    "wait_a_block",
    "logical_reads",
    "reads",
    "read_bytes",
    "writes",
    "written_bytes",
    "log_bytes",
    "log_syncs",
    "log_sync",
]


class InstanceFigure(Struct, frozen=True):
    """One figure: per second, or a mean in ns (`wait_a_block`, `log_sync`); None is unknown."""

    code: FigureCode
    value: float | None


def instance_rates(readings: Readings, database: str) -> tuple[InstanceFigure, ...]:
    """The figures of one kind of database; none of a kind that is not known here."""
    return _RATES[database](readings) if database in _RATES else ()


def _postgresql(readings: Readings) -> tuple[InstanceFigure, ...]:
    bases = [view for subject, view in readings.views("postgresql.pg_stat_database").items() if subject]
    wal = readings.views("postgresql.pg_stat_wal").get("")
    # 18 counts the log among all other I/O; before, the view of the log does.
    of_log = [view for subject, view in readings.views("postgresql.pg_stat_io").items() if "|wal|" in subject]
    of_data = [view for subject, view in readings.views("postgresql.pg_stat_io").items() if "|wal|" not in subject]
    syncs, sync_ns = _sum(of_log, "fsyncs"), _sum(of_log, "fsync_time_ns")
    if wal is not None and wal.delta("wal_sync") is not None:
        syncs, sync_ns, of_log = wal.delta("wal_sync"), wal.delta("wal_sync_time_ns"), [wal]
    return (
        InstanceFigure("commits", _rate(bases, "xact_commit")),
        InstanceFigure("rollbacks", _rate(bases, "xact_rollback")),
        InstanceFigure("statements", _rate(list(readings.views("postgresql.pg_stat_statements").values()), "calls")),
        InstanceFigure("blocks_read", _rate(bases, "blks_read")),
        InstanceFigure("blocks_hit", _rate(bases, "blks_hit")),
        InstanceFigure("wait_a_block", _mean(_sum(bases, "blk_read_time_ns"), _sum(bases, "blks_read"))),
        InstanceFigure("read_bytes", _rate(of_data, "read_bytes")),
        InstanceFigure("written_bytes", _rate(of_data, "write_bytes")),
        InstanceFigure("log_bytes", None if wal is None else wal.per_s("wal_bytes")),
        InstanceFigure("log_syncs", None if syncs is None or not of_log else syncs * 1e9 / of_log[0].elapsed_ns),
        InstanceFigure("log_sync", _mean(sync_ns, syncs)),
    )


def _mysql(readings: Readings) -> tuple[InstanceFigure, ...]:
    status = list(readings.views("mysql.global_status").values())
    return (
        InstanceFigure("commits", _rate(status, "com_commit")),
        InstanceFigure("rollbacks", _rate(status, "com_rollback")),
        InstanceFigure("statements", _rate(status, "questions")),
        InstanceFigure("blocks_read", _rate(status, "innodb_buffer_pool_reads")),
        InstanceFigure("blocks_hit", _rate(status, "innodb_buffer_pool_read_requests")),
        InstanceFigure("log_bytes", _rate(status, "innodb_os_log_written")),
    )


def _oracle(readings: Readings) -> tuple[InstanceFigure, ...]:
    """Statistics have their names in lower case; I/Os are those of all sizes, as MOATS has them."""
    stats = list(views_of(readings, "oracle", "sysstat"))
    parses, hard_parses = _rate(stats, "parse count (total)"), _rate(stats, "parse count (hard)")
    return (
        InstanceFigure("commits", _rate(stats, "user commits")),
        InstanceFigure("rollbacks", _rate(stats, "user rollbacks")),
        InstanceFigure("statements", _rate(stats, "execute count")),
        InstanceFigure("calls", _rate(stats, "user calls")),
        InstanceFigure("soft_parses", _less(parses, hard_parses)),
        InstanceFigure("hard_parses", hard_parses),
        InstanceFigure("cursor_hits", _rate(stats, "session cursor cache hits")),
        InstanceFigure("logical_reads", _rate(stats, "session logical reads")),
        InstanceFigure("reads", _rate(stats, "physical read total io requests")),
        InstanceFigure("read_bytes", _rate(stats, "physical read total bytes")),
        InstanceFigure("writes", _rate(stats, "physical write total io requests")),
        InstanceFigure("written_bytes", _rate(stats, "physical write total bytes")),
        InstanceFigure("log_bytes", _rate(stats, "redo size")),
        InstanceFigure("log_syncs", _rate(stats, "redo synch writes")),
        InstanceFigure("log_sync", _mean(_sum(stats, "redo synch time_ns"), _sum(stats, "redo synch writes"))),
    )


_RATES: dict[str, Callable[[Readings], tuple[InstanceFigure, ...]]] = {
    "postgresql": _postgresql,
    "mysql": _mysql,
    "oracle": _oracle,
}


def _sum(views: Iterable[View], metric: str) -> int | None:
    known = [delta for view in views if (delta := view.delta(metric)) is not None]
    return sum(known) if known else None


def _rate(views: list[View], metric: str) -> float | None:
    known = [rate for view in views if (rate := view.per_s(metric)) is not None]
    return sum(known) if known else None


def _less(all_of_them: float | None, these: float | None) -> float | None:
    return None if all_of_them is None or these is None else max(0.0, all_of_them - these)


def _mean(spent_ns: int | None, count: int | None) -> float | None:
    return spent_ns / count if spent_ns is not None and count else None
