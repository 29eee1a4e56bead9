"""Observing: a sample of every counter each second while a group of phases runs, and what was seen in the end."""

from __future__ import annotations

from collections.abc import Callable

from iocast.model.run import Sample
from iocast.model.target import Target
from iocast.observe import Observed, ObserverModule, Watch
from iocast.observe.live import kernel_layers, live_observers
from iocast.observe.live.watched import Watched

SAMPLE_EVERY_NS = 1_000_000_000


def server_observers(target: Target) -> tuple[ObserverModule, ...]:
    """Of a load through a database on this machine, beside all others: the server's own system calls."""
    server = target.database.pid if target.database is not None else None
    if server is None:
        return ()
    return tuple(each for each in live_observers(Watched(pids=(server,))) if each.NAME == kernel_layers.NAME)


class Observing:
    """The samples of one group; `watch` has been entered. `before` is called before each sample but the last."""

    def __init__(self, watch: Watch, before: Callable[[], None] | None = None) -> None:
        self._watch, self._before = watch, before
        self._samples: list[Sample] = []
        # The first is taken at the tick before the start: what engines try on the target comes before it.
        self._due_ns = 0

    def tick(self, elapsed_ns: int) -> None:
        """Takes a sample when it is time to."""
        if elapsed_ns >= self._due_ns:
            self._due_ns += SAMPLE_EVERY_NS
            if self._before is not None:
                self._before()
            self._samples.extend(self._watch.sample())

    def end(self) -> Observed:
        """Takes the last sample; everything that was seen."""
        block = self._watch.block_times()
        self._samples += self._watch.sample()
        return Observed(tuple(self._samples), block, self._watch.blind)
