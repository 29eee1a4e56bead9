"""What PostgreSQL is asked, by version: the names of the columns are the server's; each version has its own set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from iocast.databases.query import Query
from iocast.tools.database_rows import Counter, Rows, counters
from iocast.tools.foreign_numbers import whole_of

FIRST_VERSION: Final = 14
LAST_VERSION: Final = 18  # that was tried; a later one is asked what this one is

IO_TIMING: Final = "track_io_timing"
WAL_TIMING: Final = "track_wal_io_timing"

_IO: Final = (
    "reads read_time:ms/reads writes write_time:ms/writes writebacks writeback_time:ms/writebacks"
    " extends extend_time:ms/extends hits evictions reuses fsyncs fsync_time:ms/fsyncs"
)
_IO_16: Final = f"{_IO} op_bytes"
_IO_18: Final = f"{_IO} read_bytes write_bytes extend_bytes"
_DATABASE: Final = (
    "numbackends xact_commit xact_rollback blks_read blks_hit tup_returned tup_fetched tup_inserted tup_updated"
    " tup_deleted temp_files temp_bytes deadlocks blk_read_time:ms/blks_read blk_write_time:ms"
    " session_time:ms active_time:ms idle_in_transaction_time:ms"
)
_WAL: Final = "wal_records wal_fpi wal_bytes wal_buffers_full"
_WAL_14: Final = f"{_WAL} wal_write wal_sync wal_write_time:ms/wal_write wal_sync_time:ms/wal_sync"
_BGWRITER: Final = "buffers_clean maxwritten_clean buffers_alloc"
_BGWRITER_14: Final = (
    "checkpoints_timed checkpoints_req checkpoint_write_time:ms checkpoint_sync_time:ms buffers_checkpoint"
    f" {_BGWRITER} buffers_backend buffers_backend_fsync"
)
_CHECKPOINTER_17: Final = (
    "num_timed num_requested restartpoints_timed restartpoints_req restartpoints_done"
    " write_time:ms sync_time:ms buffers_written"
)
_CHECKPOINTER_18: Final = f"{_CHECKPOINTER_17} num_done slru_written"
_STATEMENTS: Final = (
    "calls rows total_exec_time:ms shared_blks_hit shared_blks_read shared_blks_dirtied shared_blks_written"
    " local_blks_read local_blks_written temp_blks_read temp_blks_written wal_records wal_fpi wal_bytes"
)
# By the version of the extension, which may be older than the server.
_STATEMENTS_OF: Final[Mapping[tuple[int, int], str]] = {
    (1, 9): "blk_read_time:ms blk_write_time:ms",
    (1, 10): "blk_read_time:ms blk_write_time:ms temp_blk_read_time:ms temp_blk_write_time:ms",
    (1, 11): "shared_blk_read_time:ms shared_blk_write_time:ms local_blk_read_time:ms local_blk_write_time:ms"
    " temp_blk_read_time:ms temp_blk_write_time:ms",
    (1, 12): "shared_blk_read_time:ms shared_blk_write_time:ms local_blk_read_time:ms local_blk_write_time:ms"
    " temp_blk_read_time:ms temp_blk_write_time:ms wal_buffers_full",
}
_STATEMENT_KEY: Final = ("queryid", "dbid", "userid", "toplevel")
_TABLES: Final = (
    "heap_blks_read heap_blks_hit idx_blks_read idx_blks_hit"
    " toast_blks_read toast_blks_hit tidx_blks_read tidx_blks_hit"
)

# Asked at every sample: what the counters must be read by.
CIRCUMSTANCES: Final = (
    "select (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint as started_us,"
    f" current_setting('{IO_TIMING}')::bool as {IO_TIMING}, current_setting('{WAL_TIMING}')::bool as {WAL_TIMING}"
)
CLOCK: Final = "select (extract(epoch from clock_timestamp()) * 1000000)::bigint as now_us"
IDENTITY: Final = (
    "select current_setting('server_version_num')::int as number, current_setting('server_version') as version,"
    " current_setting('cluster_name') as instance, current_database() as container, pg_is_in_recovery() as standby,"
    " host(inet_server_addr()) as host,"
    " (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint as started_us"
)
RIGHTS: Final = (
    "select current_user as name, pg_has_role(current_user, 'pg_read_all_stats', 'usage') as all_stats,"
    " (select rolsuper from pg_roles where rolname = current_user) as superuser"
)
EXTENSIONS: Final = (
    "select e.extname as name, e.extversion as version, quote_ident(n.nspname) as schema from pg_extension e"
    " join pg_namespace n on n.oid = e.extnamespace"
    " where e.extname in ('pg_stat_statements', 'pg_wait_sampling')"
)
# The client shows what it waits for; workers of asynchronous I/O show it a second time, so they are not counted.
ACTIVE: Final = (
    "select pid, wait_event_type, wait_event, query_id from pg_stat_activity where state = 'active'"
    " and backend_type in ('client backend', 'parallel worker', 'walsender') and pid <> pg_backend_pid()"
    " and application_name <> 'iocast'"
)
# The sessions at the head of each queue of waiters, and the table, if it is in this database. Who waits for a row waits
# for its transaction; the table shows in the tuple lock that the first waiter holds meanwhile.
_WAITED: Final = (
    "(select w.pid, coalesce(w.relation, t.relation) as relation, coalesce(w.database, t.database) as database,"
    " w.locktype from pg_locks w left join pg_locks t on t.pid = w.pid and t.locktype = 'tuple' and t.granted"
    " where not w.granted limit 20) w"
)
_HELD_LOCKS: Final = (
    "select b.pid as holder, coalesce(b.state, '') as state,"
    " coalesce(max(n.nspname || '.' || c.relname), max(w.locktype)) as relation, count(distinct w.pid) as waiting"
    f" from {_WAITED} cross join lateral unnest(pg_blocking_pids(w.pid)) as h(pid)"
    " join pg_stat_activity b on b.pid = h.pid"
    " left join pg_class c on c.oid = w.relation and w.database in"
    " (0, (select oid from pg_database where datname = current_database()))"
    " left join pg_namespace n on n.oid = c.relnamespace"
    " where not exists (select from pg_locks x where x.pid = h.pid and not x.granted) group by 1, 2"
)
_VACUUMS: Final = (
    "select coalesce(n.nspname || '.' || c.relname, v.datname) as relation, v.phase, v.heap_blks_scanned"
    " from pg_stat_progress_vacuum v left join pg_class c on c.oid = v.relid and v.datname = current_database()"
    " left join pg_namespace n on n.oid = c.relnamespace"
)
SETTINGS: Final = (
    "select name, setting, unit from pg_settings where name in ('shared_buffers', 'io_method', 'debug_io_direct',"
    " 'io_combine_limit', 'effective_io_concurrency', 'wal_sync_method', 'synchronous_commit', 'full_page_writes',"
    " 'fsync', 'track_io_timing', 'track_wal_io_timing', 'compute_query_id', 'block_size', 'data_directory',"
    " 'max_wal_size', 'checkpoint_timeout', 'wal_block_size', 'huge_pages')"
)
SESSION_TEXTS: Final = (
    "select pid, usename, datname, application_name, backend_type, host(client_addr) as client from pg_stat_activity"
    " where pid = any(%s)"
)
# The files of this database; others keep theirs to themselves.
FILES: Final = (
    "select pg_relation_filepath(c.oid) as path, n.nspname || '.' || c.relname as name, c.relkind as kind"
    " from pg_class c join pg_namespace n on n.oid = c.relnamespace"
    " where c.relkind in ('r', 'i', 't', 'm', 'S') and pg_relation_filepath(c.oid) is not null"
    " order by c.relpages desc limit 20000"
)


def queries_of(version: int, extensions: Mapping[str, tuple[str, str]]) -> tuple[Query, ...]:
    """What a server of this major version is asked; extensions: name → version and schema."""
    queries = [_database(), _wal(version), *_background(version), *_relations(), *_as_it_stands()]
    if version >= 16:
        queries.append(_io(version))
    for name, make in (("pg_stat_statements", _statements), ("pg_wait_sampling", _wait_sampling)):
        if name in extensions:
            queries.append(make(*extensions[name]))
    return tuple(queries)


def _select(columns: tuple[str, ...], view: str, reset: str = "stats_reset", where: str = "") -> str:
    """A statement over named columns; when the view began to count comes as seconds since 1970."""
    epoch = f", extract(epoch from {reset})::float8 as reset_s" if reset else ""
    return f"select {', '.join(columns)}{epoch} from {view}{f' where {where}' if where else ''}"


def _timed(of: tuple[Counter, ...], setting: str) -> dict[str, str]:
    return {each.column: setting for each in of if each.unit}


def _io(version: int) -> Query:
    shape = Rows(key=("backend_type", "object", "context"), counters=counters(_IO_18 if version >= 18 else _IO_16))
    used = "coalesce(reads, 0) + coalesce(writes, 0) + coalesce(extends, 0) + coalesce(hits, 0) + coalesce(fsyncs, 0)"
    return Query(
        name="pg_stat_io",
        sql=_select(shape.columns, "pg_stat_io", where=f"{used} + coalesce(evictions, 0) + coalesce(reuses, 0) > 0"),
        shape=shape,
        reset="reset_s",
        timing=_timed(shape.counters, IO_TIMING),
        timing_where=("object", "wal", WAL_TIMING) if version >= 18 else None,
    )


def _database() -> Query:
    shape = Rows(key=("datname",), counters=counters(_DATABASE))
    columns = ("coalesce(datname, 'shared objects') as datname", *shape.columns[1:])
    return Query(
        name="pg_stat_database",
        sql=_select(columns, "pg_stat_database"),
        shape=shape,
        reset="reset_s",
        resets="row",
        timing=dict.fromkeys(("blk_read_time", "blk_write_time"), IO_TIMING),
    )


def _wal(version: int) -> Query:
    shape = Rows(key=(), counters=counters(_WAL if version >= 18 else _WAL_14))
    return Query(
        name="pg_stat_wal",
        sql=_select(shape.columns, "pg_stat_wal"),
        shape=shape,
        reset="reset_s",
        timing=_timed(shape.counters, WAL_TIMING),
    )


def _background(version: int) -> list[Query]:
    views = {"pg_stat_bgwriter": _BGWRITER if version >= 17 else _BGWRITER_14}
    if version >= 17:
        views["pg_stat_checkpointer"] = _CHECKPOINTER_18 if version >= 18 else _CHECKPOINTER_17
    queries = []
    for view, spec in views.items():
        shape = Rows(key=(), counters=counters(spec))
        queries.append(Query(name=view, sql=_select(shape.columns, view), shape=shape, reset="reset_s"))
    return queries


def _relations() -> list[Query]:
    """Blocks by table and index of this database: which of them are read is known without tracing."""
    tables = Rows(key=("schemaname", "relname"), counters=counters(_TABLES))
    indexes = Rows(key=("schemaname", "relname", "indexrelname"), counters=counters("idx_blks_read idx_blks_hit"))
    return [
        Query(name=view, sql=_select(shape.columns, view, reset=""), shape=shape, since_entered=True)
        for view, shape in (("pg_statio_user_tables", tables), ("pg_statio_user_indexes", indexes))
    ]


def _as_it_stands() -> list[Query]:
    """Not counters: who holds what others wait for, and which tables are vacuumed."""
    locks = Rows(key=("holder", "state", "relation"), counters=counters("waiting"))
    vacuums = Rows(key=("relation", "phase"), counters=counters("heap_blks_scanned"))
    return [
        Query(name="held_locks", sql=_HELD_LOCKS, shape=locks),
        Query(name="pg_stat_progress_vacuum", sql=_VACUUMS, shape=vacuums),
    ]


def _statements(version: str, schema: str) -> Query:
    number = _number(version)
    known = [each for each in _STATEMENTS_OF if each <= number] or [min(_STATEMENTS_OF)]
    shape = Rows(key=_STATEMENT_KEY, counters=counters(f"{_STATEMENTS} {_STATEMENTS_OF[max(known)]}"))
    since = "stats_since" if number >= (1, 11) else f"(select stats_reset from {schema}.pg_stat_statements_info)"
    view = f"{schema}.pg_stat_statements(false)"
    return Query(
        name="pg_stat_statements",
        sql=_select(shape.columns, view, reset=since, where="queryid is not null"),
        shape=shape,
        reset="reset_s",
        resets="row" if number >= (1, 11) else "view",
        timing={each.column: IO_TIMING for each in shape.counters if "blk_" in each.column},
        since_entered=True,
    )


def _number(version: str) -> tuple[int, int]:
    """Of `1.10`: 1 and 10."""
    parts = [whole_of(part) or 0 for part in version.split(".")]
    return (parts[0], parts[1]) if len(parts) > 1 else (parts[0], 0)


def statement_texts(schema: str) -> str:
    """The statement that asks for texts: it reads a file of the server, so it is not part of a sample."""
    return f"select queryid, max(query) as query from {schema}.pg_stat_statements where queryid = any(%s) group by 1"


def _wait_sampling(_version: str, schema: str) -> Query:
    """Profiles of waits that the extension takes in the server, at 10 ms where it is not set otherwise."""
    shape = Rows(key=("event_type", "event"), counters=counters("count"))
    return Query(
        name="pg_wait_sampling_profile",
        sql=f"select event_type, event, sum(count) as count from {schema}.pg_wait_sampling_profile"
        " where event is not null group by 1, 2",
        shape=shape,
        optional=True,
    )
