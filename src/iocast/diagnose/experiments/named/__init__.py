"""Named experiments: each a question about a target, a plan that answers it, and the judge of its runs."""

from __future__ import annotations

from typing import Protocol

from iocast.diagnose.experiments.named import (
    arm,
    cache,
    cold_warm,
    concurrent_readers,
    dio_matrix,
    holes,
    lost_writes,
    metadata,
    noise,
    overwrite,
    payload,
    probe,
    readahead,
    request_size,
    working_set,
    zones,
)
from iocast.diagnose.experiments.named.trial_outcome import Ruling
from iocast.diagnose.experiments.named.trial_setup import Defaults, TrialSetup
from iocast.model.plan import Phase
from iocast.model.run import Run

__all__ = ["TRIALS", "Defaults", "Ruling", "Trial", "TrialSetup", "find_trial", "question"]


class Trial(Protocol):
    """A module that asks one question; its docstring is its manual page, the first line the question.

    One that wants several work files has `files(asked) -> int`, one that works in a tree of files
    `tree(asked) -> Tree`; one that can make targets of its own has `IMAGES`; one about a database `SERVER`.
    """

    NAME: str
    WRITES: bool  # it makes no sense where nothing may be written
    DEFAULTS: Defaults

    def phases(self, setup: TrialSetup) -> tuple[Phase, ...]:
        """What is to be done. Raises TargetError, with the reason, where the target cannot show it."""
        ...

    def judge(self, runs: tuple[Run, ...]) -> Ruling:
        """What the runs say; one for each target, nearly always one."""
        ...


TRIALS: tuple[Trial, ...] = (
    cache,
    readahead,
    request_size,
    working_set,
    concurrent_readers,
    overwrite,
    holes,
    payload,
    noise,
    dio_matrix,
    zones,
    arm,
    probe,
    lost_writes,
    metadata,
    cold_warm,
)


def question(trial: Trial) -> str:
    """The first line of its manual page."""
    return (trial.__doc__ or "").partition("\n")[0]


def find_trial(name: str) -> Trial | None:
    """The experiment of that name; None when there is none."""
    return next((each for each in TRIALS if name == each.NAME), None)
