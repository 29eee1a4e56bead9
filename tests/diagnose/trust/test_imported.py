"""Rows of other tools: the letter of what they state, silence on what they do not, and never better than a C."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from makers import card_runs

from iocast.analyse.facts import Facts
from iocast.diagnose.trust import imported
from iocast.model.finding import TrustComponent
from iocast.model.measurement import ErrorCount
from iocast.model.run import PhaseRecord, Source
from iocast.model.workload import MixItem, Op, Workload

replace = msgspec.structs.replace


def _parts(record: PhaseRecord, tool: str = "fio") -> dict[str, TrustComponent]:
    row = Facts(card_runs.run(record, source=Source(tool=tool))).row(record)
    return {part.code: part for part in imported.components(row)}


def _with(record: PhaseRecord, *unstated: str, **changes: Any) -> PhaseRecord:
    return replace(record, measurement=replace(record.measurement, **changes), unstated=unstated)


def _flushed(depth: int, flush: Op) -> PhaseRecord:
    items = (MixItem("write", 8192), MixItem(flush, 0))
    parts = (
        card_runs.part("write", 8192, card_runs.histogram((100_000, 20_000))),
        card_runs.part(flush, 0, card_runs.histogram((400_000, 20_000))),
    )
    return card_runs.record("log 8k", Workload(mix=items, depth=depth), card_runs.measurement(parts, depth=depth))


def test_what_another_tool_measured_is_a_c_at_best_and_says_who_measured() -> None:
    parts = _parts(card_runs.reads(), "vdbench")
    assert {code: part.grade for code, part in parts.items()} == {
        "integrity": "A",
        "precision": "B",
        "representative": "C",
    }
    assert parts["representative"].clause.startswith("imported from vdbench, not measured by iocast: unknown whether")
    row = Facts(card_runs.run(card_runs.reads())).rows[0]
    assert "imported from another tool," in imported.components(row)[-1].clause


@pytest.mark.parametrize(("ratio", "grade"), [(0.99, "A"), (1.04, "B"), (0.91, "C"), (1.25, "D"), (0.5, "F")])
def test_littles_law_gives_the_letter_and_says_both_sides(ratio: float, grade: str) -> None:
    record = card_runs.reads(users=4, depth=2)
    part = _parts(_with(record, elapsed_ns=round(record.measurement.elapsed_ns / ratio)))["integrity"]
    assert (part.grade, part.evidence) == (grade, {"little_ratio": pytest.approx(ratio, rel=1e-3)})
    assert f"rate x time gives {8 * ratio:.3g} outstanding I/Os, 8 were requested" in part.clause
    assert part.clause.startswith("Little's law is off by ")


def test_how_far_littles_law_is_off_has_no_sign() -> None:
    record = card_runs.reads(users=8)
    for ratio in (0.5, 1.5):
        part = _parts(_with(record, elapsed_ns=round(record.measurement.elapsed_ns / ratio)))["integrity"]
        assert part.clause.startswith("Little's law is off by 50%:")


def test_failed_ios_break_the_books_whatever_else_is_stated() -> None:
    failed = _with(card_runs.reads(), "ios", errors=(ErrorCount("read", 5, "EIO", 2, ()),))
    part = _parts(failed)["integrity"]
    assert (part.grade, part.clause) == ("F", "2 I/Os failed, so the response times are incomplete")


def test_no_io_is_an_f_only_where_their_number_is_stated() -> None:
    nothing = _with(card_runs.reads(times=card_runs.histogram()), elapsed_ns=card_runs.SECOND_NS)
    part = _parts(nothing)["integrity"]
    assert (part.grade, part.clause) == ("F", "no I/O completed")
    assert "integrity" not in _parts(replace(nothing, unstated=("ios",)))


@pytest.mark.parametrize("unstated", ["users", "depth"])
def test_without_the_load_there_is_no_littles_law(unstated: str) -> None:
    assert "integrity" not in _parts(_with(card_runs.reads(), unstated))
    assert "integrity" in _parts(_with(card_runs.reads(), "size"))


def test_littles_law_needs_a_closed_loop_and_a_mean_time() -> None:
    assert "integrity" not in _parts(card_runs.paced())
    untimed = card_runs.reads()
    silent = replace(untimed.measurement.classes[0], response=card_runs.histogram(), service=card_runs.histogram())
    assert "integrity" not in _parts(_with(untimed, classes=(silent,)))


@pytest.mark.parametrize("flush", ["fsync", "fdatasync"])
@pytest.mark.parametrize(("depth", "judged"), [(1, True), (2, False)])
def test_flushes_of_an_asynchronous_engine_overlap_and_are_not_judged(depth: int, judged: bool, flush: Op) -> None:
    assert ("integrity" in _parts(_flushed(depth, flush))) == judged
    assert "integrity" in _parts(card_runs.reads(depth=2))


@pytest.mark.parametrize(
    ("total", "grade", "says"),
    [
        (40_000, "B", "about 400 I/Os lie beyond the p99; its statistical error is unknown"),
        (3_000, "B", "about 30 I/Os lie beyond the p99; its statistical error is unknown"),
        (2_900, "C", "about 29 I/Os lie beyond the p99; its statistical error is unknown"),
        (900, "F", "900 I/Os are too few for p99"),
        (8, "F", "8 I/Os are too few for p99"),
        (1, "F", "1 I/O is too few for p99"),
    ],
)
def test_precision_is_the_number_of_ios_beyond_the_p99_and_a_b_at_best(total: int, grade: str, says: str) -> None:
    part = _parts(card_runs.reads(times=card_runs.histogram((1_000_000, total))))["precision"]
    assert (part.grade, part.evidence) == (grade, {"beyond": pytest.approx(total / 100)})
    assert part.clause == says


def test_precision_is_that_of_the_operation_with_the_most_ios() -> None:
    assert _parts(card_runs.mixed())["precision"].evidence["beyond"] == pytest.approx(1400)


def test_precision_is_not_judged_where_the_number_of_ios_or_their_times_are_unknown() -> None:
    assert "precision" not in _parts(_with(card_runs.reads(), "ios"))
    untimed = card_runs.reads()
    silent = replace(untimed.measurement.classes[0], response=card_runs.histogram(), service=card_runs.histogram())
    for classes in ((silent,), ()):
        part = _parts(_with(untimed, classes=classes))["precision"]
        assert (part.grade, part.clause) == ("C", "the source states no response times")


@pytest.mark.parametrize(("share", "grade"), [(1.0, "A"), (0.91, "B"), (0.75, "C"), (0.55, "D"), (0.3, "F")])
def test_the_load_is_judged_where_a_rate_was_asked_for(share: float, grade: str) -> None:
    assert "load_achieved" not in _parts(card_runs.reads())
    record = card_runs.paced()
    part = _parts(_with(record, asked_rate_per_s=record.measurement.rate_per_s / share))["load_achieved"]
    assert (part.grade, part.evidence) == (grade, {"achieved": pytest.approx(share)})
    assert part.clause.startswith(f"{share:.0%} of the requested load was achieved: 2,880 of {2880 / share:,.0f} IOPS")
