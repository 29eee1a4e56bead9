"""Ruling: what a named experiment found, as a sentence and rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from msgspec import Struct

from iocast.diagnose.experiments.design import judge
from iocast.diagnose.experiments.named.trial_rows import Figures, every_figures
from iocast.errors import AnalysisError
from iocast.model.codes import VerdictCode
from iocast.model.experiment import Decision, Experiment, Outcome
from iocast.model.results.experiments import AtDeviceRow, ExperimentRow, UsualRow
from iocast.model.results.shown import Number
from iocast.model.run import Run
from iocast.text import number

Usual = TypeVar("Usual", bound=UsualRow)


class Ruling(Struct, frozen=True, kw_only=True):
    """The verdict on the question of an experiment: `says` is its sentence with figures, `rows` what it rests on, all
    of one kind; `notes` stand under them.
    """

    verdict: VerdictCode
    says: str
    rows: tuple[ExperimentRow, ...] = ()
    notes: tuple[str, ...] = ()


def usual_row(kind: type[Usual], test: str, figures: Figures, **more: Number | None) -> Usual:
    """The usual figures of a test, and what this kind of row has beside them."""
    return kind(
        test=test,
        rounds=figures.rounds,
        rate_per_s=figures.rate_per_s,
        moved_bytes_per_s=figures.bytes_per_s,
        mean_ns=figures.mean_ns,
        p50_ns=figures.p50_ns,
        p95_ns=figures.p95_ns,
        p99_ns=figures.p99_ns,
        **more,
    )


def usual_rows(run: Run) -> tuple[UsualRow, ...]:
    """All tests of a run with their usual figures."""
    return tuple(usual_row(UsualRow, test, each) for test, each in every_figures(run).items())


def rows_with_device(run: Run, shares: Mapping[str, float | None]) -> tuple[AtDeviceRow, ...]:
    """The same, with the share of each test's bytes that the device moved."""
    every = every_figures(run).items()
    return tuple(usual_row(AtDeviceRow, test, each, device_share=shares[test]) for test, each in every)


def times_as_fast(outcome: Outcome) -> str:
    """How many times as fast the other arm is, of an outcome about times: "275 times as fast"."""
    return f"{number(1 / outcome.ratio)} times as fast" if outcome.ratio else "faster"


def decided(run: Run, decision: Decision, if_confirmed: str = "", if_rejected: str = "") -> Outcome:
    """The outcome of a decision; undecided, with the reason, where an arm has no result."""
    experiment = Experiment(question="", arms=(), decision=decision, if_confirmed=if_confirmed, if_rejected=if_rejected)
    try:
        return judge(experiment, run)
    except AnalysisError as error:
        return Outcome(verdict="undecided", says=f"{error.message[:1].upper()}{error.message[1:]}.")
