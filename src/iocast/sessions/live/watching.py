"""watch, top: every source of samples is read interval by interval, and what it says becomes moments."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Protocol

from msgspec import Struct

from iocast._core import unix_ns
from iocast.errors import SpecError
from iocast.model.anonymity.pseudonyms import Pseudonyms
from iocast.model.live.moment import Moment, moment_of
from iocast.model.run import Blind, Sample
from iocast.sessions.live.sources import Sampled, open_sources
from iocast.sessions.live.watched_sources import WatchedSources

_LOOK_S = 0.05
_SHORTEST_NS = 100_000_000
_LEAD_NS = 500_000_000  # what began before the watch has ended by then, or is no I/O [J]

Stopping = Callable[[], bool]


class LiveRequest(Struct, frozen=True, kw_only=True):
    """What is watched, how often, how long (until it is stopped, without `count`), and into which tape."""

    sources: WatchedSources = WatchedSources()
    interval_ns: int = 1_000_000_000
    count: int | None = None  # intervals
    record_to: str = ""  # a folder of run folders; "": no tape
    names: Pseudonyms | None = None  # what names become; None: they stay


class SampleSource(Protocol):
    """Where moments come from: the machine as it runs, or a tape of it."""

    interval_ns: int

    def moments(self, stopping: Stopping) -> Generator[Moment]:
        """One after another, each when its time has come, until they end or it is stopped."""

    @property
    def texts(self) -> Mapping[str, str]:
        """Subject → the text of a statement, the name of a relation."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Whom the samples come from, beside the observers of the machine: "PostgreSQL 18.1 on db1"."""

    @property
    def blind(self) -> tuple[Blind, ...]:
        """What could not be seen, and why."""


class Live:
    """A watch that is under way. Sources that fail go blind; the others go on."""

    def __init__(self, request: LiveRequest, sources: list[Sampled]) -> None:
        self.interval_ns = request.interval_ns
        self._count = request.count
        self._sources = sources
        self._taken = 0

    def moments(self, stopping: Stopping) -> Generator[Moment]:
        """A moment, then one at the end of each interval. One that comes late shifts no other: its time is its own.

        The first interval has no verdict: where one is all that is asked for, a short one that nobody is told of comes
        before it.
        """
        due_ns = time.monotonic_ns()
        if self._count == 1:
            self._take()
            self._count, due_ns = 2, due_ns + min(_LEAD_NS, self.interval_ns)
            _wait_until(due_ns, stopping)
        while not stopping():
            yield self._take()
            if self._count is not None and self._taken > self._count:
                return
            due_ns += self.interval_ns
            if (behind_ns := time.monotonic_ns() - due_ns) > 0:
                due_ns += -(-behind_ns // self.interval_ns) * self.interval_ns  # the next one that is still ahead
            _wait_until(due_ns, stopping)

    def _take(self) -> Moment:
        began_ns = unix_ns()
        samples: list[Sample] = []
        for source in self._sources:
            samples += source.sample()
        moment = moment_of(began_ns, samples, self._taken)
        self._taken += 1
        return moment

    @property
    def texts(self) -> Mapping[str, str]:
        """Those of all sources so far."""
        return {subject: text for source in self._sources for subject, text in source.texts().items()}

    @property
    def sources(self) -> tuple[str, ...]:
        """Those that are no observers of this machine."""
        return tuple(name for source in self._sources for name in source.names)

    @property
    def blind(self) -> tuple[Blind, ...]:
        """What none of them can see."""
        return tuple(blind for source in self._sources for blind in source.blind)


def _wait_until(due_ns: int, stopping: Stopping) -> None:
    while (left_ns := due_ns - time.monotonic_ns()) > 0 and not stopping():
        time.sleep(min(_LOOK_S, left_ns / 1e9))


@contextmanager
def watching(request: LiveRequest) -> Iterator[Live]:
    """All sources, entered. Raises TargetError, SpecError, DatabaseError where nothing can be watched."""
    if request.interval_ns < _SHORTEST_NS:
        raise SpecError(f"an interval of {request.interval_ns / 1e6:g} ms is too short", "give 100ms or more")
    with ExitStack() as open_now:
        yield Live(request, [open_now.enter_context(source) for source in open_sources(request.sources)])
