"""What PostgreSQL did: sessions, blocks, tuples, transactions, I/O, written buffers, WAL; the figures of pgmon."""

from __future__ import annotations

from typing import Final

from iocast.analyse.live.database_views import is_seen, rate_of, views_of
from iocast.analyse.live.instance_rates import FigureCode, instance_rates
from iocast.analyse.live.session_shares import Activity, activity
from iocast.model.live.readings import Readings
from iocast.model.view import View

Figure = float | str | None  # the name of a wait is the only word

DATABASE: Final = "postgresql"
TOP_IO_WAIT: Final = "top_io_wait"
_MIB: Final = 1 << 20


def postgresql_figures(readings: Readings) -> dict[str, Figure] | None:
    """By the names that `iocast watch pgmon` has for them; None where nothing of PostgreSQL was seen."""
    if not is_seen(readings, DATABASE):
        return None
    bases = list(views_of(readings, DATABASE, "pg_stat_database"))
    known: dict[FigureCode, float | None] = {each.code: each.value for each in instance_rates(readings, DATABASE)}
    wait_ns, sync_ns, log = known["wait_a_block"], known["log_sync"], known["log_bytes"]
    tuples = ("returned", "fetched", "inserted", "updated", "deleted")
    return {
        **_sessions(activity(readings, DATABASE)),
        "blks_hit/s": known["blocks_hit"],
        "blks_read/s": known["blocks_read"],
        "ms/blk": _ms(wait_ns),
        **{f"tup_{each}/s": rate_of(bases, f"tup_{each}") for each in tuples},
        "commits/s": known["commits"],
        "rollbacks/s": known["rollbacks"],
        **_io(readings),
        **_written(readings),
        "wal_MiB/s": None if log is None else log / _MIB,
        "wal_syncs/s": known["log_syncs"],
        "wal_sync_ms": _ms(sync_ns),
    }


def _sessions(sessions: Activity | None) -> dict[str, Figure]:
    """How many were active, how many of them in I/O, and in which I/O most."""
    if sessions is None:
        return {"AAS": None, "io_AAS": None, TOP_IO_WAIT: None}
    io = [each for each in sessions.waits if each.subject.startswith("IO|")]
    return {
        "AAS": sessions.active_mean,
        "io_AAS": sum((each.active_mean for each in io), 0.0),
        TOP_IO_WAIT: io[0].subject.partition("|")[2] if io else None,
    }


def _io(readings: Readings) -> dict[str, Figure]:
    """pg_stat_io (16 and later) without the log, which 18 counts there and which has columns of its own."""
    data = [
        view for view in views_of(readings, DATABASE, "pg_stat_io") if view.subject.split("|")[1:2] not in (["wal"], [])
    ]
    return {f"io_{each}/s": rate_of(data, each) for each in ("reads", "writes", "extends", "fsyncs")}


def _written(readings: Readings) -> dict[str, Figure]:
    """By whom: 17 moved the checkpoints to a view of their own, and what backends write to pg_stat_io."""
    writer = list(views_of(readings, DATABASE, "pg_stat_bgwriter"))
    checkpoints = list(views_of(readings, DATABASE, "pg_stat_checkpointer"))
    clients = [view for view in views_of(readings, DATABASE, "pg_stat_io") if _is_of_clients(view)]
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
