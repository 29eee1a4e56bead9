"""A load through a database: the layer below the engine, statements and commits, and iocast's own I/O beside them."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from iocast.model.finding import Grade
from iocast.model.results.shown import Number, shown

_BUCKET = "the upper edge of a bucket: powers of two"
_ENGINE = "by the engine's own clock"
_DRIVER = "from the driver to its answer"


class DatabaseLoadRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The layer below the engine, and the statement beside it. `read_mean_ns` is the engine's own figure, `call_*` are
    of the server's read calls by the kernel; shares are of the blocks that statements asked for.
    """

    phase: Annotated[str, shown("row")]
    reads_per_s: Annotated[
        Number | None,
        shown("reads\n/s", "rate", explain="that the engine sent below, not found in its own cache"),
    ] = None
    read_mean_ns: Annotated[Number | None, shown("read\nmean", "duration", explain=_ENGINE)] = None
    call_mean_ns: Annotated[
        Number | None,
        shown("pread\nmean", "duration", explain="the server's read calls, by the kernel", spare=4),
    ] = None
    call_p50_below_ns: Annotated[Number | None, shown("pread\np50 <", "duration", explain=_BUCKET, spare=3)] = None
    call_p99_below_ns: Annotated[Number | None, shown("pread\np99 <", "duration", explain=_BUCKET, spare=2)] = None
    statements_per_s: Annotated[Number | None, shown("stmts\n/s", "rate")] = None
    statement_mean_ns: Annotated[Number | None, shown("stmt\nmean", "duration")] = None
    statement_p99_ns: Annotated[Number | None, shown("stmt\np99", "duration")] = None
    engine_per_block_ns: Annotated[
        Number | None, shown("engine\n/ block", "duration", explain="statement less read, by block", spare=6)
    ] = None
    engine_cache_share: Annotated[
        Number | None,
        shown("engine\ncache", "share", explain="of the table blocks that statements asked for"),
    ] = None
    page_cache_share: Annotated[Number | None, shown("page\ncache", "share", spare=5)] = None
    storage_share: Annotated[Number | None, shown("storage", "share")] = None


class DatabaseCommitRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a commit cost on its way down: the log's sync by the engine, the sync call by the kernel, the device."""

    phase: Annotated[str, shown("row")]
    commits_per_s: Annotated[Number | None, shown("commits\n/s", "rate")] = None
    commit_mean_ns: Annotated[Number | None, shown("commit\nmean", "duration")] = None
    commit_p99_ns: Annotated[Number | None, shown("commit\np99", "duration")] = None
    sync_mean_ns: Annotated[Number | None, shown("WAL\nsync", "duration", explain=_ENGINE)] = None
    fdatasync_ns: Annotated[
        Number | None, shown("fdatasync\nmean", "duration", explain="the server's sync calls, by the kernel")
    ] = None
    device_write_ns: Annotated[Number | None, shown("device\nwrite", "duration", explain=_DRIVER)] = None
    device_flush_ns: Annotated[Number | None, shown("device\nflush", "duration", explain=_DRIVER)] = None
    commits_per_sync: Annotated[Number | None, shown("commits\n/ sync", "ratio", explain="group commit")] = None
    log_bytes: Annotated[Number | None, shown("WAL\n/ commit", "bytes", spare=1)] = None


class ReadsBesideRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Random reads of iocast beside those that a database sent below for as many sessions."""

    sessions: Annotated[int, shown("sessions", "count")]
    raw_per_s: Annotated[Number, shown("iocast\nreads/s", "rate", explain="as many users, one outstanding read each")]
    reads_per_s: Annotated[Number, shown("database\nreads/s", "rate", explain="that the engine sent below")]
    kept_share: Annotated[Number, shown("of it", "share")]
    raw_ns: Annotated[Number, shown("iocast\nread", "duration", explain="mean")]
    read_ns: Annotated[
        Number | None, shown("database\nread", "duration", explain="mean, by the engine's own clock")
    ] = None
    engine_ns: Annotated[Number | None, shown("engine\n/ block", "duration", explain="the statement less its read")] = (
        None
    )
    statement_ns: Annotated[Number, shown("statement", "duration", explain="mean; one block each")]
    engine_cache_share: Annotated[
        Number | None,
        shown("engine\ncache", "share", explain="of the blocks that statements asked for", spare=2),
    ] = None
    page_cache_share: Annotated[
        Number | None,
        shown("page\ncache", "share", explain="of the blocks, answered without the storage", spare=1),
    ] = None
    trust: Annotated[Grade | None, shown("trust", "grade", explain="the lower of both rows")] = None


class CommitsBesideRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Writes of iocast, each made durable, beside the commits of a database of as many sessions."""

    sessions: Annotated[int, shown("sessions", "count")]
    raw_per_s: Annotated[Number, shown("iocast\nwrites/s", "rate", explain="8 KiB, buffered, each with fdatasync")]
    commits_per_s: Annotated[Number, shown("commits\n/s", "rate")]
    raw_ns: Annotated[Number, shown("write +\nfdatasync", "duration", explain="mean")]
    sync_ns: Annotated[Number | None, shown("WAL\nsync", "duration", explain="mean, by the engine's own clock")] = None
    commit_ns: Annotated[Number, shown("commit", "duration", explain="mean")]
    commits_per_sync: Annotated[Number | None, shown("commits\n/ sync", "ratio", explain="group commit")] = None
    trust: Annotated[Grade | None, shown("trust", "grade", explain="the lower of both rows")] = None
