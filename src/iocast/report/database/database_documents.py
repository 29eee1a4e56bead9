"""The JSON of a load through a database: one row for each row of the card, units at the end of each key."""

from __future__ import annotations

from msgspec import Struct

from iocast.model.results.shown import Number


class DatabaseLoadRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """The layer below the engine, and the statement beside it. `read_mean_ns` is the engine's own figure, `call_*` are
    of the server's read calls by the kernel; shares are of the blocks that statements asked for.
    """

    phase: str
    reads_per_s: Number | None = None
    read_mean_ns: Number | None = None
    call_mean_ns: Number | None = None
    call_p50_below_ns: Number | None = None
    call_p99_below_ns: Number | None = None
    statements_per_s: Number | None = None
    statement_mean_ns: Number | None = None
    statement_p99_ns: Number | None = None
    engine_per_block_ns: Number | None = None
    engine_cache_share: Number | None = None
    page_cache_share: Number | None = None
    storage_share: Number | None = None


class DatabaseCommitRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """What a commit cost on its way down: the log's sync by the engine, the sync call by the kernel, the device."""

    phase: str
    commits_per_s: Number | None = None
    commit_mean_ns: Number | None = None
    commit_p99_ns: Number | None = None
    sync_mean_ns: Number | None = None
    fdatasync_ns: Number | None = None
    device_write_ns: Number | None = None
    device_flush_ns: Number | None = None
    commits_per_sync: Number | None = None
    log_bytes: Number | None = None


DATABASE_TABLES: dict[str, type[Struct]] = {
    "database_loads": DatabaseLoadRow,
    "database_commits": DatabaseCommitRow,
}
