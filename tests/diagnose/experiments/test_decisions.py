"""Decisions: nearer than a limit, scatter that goes up and down, and several decisions that must all hold."""

from __future__ import annotations

import pytest
from makers import card_runs
from msgspec.structs import replace

from iocast.diagnose.experiments.decisions import decide
from iocast.diagnose.experiments.design import judge
from iocast.diagnose.experiments.named.trial_outcome import usual_rows
from iocast.model.experiment import Arm, Decision, Experiment
from iocast.model.run import Run
from iocast.model.workload import MixItem, Workload

READS = Workload(mix=(MixItem("read", 8192),))
MS = 1_000_000


def _run(**arms_ms: list[float]) -> Run:
    records = []
    for arm, values in arms_ms.items():
        for at, value in enumerate(values, 1):
            record = card_runs.reads(f"{arm} ({at})", times=card_runs.histogram((value * MS, 5000)))
            records.append(replace(record, phase=replace(record.phase, test=arm)))
    return card_runs.run(*records)


@pytest.mark.parametrize(
    ("other", "verdict"),
    [([1.01, 1.0, 0.99], "confirmed"), ([1.2, 1.21, 1.19], "rejected"), ([1.0, 1.3, 0.8], "undecided")],
)
def test_the_same_is_an_interval_within_both_limits(other: list[float], verdict: str) -> None:
    decision = Decision(statistic="mean", first="a", other="b", limit=1.05, direction="same")
    found = decide(decision, _run(a=[1.0, 1.0, 1.01], b=other))
    assert found.verdict == verdict
    assert "0.95 to 1.05 confirms it" in found.says


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([1, 1.5, 1, 1.6, 0.9, 1.4, 1, 1.5], "confirmed"),
        ([1, 1.01, 1, 0.99, 1, 1.01, 1, 1], "rejected"),
        ([1, 1.2, 1.5, 1.8, 2.1, 2.5, 2.9, 3.5], "rejected"),  # one way only
        ([1, 1.12, 1.0], "undecided"),
        ([1, 2], "undecided"),
    ],
)
def test_what_varies_goes_up_and_down(values: list[float], verdict: str) -> None:
    decision = Decision(statistic="mean", first="a", other="a", limit=0.1, direction="varies")
    assert decide(decision, _run(a=values)).verdict == verdict


EVEN = [1.0, 1.02, 0.99, 1.01, 0.98, 1.0, 1.01, 0.99]


@pytest.mark.parametrize(
    ("factors", "verdict", "says"),
    [
        ([1, 3, 1], "confirmed", "rounds 9 to 16 at 33% of the others"),
        ([1, 1.1, 1], "rejected", "no lasting drop of 20%"),
        ([1, 1, 1], "rejected", "no lasting drop of 20%"),
        ([1, 3, 3], "undecided", "1 change;"),  # it has not come back
        ([1, 3, 1, 3, 1], "undecided", "4 changes"),  # it comes and goes
        ([1, 3, 2], "undecided", "2 changes"),  # not all of the way
        ([3, 1, 1], "rejected", "no lasting drop of 20%"),  # it only began slowly
    ],
)
def test_a_dip_is_a_fall_that_comes_back_once(factors: list[float], verdict: str, says: str) -> None:
    decision = Decision(statistic="rate", first="a", other="a", limit=0.2, direction="dips")
    found = decide(decision, _run(a=[factor * each for factor in factors for each in EVEN]))
    assert found.verdict == verdict
    assert says in found.says


def test_a_few_rounds_show_no_dip() -> None:
    decision = Decision(statistic="rate", first="a", other="a", limit=0.2, direction="dips")
    assert decide(decision, _run(a=[1.0, 3.0, 3.0, 1.0])).verdict == "undecided"


@pytest.mark.parametrize(
    ("third", "verdict", "says"),
    [
        ([2.0, 2.01, 2.0], "confirmed", 'is 2 times that of "a": 2 ms against 1 ms (95% interval'),
        ([1.0, 1.01, 1.0], "rejected", 'that of "a": 1 ms against 1 ms'),
        ([1.0, 2.0, 4.0], "undecided", ": too near the limit to decide."),
    ],
)
def test_all_decisions_must_hold(third: list[float], verdict: str, says: str) -> None:
    same = Decision(statistic="mean", first="a", other="b", limit=1.05, direction="same")
    slower = Decision(statistic="mean", first="a", other="c", limit=1.5, direction="above")
    arms = tuple(Arm(name=name, workload=READS) for name in "abc")
    experiment = Experiment(question="?", arms=arms, decision=same, also=(slower,))
    outcome = judge(experiment, _run(a=[1.0, 1.0, 1.01], b=[1.0, 1.0, 1.0], c=third))
    assert outcome.verdict == verdict
    assert says in outcome.says


def test_what_is_alike_is_said_in_words() -> None:
    """It read "is 1 times that of"."""
    decision = Decision(statistic="mean", first="a", other="b", limit=1.5, direction="above")
    found = decide(decision, _run(a=[1.0, 1.0, 1.0], b=[1.0, 1.0, 1.0]))
    assert found.figures == 'The mean of "b" is the same as that of "a": 1 ms against 1 ms'


def test_what_rejects_is_told_although_another_has_one_round_only() -> None:
    same = Decision(statistic="mean", first="a", other="b", limit=1.05, direction="same")
    slower = Decision(statistic="mean", first="c", other="d", limit=1.5, direction="above")
    arms = tuple(Arm(name=name, workload=READS) for name in "abcd")
    experiment = Experiment(question="?", arms=arms, decision=same, also=(slower,), if_rejected="They differ.")
    outcome = judge(experiment, _run(a=[1.0, 1.0, 1.01], b=[2.0, 2.01, 2.0], c=[1.0], d=[2.0]))
    assert (outcome.verdict, outcome.says.endswith(". They differ.")) == ("rejected", True)


def test_what_is_printed_is_what_was_compared() -> None:
    """The medians say that b is quicker, the geometric means that it is slower: one of them decided."""
    decision = Decision(statistic="mean", first="a", other="b", limit=1.5, direction="above")
    run = _run(a=[253.0, 20.0, 260.0], b=[146.0, 900.0, 140.0])
    found = decide(decision, run)
    first, other = (20.0 * 253 * 260) ** (1 / 3), (146.0 * 900 * 140) ** (1 / 3)
    assert found.value == pytest.approx(other / first, rel=0.01)
    assert found.figures == 'The mean of "b" is 2.41 times that of "a": 264 ms against 110 ms'
    means = {row.test: row.mean_ns for row in usual_rows(run)}
    assert means["b"] / means["a"] == pytest.approx(found.value, rel=0.01)


def test_the_arm_that_is_compared_is_the_furthest_by_what_is_compared() -> None:
    decision = Decision(statistic="mean", first="a", other="b", or_others=("c",), limit=0.5, direction="below")
    found = decide(decision, _run(a=[10.0] * 3, b=[4.0, 4.0, 0.1], c=[3.0, 3.0, 3.0]))
    assert '"b" is 0.117 times' in found.figures
