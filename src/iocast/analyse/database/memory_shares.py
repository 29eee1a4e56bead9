"""Which cache answered the blocks that the statements of a row read, and what a block costs the engine itself."""

from __future__ import annotations

from msgspec import Struct

from iocast.analyse.database.server_layers import cached_calls_share
from iocast.analyse.facts import RowFacts, once
from iocast.model.database.database_load import CommitLoad, DatabaseLoad
from iocast.model.database.database_result import DatabaseResult


class MemoryShares(Struct, frozen=True, kw_only=True):
    """Of the blocks of the tables that statements asked for; None where it is not known."""

    engine: float  # answered by the engine's own cache
    page_cache: float | None  # by the page cache of the server's machine
    storage: float | None  # by the storage


@once
def memory_shares(row: RowFacts) -> MemoryShares | None:
    """None of rows that are no load of a database, that read nothing, or whose misses are not known.

    What was read beyond the load's misses, by read-ahead or, where the server's processes are not seen, for others, can
    make the share of the page cache smaller than it is.
    """
    did, target = row.measurement.database, row.run.plan.target.database
    if did is None or target is None or isinstance(row.record.phase.database, CommitLoad):
        return None
    blocks, misses = did.statements.table_blocks, did.statements.table_misses
    if not blocks or misses is None:
        return None
    missed = min(1.0, misses / blocks)
    if target.direct or not misses:
        return MemoryShares(engine=1 - missed, page_cache=0.0, storage=missed)
    delivered = _delivered(row, did, target.block_bytes)
    if delivered is None:
        return MemoryShares(engine=1 - missed, page_cache=None, storage=None)
    from_device = missed * min(1.0, delivered)
    return MemoryShares(engine=1 - missed, page_cache=missed - from_device, storage=from_device)


def _delivered(row: RowFacts, did: DatabaseResult, block_bytes: int) -> float | None:
    """The storage's part of the blocks that the engine read, at most: by the bytes that its processes fetched, or that
    the device delivered to anybody; where each read is of one block, which the kernel's read-ahead makes longer, also
    by the device's reads, and by the calls that took as long as a block I/O. None where neither was seen."""
    statements, device = did.statements, row.under_filesystem
    missed = (statements.table_misses or 0) + statements.index_misses
    delivered = [None if device is None else device.read_bytes, did.fetched_bytes]
    shares = [each / (missed * block_bytes) for each in delivered if each is not None]
    if not shares:
        return None
    work = row.record.phase.database
    if not statements.scans and isinstance(work, DatabaseLoad) and work.work_unit == 1:
        shares += [] if device is None or device.reads is None else [device.reads / missed]
        cached = cached_calls_share(row)
        shares += [] if cached is None else [1 - cached]
    return min(shares)


def engine_ns_per_block(row: RowFacts) -> float | None:
    """What a block of a statement cost above the layer below: the engine, and of a client the way there and back."""
    did, work = row.measurement.database, row.record.phase.database
    if did is None or work is None or isinstance(work, CommitLoad) or did.below is None or did.below.time_ns is None:
        return None
    if did.statements.updates or not did.statements.table_blocks:
        return None  # an update also waits for its commit
    above_ns = row.service().sum_ns - did.below.time_ns
    return above_ns / did.statements.table_blocks if above_ns > 0 else None  # two clocks: it is too little to be told
