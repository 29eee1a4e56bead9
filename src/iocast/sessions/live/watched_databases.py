"""A database beside the observers of this machine: entered, sampled, and named with its version and clock."""

from __future__ import annotations

from collections.abc import Mapping

from iocast.databases import connect
from iocast.databases.database import AskPassword, DatabaseObserver
from iocast.model.run import Blind, Sample


class WatchedDatabase:
    """One database of a watch. One that stops answering says so and is asked again; the watch goes on."""

    def __init__(self, url: str, ask: AskPassword | None, packs: bool) -> None:
        self._observer: DatabaseObserver = connect(url, ask=ask, packs=packs)
        self._scheme = url.partition("://")[0]

    def __enter__(self) -> WatchedDatabase:
        self._observer.__enter__()
        return self

    def __exit__(self, *how: object) -> None:
        self._observer.__exit__(None, None, None)

    def sample(self) -> list[Sample]:
        """Raw counters of this instant; none while the server does not answer."""
        return self._observer.sample()

    def texts(self) -> Mapping[str, str]:
        """Statements, relations, settings."""
        return self._observer.texts()

    @property
    def names(self) -> tuple[str, ...]:
        """ "PostgreSQL 18.6, app on db1"."""
        server = self._observer.server
        where = " on ".join(part for part in (server.container, server.host or server.instance) if part)
        return (f"{server.product} {server.version}" + (f", {where}" if where else ""),)

    @property
    def blind(self) -> tuple[Blind, ...]:
        """What it does not show, and why."""
        return tuple(Blind(self._scheme, why) for why in self._observer.unseen)
