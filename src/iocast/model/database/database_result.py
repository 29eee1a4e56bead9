"""What a database did during a row of load: what the statements touched, what the layer below gave, what it logged."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

TimedBy = Literal["pg_stat_io", "pg_stat_database", "file_summary", ""]


class DatabaseServer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The server that is tested, as it says itself. Unknown is None or ""."""

    product: str
    version: str
    block_bytes: int
    cache_bytes: int  # shared_buffers, the buffer pool
    kept_free_bytes: int = 0  # of it, for pages that are read next; as large as the cache: it holds next to nothing
    data_bytes: int  # of the data set, as built
    index_bytes: int = 0
    tables: int = 1
    table_blocks: int = 0  # of each table
    filling: str = "row"
    generation: str = ""  # of the data set
    settings: dict[str, str] = {}  # those that a result depends on
    direct: bool = False  # it bypasses the page cache
    timed: bool = False  # it takes the time of its I/Os
    pid: int | None = None  # of the server process, where it runs on this machine
    sync_anchor_ns: dict[str, int] = {}  # of pg_test_fsync, run before: method → time of one durable 8 kB write
    memory_limit_bytes: int | None = None  # of its control group


class LayerBelow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Reads that the engine sent below, and their times as it took them itself. No histogram: it has none."""

    reads: int
    time_ns: int | None = None  # None: not taken, or no latency; `why_not` says why
    timed_by: TimedBy = ""
    why_not: str = ""
    late: bool = False  # the server had not told all of it after some seconds


class Statements(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the statements of a row touched, exactly, from the sessions that made them."""

    reads: int = 0
    updates: int = 0
    scans: int = 0
    table_blocks: int = 0  # buffers of the tables that were asked for
    table_misses: int | None = 0  # of those, not in the cache of the engine; None: not known, `misses_say` says why
    index_blocks: int = 0
    index_misses: int = 0
    misses_say: str = ""  # what else is counted in the misses, which are then at most so many; or why they are unknown
    late: int = 0  # slices whose statistics were told more than one late


class CommitPath(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What commits cost on their way down; None where the server does not say."""

    commits: int
    syncs: int | None = None  # of the log
    sync_ns: int | None = None
    writes: int | None = None
    write_ns: int | None = None
    log_bytes: int | None = None


class DatabaseResult(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Beside the statements' own times in a Measurement; never mixed with them."""

    statements: Statements = Statements()
    below: LayerBelow | None = None
    commit: CommitPath | None = None
    fetched_bytes: int | None = None  # from storage by the server's processes; None: not seen
    notes: tuple[str, ...] = ()
