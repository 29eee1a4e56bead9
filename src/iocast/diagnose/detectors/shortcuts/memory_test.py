"""A load through a database tested memory: the engine's cache or the page cache answered most of its blocks.

What it is: a working set that fits into shared buffers or a buffer pool, into the memory of the server's machine, or
into its control group.
Why it matters: "reads" that most database benchmarks report are misses of the engine's cache; the page cache may answer
all of them, in a few microseconds each, and the storage none.
How it shows: the sessions count what they found in the engine's cache; the device below delivered less than half of the
bytes that the engine read.
How to confirm: it is counted. Direct I/O of the server (`debug_io_direct=data`, `innodb_flush_method=O_DIRECT`) takes
the page cache out.
What to change: a data set of twice the memory of the server, a memory limit on the server, or direct I/O.
"""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.database.memory_shares import MemoryShares, memory_shares
from iocast.analyse.facts import Facts, RowFacts
from iocast.diagnose.preconditions import Only
from iocast.model.codes import FindingCode
from iocast.model.finding import Finding
from iocast.text import brief_percent, capacity, sentence

NEEDS: tuple[str, ...] = ("diskstats",)
ONLY: Only = ()

CODE: FindingCode = "memory_test"
MOSTLY = 0.5  # below this share of the storage the figure is mostly that of caches [J]
SOME = 0.95  # below this they have a part in it [J]

REMEDY = (
    "To test the storage, build a data set of at least twice the server's memory, limit the memory of the server, or"
    " let it use direct I/O."
)


def detect(facts: Facts) -> Iterator[Finding]:
    """Rows of a database whose blocks came from memory."""
    for row in facts.rows:
        shares = memory_shares(row)
        if shares is None:
            continue
        storage = 1 - shares.engine if shares.storage is None else shares.storage
        if storage >= SOME:
            continue
        clause = _clause(row, shares)
        yield Finding(
            code=CODE,
            severity="severe" if storage < MOSTLY else "warn",
            phase=row.name,
            says=sentence(clause),
            clause=clause,
            evidence={"engine_cache_share": shares.engine, "storage_share": storage},
            remedy=REMEDY,
        )


def _clause(row: RowFacts, shares: MemoryShares) -> str:
    """Which caches, how much of it, and the working set against them."""
    server = row.run.plan.target.database
    parts = []
    if shares.engine > 1 - SOME:
        cache = f" of {capacity(server.cache_bytes)}" if server is not None else ""
        parts.append(f"{brief_percent(shares.engine)} of the blocks came from the cache of the engine{cache}")
    if shares.page_cache is not None and shares.page_cache > 1 - SOME:
        parts.append(f"{brief_percent(shares.page_cache)} of them from the page cache")
    if not parts:
        parts.append(f"{brief_percent(1 - (shares.storage or 0.0))} of the blocks came from memory")
    size = f"; the data set has {capacity(server.data_bytes)}" if server is not None else ""
    mostly = (1 - shares.engine if shares.storage is None else shares.storage) < MOSTLY
    return f"{'a memory test' if mostly else 'partly a memory test'}: {', '.join(parts)}{size}"
