"""load-db build: a data set is built in a database, or the build goes on where it was interrupted."""

from __future__ import annotations

import os
import time

from msgspec import Struct

from iocast.errors import TargetError
from iocast.load.database.data_set_plan import BuildStoppedError
from iocast.load.database.load_server import Built, LoadServer
from iocast.load.database.servers import connect
from iocast.model.database.database_load import DataSet
from iocast.sessions.database.database_finding import data_folder
from iocast.sessions.database.database_guards import refuse_disturbing
from iocast.sessions.events import BuildEnded, BuildStep, BuildStopped, DatabaseNoted
from iocast.sessions.listener import Listener
from iocast.tools.database_address import AskPassword

ROOM = 3  # times the size of the data set must be free
_TELL_EVERY_S = 0.2


class BuildRequest(Struct, frozen=True, kw_only=True):
    """A database, and the data set to build in it. `ask`: for a password; `force`: although room is short."""

    url: str
    data_set: DataSet
    ask: AskPassword | None = None
    beside_others: bool = False
    force: bool = False


def build(request: BuildRequest, listener: Listener) -> Built | None:
    """Builds the data set, or goes on where one was interrupted; None when it was stopped. Raises IocastError."""
    server = connect(request.url, request.ask, building=True)
    try:
        guard(server, listener, beside_others=request.beside_others)
        _require_room(server, request)
        with listener.working() as stopping:
            begun, told_s = time.monotonic(), 0.0
            first: int | None = None
            done = of = 0

            def on_build(step: str, table: int, done_bytes: int, of_bytes: int) -> bool:
                nonlocal told_s, first, done, of
                now, done, of = time.monotonic(), done_bytes, of_bytes
                first = done_bytes if first is None else first
                if step != "fill" or now - told_s >= _TELL_EVERY_S:
                    told_s = now
                    listener.tell(BuildStep(step, table, done_bytes, of_bytes, now - begun, first))
                return not stopping()

            try:
                built = server.build(request.data_set, on_build)
            except BuildStoppedError:
                listener.tell(BuildStopped(done, of))
                return None
        listener.tell(BuildEnded(built.server, built.resumed, built.notes, time.monotonic() - begun))
        return built
    finally:
        server.close()


def guard(server: LoadServer, listener: Listener, *, beside_others: bool) -> None:
    """Others who work on the server are not disturbed without a word. Raises TargetError."""
    for said in refuse_disturbing(server, beside_others=beside_others, way_out="give --beside-others"):
        listener.tell(DatabaseNoted(said))


def _require_room(server: LoadServer, request: BuildRequest) -> None:
    """As far as the storage of the server can be seen from here. Raises TargetError."""
    folder = data_folder(server.local_pid())
    try:
        status = os.statvfs(folder) if folder else None
    except OSError:
        status = None
    if status is None:
        return
    free, need = status.f_bavail * status.f_frsize, ROOM * request.data_set.size_bytes
    if free < need and not request.force:
        raise TargetError(
            f"{free >> 20:,} MiB are free below the database; {ROOM} times the size would be {need >> 20:,} MiB",
            "give a smaller --size, or --force: WAL and checkpoints need room beside the data",
        )
