"""Experiments: rounds in turns, a verdict by the interval of the ratio, and what it makes of a finding."""

from __future__ import annotations

import pytest
from makers import card_runs
from msgspec.structs import replace

from iocast.diagnose.experiments import next_step
from iocast.diagnose.experiments.design import judge, plan_of
from iocast.diagnose.experiments.next_step import Budget
from iocast.errors import AnalysisError
from iocast.model.experiment import Arm, Decision, Diagnosis, DiagnosisStep, Experiment, Outcome
from iocast.model.finding import Finding
from iocast.model.plan import WorkFiles
from iocast.model.run import Run
from iocast.model.workload import Constant, MixItem, Workload

READS = Workload(mix=(MixItem("read", 8192),))
WRITES = Workload(mix=(MixItem("write", 8192),))
MS = 1_000_000


def _experiment(**changes: object) -> Experiment:
    decision = Decision(statistic="p50", first="cold", other="warm", limit=0.5, direction="below")
    arms = (Arm(name="cold", workload=READS), Arm(name="warm", workload=READS))
    fields = {"question": "?", "arms": arms, "decision": decision, "if_confirmed": "It is {ratio}.", "rounds": 3}
    return Experiment(**{**fields, **changes})


def _proposed(_: Run, finding: Finding) -> next_step.Candidate:
    return next_step.Candidate(finding, _experiment())


def _run(**arms_ms: list[float]) -> Run:
    rounds = max(map(len, arms_ms.values()))
    records = [
        card_runs.reads(f"{arm} ({at + 1})", times=card_runs.histogram((values[at] * MS, 5000)))
        for at in range(rounds)
        for arm, values in arms_ms.items()
    ]
    named = [replace(r, phase=replace(r.phase, test=r.phase.name.partition(" (")[0])) for r in records]
    return card_runs.run(*named)


def test_rounds_go_forth_and_back() -> None:
    plan = plan_of("x", _experiment(), card_runs.TARGET, WorkFiles(1, card_runs.GIB))
    assert [phase.test for phase in plan.phases] == ["cold", "warm", "warm", "cold", "cold", "warm"]
    assert len({phase.name for phase in plan.phases}) == 6
    kept = plan_of("x", _experiment(keep_order=True), card_runs.TARGET, WorkFiles(1, card_runs.GIB))
    assert [phase.test for phase in kept.phases] == ["cold", "warm"] * 3


def test_what_prepares_comes_once_and_is_not_measured() -> None:
    experiment = _experiment(prepare=(Arm(name="fill", workload=WRITES),))
    plan = plan_of("x", experiment, card_runs.TARGET, WorkFiles(1, card_runs.GIB))
    assert [(phase.test, phase.role) for phase in plan.phases[:2]] == [("fill", "warm"), ("cold", "measure")]
    assert experiment.writes
    assert experiment.seconds == 2 + 3 * 4


def test_arms_at_once_share_a_group_in_every_round() -> None:
    arms = (Arm(name="noise", workload=WRITES, together=True), Arm(name="cold", workload=READS))
    plan = plan_of("x", _experiment(arms=(*arms, Arm(name="warm", workload=READS))), card_runs.TARGET, WorkFiles(1, 1))
    groups = [[phase.test for phase in group] for group in plan.groups]
    assert groups == [["noise", "cold"], ["warm"], ["warm"], ["noise", "cold"], ["noise", "cold"], ["warm"]]


@pytest.mark.parametrize(
    ("warm", "verdict"),
    [([0.1, 0.11, 0.1], "confirmed"), ([0.9, 1.0, 0.95], "rejected"), ([0.3, 0.8, 0.5], "undecided")],
)
def test_the_interval_of_the_ratio_decides(warm: list[float], verdict: str) -> None:
    outcome = judge(_experiment(), _run(cold=[1.0, 1.02, 0.99], warm=warm))
    assert outcome.verdict == verdict
    assert 'times that of "cold"' in outcome.says
    if verdict == "confirmed":
        assert outcome.says.endswith("It is 0.10.")


def test_above_is_the_other_way_round() -> None:
    decision = Decision(statistic="rate", first="cold", other="warm", limit=1.1, direction="above")
    experiment = _experiment(decision=decision)
    assert judge(experiment, _run(cold=[1.0, 1.0, 1.01], warm=[0.5, 0.5, 0.51])).verdict == "confirmed"
    assert judge(experiment, _run(cold=[1.0, 1.0, 1.01], warm=[1.0, 1.01, 1.0])).verdict == "rejected"


def test_one_round_cannot_decide_and_none_is_an_error() -> None:
    outcome = judge(_experiment(), _run(cold=[1.0], warm=[0.1]))
    assert outcome.verdict == "undecided"
    assert outcome.says.endswith(" ms: too few rounds to decide.")
    with pytest.raises(AnalysisError, match="warm"):
        judge(_experiment(), _run(cold=[1.0]))


@pytest.mark.parametrize(("seen_per_s", "verdict"), [(None, "rejected"), (1000.0, "rejected"), (100.0, "undecided")])
def test_a_state_that_was_not_met_again_rejects_nothing(seen_per_s: float | None, verdict: str) -> None:
    """Full burst credits: "cold" takes 1 ms, where it took 10 when it was suspected."""
    outcome = judge(_experiment(seen_per_s=seen_per_s), _run(cold=[1.0, 1.02, 0.99], warm=[1.0, 1.01, 1.0]))
    assert outcome.verdict == verdict
    if verdict == "undecided":
        assert 'Undecided: "cold" did 997 IOPS here, 100 in the run' in outcome.says


@pytest.mark.parametrize(
    ("warm", "reads", "verdict"),
    [(0.1, 1.0, "confirmed"), (0.1, 0.1, "undecided"), (1.0, 1.0, "rejected"), (1.0, 0.1, "rejected")],
)
def test_a_second_decision_may_leave_the_first_undecided(warm: float, reads: float, verdict: str) -> None:
    also = (Decision(statistic="p50", first="cold", other="reads", limit=0.7, direction="above"),)
    experiment = _experiment(also=also, if_split="both fell")
    outcome = judge(experiment, _run(cold=[1.0, 1.02, 0.99], warm=[warm] * 3, reads=[reads] * 3))
    assert outcome.verdict == verdict
    if verdict == "undecided":
        assert outcome.says.endswith(" confirms it). Undecided: both fell.")
        assert outcome.says.count("times that of") == 2, "both are said"


def _suspicion(name: str, **changes: object) -> Finding:
    fields = {"severity": "warn", "phase": "a", "says": "seen", "state": "suggested", "confidence": 0.5}
    return Finding(code=name, **{**fields, **changes})


def test_of_equally_grave_ones_the_one_that_decides_others_is_tested_first() -> None:
    asked = [
        _suspicion("surest", confidence=0.9, rivals=("first",)),
        _suspicion("sure", confidence=0.8, rivals=("first",)),
        _suspicion("first", confidence=0.5),
    ]
    found = next_step.candidates(_run(a=[1.0]), tuple(asked), _proposed)
    assert [each.finding.code for each in found] == ["first", "surest", "sure"]


def test_the_gravest_is_tested_first_and_each_kind_once() -> None:
    findings = (
        _suspicion("note", severity="note"),
        _suspicion("likely", confidence=0.9),
        _suspicion("likely", phase="b", confidence=0.8),
        _suspicion("unlikely"),
        _suspicion("void", severity="void"),
        _suspicion("sure", state="counted", severity="void"),
    )
    run = card_runs.quick_card()
    order = [each.finding.code for each in next_step.candidates(run, findings, _proposed)]
    assert order == ["void", "likely", "unlikely", "note"]


def test_of_one_kind_the_gravest_that_can_be_tested_is() -> None:
    """And a note of the same kind, of another cause, does not stand in for it."""
    findings = (
        _suspicion("cap", phase="deep", confidence=0.7),
        _suspicion("cap", phase="one"),
        _suspicion("full", phase="deep"),
        _suspicion("full", phase="one", severity="note"),
    )

    def of_one(run: Run, finding: Finding) -> next_step.Candidate:
        return _proposed(run, finding) if finding.phase == "one" else next_step.Candidate(finding, None)

    asked = next_step.candidates(card_runs.quick_card(), findings, of_one)
    told = {each.finding.code: (each.finding.phase, each.experiment is not None) for each in asked}
    assert told == {"cap": ("one", True), "full": ("deep", False)}


@pytest.mark.parametrize(
    ("budget", "why"),
    [
        (Budget(5, 1 << 40), "takes 12 s"),
        (Budget(60, 1 << 20), "may move"),
        (Budget(60, 1 << 40, writes=False), ""),
        (Budget(60, 1 << 40), ""),
    ],
)
def test_the_budget_refuses_what_it_cannot_pay(budget: Budget, why: str) -> None:
    said = next_step.unaffordable(_experiment(), budget, 1e9)
    assert (why in said) if why else said == ""


def test_what_an_experiment_moves_is_bounded_by_its_arms() -> None:
    run = card_runs.run(card_runs.reads(size_bytes=1 << 20, times=card_runs.histogram((1e6, 1000))))  # 1 MiB a ms
    arms = {
        Arm(name="a", workload=READS, seconds=2.0): 2000 << 20,
        Arm(name="a", workload=READS, seconds=2.0, bytes=1 << 20): 1 << 20,
        Arm(name="a", workload=READS, seconds=2.0, ios=100): 100 << 13,
        Arm(name="a", workload=replace(READS, arrival=Constant(10.0)), seconds=2.0): 20 << 13,
    }
    decision = Decision(statistic="p50", first="a", other="a", limit=1.0, direction="above")
    for arm, moved in arms.items():
        once = Experiment(question="?", arms=(arm,), decision=decision, rounds=3)
        assert next_step.moved_guess(run, once) == pytest.approx(3 * moved)
        before = Experiment(question="?", arms=(arm,), decision=decision, prepare=(arm,), rounds=3)
        assert next_step.moved_guess(run, before) == pytest.approx(4 * moved)


def test_what_writes_needs_leave() -> None:
    experiment = _experiment(prepare=(Arm(name="fill", workload=WRITES),))
    assert "read-only" in next_step.unaffordable(experiment, Budget(600, 1 << 40, writes=False), 0)


def test_a_diagnosis_refines_the_findings() -> None:
    def step(name: str, verdict: str) -> DiagnosisStep:
        outcome = Outcome(verdict=verdict, says=f"{name} {verdict}")
        return DiagnosisStep(finding=name, phase="a", hypothesis="", question="?", outcome=outcome)

    findings = (_suspicion("x"), _suspicion("y"), _suspicion("z", rivals=("x",)), _suspicion("u"))
    diagnosis = Diagnosis(steps=(step("x", "confirmed"), step("y", "rejected"), step("u", "undecided")))
    x, y, z, u = next_step.with_steps(findings, diagnosis)
    assert (x.state, y.state, u.state) == ("confirmed", "rejected", "suggested")
    assert (x.certain, y.certain, u.learned) == (True, False, "u undecided")
    assert z.confidence == 0.25


def test_an_outcome_is_of_the_finding_that_was_tested() -> None:
    """Of its row, of the same I/O at another load, and of rows of which the very same was seen; of no other."""
    rows = ("row", "same load kind", "same sentence", "other")
    says = ("seen", "seen too", "seen", "seen elsewhere")
    findings = tuple(_suspicion("x", phase=row, says=said) for row, said in zip(rows, says, strict=True))
    outcome = Outcome(verdict="rejected", says="it was not so.")
    step = DiagnosisStep(finding="x", phase="row", hypothesis="", question="?", outcome=outcome)
    kinds = {"row": "k", "same load kind": "k", "same sentence": "l", "other": "m"}
    found = next_step.with_steps(findings, Diagnosis(steps=(step,)), kinds)
    assert [each.state for each in found] == ["rejected", "rejected", "rejected", "suggested"]
    assert found[3].learned == "Not tested on this row; on row: it was not so."
    assert found[3].confidence == findings[3].confidence


def test_arms_of_one_name_are_observations_and_regions_move_on() -> None:
    arm = Arm(
        name="first", workload=WRITES, ios=64, region_start_bytes=1 << 20, region_size_bytes=4096, step_bytes=8192
    )
    experiment = _experiment(arms=(arm, arm, Arm(name="warm", workload=READS)), keep_order=True, rounds=2)
    phases = plan_of("x", experiment, card_runs.TARGET, WorkFiles(1, card_runs.GIB)).phases
    assert [phase.name for phase in phases][:3] == ["first (1)", "first (1.2)", "warm (1)"]
    assert len({phase.name for phase in phases}) == 6
    assert [phase.region_start_bytes - (1 << 20) for phase in phases if phase.test == "first"] == [0, 0, 8192, 8192]
    assert phases[0].length.ios == 64


def test_of_several_arms_the_furthest_decides() -> None:
    decision = Decision(
        statistic="p50", first="cold", other="warm", or_others=("hot", "absent"), limit=0.5, direction="below"
    )
    run = _run(cold=[1.0, 1.02, 0.99], warm=[0.9, 1.0, 0.95], hot=[0.1, 0.11, 0.1])
    outcome = judge(_experiment(decision=decision), run)
    assert outcome.verdict == "confirmed"
    assert 'of "hot"' in outcome.says


@pytest.mark.parametrize(
    ("reads", "verdict"),
    [([1.0, 1.0, 1.01], "confirmed"), ([0.1, 0.11, 0.1], "rejected"), ([0.3, 1.2, 0.7], "undecided")],
)
def test_what_else_must_hold(reads: list[float], verdict: str) -> None:
    also = Decision(statistic="p50", first="cold", other="reads", limit=0.7, direction="above")
    run = _run(cold=[1.0, 1.02, 0.99], warm=[0.1, 0.11, 0.1], reads=reads)
    assert judge(_experiment(also=(also,)), run).verdict == verdict
