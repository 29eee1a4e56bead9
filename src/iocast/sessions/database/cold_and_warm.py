"""experiment cold-warm: a PostgreSQL of our own answers the same statements with empty caches, and again."""

from __future__ import annotations

from msgspec.structs import replace

from iocast.databases.postgresql.own_server import own_server
from iocast.databases.postgresql.server_programs import find_programs
from iocast.diagnose.experiments.named import TrialSetup, cold_warm
from iocast.errors import TargetError
from iocast.load.page_cache import drop_below
from iocast.model.database.database_load import DatabaseLoad, DataSet, LoadRamp
from iocast.model.database.database_result import DatabaseServer
from iocast.model.job import Job
from iocast.sessions.database.build_data_set import ROOM, BuildRequest, build
from iocast.sessions.database.database_finding import find_database
from iocast.sessions.database.database_rows import rows_of
from iocast.sessions.database.with_server import require_driver, whole_time
from iocast.sessions.events import DatabaseNoted
from iocast.sessions.job_run import Ran, run_job
from iocast.sessions.listener import Listener
from iocast.sessions.requests.run_options import RunOptions
from iocast.text import capacity

LEAST_BUFFERS_BYTES = 1 << 20


def cold_and_warm(setup: TrialSetup, options: RunOptions, listener: Listener) -> Ran | None:
    """Builds, empties the caches, measures both rows, and removes all of it; None where it was stopped before.

    Raises IocastError.
    """
    if setup.target.kind != "directory":
        raise TargetError(f"{setup.target.path} is not a directory: a database needs one", "give one on the storage")
    require_driver()
    programs, where = find_programs(), setup.target.path
    buffers = max(LEAST_BUFFERS_BYTES, setup.size_bytes // 2)
    listener.tell(
        DatabaseNoted(
            f"PostgreSQL {programs.version} ({programs.origin}) starts in {where}, on a socket of its own, with"
            f" {capacity(setup.size_bytes)} of data and buffers of {capacity(buffers)}; it is removed afterwards."
            f" All of it takes {whole_time(setup.size_bytes, 2 * setup.seconds)}"
        )
    )
    with own_server(
        where,
        programs,
        room_bytes=ROOM * setup.size_bytes,
        shared_buffers_bytes=buffers,
        direct_io=False,
        say=lambda text: listener.tell(DatabaseNoted(text)),
    ) as server:
        data_set = DataSet(size_bytes=setup.size_bytes, seed=options.seed)
        if build(BuildRequest(url=server.url, data_set=data_set, beside_others=True, force=True), listener) is None:
            return None
        server.start_again()
        drop_below(server.folder)
        listener.tell(DatabaseNoted("its buffers and the page cache of its files are empty"))
        target = find_database(server.url)
        assert target.database is not None
        return run_job(cold_and_warm_job(setup, target.database), target, replace(options, price=None), listener)


def cold_and_warm_job(setup: TrialSetup, server: DatabaseServer) -> Job:
    """Both rows have the same statements at the same moments: as many as there are blocks, in an open loop."""
    blocks = server.tables * server.table_blocks
    rate = blocks / setup.seconds
    ramps = [
        LoadRamp(load=DatabaseLoad(), sessions=(cold_warm.SESSIONS,), seconds=setup.seconds, rate_per_s=rate, test=test)
        for test in (cold_warm.COLD, cold_warm.WARM)
    ]
    return Job(
        name=f"experiment {cold_warm.NAME}",
        phases=tuple(replace(row, same_offsets=True) for row in rows_of(ramps, server)),
        experiment=cold_warm.NAME,
    )
