"""load-db: a data set in a database is loaded, its commits are tested, and it is dropped again."""

from __future__ import annotations

from msgspec.structs import replace

from iocast.load.database.load_server import Dropped
from iocast.load.database.servers import connect
from iocast.model.database.database_load import LoadRamp
from iocast.model.target import Target
from iocast.sessions.comparing import Repeats
from iocast.sessions.comparing import repeat as measure_again
from iocast.sessions.database.build_data_set import guard
from iocast.sessions.database.database_finding import data_folder, find_database
from iocast.sessions.database.database_guards import held
from iocast.sessions.database.database_rows import commit_job, load_job
from iocast.sessions.database.fsync_anchor import measured_anchor
from iocast.sessions.events import DatabaseNoted, DataSetDropped
from iocast.sessions.listener import Listener
from iocast.sessions.measure import MeasuredJob, measure_job
from iocast.sessions.requests.compare import RepeatRequest
from iocast.sessions.requests.load_db import CommitRequest, LoadRequest
from iocast.sessions.requests.measure import MeasureRequest
from iocast.sessions.requests.run_options import RunOptions
from iocast.tools.database_address import AskPassword


def run(request: LoadRequest, listener: Listener) -> MeasuredJob:
    """One row for each number of sessions. Raises IocastError."""
    target = _guarded_target(request, listener)
    assert target.database is not None
    return measure_job(load_job(_ramp(request), target.database), target, _measure(request), listener)


def repeat_run(request: LoadRequest, times: int, listener: Listener) -> Repeats | None:
    """The load several times, each with the next seed; None when it was stopped. Raises IocastError."""
    target = _guarded_target(request, listener)
    assert target.database is not None
    job, options = load_job(_ramp(request), target.database), _measure(request).options
    return measure_again(RepeatRequest(job=job, path=request.url, times=times, options=options), listener)


def commit_test(request: CommitRequest, listener: Listener) -> MeasuredJob:
    """Sessions insert a row and commit, durably and not, side by side. Raises IocastError."""
    target = _guarded_target(request, listener)
    assert target.database is not None
    if request.anchor:
        anchor, why = measured_anchor(target.database.pid, data_folder(target.database.pid))
        target = replace(target, database=replace(target.database, sync_anchor_ns=anchor))
        if why:
            listener.tell(DatabaseNoted(why))
    assert target.database is not None
    return measure_job(commit_job(request.commits.ramp(), target.database), target, _measure(request), listener)


def drop(url: str, ask: AskPassword | None, listener: Listener) -> Dropped:
    """Removes what `build` made, and nothing else. Raises IocastError."""
    server = connect(url, ask, building=True)
    try:
        for said in held(server):
            listener.tell(DatabaseNoted(said))
        dropped = server.drop()
        listener.tell(DataSetDropped(dropped.objects, dropped.size_bytes, dropped.left, dropped.place_stays))
        return dropped
    finally:
        server.close()


def _ramp(request: LoadRequest) -> LoadRamp:
    return request.ramp or request.load.ramp()


def _measure(request: LoadRequest | CommitRequest) -> MeasureRequest:
    """What is made of the run; its job is chosen here."""
    options = RunOptions(seed=request.seed, out=request.out)
    return MeasureRequest(
        job="", path=request.url, options=options, grade_request=request.grade_request, page=request.page
    )


def _guarded_target(request: LoadRequest | CommitRequest, listener: Listener) -> Target:
    server = connect(request.url, request.ask)
    try:
        guard(server, listener, beside_others=request.beside_others)
    finally:
        server.close()
    return find_database(request.url, request.ask)
