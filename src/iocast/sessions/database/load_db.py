"""load-db: a data set in a database is loaded, its commits are tested, and it is dropped again."""

from __future__ import annotations

from msgspec.structs import replace

from iocast.load.database.load_server import Dropped
from iocast.load.database.servers import connect
from iocast.model.database.database_load import CommitRamp, LoadRamp
from iocast.model.target import Target
from iocast.sessions.comparing import Repeats
from iocast.sessions.comparing import repeat as measure_again
from iocast.sessions.database.build_data_set import DatabaseRequest, guard
from iocast.sessions.database.database_finding import data_folder, find_database
from iocast.sessions.database.database_guards import held
from iocast.sessions.database.database_rows import commit_job, load_job
from iocast.sessions.database.fsync_anchor import measured_anchor
from iocast.sessions.events import DatabaseNoted, DataSetDropped
from iocast.sessions.listener import Listener
from iocast.sessions.measure import Measured, measure_job
from iocast.sessions.requests.compare import RepeatRequest
from iocast.sessions.requests.measure import MeasureRequest


class LoadRequest(DatabaseRequest, frozen=True, kw_only=True):
    """The load to run, and what is made of its run. `measure.job` and `measure.path` are not read."""

    load: LoadRamp = LoadRamp()
    measure: MeasureRequest = MeasureRequest(job="", path="")


class CommitRequest(DatabaseRequest, frozen=True, kw_only=True):
    """The commit test to run."""

    commits: CommitRamp = CommitRamp()
    anchor: bool = False  # run pg_test_fsync first, where it is found
    measure: MeasureRequest = MeasureRequest(job="", path="")


def run(request: LoadRequest, listener: Listener) -> Measured:
    """One row for each number of sessions. Raises IocastError."""
    target = _guarded_target(request, listener)
    assert target.database is not None
    return measure_job(load_job(request.load, target.database), target, request.measure, listener)


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
    return measure_job(commit_job(request.commits, target.database), target, request.measure, listener)


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
        guard(server, request, listener)
    finally:
        server.close()
    return find_database(request.url, request.ask)
