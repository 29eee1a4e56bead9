"""A load through a database that caches answered is called a memory test; one of the storage is not."""

from __future__ import annotations

import pytest
from makers.card_runs import TARGET, diskstats, reads, run
from msgspec.structs import replace

from iocast.analyse.database.memory_shares import engine_ns_per_block, memory_shares
from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.shortcuts import memory_test
from iocast.diagnose.examination import examine
from iocast.model.database.database_load import DatabaseLoad
from iocast.model.database.database_result import DatabaseResult, DatabaseServer, LayerBelow, Statements
from iocast.model.run import Run

GIB = 1 << 30
SERVER = DatabaseServer(
    product="PostgreSQL", version="18.6", block_bytes=8192, cache_bytes=GIB, data_bytes=8 * GIB, tables=1
)
STATEMENTS = 40_000


def loaded(misses: int, device_bytes: int, *, direct: bool = False, seen: bool = True) -> Run:
    """A row of single-block reads: so many missed the cache of the engine, so many bytes came from the device."""
    made = reads("db read 8k 1x1", direct=False)
    result = DatabaseResult(
        statements=Statements(reads=STATEMENTS, table_blocks=STATEMENTS, table_misses=misses),
        below=LayerBelow(reads=misses, time_ns=misses * 200_000, timed_by="pg_stat_io"),
    )
    did = replace(made.measurement, database=result)
    counters = {"reads": device_bytes // 8192, "read_bytes": device_bytes, "writes": 0, "written_bytes": 0}
    samples = diskstats(did.elapsed_ns, **counters) if seen else ()
    phase = replace(made.phase, database=DatabaseLoad())
    record = replace(made, phase=phase, measurement=did, samples=samples)
    target = replace(TARGET, kind="database", path="postgresql:///", database=replace(SERVER, direct=direct))
    return run(record, target=target)


def found(told: Run) -> list[tuple[str, str]]:
    return [(each.code, each.severity) for each in memory_test.detect(Facts(told))]


def test_blocks_from_the_storage_are_no_memory_test() -> None:
    told = loaded(STATEMENTS, STATEMENTS * 8192)
    assert found(told) == []
    assert examine(told).trust["db read 8k 1x1"].grade in "ABC"


def test_the_cache_of_the_engine() -> None:
    (finding,) = memory_test.detect(Facts(loaded(STATEMENTS // 10, STATEMENTS // 10 * 8192)))
    assert (finding.code, finding.severity) == ("memory_test", "severe")
    assert "90% of the blocks came from the cache of the engine of 1.0 GiB" in finding.says
    assert "the data set has 8.0 GiB" in finding.says


def test_the_page_cache_that_no_statistic_of_the_server_shows() -> None:
    told = loaded(STATEMENTS, STATEMENTS // 4 * 8192)
    (finding,) = memory_test.detect(Facts(told))
    assert finding.severity == "severe"
    assert "75% of them from the page cache" in finding.says
    codes = {each.code for each in examine(told).findings}
    assert "memory_test" in codes
    assert not codes & {"page_cache", "coarse_clock", "too_few_in_flight"}


def test_direct_io_of_the_server_leaves_the_page_cache_out() -> None:
    assert found(loaded(STATEMENTS, STATEMENTS // 4 * 8192, direct=True)) == []


def test_a_server_elsewhere_shows_its_own_cache_only() -> None:
    (row,) = Facts(loaded(STATEMENTS // 2, 0, seen=False)).rows
    shares = memory_shares(row)
    assert shares is not None
    assert (shares.engine, shares.page_cache, shares.storage) == (0.5, None, None)
    assert found(loaded(STATEMENTS // 4, 0, seen=False)) == [("memory_test", "severe")]


def test_what_a_block_costs_the_engine() -> None:
    (row,) = Facts(loaded(STATEMENTS, STATEMENTS * 8192)).rows
    cost = engine_ns_per_block(row)
    assert cost == pytest.approx(row.service().mean_ns - 200_000)
