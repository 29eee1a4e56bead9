"""A limit of a control group on a database is met by the load that goes through it, and seen below the engine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from makers.database_servers import NoServer, postgres

from iocast.jobs import plan as plan_of
from iocast.load import PlannedGroup, loader_of
from iocast.load.database.postgresql import pg_load
from iocast.model.database.database_load import DataSet, LoadRamp
from iocast.sessions.database.database_finding import find_database
from iocast.sessions.database.database_rows import load_job

pytestmark = [pytest.mark.device, pytest.mark.alone]
pytest.importorskip("psycopg")
CAP_PER_S = 500
SECONDS = 4
THROTTLE = Path("/sys/fs/cgroup/blkio")
MEMORY = Path("/sys/fs/cgroup/memory")
MEMORY_BYTES = 512 << 20


@contextmanager
def capped(pid: int, device: int) -> Iterator[None]:
    """While entered, a process and what it starts may read so often a second from a device."""
    number = f"{os.major(device)}:{os.minor(device)}"
    with _within(THROTTLE, pid, "blkio.throttle.read_iops_device", f"{number} {CAP_PER_S}"):
        yield


@contextmanager
def _within(controller: Path, pid: int, name: str, value: str) -> Iterator[None]:
    """While entered, a process and what it starts are in a group of their own with this limit."""
    group = controller / f"iocast-load-db-{os.getpid()}"
    try:
        group.mkdir()
        (group / name).write_text(value)
        (group / "cgroup.procs").write_text(str(pid))
    except OSError as error:
        if group.exists():
            group.rmdir()
        pytest.skip(f"no limit can be set here: {error}")
    try:
        yield
    finally:
        (controller / "cgroup.procs").write_text(str(pid))
        for left in (group / "cgroup.procs").read_text().split():
            (controller / "cgroup.procs").write_text(left)
        group.rmdir()


def test_a_cap_is_met_by_any_number_of_sessions_and_latency_follows_them() -> None:
    """Little's law: twice the sessions at the same rate wait twice as long."""
    try:
        with postgres(17, debug_io_direct="data", max_wal_size="'64MB'") as server:
            loading = pg_load.connect(server.url(), building=True)
            loading.build(DataSet(size_bytes=96 << 20), lambda *_: True)
            loading.close()
            target = find_database(server.url())
            assert target.database is not None
            assert target.database.pid is not None
            assert target.database.direct
            with _within(MEMORY, target.database.pid, "memory.limit_in_bytes", str(MEMORY_BYTES)):
                limited = find_database(server.url()).database
                assert limited is not None
                assert limited.memory_limit_bytes == MEMORY_BYTES  # of new sessions: the server's children
            with capped(target.database.pid, os.stat(server.folder).st_dev):
                ramp = LoadRamp(sessions=(4, 8), seconds=SECONDS)
                plan = plan_of(load_job(ramp, target.database), target, seed=1, memory_bytes=1 << 30)[0]
                loader = loader_of(plan)
                means = []
                for phase in plan.phases:
                    told = loader.phase_plan(phase, (), seed=1)
                    (measured,) = loader.measure(PlannedGroup((told,)), lambda *_: True)
                    did = measured.measurement
                    assert did.database is not None
                    below = did.database.below
                    assert below is not None
                    assert below.time_ns, below.why_not
                    rate = below.reads * 1e9 / did.elapsed_ns
                    assert CAP_PER_S * 0.95 <= rate <= CAP_PER_S * 1.05
                    means.append(below.time_ns / below.reads)
                assert 1.6 < means[1] / means[0] < 2.4
    except NoServer as why:
        pytest.skip(str(why))
