"""Listener: who is told what happens in a session, and asked whether it is to stop."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Protocol

from iocast.model.plan import Phase
from iocast.model.run import PhaseRecord
from iocast.sessions.events import Event

if TYPE_CHECKING:
    from iocast.runner import Progress as Progress

Stopping = Callable[[], bool]  # asked about ten times a second: is the work to stop?


class Listener(Protocol):
    """A door, a notebook or a test. All calls come from the thread that called the session."""

    def tell(self, event: Event) -> None:
        """Something has happened, or is about to."""

    def working(self) -> AbstractContextManager[Stopping]:
        """Entered while load runs, once for each plan."""

    def progress(self, stopping: Stopping) -> Progress:
        """Who is told how far the phases of the next plan are."""


class Quiet:
    """Hears nothing and never stops: the listener of those who bring none. A class of one's own may build on it."""

    def tell(self, event: Event) -> None:
        """Passes over it."""

    def working(self) -> AbstractContextManager[Stopping]:
        """Never stops."""
        return nullcontext(lambda: False)

    def progress(self, stopping: Stopping) -> Progress:
        """Shows nothing."""
        return QuietProgress()


class QuietProgress:
    """Shows nothing of how far the work is."""

    def begin(self, phase: Phase, number: int, total: int, seconds_left: float | None) -> None:
        """Passes over it."""

    def tick(self, elapsed_ns: int, ios: int, bytes_moved: int, errors: int) -> None:
        """Passes over it."""

    def end(self, record: PhaseRecord) -> None:
        """Passes over it."""

    def close(self) -> None:
        """Nothing is to be put away."""
