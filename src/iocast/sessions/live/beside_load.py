"""card, run: the layers and databases that are recorded beside our own load, while it runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from iocast import metrics
from iocast._core import unix_ns
from iocast.errors import SpecError
from iocast.model.run import Blind, Sample
from iocast.model.target import Target
from iocast.observe import Watch
from iocast.observe.live import live_observers
from iocast.observe.live.watched import Watched
from iocast.sessions.live.watched_databases import WatchedDatabase, local_servers, open_databases
from iocast.sessions.live.watched_sources import WatchedSources


class BesideLoad:
    """Its sources are entered: they are read a few times a row."""

    def __init__(self, watch: Watch, databases: list[WatchedDatabase], blind: tuple[Blind, ...]) -> None:
        self._watch, self._databases, self._blind = watch, databases, blind
        self._command = Path("/proc/self/comm").read_text().strip()

    def sample(self) -> list[Sample]:
        """Raw counters of all that can see, and who the load is."""
        samples = [Sample(unix_ns(), metrics.LOAD, self._command, metrics.PID, float(os.getpid()))]
        for database in self._databases:
            samples += database.sample()
        return samples + self._watch.sample()

    @property
    def names(self) -> tuple[str, ...]:
        """Databases with their versions."""
        return tuple(name for database in self._databases for name in database.names)

    @property
    def blind(self) -> tuple[Blind, ...]:
        """What cannot be seen, and why."""
        return (*self._blind, *self._watch.blind, *(each for database in self._databases for each in database.blind))


@contextmanager
def recording_beside(target: Target, sources: WatchedSources) -> Iterator[BesideLoad]:
    """The load, the processes that were named and databases of this machine are followed.

    Raises DatabaseError, SpecError where a database cannot be watched, or there is nothing below the load.
    """
    if target.kind == "sim":
        raise SpecError("a simulated device has no layers below it", "omit --layers, --database and --pid")
    servers, blind = local_servers(sources.databases)
    whom = Watched(pids=(os.getpid(), *sources.pids, *servers), windows=not sources.every_io)
    with ExitStack() as open_now:
        databases = [open_now.enter_context(each) for each in open_databases(sources)]
        watch = open_now.enter_context(Watch(target, (), live_observers(whom)))
        yield BesideLoad(watch, databases, blind)
