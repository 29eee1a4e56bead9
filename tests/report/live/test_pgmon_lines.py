"""watch pgmon: a fixed series of PostgreSQL's counters, by version, and a real server with known work."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from makers.command_line import compare
from makers.database_servers import NoServer, postgres
from makers.left_out import long_after
from makers.live_moments import moment

from iocast.databases import connect
from iocast.metrics import EPOCH
from iocast.model.live.moment import Interval, Moment, intervals, moment_of
from iocast.report.live.database_modes import pgmon_lines

Counters = Mapping[tuple[str, str], Mapping[str, float]]


def _counters(at: int, *, since: float = 1.0) -> dict[tuple[str, str], dict[str, float]]:
    """PostgreSQL 18 after `at` seconds: 46 commits, 5984 blocks of 0.138 ms a second; 3 sessions in I/O."""
    views = ("pg_stat_database", "pg_stat_io", "pg_stat_bgwriter", "pg_stat_checkpointer", "pg_stat_wal")
    blocks = {"reads": 5984.0 * at, "writes": 12.0 * at, "extends": 0.5 * at, "fsyncs": 0.0}
    base = {
        "xact_commit": 46.0 * at,
        "xact_rollback": 0.0,
        "blks_read": 5984.0 * at,
        "blks_hit": 28164.0 * at,
        "blk_read_time_ns": 5984 * 138_000.0 * at,
        **{f"tup_{name}": 100.0 * at for name in ("returned", "fetched", "inserted", "updated", "deleted")},
    }
    return {
        **{(f"postgresql.{view}", ""): {EPOCH: since} for view in views},
        ("postgresql.waits", ""): {"polls": 10.0 * at},
        ("postgresql.waits", "IO|DataFileRead"): {"samples": 25.0 * at},
        ("postgresql.waits", "IO|WalSync"): {"samples": 5.0 * at},
        ("postgresql.waits", "CPU"): {"samples": 12.0 * at},
        ("postgresql.pg_stat_database", "shop"): base,
        ("postgresql.pg_stat_io", "client backend|relation|normal"): blocks,
        ("postgresql.pg_stat_io", "client backend|wal|normal"): {"fsyncs": 20.0 * at, "fsync_time_ns": 8e7 * at},
        ("postgresql.pg_stat_bgwriter", ""): {EPOCH: since, "buffers_clean": 30.0 * at},
        ("postgresql.pg_stat_checkpointer", ""): {EPOCH: since, "buffers_written": 400.0 * at},
        ("postgresql.pg_stat_wal", ""): {EPOCH: since, "wal_bytes": 1_048_576.0 * at},
    }


def _row(before: Counters, after: Counters) -> dict[str, object]:
    found = pgmon_lines.table(Interval(moment(0, before), moment(1, after)))
    return dict(zip(found.columns, found.rows[0], strict=True))


def test_a_fixed_series_prints_as_its_golden_file() -> None:
    moments = [moment(at, _counters(at, since=1.0 if at < 3 else 2.0)) for at in range(5)]
    moments.append(moment(5, {("diskstats", "vda"): {"reads": 1.0}}))
    shown = [line for interval in intervals(moments) for line in pgmon_lines.lines(interval)]
    compare("watch_pgmon.txt", "\n".join((*pgmon_lines.HEADING, *shown, "")))


def test_figures() -> None:
    row = _row(_counters(0), _counters(1))
    assert (row["AAS"], row["io_AAS"], row["top_io_wait"]) == (pytest.approx(4.2), pytest.approx(3.0), "DataFileRead")
    assert (row["blks_read/s"], row["ms/blk"]) == (5984, pytest.approx(0.138))
    assert (row["io_reads/s"], row["io_fsyncs/s"]) == (5984, 0), "the log has columns of its own"
    assert (row["wal_MiB/s"], row["wal_syncs/s"], row["wal_sync_ms"]) == (1.0, 20, pytest.approx(4.0))
    assert (row["checkpointer_buffers/s"], row["backend_writes/s"]) == (400, 12)


def test_an_old_version_without_timing_is_blank_where_it_counts_nothing() -> None:
    """14 has no pg_stat_io and keeps its checkpoints in pg_stat_bgwriter; track_io_timing is off."""
    found: list[Counters] = []
    for at in range(2):
        counters = _counters(at)
        del counters["postgresql.pg_stat_database", "shop"]["blk_read_time_ns"]
        kept = {key: value for key, value in counters.items() if "_io" not in key[0] and "pointer" not in key[0]}
        old = {EPOCH: 1.0, "buffers_checkpoint": 90.0 * at, "buffers_clean": 1.0 * at, "buffers_backend": 7.0 * at}
        found.append({**kept, ("postgresql.pg_stat_bgwriter", ""): old})
    row = _row(*found)
    assert (row["ms/blk"], row["io_reads/s"], row["wal_sync_ms"]) == (None, None, None)
    assert (row["checkpointer_buffers/s"], row["bgwriter_buffers/s"], row["backend_writes/s"]) == (90, 1, 7)


@pytest.mark.parametrize("version", long_after(1, [15, 18]))
def test_a_real_server(version: int) -> None:
    psycopg = pytest.importorskip("psycopg")
    try:
        with postgres(version) as server, psycopg.connect(server.url(), autocommit=True) as connection:
            moments: list[Moment] = []
            with connect(server.url(), polls_per_s=0) as observer:
                moments.append(moment_of(1, observer.sample(), 0))
                connection.execute("create table t as select n from generate_series(1, 20000) n")
                connection.execute("select pg_stat_force_next_flush()" if version >= 15 else "select 1")
                connection.execute("select count(*) from t")
                connection.execute("select 1")
                moments.append(moment_of(2, observer.sample(), 1))
    except NoServer as why:
        pytest.skip(str(why))
    found = pgmon_lines.table(Interval(*moments))
    row = dict(zip(found.columns, found.rows[0], strict=True))
    assert isinstance(row["tup_inserted/s"], float)
    assert isinstance(row["wal_MiB/s"], float)
    assert (row["io_reads/s"] is None) == (version < 16)
    assert row["AAS"] is None, "nobody looked at sessions"
