"""card --with postgres: after the card a PostgreSQL of our own runs on the same path, and does the same I/O."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from iocast.errors import SpecError, TargetError
from iocast.model.database.database_load import CommitRamp, DatabaseLoad, DataSet, LoadRamp
from iocast.model.job import Job
from iocast.model.plan import Phase
from iocast.model.report import Section
from iocast.model.target import Target
from iocast.sessions.card import Card
from iocast.sessions.database.build_data_set import ROOM, BuildRequest, build
from iocast.sessions.database.database_finding import find_database
from iocast.sessions.database.database_rows import commit_job, load_job
from iocast.sessions.events import DatabaseNoted, Imported
from iocast.sessions.job_run import run_job
from iocast.sessions.listener import Listener
from iocast.sessions.requests.measure import MeasureRequest
from iocast.sessions.run_card import judge, keep_summary, shown_folder
from iocast.text import about, capacity

if TYPE_CHECKING:
    from iocast.databases.postgresql.own_server import OwnServer

SERVERS: Final = ("postgres",)
DATA_BYTES: Final = 512 << 20
READ_SESSIONS: Final = (1, 4, 8)
COMMIT_SESSIONS: Final = (1, 4)
READS: Final = "randread"
LOG_WRITES: Final = "log write"
SECONDS: Final = 3.0
LEAST_SECONDS: Final = 1.0
# What nobody knows before the storage was measured, from the quickest to a slow one: starting and ending a server, and
# filling, indexing and vacuuming a data set. [J] of 7 s (memory) to two minutes (a small cloud volume) for 512 MiB.
START_S: Final = (3.0, 15.0)
BUILD_BYTES_PER_S: Final = (80 << 20, 4 << 20)
Starting = Callable[[], "AbstractContextManager[OwnServer]"]


def plan_server(
    job: Job, target: Target, request: MeasureRequest, listener: Listener
) -> tuple[Job, Callable[[Card], Section | None]]:
    """The job with the rows that a database is held against, and what measures one beside its card.
    `request.server`: "postgres", or "postgres:DIR" with the folder of its programs. Raises IocastError."""
    from iocast.databases.postgresql.own_server import own_server
    from iocast.databases.postgresql.server_programs import find_programs

    server = request.server
    kind, _, folder = server.partition(":")
    if kind not in SERVERS:
        raise SpecError(f'--with "{server}" is not a server that iocast can start', "--with postgres, or postgres:DIR")
    if target.kind != "directory":
        raise TargetError(f"{request.path} is not a directory: a database needs one", "give a directory on the storage")
    require_driver()
    programs = find_programs(folder)  # before minutes of load, not after them
    job = with_twins(job)
    size_bytes = min(request.options.size_bytes or DATA_BYTES, DATA_BYTES)
    job = replace(job, notes=(*job.notes, _announcement(programs.version, size_bytes, _seconds(request))))

    def beside(card: Card) -> Section | None:
        where = f"in {target.path}, on a socket of its own, with {capacity(size_bytes)} of data"
        begins = f"PostgreSQL {programs.version} ({programs.origin}) starts {where}; it is removed afterwards"
        listener.tell(DatabaseNoted(begins))

        def starting() -> AbstractContextManager[OwnServer]:
            return own_server(
                target.path,
                programs,
                room_bytes=ROOM * size_bytes,
                say=lambda text: listener.tell(DatabaseNoted(text)),
            )

        return _loaded(card, request, size_bytes, listener, starting)

    return job, beside


def _seconds(request: MeasureRequest) -> float:
    """Of a row through the database. Servers tell their statistics once a second: a shorter one is refused."""
    return max(LEAST_SECONDS, request.options.duration_ns / 1e9) if request.options.duration_ns else SECONDS


def _announcement(version: str, size_bytes: int, seconds: float) -> str:
    """What is done after the rows of the card, and how long it takes."""
    rows = len(READ_SESSIONS) + len(COMMIT_SESSIONS)
    return (
        f"after these rows PostgreSQL {version} starts, builds {capacity(size_bytes)} of data and measures"
        f" {rows} more rows: another {whole_time(size_bytes, rows * seconds)}, as fast as the storage lets it build"
    )


def whole_time(size_bytes: int, seconds: float) -> str:
    """How long a server of our own takes with its data and rows of so many seconds: "22 s to 2 min"."""
    build = (size_bytes / speed for speed in BUILD_BYTES_PER_S)
    least, most = (start + seconds + each for start, each in zip(START_S, build, strict=True))
    return f"{about(least)} to {about(most)}"


def require_driver() -> None:
    """Raises DatabaseError where PostgreSQL's driver is not installed."""
    from iocast.tools.database_address import needed_for

    with needed_for("PostgreSQL"):
        import psycopg  # noqa: F401


def with_twins(job: Job) -> Job:
    """The job with the rows that its database rows are held against, as far as it has them not."""
    own = {(phase.test, phase.workload.users, phase.workload.depth) for phase in job.phases}
    reads = next((each for each in job.phases if each.test == READS and each.workload.depth == 1), None)
    commits = next((each for each in job.phases if each.test == "commit"), None)
    if reads is None or commits is None:
        raise SpecError("this job has no random reads and no commits to hold a database against", "iocast card PATH")
    more = [_twin(reads, READS, users) for users in READ_SESSIONS if (READS, users, 1) not in own]
    # As PostgreSQL writes its log: through the page cache, then fdatasync.
    log = replace(reads.workload, mix=commits.workload.mix, locality=commits.workload.locality)
    log = replace(log, direct=False, sync="none", fsync_every=1, fsync_op="fdatasync")
    more += [_twin(replace(commits, workload=log), LOG_WRITES, users) for users in COMMIT_SESSIONS]
    return replace(job, phases=(*job.phases, *more))


def _twin(phase: Phase, test: str, users: int) -> Phase:
    name = f"{test} 8k {users}x1"
    return replace(phase, name=name, test=test, workload=replace(phase.workload, users=users))


def _loaded(
    card: Card, request: MeasureRequest, size_bytes: int, listener: Listener, starting: Starting
) -> Section | None:
    """Builds, loads and removes; the section, or None where it was stopped."""
    from iocast.report.database import beside_section

    seconds = _seconds(request)
    with starting() as server:
        data_set = DataSet(size_bytes=size_bytes, seed=request.options.seed)
        if build(BuildRequest(url=server.url, data_set=data_set, beside_others=True, force=True), listener) is None:
            return None
        target = find_database(server.url)
        assert target.database is not None
        reads = load_job(LoadRamp(load=DatabaseLoad(), sessions=READ_SESSIONS, seconds=seconds), target.database)
        commits = commit_job(CommitRamp(sessions=COMMIT_SESSIONS, seconds=seconds, floor=False), target.database)
        job = replace(reads, name="card with postgres", phases=(*reads.phases, *commits.phases))
        done = run_job(job, target, replace(request.options, price=None), listener)
    if done.folder is None:
        done.or_error()
        return None
    loaded = judge(done.run, shown_folder(done.folder))
    keep_summary(loaded, loaded.report())
    done.told_or_error(listener)
    listener.tell(Imported(loaded.folder))
    report = loaded.judged if request.names is None else loaded.judged._replace(folder="")
    return beside_section.section(card.judged, report, (READS, LOG_WRITES)) if done.whole else None
