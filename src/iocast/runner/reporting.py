"""Reporting: whom the runner tells how far the work is, and with whom it goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from iocast.load import Loader
from iocast.model.plan import Phase
from iocast.model.run import PhaseRecord, Run


class Progress(Protocol):
    """Who is told how far the work is. All calls come from the thread that called `run`."""

    def begin(self, phase: Phase, number: int, total: int, seconds_left: float | None) -> None:
        """A phase begins, or a group, for which `phase` stands. `seconds_left` is what all that remains will take as
        far as its length says; None where time is virtual."""

    def tick(self, elapsed_ns: int, ios: int, bytes_moved: int, errors: int) -> None:
        """About ten times a second."""

    def end(self, record: PhaseRecord) -> None:
        """A phase has ended; told of each phase of a group."""

    def close(self) -> None:
        """No more phases; called once, however the work ended."""


class Member(Protocol):
    """What makes a run one of several that are made at once on many hosts."""

    def loader(self, loader: Loader) -> Loader:
        """The loader of this run, waiting for those of the others."""

    def begun(self, run: Run, folder: Path) -> None:
        """The run has a folder, and measures nothing yet."""
