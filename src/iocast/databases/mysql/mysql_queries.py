"""What MySQL and MariaDB are asked: times of the performance_schema are picoseconds, names in lower case."""

from __future__ import annotations

from typing import Final

from iocast.databases.query import Query
from iocast.tools.database_rows import Buckets, Counter, Rows, Statistics, counters

_FILES: Final = (
    "count_read sum_timer_read:ps/count_read sum_number_of_bytes_read"
    " count_write sum_timer_write:ps/count_write sum_number_of_bytes_write"
    " count_misc sum_timer_misc:ps/count_misc"
)
_DIGESTS: Final = (
    "count_star sum_timer_wait:ps/count_star sum_lock_time:ps sum_rows_examined sum_rows_sent sum_rows_affected"
    " sum_created_tmp_disk_tables sum_sort_merge_passes sum_no_index_used"
)
_STATUS: Final = (
    "Innodb_data_reads",
    "Innodb_data_writes",
    "Innodb_data_fsyncs",
    "Innodb_data_read",
    "Innodb_data_written",
    "Innodb_data_pending_reads",
    "Innodb_data_pending_writes",
    "Innodb_data_pending_fsyncs",
    "Innodb_buffer_pool_read_requests",
    "Innodb_buffer_pool_reads",
    "Innodb_buffer_pool_read_ahead",
    "Innodb_buffer_pool_pages_flushed",
    "Innodb_buffer_pool_pages_dirty",
    "Innodb_buffer_pool_wait_free",
    "Innodb_dblwr_writes",
    "Innodb_dblwr_pages_written",
    "Innodb_log_waits",
    "Innodb_log_writes",
    "Innodb_log_write_requests",
    "Innodb_os_log_fsyncs",
    "Innodb_os_log_written",
    "Innodb_pages_read",
    "Innodb_pages_written",
    "Innodb_row_lock_time",
    "Innodb_row_lock_waits",
    "Innodb_row_lock_current_waits",
    "Binlog_cache_disk_use",
    "Com_commit",
    "Com_rollback",
    "Com_select",
    "Com_insert",
    "Com_update",
    "Com_delete",
    "Handler_commit",
    "Questions",
    "Queries",
    "Slow_queries",
    "Threads_running",
    "Threads_connected",
    "Created_tmp_disk_tables",
)

IDENTITY: Final = (
    "select connection_id() as id, version() as version, @@hostname as host, @@port as port,"
    " @@performance_schema as instrumented, @@read_only as read_only, database() as container"
)
CLOCK: Final = "select cast(unix_timestamp(now(6)) * 1000000 as unsigned) as now_us"
UPTIME: Final = "show global status where Variable_name in ('Uptime', 'Uptime_since_flush_status')"
CONSUMERS: Final = "select name as name, enabled as enabled from performance_schema.setup_consumers"
INSTRUMENTS: Final = (
    "select count(*) as number from performance_schema.setup_instruments"
    " where name like 'wait/io/file/innodb/%' and enabled = 'YES' and timed = 'YES'"
)
# MariaDB: the plugin of response times. MySQL has none, and its histogram is not there before 8.
HISTOGRAMS: Final = (
    "select table_name as name, table_schema as place from information_schema.tables where"
    " (table_schema = 'information_schema' and table_name = 'QUERY_RESPONSE_TIME') or"
    " (table_schema = 'performance_schema' and table_name = 'events_statements_histogram_global')"
)
SETTINGS: Final = (
    "show global variables where Variable_name in ('innodb_flush_log_at_trx_commit', 'innodb_flush_method',"
    " 'innodb_buffer_pool_size', 'innodb_io_capacity', 'innodb_io_capacity_max', 'innodb_page_size',"
    " 'innodb_doublewrite', 'innodb_use_native_aio', 'innodb_log_file_size', 'innodb_redo_log_capacity', 'sync_binlog',"
    " 'log_bin', 'datadir', 'performance_schema', 'innodb_read_io_threads', 'innodb_write_io_threads')"
)
ACTIVE: Final = (
    "select t.processlist_id as id, t.processlist_state as state, w.event_name as event, s.digest as digest"
    " from performance_schema.threads t"
    " left join performance_schema.events_waits_current w on w.thread_id = t.thread_id and w.end_event_id is null"
    " left join performance_schema.events_statements_current s on s.thread_id = t.thread_id and s.end_event_id is null"
    " where t.type = 'FOREGROUND' and t.processlist_id is not null and t.processlist_id <> connection_id()"
    " and coalesce(t.processlist_info, '') not like '%/* iocast */%'"
    " and t.processlist_command in ('Query', 'Execute', 'Prepare', 'Fetch')"
)
ACTIVE_WITHOUT: Final = (
    "select id as id, state as state, null as event, null as digest from information_schema.processlist"
    # Before and after its statement a session is shown without one: it works for nobody then.
    " where id <> connection_id() and info is not null and info not like '%/* iocast */%'"
    " and command in ('Query', 'Execute', 'Prepare', 'Fetch')"
)
SESSIONS: Final = "select id as id, user as user, host as host, db as db from information_schema.processlist"
THREADS: Final = (
    "select processlist_id as id, thread_os_id as os_thread from performance_schema.threads"
    " where processlist_id is not null"
)
DIGEST_TEXTS: Final = (
    "select digest as digest, max(digest_text) as text from performance_schema.events_statements_summary_by_digest"
    " where digest is not null group by digest"
)


def queries_of(*, instrumented: bool, histograms: frozenset[str]) -> tuple[Query, ...]:
    """What a server is asked: with or without performance_schema, and by the histograms that it has."""
    queries = [_status()]
    if instrumented:
        queries += [_file_events(), _files(), _digests(), _threads()]
        if "events_statements_histogram_global" in histograms:
            queries.append(_statement_histogram())
    if "query_response_time" in histograms:
        queries.append(_response_times())
    return tuple(queries)


def _status() -> Query:
    names = ", ".join(f"'{name}'" for name in _STATUS)
    shape = Statistics(key=(), name="variable_name", value="value", units={"innodb_row_lock_time": "ms"})
    return Query(name="global_status", sql=f"show global status where Variable_name in ({names})", shape=shape)


def _select(shape: Rows | Buckets, view: str, where: str) -> str:
    columns = ", ".join(f"{column} as {column}" for column in shape.columns)
    return f"select {columns} from performance_schema.{view} where {where}"


def _file_events() -> Query:
    shape = Rows(key=("event_name",), counters=counters(_FILES))
    view = "file_summary_by_event_name"
    return Query(name=view, sql=_select(shape, view, "count_star > 0"), shape=shape)


def _files() -> Query:
    shape = Rows(key=("file_name", "event_name"), counters=counters(_FILES))
    view = "file_summary_by_instance"
    return Query(name=view, sql=_select(shape, view, "count_star > 0"), shape=shape, since_entered=True)


def _digests() -> Query:
    shape = Rows(key=("digest", "schema_name"), counters=counters(_DIGESTS))
    view = "events_statements_summary_by_digest"
    return Query(name=view, sql=_select(shape, view, "digest is not null"), shape=shape, since_entered=True)


def _threads() -> Query:
    """Which thread of the operating system serves which session: kernel layers know threads only."""
    shape = Rows(key=("id",), counters=counters("os_thread"))
    return Query(name="threads", sql=THREADS, shape=shape)


def _statement_histogram() -> Query:
    view = "events_statements_histogram_global"
    shape = Buckets(key=(), upper="bucket_timer_high", unit="ps", count="count_bucket", unbounded=1e17)
    return Query(name=view, sql=_select(shape, view, "count_bucket > 0"), shape=shape)


def _response_times() -> Query:
    """Bounds and sums are texts of seconds; the last bound is `TOO LONG`."""
    shape = Buckets(key=(), upper="time", unit="s", count="count", total=Counter("total", "s"))
    sql = "select time as time, count as count, total as total from information_schema.query_response_time"
    return Query(name="query_response_time", sql=sql, shape=shape)
