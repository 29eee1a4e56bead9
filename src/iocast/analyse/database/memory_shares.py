"""Which cache answered the blocks that the statements of a row read, and what a block costs the engine itself."""

from __future__ import annotations

from msgspec import Struct

from iocast.analyse.facts import RowFacts, once
from iocast.model.database.database_load import CommitLoad


class MemoryShares(Struct, frozen=True, kw_only=True):
    """Of the blocks of the tables that statements asked for; None where it is not known."""

    engine: float  # answered by the engine's own cache
    page_cache: float | None  # by the page cache of the server's machine
    storage: float | None  # by the storage


@once
def memory_shares(row: RowFacts) -> MemoryShares | None:
    """None of rows that are no load of a database, or that read nothing.

    What the device read beyond the load's misses, for others or by read-ahead, makes the share of the page cache
    smaller than it is.
    """
    did, target = row.measurement.database, row.run.plan.target.database
    if did is None or target is None or isinstance(row.record.phase.database, CommitLoad):
        return None
    blocks, misses = did.statements.table_blocks, did.statements.table_misses
    if not blocks:
        return None
    missed = min(1.0, misses / blocks)
    if target.direct or not misses:
        return MemoryShares(engine=1 - missed, page_cache=0.0, storage=missed)
    device = row.under_filesystem
    if device is None or device.read_bytes is None:
        return MemoryShares(engine=1 - missed, page_cache=None, storage=None)
    from_device = missed * min(1.0, device.read_bytes / (misses * target.block_bytes))
    return MemoryShares(engine=1 - missed, page_cache=missed - from_device, storage=from_device)


def engine_ns_per_block(row: RowFacts) -> float | None:
    """What a block of a statement cost above the layer below: the engine, and of a client the way there and back."""
    did, work = row.measurement.database, row.record.phase.database
    if did is None or work is None or isinstance(work, CommitLoad) or did.below is None or did.below.time_ns is None:
        return None
    if did.statements.updates or not did.statements.table_blocks:
        return None  # an update also waits for its commit
    above_ns = row.service().sum_ns - did.below.time_ns
    return above_ns / did.statements.table_blocks if above_ns > 0 else None  # two clocks: it is too little to be told
