"""load-db: a data set is built in a database, loaded, its commits are tested, and it is dropped again."""

from __future__ import annotations

import os
import time

from msgspec import Struct
from msgspec.structs import replace

from iocast.errors import TargetError
from iocast.load.database.data_set_plan import BuildStoppedError
from iocast.load.database.load_server import Built, Dropped, LoadServer
from iocast.load.database.servers import connect
from iocast.model.database.database_load import CommitRamp, DataSet, LoadRamp
from iocast.model.target import Target
from iocast.sessions.comparing import RepeatRequest, Repeats
from iocast.sessions.comparing import repeat as measure_again
from iocast.sessions.database.database_finding import data_folder, find_database
from iocast.sessions.database.database_guards import held, refuse_disturbing
from iocast.sessions.database.database_rows import commit_job, load_job
from iocast.sessions.database.fsync_anchor import measured_anchor
from iocast.sessions.events import BuildEnded, BuildStep, BuildStopped, DatabaseNoted, DataSetDropped
from iocast.sessions.listener import Listener
from iocast.sessions.measure import Measured, measured_on
from iocast.sessions.requests import MeasureRequest
from iocast.tools.database_address import AskPassword

ROOM = 3  # times the size of the data set must be free
_TELL_EVERY_S = 0.2


class DatabaseRequest(Struct, frozen=True, kw_only=True):
    """A database, and who is asked for its password. `beside_others`: although others work there, or may."""

    url: str
    ask: AskPassword | None = None
    beside_others: bool = False


class BuildRequest(DatabaseRequest, frozen=True, kw_only=True):
    """The data set to build. `force`: although room is short."""

    data_set: DataSet
    force: bool = False


class LoadRequest(DatabaseRequest, frozen=True, kw_only=True):
    """The load to run, and what is made of its run. `measure.job` and `measure.path` are not read."""

    load: LoadRamp = LoadRamp()
    measure: MeasureRequest = MeasureRequest(job="", path="")


class CommitRequest(DatabaseRequest, frozen=True, kw_only=True):
    """The commit test to run."""

    commits: CommitRamp = CommitRamp()
    anchor: bool = False  # run pg_test_fsync first, where it is found
    measure: MeasureRequest = MeasureRequest(job="", path="")


def build(request: BuildRequest, listener: Listener) -> Built | None:
    """Builds the data set, or goes on where one was interrupted; None when it was stopped. Raises IocastError."""
    server = connect(request.url, request.ask, building=True)
    try:
        _guard(server, request, listener)
        _require_room(server, request)
        with listener.working() as stopping:
            begun, told = time.monotonic(), 0.0
            first: int | None = None
            done = of = 0

            def on_build(step: str, table: int, done_bytes: int, of_bytes: int) -> bool:
                nonlocal told, first, done, of
                now, done, of = time.monotonic(), done_bytes, of_bytes
                first = done_bytes if first is None else first
                if step != "fill" or now - told >= _TELL_EVERY_S:
                    told = now
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


def run(request: LoadRequest, listener: Listener) -> Measured:
    """One row for each number of sessions. Raises IocastError."""
    target = _guarded_target(request, listener)
    assert target.database is not None
    return measured_on(load_job(request.load, target.database), target, request.measure, listener)


def repeat_run(request: LoadRequest, times: int, listener: Listener) -> Repeats | None:
    """The load several times, each with the next seed; None when it was stopped. Raises IocastError."""
    target = _guarded_target(request, listener)
    assert target.database is not None
    job, options = load_job(request.load, target.database), request.measure.options
    return measure_again(RepeatRequest(job=job, path=request.url, times=times, options=options), listener)


def commit_test(request: CommitRequest, listener: Listener) -> Measured:
    """Sessions insert a row and commit, durably and not, side by side. Raises IocastError."""
    target = _guarded_target(request, listener)
    assert target.database is not None
    if request.anchor:
        found, why = measured_anchor(target.database.pid, data_folder(target.database.pid))
        target = replace(target, database=replace(target.database, sync_anchor_ns=found))
        if why:
            listener.tell(DatabaseNoted(why))
    assert target.database is not None
    return measured_on(commit_job(request.commits, target.database), target, request.measure, listener)


def drop(request: DatabaseRequest, listener: Listener) -> Dropped:
    """Removes what `build` made, and nothing else. Raises IocastError."""
    server = connect(request.url, request.ask, building=True)
    try:
        for said in held(server):
            listener.tell(DatabaseNoted(said))
        dropped = server.drop()
        listener.tell(DataSetDropped(dropped.objects, dropped.size_bytes, dropped.left, dropped.place_stays))
        return dropped
    finally:
        server.close()


def _guarded_target(request: DatabaseRequest, listener: Listener) -> Target:
    server = connect(request.url, request.ask)
    try:
        _guard(server, request, listener)
    finally:
        server.close()
    return find_database(request.url, request.ask)


def _guard(server: LoadServer, request: DatabaseRequest, listener: Listener) -> None:
    """Others who work on the server are not disturbed without a word. Raises TargetError."""
    for said in refuse_disturbing(server, beside_others=request.beside_others, way_out="give --beside-others"):
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
