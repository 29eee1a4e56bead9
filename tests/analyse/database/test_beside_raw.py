"""Rows of a database beside those without one: by sessions, of the same block, as far as both were measured."""

from __future__ import annotations

import pytest
from makers.card_runs import TARGET, histogram, measurement, part, reads, record, run
from msgspec.structs import replace

from iocast.analyse.database.beside_raw import commits_beside, reads_beside
from iocast.analyse.facts import Facts
from iocast.diagnose.examination import examine
from iocast.model.database.database_load import CommitLoad, DatabaseLoad, DatabaseWork
from iocast.model.database.database_result import CommitPath, DatabaseResult, DatabaseServer, LayerBelow, Statements
from iocast.model.finding import Bound
from iocast.model.run import PhaseRecord, Run, Sample
from iocast.model.workload import MixItem, Sequential, Workload
from iocast.report.card.judged import Judged
from iocast.report.database import beside_section

GIB = 1 << 30
SERVER = DatabaseServer(
    product="PostgreSQL", version="18.6", block_bytes=8192, cache_bytes=GIB >> 6, data_bytes=GIB, direct=True
)
N, SECOND_NS = 10_000, 1_000_000_000


def row(made: PhaseRecord, work: DatabaseWork, result: DatabaseResult) -> PhaseRecord:
    return replace(
        made, phase=replace(made.phase, database=work), measurement=replace(made.measurement, database=result)
    )


def loaded(read_ns: int, statement_ns: int, users: int, misses: int = N) -> PhaseRecord:
    made = reads(f"db read 8k {users}x1", times=histogram((statement_ns, N)), users=users)
    below = LayerBelow(reads=misses, time_ns=misses * read_ns, timed_by="pg_stat_io")
    told = Statements(reads=N, table_blocks=N, table_misses=misses)
    return row(made, DatabaseLoad(), DatabaseResult(statements=told, below=below))


def writing(name: str, users: int, times: tuple[tuple[str, int], ...]) -> PhaseRecord:
    mix = (MixItem("write", 8192),)
    work = Workload(mix=mix, locality=Sequential(), users=users, direct=False, fsync_every=1, fsync_op="fdatasync")
    parts = [part(op, 8192 if op == "write" else 0, histogram((ns, N))) for op, ns in times]  # type: ignore[arg-type]
    return record(name, work, measurement(parts, users=users), test=name.rpartition(" ")[0])


def committed(users: int, commit_ns: int, syncs: int, sync_ns: int) -> PhaseRecord:
    made = writing(f"db commit {users}x1", users, (("write", commit_ns),))
    path = CommitPath(commits=N, syncs=syncs, sync_ns=syncs * sync_ns)
    return row(made, CommitLoad(), DatabaseResult(commit=path))


RAW = run(
    reads("randread 8k 1x1", times=histogram((100_000, N))),
    reads("randread 8k 8x1", times=histogram((200_000, N)), users=8),
    reads("randread 8k 4x16", times=histogram((900_000, N)), users=4, depth=16),
    reads("randread 64k 4x1", times=histogram((300_000, N)), users=4, size_bytes=65_536),
    writing("log write 1x1", 1, (("write", 10_000), ("fdatasync", 190_000))),
)


def database(*rows: PhaseRecord) -> Run:
    return run(*rows, target=replace(TARGET, kind="database", path="postgresql:///", database=SERVER))


DATABASE = database(
    loaded(150_000, 160_000, 1),
    loaded(210_000, 220_000, 4),
    loaded(380_000, 400_000, 8),
    committed(1, 500_000, N // 2, 450_000),
)


def test_reads_of_the_same_sessions_and_block_stand_side_by_side() -> None:
    one, eight = reads_beside(Facts(RAW), Facts(DATABASE), "randread", 8192)  # 4 sessions: only of 64k, or deeper
    assert (one.sessions, one.rows) == (1, ("randread 8k 1x1", "db read 8k 1x1"))
    assert (one.raw_per_s, one.reads_per_s) == (pytest.approx(10_000), pytest.approx(6_250))
    assert one.kept == pytest.approx(0.625)
    assert (one.raw_ns, one.read_ns, one.longer_ns) == (100_000, 150_000, 50_000)
    assert one.engine_ns == pytest.approx(10_000)
    assert (eight.sessions, eight.engine_ns) == (8, pytest.approx(20_000))


def test_commits_stand_beside_a_write_with_its_flush() -> None:
    (one,) = commits_beside(Facts(RAW), Facts(DATABASE), "log write")
    assert (one.raw_ns, one.commit_ns, one.sync_ns) == (200_000, 500_000, 450_000)
    assert (one.raw_per_s, one.commits_per_s) == (pytest.approx(5_000), pytest.approx(2_000))
    assert one.commits_per_sync == 2.0


def test_an_engine_whose_statistics_come_late_has_no_cost() -> None:
    (only,) = reads_beside(Facts(RAW), Facts(database(loaded(170_000, 160_000, 1))), "randread", 8192)
    assert only.engine_ns is None


def judged(told: Run) -> Judged:
    facts = Facts(told)
    return Judged(facts, "", None, examine(facts, None), None)


def test_the_section_says_first_how_much_is_left_and_then_where_the_rest_went() -> None:
    section = beside_section.section(judged(RAW), judged(DATABASE), ("randread", "log write"))
    said = [each for each in section.paragraphs if not each.startswith("Rows of trust")]
    assert said[:5] == [
        "PostgreSQL gets 50% of the random reads that iocast gets with 8 sessions: 20.0k of 40.0k.",
        "1 session: its read call takes 50.0 µs longer than that of iocast; the engine's own work is 10.0 µs a block.",
        "8 sessions: its read call takes 180 µs longer than that of iocast; the engine's own work is 20.0 µs a block.",
        "A commit takes 500 µs with 1 session, 450 µs of them the sync of its log; a write of 8 KiB with fdatasync"
        " takes 200 µs.",
        "PostgreSQL 18.6. Data set: 1 table of 0 blocks of 8192 bytes, one row a block, 1.0 GiB. That is 64 times its"
        " cache of 16.0 MiB, no page cache (direct I/O).",
    ]
    reads_table, commits_table = section.tables
    assert [each.cells["sessions"] for each in reads_table.rows] == [1, 8]
    assert [each.cells["commits_per_sync"] for each in commits_table.rows] == [2.0]


@pytest.mark.parametrize(("idle", "waits"), [(0.02, True), (0.6, False)])
def test_waiting_for_a_processor_is_said_where_none_was_free(idle: float, waits: bool) -> None:
    made = loaded(380_000, 400_000, 8)
    spent = {"idle_ns": idle * 1e9, "user_ns": (1 - idle) * 1e9}
    samples = [
        Sample(at, "cpu", "", metric, value * (at > 0)) for at in (0, SECOND_NS) for metric, value in spent.items()
    ]
    busy = database(replace(made, samples=(*made.samples, *samples)))
    busy = replace(busy, host=replace(busy.host, cpus=2))
    section = beside_section.section(judged(RAW), judged(busy), ("randread", "log write"))
    (gap,) = [each for each in section.paragraphs if each.startswith("8 sessions:")]
    assert ("of which waiting for one of" in gap) == waits


def test_a_limit_that_holds_both_is_the_explanation() -> None:
    bound = Bound("rate", "Rate-limited: the cgroup allows 20k IOPS.")
    raw, loaded = (
        Judged(facts, "", None, replace(found, bounds=dict.fromkeys(found.trust, bound)), None)
        for facts, found in ((Facts(told), examine(told, None)) for told in (RAW, DATABASE))
    )
    section = beside_section.section(raw, loaded, ("randread", "log write"))
    assert any(
        each.startswith(
            "8 sessions: a rate limit sets the pace of both, and most of their read calls is the wait for it;"
        )
        for each in section.paragraphs
    )


def test_a_read_that_is_faster_names_the_cache_that_answered() -> None:
    fast = reads("db read 8k 1x1", times=histogram((30_000, N)), direct=False)
    below = LayerBelow(reads=N, time_ns=N * 20_000, timed_by="pg_stat_io")
    told = Statements(reads=N, table_blocks=N, table_misses=N)
    made = row(replace(fast, samples=()), DatabaseLoad(), DatabaseResult(statements=told, below=below))
    section = beside_section.section(judged(RAW), judged(database(made)), ("randread", "log write"))
    assert any("its read call takes 80.0 µs less than that of iocast" in each for each in section.paragraphs)
