"""Whether caches answered the same statements again: by the blocks that storage delivered, cold and warm."""

from __future__ import annotations

import pytest
from makers.card_runs import TARGET, diskstats, reads, run
from msgspec.structs import replace

from iocast.diagnose.experiments.named import cold_warm
from iocast.model.database.database_load import DatabaseLoad
from iocast.model.database.database_result import DatabaseResult, DatabaseServer, LayerBelow, Statements
from iocast.model.measurement import Generator
from iocast.model.results.experiments import CacheStateRow
from iocast.model.run import PhaseRecord, Run
from iocast.report.experiment_report import UNSURE, trial_report
from iocast.report.renderers.json_report import document

STATEMENTS = 40_000
SERVER = DatabaseServer(
    product="PostgreSQL", version="18.6", block_bytes=8192, cache_bytes=32 << 20, data_bytes=64 << 20, tables=1
)


def row(state: str, misses: int, fetched_bytes: int | None, *, statements: int = STATEMENTS) -> PhaseRecord:
    """So many blocks were not in the engine's cache, so many bytes came from storage."""
    made = reads(f"{state} 8k 1x1", direct=False)
    result = DatabaseResult(
        statements=Statements(reads=statements, table_blocks=STATEMENTS, table_misses=misses),
        below=LayerBelow(reads=misses, time_ns=misses * 200_000, timed_by="pg_stat_io"),
        fetched_bytes=fetched_bytes,
    )
    did = replace(made.measurement, ios=statements, database=result)
    seen = diskstats(did.elapsed_ns, reads=9 * STATEMENTS, read_bytes=9 * STATEMENTS * 8192)
    phase = replace(made.phase, test=state, database=DatabaseLoad())
    return replace(made, phase=phase, measurement=did, samples=() if fetched_bytes is None else seen)


def run_of(*rows: PhaseRecord) -> Run:
    target = replace(TARGET, kind="database", path="postgresql:///", database=SERVER)
    this: Run = run(*rows, target=target)
    return replace(this, plan=replace(this.plan, experiment=cold_warm.NAME))


def judged(*rows: PhaseRecord) -> tuple[str, str, tuple[CacheStateRow, ...]]:
    ruling = cold_warm.judge((run_of(*rows),))
    assert all(isinstance(each, CacheStateRow) for each in ruling.rows)
    return ruling.verdict, ruling.says, ruling.rows  # type: ignore[return-value]


def test_next_to_nothing_of_the_cold_blocks_is_a_yes() -> None:
    cold, warm = row("cold", 30_000, 20_000 * 8192), row("warm", 20_000, 900 * 8192)
    verdict, says, rows = judged(cold, warm)
    assert verdict == "confirmed"
    assert [each.storage_blocks for each in rows] == [20_000, 900]
    assert [each.engine_cache_share for each in rows] == [pytest.approx(0.25), pytest.approx(0.5)]
    assert "blocks came 25% from the database's buffers, 25% from the page cache, 50% from storage. Warm" in says


def test_more_than_a_twentieth_is_a_no() -> None:
    verdict, _, _ = judged(row("cold", 30_000, 20_000 * 8192), row("warm", 20_000, 1_100 * 8192))
    assert verdict == "rejected"


def test_other_statements_prove_nothing() -> None:
    cold = row("cold", 30_000, 20_000 * 8192, statements=20_000)
    verdict, says, _ = judged(cold, row("warm", 20_000, 0))
    assert verdict == "undecided"
    assert "20,000 statements were done, warm 40,000: the storage did not keep pace; give a longer --time" in says


def test_what_nobody_saw_is_no_answer() -> None:
    verdict, says, rows = judged(row("cold", 30_000, None), row("warm", 20_000, None))
    assert (verdict, [each.storage_blocks for each in rows]) == ("undecided", [None, None])
    assert "not known" in says
    assert judged(row("cold", 30_000, 0))[0] == "undecided"


@pytest.mark.parametrize("queued_ns", [0, 10**12])
def test_the_answer_has_the_trust_of_its_rows_with_the_reasons(queued_ns: int) -> None:
    """As a card has it, but that caches answered is the question, and no fault; an answer that rests on rows of no use
    says so beside its figures."""
    warm = row("warm", 20_000, 900 * 8192)
    generator = Generator(threads=1, user_ns=10**9, system_ns=10**9, queued_ns=queued_ns)
    warm = replace(warm, measurement=replace(warm.measurement, generator=generator))
    report = trial_report(run_of(row("cold", 30_000, 20_000 * 8192), warm), "")
    (badge,) = report.badges
    reasons = [reason for section in report.sections if section.code == "trust" for reason in section.tables[0].rows]
    worst = max(str(reason.cells["trust"]) for reason in reasons)
    assert (badge.code, badge.letter) == ("trust", worst)
    assert (worst in "DF") == (queued_ns > 0)
    assert (UNSURE in report.sections[0].paragraphs) == (queued_ns > 0)
    told = document(report)
    assert (told.letters, {each.trust for each in told.trust} >= {worst}) == ({"trust": worst}, True)
