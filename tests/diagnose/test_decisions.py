"""Decisions: nearer than a limit, scatter that goes up and down, and several decisions that must all hold."""

from __future__ import annotations

import card_runs
import pytest
from msgspec.structs import replace

from iocast.diagnose.decisions import decide
from iocast.diagnose.experiments import judge
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
    assert "limits 0.95 and 1.05" in found.says


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


@pytest.mark.parametrize(
    ("third", "verdict", "says"),
    [
        ([2.0, 2.01, 2.0], "confirmed", "of b 1.0 ms (ratio 1.00"),
        ([1.0, 1.01, 1.0], "rejected", "of c 1.0 ms"),
        ([1.0, 2.0, 4.0], "undecided", "cannot tell"),
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
