"""Components of trust at their limits: one outstanding I/O, one CPU, a percentile hardly known, a pause not stated."""

from __future__ import annotations

import pytest
from makers import card_runs
from msgspec.structs import replace

from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.statistics import QuantileEstimate
from iocast.diagnose.trust import components, imported
from iocast.model.measurement import Generator, ReplayFacts
from iocast.model.run import PhaseRecord, Source

SECOND_NS = card_runs.SECOND_NS


def _row(record: PhaseRecord, cpus: int = 8) -> RowFacts:
    return Facts(card_runs.run(record, host=replace(card_runs.HOST, cpus=cpus))).row(record)


@pytest.mark.parametrize(("users", "says"), [(1, "1 was requested"), (2, "2 were requested")])
def test_one_outstanding_io_was_requested_and_several_were(users: int, says: str) -> None:
    record = card_runs.reads(users=users, times=card_runs.histogram((1_000_000, users * 1_000)))
    did = replace(record.measurement, elapsed_ns=2 * SECOND_NS, issuing_ns=2 * SECOND_NS, depth_mean=users / 2)
    clause = components.integrity(_row(replace(record, measurement=did))).clause
    assert clause.endswith(says)


@pytest.mark.parametrize(
    ("threads", "cpus", "why"),
    [
        (8, 8, "other work shared this machine"),
        (9, 8, "its 9 threads shared 8 CPUs, perhaps with other work"),
        (2, 1, "its 2 threads shared 1 CPU, perhaps with other work"),
        (4, 0, "other work shared this machine"),  # how many it has is not known
    ],
)
def test_threads_share_cpus_where_there_are_more_of_them(threads: int, cpus: int, why: str) -> None:
    record = card_runs.reads(users=threads)
    did = record.measurement
    made = Generator(threads=threads, queued_ns=did.elapsed_ns * threads // 2)
    part = components.load_achieved(_row(replace(record, measurement=replace(did, generator=made)), cpus))
    assert part.clause.endswith(why)


@pytest.mark.parametrize(
    ("half", "known"), [(1.0, "accurate to ±100%"), (1.5, "unknown (it may be off by a factor of 2.5)")]
)
def test_a_percentile_that_may_be_off_by_more_than_itself_is_uncertain_by_a_factor(
    half: float, known: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = QuantileEstimate(0.99, 1e6, 0.5e6, (0.5 + 2 * half) * 1e6, 40_000, 40_000.0)
    monkeypatch.setattr(RowFacts, "quantile", lambda *_: wide)
    assert components.precision(_row(card_runs.reads())).clause.startswith(f"the p99 of reads is {known}")


def test_a_hair_too_few_beyond_a_percentile_do_not_read_as_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    few = QuantileEstimate(0.99, 1e6, 1e6, 1e6, 2_960, 2_960.0)
    monkeypatch.setattr(RowFacts, "quantile", lambda *_: few)
    part = components.precision(_row(card_runs.reads()))
    assert part.clause == "only 29 I/Os lie beyond the p99 of reads; a B needs 30"


@pytest.mark.parametrize(
    ("ratio", "grade", "doubted"),
    [(0.99, "A", False), (0.97, "B", False), (0.91, "C", True), (0.5, "C", True), (1.25, "D", False)],
)
def test_a_job_that_may_have_paused_is_excused_from_what_littles_law_lacks(
    ratio: float, grade: str, doubted: bool
) -> None:
    """And from nothing else: what is kept well enough is no C, and what is too much is not explained by a pause."""
    record = card_runs.reads(users=4, depth=2)
    did = replace(record.measurement, elapsed_ns=round(record.measurement.elapsed_ns / ratio))
    record = replace(record, measurement=did, unstated=("arrival",))
    row = Facts(card_runs.run(record, source=Source(tool="fio"))).row(record)
    (part,) = [each for each in imported.components(row) if each.code == "integrity"]
    assert (part.grade, "paused" in part.clause) == (grade, doubted)


@pytest.mark.parametrize(("done", "grade"), [(1000, "A"), (800, "C")])
def test_a_replay_has_achieved_what_it_did_of_its_trace(done: int, grade: str) -> None:
    trace = ReplayFacts(
        events=1200,
        replayed=1000,
        left_out={"not_io": 200},
        rounded=0,
        moved=0,
        recorded_ns=10 * SECOND_NS,
        latency=(),
        due_ios=(1000,),
        independent=0,
    )
    record = card_runs.reads(times=card_runs.histogram((1_000_000, done)))
    did = replace(record.measurement, replay=trace)
    part = components.load_achieved(_row(replace(record, measurement=did)))
    assert part.clause.endswith(f"of the requested load was achieved: {done:,} of 1,000 I/Os of the trace")
    assert (part.grade, part.evidence) == (grade, {"asked": 1000.0, "achieved": float(done), "unsent": 0})
    # Where it had a rate, that counts.
    paced = replace(did, asked_rate_per_s=2 * did.rate_per_s)
    asked = components.load_achieved(_row(replace(record, measurement=paced)))
    assert asked.clause.endswith(" IOPS")
