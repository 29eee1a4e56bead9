"""What is watched: the observers of this machine and the databases that were named, each behind the same face."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from iocast import metrics
from iocast.errors import SpecError
from iocast.model.run import Blind, Sample
from iocast.observe import OBSERVERS, ObserverModule, Watch
from iocast.observe.live import kernel_layers, live_observers
from iocast.observe.live.watched import Watched
from iocast.observe.machine import machine_target
from iocast.sessions.live.watched_sources import WatchedSources


class Sampled(Protocol):
    """Sources that are read together."""

    def sample(self) -> list[Sample]:
        """The raw counters of this instant."""

    def texts(self) -> Mapping[str, str]:
        """The texts that belong to subjects."""

    @property
    def names(self) -> tuple[str, ...]:
        """What they are called; the observers of this machine have none."""

    @property
    def blind(self) -> tuple[Blind, ...]:
        """What they cannot see, and why."""


class Machine:
    """The observers of this machine; each that fails goes blind with its reason."""

    names: tuple[str, ...] = ()

    def __init__(self, sources: WatchedSources, servers: tuple[int, ...] = (), blind: tuple[Blind, ...] = ()) -> None:
        """`servers`: the processes of databases of this machine, to be followed where nobody is named."""
        self._watch = Watch(machine_target(sources.devices), (), _chosen(sources, sources.pids or servers))
        self._blind = blind

    def __enter__(self) -> Machine:
        self._watch.__enter__()
        return self

    def __exit__(self, *how: object) -> None:
        self._watch.__exit__(None, None, None)

    def sample(self) -> list[Sample]:
        """Raw counters of all observers that can see."""
        return self._watch.sample()

    def texts(self) -> Mapping[str, str]:
        """The kernel's counters need none."""
        return {}

    @property
    def blind(self) -> tuple[Blind, ...]:
        """What they cannot see."""
        return (*self._blind, *self._watch.blind)


# Of the observers of a load, those that say something of a machine without one.
_OF_A_LOAD = (metrics.DISKSTATS, metrics.CPU, metrics.PRESSURE)


def _chosen(sources: WatchedSources, pids: tuple[int, ...]) -> tuple[ObserverModule, ...]:
    """Live observers follow these processes; none: everybody."""
    quick = [module for module in OBSERVERS if module.NAME in _OF_A_LOAD]
    live = live_observers(Watched(pids=pids, windows=not sources.every_io))
    return tuple(module for module in (*quick, *live) if not sources.observers or module.NAME in sources.observers)


def tracing_cost(sources: WatchedSources, blind: tuple[Blind, ...]) -> str:
    """What an I/O costs more while its layers are traced; "" where they are not."""
    chosen = not sources.observers or kernel_layers.NAME in sources.observers
    if not chosen or any(each.why.startswith(kernel_layers.UNTRACED) for each in blind):
        return ""
    windows = "" if sources.every_io else ", in windows above some 6,000 IOPS"
    return f"{kernel_layers.OVERHEAD}{windows}"


def require_database(kind: str, sources: WatchedSources, who: str) -> None:
    """Raises SpecError where no database of a kind is watched, which somebody reads."""
    from iocast.databases import database_of

    if kind not in [database_of(url).NAME for url in sources.databases]:
        way_out = f"add --database {kind}://user@host/name, or --tape FOLDER"
        raise SpecError(f"{who} reads a database, and none of its kind is named", way_out)


def open_sources(sources: WatchedSources) -> list[AbstractContextManager[Sampled]]:
    """The sources of a watch, to be entered. Raises IocastError where one that was named cannot be."""
    if not sources.databases:
        return [Machine(sources)]
    from iocast.sessions.live.watched_databases import local_servers, open_databases

    servers, blind = ((), ()) if sources.pids else local_servers(sources.databases)
    return [Machine(sources, servers, blind), *open_databases(sources)]
