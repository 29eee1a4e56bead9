"""A load through a database that caches answered is called a memory test; one of the storage is not."""

from __future__ import annotations

import pytest
from makers.card_runs import START_UNIX_NS, TARGET, commits, diskstats, reads, run
from msgspec.structs import replace

from iocast import metrics
from iocast.analyse.database.memory_shares import engine_ns_per_block, memory_shares
from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.shortcuts import memory_test
from iocast.diagnose.examination import examine
from iocast.diagnose.trust.isolation import isolation
from iocast.model.database.database_load import CommitLoad, DatabaseLoad
from iocast.model.database.database_result import DatabaseResult, DatabaseServer, LayerBelow, Statements
from iocast.model.run import Run, Sample
from iocast.report.database.database_section import section
from iocast.results.database_rows import database_loads
from iocast.results.measured_rows import measured_rows

GIB = 1 << 30
SERVER = DatabaseServer(
    product="PostgreSQL", version="18.6", block_bytes=8192, cache_bytes=GIB, data_bytes=8 * GIB, tables=1
)
STATEMENTS = 40_000


def loaded(
    misses: int | None,
    device_bytes: int,
    *,
    direct: bool = False,
    seen: bool = True,
    device_reads: int | None = None,
    say: str = "",
) -> Run:
    """A row of single-block reads: so many missed the cache of the engine, so many bytes came from the device."""
    made = reads("db read 8k 1x1", direct=False)
    result = DatabaseResult(
        statements=Statements(reads=STATEMENTS, table_blocks=STATEMENTS, table_misses=misses, misses_say=say),
        below=None if misses is None else LayerBelow(reads=misses, time_ns=misses * 200_000, timed_by="pg_stat_io"),
    )
    did = replace(made.measurement, database=result)
    device_reads = device_bytes // 8192 if device_reads is None else device_reads
    counters = {"reads": device_reads, "read_bytes": device_bytes, "writes": 0, "written_bytes": 0}
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


def test_read_ahead_does_not_hide_the_page_cache() -> None:
    """The device answered half of the reads, with twice the bytes that were asked for."""
    told = loaded(STATEMENTS, STATEMENTS * 8192, device_reads=STATEMENTS // 2)
    (row,) = Facts(told).rows
    shares = memory_shares(row)
    assert shares is not None
    assert (shares.page_cache, shares.storage) == (pytest.approx(0.5), pytest.approx(0.5))


def test_calls_quicker_than_any_block_io_were_answered_by_the_page_cache() -> None:
    """Others kept the device so busy that its counters say nothing."""
    told = loaded(STATEMENTS, STATEMENTS * 8192, device_reads=9 * STATEMENTS)
    (record,) = told.phases
    layers = {
        (metrics.SYSTEM_CALLS, "postgres|pread64|8192"): {"count": 40_000, "lt_8000ns": 12_000, "lt_64000ns": 28_000},
        (metrics.BLOCK_LAYER, "vda|bio|read|8192"): {"count": 90_000, "lt_64000ns": 90_000},
    }
    samples = tuple(
        Sample(START_UNIX_NS + at, observer, subject, metric, count * bool(at))
        for (observer, subject), counts in layers.items()
        for metric, count in counts.items()
        for at in (0, record.measurement.elapsed_ns)
    )
    (row,) = Facts(replace(told, phases=(replace(record, samples=(*record.samples, *samples)),))).rows
    shares = memory_shares(row)
    assert shares is not None
    assert shares.page_cache == pytest.approx(0.3)


def test_what_the_servers_processes_fetched_counts_where_others_read_from_the_device() -> None:
    """The device's counters hold everybody's reads; the kernel's account of the server holds its own."""
    run_beside_others = loaded(STATEMENTS, STATEMENTS * 8192)
    (record,) = run_beside_others.phases
    result = record.measurement.database
    assert result is not None
    for fetched_bytes, share in ((0, 0.0), (STATEMENTS // 4 * 8192, 0.25), (None, 1.0)):
        measured = replace(record.measurement, database=replace(result, fetched_bytes=fetched_bytes))
        (row,) = Facts(replace(run_beside_others, phases=(replace(record, measurement=measured),))).rows
        shares = memory_shares(row)
        assert shares is not None
        assert (shares.storage, shares.page_cache) == (pytest.approx(share), pytest.approx(1 - share))


def test_what_is_not_known_is_blank() -> None:
    told = loaded(None, STATEMENTS * 8192, say="4,000 misses are counted for 1,000 blocks")
    (row,) = Facts(told).rows
    assert memory_shares(row) is None
    assert found(told) == []
    made = section(facts := Facts(told), database_loads(facts), ())
    assert made is not None
    assert {"engine_cache", "page_cache", "storage"}.isdisjoint(column.key for column in made.tables[0].columns)
    assert made.tables[0].notes[-1].endswith("not known: 4,000 misses are counted for 1,000 blocks.")


def test_a_bound_says_that_it_is_one() -> None:
    facts = Facts(loaded(STATEMENTS, STATEMENTS * 8192, say="misses of the whole server"))
    made = section(facts, database_loads(facts), ())
    assert made is not None
    assert made.tables[0].notes[-1].endswith("engine's cache at least: misses of the whole server.")


def test_direct_io_of_the_server_leaves_the_page_cache_out() -> None:
    assert found(loaded(STATEMENTS, STATEMENTS // 4 * 8192, direct=True)) == []


def test_a_server_elsewhere_shows_its_own_cache_only() -> None:
    (row,) = Facts(loaded(STATEMENTS // 2, 0, seen=False)).rows
    shares = memory_shares(row)
    assert shares is not None
    assert (shares.engine, shares.page_cache, shares.storage) == (0.5, None, None)
    assert found(loaded(STATEMENTS // 4, 0, seen=False)) == [("memory_test", "severe")]


def test_what_an_engine_writes_for_a_commit_is_not_called_other_io() -> None:
    """A page of the log for each row of 200 bytes."""
    made = commits("db commit 1x1")
    more = diskstats(
        made.measurement.elapsed_ns, reads=0, read_bytes=0, writes=STATEMENTS, written_bytes=STATEMENTS * 8192
    )
    record = replace(made, phase=replace(made.phase, database=CommitLoad()), samples=more)
    facts = Facts(run(record, target=replace(TARGET, kind="database", path="postgresql:///", database=SERVER)))
    assert isolation(facts.rows[0]).grade == "B"
    shown = measured_rows(facts, examine(facts))[0]
    assert (shown.device_rate_per_s, shown.device_rate_ratio) == (
        pytest.approx(STATEMENTS * 1e9 / made.measurement.elapsed_ns),
        None,
    )


def test_what_a_block_costs_the_engine() -> None:
    (row,) = Facts(loaded(STATEMENTS, STATEMENTS * 8192)).rows
    cost = engine_ns_per_block(row)
    assert cost == pytest.approx(row.service().mean_ns - 200_000)
