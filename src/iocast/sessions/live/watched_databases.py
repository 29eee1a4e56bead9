"""A database beside the observers of this machine: entered, sampled, and named with its version and clock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from iocast.databases import connect, database_of
from iocast.databases.database import AskPassword, DatabaseObserver
from iocast.errors import SpecError
from iocast.model.run import Blind, Sample
from iocast.observe.limits import read_or_empty
from iocast.observe.live.local_server import server_pid
from iocast.tools.database_address import Address, parsed

if TYPE_CHECKING:
    from iocast.sessions.live.watched_sources import WatchedSources

_PORTS = {"postgresql": 5432, "mysql": 3306, "oracle": 1521}
_SOCKET_FOLDERS = ("/var/run/postgresql", "/tmp")  # where PostgreSQL looks when no host is named
# As /proc/PID/comm has them. Who else listens (a pooler, a proxy of containers, Oracle's listener) is not the server.
_SERVERS = {"postgresql": ("postgres", "postmaster", "edb-postgres"), "mysql": ("mysqld", "mariadbd")}
_HERE = ("", "localhost", "127.0.0.1", "::1")


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


def open_databases(sources: WatchedSources) -> list[WatchedDatabase]:
    """The databases that were named, to be entered. Raises SpecError for two of one kind: samples are named by it."""
    kinds = [database_of(url).NAME for url in sources.databases]
    if len(set(kinds)) < len(kinds):
        raise SpecError(
            "two databases of one kind cannot be watched together", "watch each in a screen or on a tape of its own"
        )
    return [WatchedDatabase(url, sources.ask, sources.packs) for url in sources.databases]


def local_servers(urls: Iterable[str]) -> tuple[tuple[int, ...], tuple[Blind, ...]]:
    """The processes of the servers that are on this machine, and of which servers none can be followed."""
    pids, blind = [], []
    for url in urls:
        pid = server_pid(*local_endpoints(url))
        command = read_or_empty(f"/proc/{pid}/comm").strip() if pid else ""
        if pid and command in _SERVERS.get(database_of(url).NAME, ()):
            pids.append(pid)
            continue
        why = f"{command} listens there" if command else "it is not on this machine, or who listens cannot be seen"
        blind.append(Blind(url.partition("://")[0], f"system calls of its server: {why}; --pid names it"))
    return tuple(pids), tuple(blind)


def local_endpoints(url: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Where a server of this machine listens that a URL names: Unix sockets, and ports. Raises SpecError.

    A service of PostgreSQL stands in a file of its client library: where it is is not known.
    """
    kind = database_of(url).NAME
    address = parsed(url, "give it in the environment")
    if "service" in address.options:
        return (), ()
    hosts = address.hosts or ((address.options.get("host", ""), 0),)
    sockets = [address.options["socket"]] if "socket" in address.options else []
    ports = []
    for host, port in hosts:
        host, port = address.options.get("host", host), port or _port(address, kind)
        if kind == "postgresql":
            folders = (host,) if host.startswith("/") else _SOCKET_FOLDERS if not host else ()
            sockets += [f"{folder}/.s.PGSQL.{port}" for folder in folders]
        if host in _HERE and not sockets:
            ports.append(port)
    return tuple(sockets), tuple(ports)


def _port(address: Address, kind: str) -> int:
    port = address.options.get("port", "")
    return int(port) if port.isascii() and port.isdigit() else _PORTS[kind]
