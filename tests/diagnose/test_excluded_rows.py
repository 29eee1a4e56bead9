"""Rows that met the storage, or this machine, in another state are compared with none, and are named with why."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers import card_runs, planted
from makers.left_out import long_after
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose.examination import examine
from iocast.diagnose.excluded_rows import excluded, named
from iocast.diagnose.grades import grade
from iocast.diagnose.limits.by_load import bounds_without
from iocast.model.codes import FindingCode, TrustCode
from iocast.model.finding import Examination, Excluded, Finding, Trust, TrustComponent
from iocast.model.grading import Graded
from iocast.model.measurement import Generator
from iocast.model.run import PhaseRecord, Run
from iocast.report.card.verdict import verdict

MS = 1_000_000
SECOND_NS = card_runs.SECOND_NS
READS = """\
name = "reads"
[files]
size = "4GiB"
[[phase]]
test = "randread"
size = "8k"
pattern = "random"
users = [1, 4, 16, 32, 64]
time = "3s"
"""


def _row(users: int, took_ms: float, **changes: object) -> PhaseRecord:
    ios = round(10_000 * users / took_ms)
    return card_runs.reads(f"r {users}x1", users=users, times=card_runs.histogram((took_ms * MS, ios)), **changes)  # type: ignore[arg-type]


def _out(records: list[PhaseRecord], *findings: Finding, **trust: Trust) -> dict[str, Excluded]:
    facts = Facts(card_runs.run(*records))
    every = {row.name: trust.get(row.name.replace(" ", "_"), Trust("A", ())) for row in facts.rows}
    return excluded(facts, findings, every)


def test_rows_of_another_state_are_in_no_ladder(tmp_path: Path) -> None:
    found = examine(planted.measured("sim:nvme,slow=4s..9s:3", READS, tmp_path))
    assert set(found.excluded) & {"randread 8k 4x1"}
    assert {found.bounds[name].by for name in found.excluded} == {"unknown"}
    judged = [each.says for each in found.bounds.values() if each.by != "unknown"]
    assert all(" Left out: " in says for says in judged)


def test_a_slow_time_makes_no_knee(tmp_path: Path) -> None:
    """Three times as slow from the third row on: that the rate grows by less is not the load's doing."""
    run = planted.measured("sim:nvme,bandwidth=none,slow=6s..600s:3", READS, tmp_path)
    found = examine(run)
    assert {name: each.brief for name, each in found.excluded.items()} == {
        "randread 8k 1x1": "another state",
        "randread 8k 4x1": "another state",
    }
    assert found.bounds["randread 8k 4x1"].by == "unknown"
    assert "device" not in {each.by for each in found.bounds.values()}
    read, scaling = (_part(run, found, code) for code in ("random_read", "scaling"))
    assert "left out: 1x1, 4x1 (another state)" in read.says
    assert not {"randread 8k 1x1", "randread 8k 4x1"} & set(scaling.phases)


def _part(run: Run, found: Examination, code: str) -> Graded:
    return next(part for part in grade(run, found).parts if part.code == code)


@pytest.mark.parametrize(
    "target", long_after(1, ["sim:nvme,throughput=200MB/s,stall=500ms/5s", "sim:sata-ssd,stall=300ms/7s"])
)
def test_stalls_of_every_row_leave_the_bottleneck_known(target: str, tmp_path: Path) -> None:
    """All rows stand still for a like share of their time: a verdict on a percentile is spoilt, one on rates is not."""
    run = planted.measured(target, READS.replace("3s", "15s"), tmp_path)
    found = examine(run)
    assert {each.brief for each in found.excluded.values()} == {"stalled"}
    assert len(found.excluded) == len(run.measured)
    assert "unknown" not in {each.by for each in found.bounds.values()}
    assert "Left out" not in "".join(each.says for each in found.bounds.values())


def test_what_all_rows_met_alike_is_no_difference(tmp_path: Path) -> None:
    run = planted.measured("sim:nvme,servers=4,service=constant:1ms,noise=100/s", READS, tmp_path)
    found = examine(run)
    assert found.excluded == {}
    assert found.bounds["randread 8k 64x1"].by != "unknown"


@pytest.mark.parametrize(
    ("code", "evidence", "brief"),
    [
        ("shared_drives", {}, "other I/O"),
        ("maintenance", {}, "maintenance"),
        ("stalls", {"stalled_ns": SECOND_NS}, "stalled"),
        ("stalls", {"stalled_ns": SECOND_NS / 100}, ""),  # a tenth of a per cent moves no rate
        ("generator_did_not_run", {"absent_ns": SECOND_NS}, "the test stood still"),
        ("throttle", {}, ""),
    ],
)
def test_what_disturbed_a_row(code: FindingCode, evidence: dict[str, float], brief: str) -> None:
    rows = [_row(1, 1.0), _row(8, 1.0)]
    seen = Finding(code=code, severity="warn", phase="r 8x1", says="It was seen.", evidence=evidence)
    assert {name: each.brief for name, each in _out(rows, seen).items()} == ({"r 8x1": brief} if brief else {})
    assert _out(rows, replace(seen, state="rejected")) == {}
    if brief:
        assert _out(rows, seen)["r 8x1"].why == "it was seen"


@pytest.mark.parametrize(
    ("code", "letter", "finding", "left"),
    [
        ("steady", "D", None, True),
        ("load_achieved", "F", None, True),
        ("isolation", "D", None, True),
        ("isolation", "C", None, False),
        ("precision", "D", None, False),  # of a percentile, not of the rate
        ("anomalies", "D", "serialised_direct_io", False),  # what limits a row is the answer
        ("anomalies", "D", "cache_in_the_storage", True),
    ],
)
def test_rows_that_trust_refuses(code: TrustCode, letter: str, finding: FindingCode | None, left: bool) -> None:
    part = TrustComponent(code, letter, "it was so", finding=finding)  # type: ignore[arg-type]
    out = _out([_row(1, 1.0), _row(8, 1.0)], r_8x1=Trust(letter, (part,)))  # type: ignore[arg-type]
    assert {name: each.brief for name, each in out.items()} == ({"r 8x1": f"trust {letter}"} if left else {})


@pytest.mark.parametrize("first", ["precision", "steady"])
def test_a_row_is_left_out_with_the_letter_of_its_trust(first: TrustCode) -> None:
    """Its p99 is an F, which would not leave it out; its drift is a D, which does. The card shows an F beside it."""
    parts = [TrustComponent("precision", "F", "few I/Os"), TrustComponent("steady", "D", "it drifted")]
    parts.sort(key=lambda part: part.code != first)
    out = _out([_row(1, 1.0), _row(8, 1.0)], r_8x1=Trust("F", tuple(parts)))["r 8x1"]
    assert (out.brief, out.why) == ("trust F", "trust is F, D for this alone: it drifted")
    worse = (TrustComponent("steady", "D", "it drifted"), TrustComponent("isolation", "F", "others were there"))
    out = _out([_row(1, 1.0), _row(8, 1.0)], r_8x1=Trust("F", worse))["r 8x1"]
    assert (out.brief, out.why) == ("trust F", "trust is F: others were there")


def test_a_row_short_of_cpu_says_cpu_first() -> None:
    """Eight gave five times the IOPS of one that had no processor a third of the time: that is no queue."""
    one, eight = _row(1, 1.0), _row(8, 1.6)
    did = one.measurement
    starved = replace(one, measurement=replace(did, generator=Generator(threads=1, queued_ns=did.elapsed_ns // 3)))
    found = examine(card_runs.run(starved, eight))
    assert (found.bounds["r 1x1"].by, found.bounds["r 1x1"].says) == (
        "unknown",
        "Bottleneck unknown: CPU first: the test's threads waited for a CPU 33% of the time.",
    )
    assert "left out: 1x1 (short of CPU)" in found.bounds["r 8x1"].says


def test_of_a_higher_load_that_was_measured_and_left_out_nobody_says_it_may_give_more() -> None:
    """64 gave what 32 gave; but for a stall in it that would make 32 the limit."""
    rows = [_row(1, 1.0), _row(8, 1.0), _row(16, 2.0)]
    stall = Finding(
        code="stalls", severity="warn", phase="r 16x1", says="It stood.", evidence={"stalled_ns": SECOND_NS}
    )
    facts = Facts(card_runs.run(*rows))
    out = excluded(facts, (stall,), {row.name: Trust("A", ()) for row in facts.rows})
    says = bounds_without(facts, out)["r 8x1"].says
    assert says.endswith("; what more load gives is unknown. Left out: 16x1 (stalled).")
    alone = Facts(card_runs.run(*rows[:2]))
    assert bounds_without(alone, {})["r 8x1"].says.endswith("; a higher load may give more.")


def test_rows_of_one_reason_are_named_together() -> None:
    out = {"a": Excluded("stalled", ""), "b": Excluded("void", ""), "c": Excluded("stalled", "")}
    assert named({"a": "1x1", "b": "2x1", "c": "4x1", "d": "8x1"}, out) == "1x1, 4x1 (stalled), 2x1 (void)"
    assert named({"d": "8x1"}, out) == ""
    many = {str(at): f"{at}x1" for at in range(1, 9)}
    stalled = dict.fromkeys(many, Excluded("stalled", ""))
    assert named(many, stalled) == "1x1, 2x1, 3x1, 4x1, 5x1, 6x1 and 2 more (stalled)"


@pytest.mark.long
def test_a_figure_of_a_row_of_another_state_says_so(tmp_path: Path) -> None:
    """It said "A random 8k read takes 250 us (p50)" of the one row in which the device was three times as slow."""
    run = planted.measured("sim:nvme,bandwidth=none,slow=0s..3s:3", READS, tmp_path)
    facts = Facts(run)
    first = verdict(facts, examine(facts)).partition(" reaches ")[0]
    assert first.startswith("A random 8k read takes ")
    assert ", perhaps while the storage was in another state; " in first
