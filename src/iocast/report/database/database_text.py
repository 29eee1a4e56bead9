"""A database that was loaded, in words: the server, its data set against its caches, the storage below it."""

from __future__ import annotations

from iocast.model.database.database_result import DatabaseServer
from iocast.model.target import Target
from iocast.text import capacity, counted, whole

_TELLING = ("fsync", "synchronous_commit", "full_page_writes", "io_method", "innodb_flush_log_at_trx_commit")


def place(target: Target, memory_bytes: int) -> str:
    """Where the load went."""
    server = target.database
    assert server is not None
    where = f" Its storage: {target.filesystem} of {target.mount_source}." if target.filesystem else ""
    held = f"{data_set(server)} {caches(target, memory_bytes)}"
    return f"{target.path} is {server.product} {server.version}. {held}{where}{_set(server)}"


def data_set(server: DatabaseServer) -> str:
    """What was built there."""
    tables = counted(server.tables, "table")
    each = f"{whole(server.table_blocks)} blocks of {server.block_bytes} bytes, one row a block"
    return f"Data set: {tables} of {each}, {capacity(server.data_bytes)}."


def caches(target: Target, memory_bytes: int) -> str:
    """The working set against what may hold it; `memory_bytes` is that of this machine."""
    server = target.database
    assert server is not None
    cache = f"its cache of {capacity(server.cache_bytes)}{_free(server)}"
    parts = [f"{server.data_bytes / server.cache_bytes:.2g} times {cache}"]
    if server.direct:
        parts.append("no page cache (direct I/O)")
    elif server.memory_limit_bytes:
        ratio = server.data_bytes / server.memory_limit_bytes
        parts.append(
            f"{ratio:.2g} times the memory limit of {capacity(server.memory_limit_bytes)} of its control group"
        )
    elif server.pid is not None and memory_bytes:
        parts.append(
            f"{server.data_bytes / memory_bytes:.2g} times the {capacity(memory_bytes)} of its machine's memory"
        )
    return f"That is {', '.join(parts)}."


def _free(server: DatabaseServer) -> str:
    """What of the cache holds nothing."""
    if not server.kept_free_bytes:
        return ""
    if server.kept_free_bytes >= server.cache_bytes:
        return " (all of which innodb_lru_scan_depth keeps free: it holds next to nothing)"
    return f" (of which innodb_lru_scan_depth keeps {capacity(server.kept_free_bytes)} free)"


def _set(server: DatabaseServer) -> str:
    settings = [f"{name} = {server.settings[name]}" for name in _TELLING if name in server.settings]
    return f" Settings: {', '.join(settings)}." if settings else ""
