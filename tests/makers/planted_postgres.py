"""A real PostgreSQL whose reads go to the disk one by one, and conditions that slow it down in a known way."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any, LiteralString, cast

import pytest
from makers.database_servers import NoServer, Postgres, postgres

from iocast import metrics
from iocast.model.live.moment import Interval
from iocast.observe.target.device_stack import describe
from iocast.sessions.live.watched_sources import WatchedSources
from iocast.sessions.live.watching import LiveRequest, watching

ROWS = 8192  # of a block each
SETTLE_S, WINDOW_S = 0.7, 1.8
BLKIO, CPU = Path("/sys/fs/cgroup/blkio"), Path("/sys/fs/cgroup/cpu")
SETTINGS = {
    "shared_buffers": "'2MB'",
    "io_method": "sync",
    "debug_io_direct": "'data'",
    "max_wal_size": "'2GB'",
    "checkpoint_timeout": "'1h'",
    "fsync": "on",
    "compute_query_id": "off",
}
_READS = """
create function read_for(seconds float8, seed float8, low int, high int) returns bigint language plpgsql as $$
declare
  until timestamptz := clock_timestamp() + seconds * interval '1 s';
  done bigint := 0;
  key int;
  found text;
begin
  perform setseed(seed);
  while clock_timestamp() < until loop
    key := low + floor(random() * (high - low))::int;  -- inside of the query it would be drawn anew for each row
    select filler into found from kept where id = key;
    done := done + 1;
  end loop;
  return done;
end $$
"""
_EACH = """
create function read_each(low int, high int) returns bigint language plpgsql as $$
declare found text;
begin
  for number in low .. high loop
    select filler into found from kept where id = number;
  end loop;
  return high - low + 1;
end $$
"""


class Planted:
    """The server, the disk that it stands on, and who makes it work."""

    def __init__(self, server: Postgres) -> None:
        self.server = server
        self.pid = int((server.folder / "data/postmaster.pid").read_text().split()[0])
        layers = describe(str(server.folder)).layers
        disks = [layer for layer in layers if Path(f"/sys/class/block/{layer.name}/mq").is_dir()]
        if not disks:
            pytest.skip("the file system of temporary files stands on no device that handles requests")
        self.disk = disks[0].name
        self.number = f"{disks[0].major}:{disks[0].minor}"

    def say(self, *statements: str) -> Any:
        """Runs statements; the first value of the last one."""
        import psycopg

        with psycopg.connect(self.server.url(), autocommit=True) as connection:
            for statement in statements:
                done = connection.execute(cast(LiteralString, statement))
            row = done.fetchone() if done.description else None
            return row[0] if row else None

    def path_of(self, relation: str) -> str:
        """The path of its file below the data directory."""
        found = self.say(f"select pg_relation_filepath('{relation}')")
        return found.decode() if isinstance(found, bytes) else str(found)

    def table_file(self, table: str = "kept") -> Path:
        """Where the blocks of a table are."""
        return self.server.folder / "data" / self.path_of(table)

    def work(self, statement: str, clients: int) -> AbstractContextManager[None]:
        """While entered, so many clients say the statement again and again; `{seed}` differs by client and time."""

        def client(number: int, connection: Any, over: threading.Event) -> None:
            turn = 0
            while not over.is_set():
                seed = ((number * 7919 + turn * 104729) % 19997) / 19997
                connection.execute(cast(LiteralString, statement.format(seed=seed)))
                turn += 1

        return self._clients(client, clients)

    def fetch_slowly(self, statement: str, pause_s: float, clients: int) -> AbstractContextManager[None]:
        """While entered, so many clients take the rows of a statement one by one, with a pause before each."""

        def client(_: int, connection: Any, over: threading.Event) -> None:
            connection.pgconn.send_query(statement.encode())
            connection.pgconn.set_single_row_mode()
            while not over.wait(pause_s) and connection.pgconn.get_result() is not None:
                pass
            connection.cancel_safe()
            while connection.pgconn.get_result():
                pass

        return self._clients(client, clients)

    @contextmanager
    def _clients(self, client: Callable[[int, Any, threading.Event], None], clients: int) -> Iterator[None]:
        """While entered, so many threads with a connection each do what a client does until it is over."""
        import psycopg

        over, failed = threading.Event(), []

        def connected(number: int) -> None:
            try:
                with psycopg.connect(self.server.url(), autocommit=True) as connection:
                    client(number, connection, over)
            except psycopg.Error as error:
                failed.append(error)

        threads = [threading.Thread(target=connected, args=(number,)) for number in range(clients)]
        for thread in threads:
            thread.start()
        try:
            time.sleep(SETTLE_S)
            yield
        finally:
            over.set()
            for thread in threads:
                thread.join(timeout=60)
        assert not failed, failed

    def watched(self, seconds: float = WINDOW_S) -> Interval:
        """What `iocast top --database URL --pid PID --device DISK` sees in one interval after the first."""
        return self.watched_while(lambda: time.sleep(seconds))

    def watched_while(self, work: Callable[[], object], every_io: bool = False) -> Interval:
        """The same around some work."""
        asked = WatchedSources(
            pids=(self.pid,), devices=(self.disk,), databases=(self.server.url(),), every_io=every_io
        )
        with watching(LiveRequest(sources=asked, interval_ns=100_000_000)) as live:
            for blind in live.blind:
                if blind.observer == metrics.KERNEL_LAYERS:
                    pytest.skip(blind.why)
            moments = live.moments(lambda: False)
            next(moments)  # of the first interval nothing is said
            before = next(moments)
            work()
            return Interval(before, next(moments))


def reads(low: int = 1, high: int = ROWS) -> str:
    """A statement of half a second of reads by key, so that statistics come in time."""
    return f"select read_for(0.4, {{seed}}, {low}, {high})"


@contextmanager
def planted_postgres(**settings: str) -> Iterator[Planted]:
    """PostgreSQL 18 with a table of ROWS blocks that its buffers cannot hold. Skips where it cannot be had."""
    try:
        with postgres(18, **{**SETTINGS, **settings}) as server:
            planted = Planted(server)
            planted.say(
                "create table kept (id int primary key, filler text) with (fillfactor = 10)",
                "alter table kept alter column filler set storage plain",
                "insert into kept select n, repeat(md5(n::text), 25)"
                f" from generate_series(1, {ROWS}) n order by random()",
                "create table committed (filler text)",
                _READS,
                _EACH,
                "vacuum (freeze, analyze) kept",
                "checkpoint",
            )
            yield planted
    except NoServer as why:
        pytest.skip(str(why))


@contextmanager
def capped(planted: Planted, op: str, per_s: int) -> Iterator[None]:
    """While entered, what begins under the server may do so many reads or writes of the disk a second."""
    with _group(BLKIO, planted.pid) as group:
        limit = group / f"blkio.throttle.{op}_iops_device"
        if not limit.exists():
            pytest.skip("no control group can limit I/O here")
        limit.write_text(f"{planted.number} {per_s}")
        yield


@contextmanager
def cpu_quota(planted: Planted, share: float) -> Iterator[None]:
    """While entered, what begins under the server has so large a share of one processor."""
    with _group(CPU, planted.pid) as group:
        quota = group / "cpu.cfs_quota_us"
        if not quota.exists():
            pytest.skip("no control group can limit processors here")
        (group / "cpu.cfs_period_us").write_text("100000")
        quota.write_text(str(round(100_000 * share)))
        yield


@contextmanager
def _group(home: Path, pid: int) -> Iterator[Path]:
    """A control group of version 1 with a process in it, which goes back; what it started meanwhile goes with it."""
    if os.geteuid() or not (home / "cgroup.procs").exists():
        pytest.skip(f"needs root, and control groups of version 1 at {home}")
    group = home / f"iocast-planted-{os.getpid()}"
    group.mkdir()
    try:
        (group / "cgroup.procs").write_text(str(pid))
        yield group
    finally:
        for _ in range(50):
            for each in (group / "cgroup.procs").read_text().split():
                with contextlib.suppress(OSError):
                    (home / "cgroup.procs").write_text(each)
            try:
                group.rmdir()
                break
            except OSError:
                time.sleep(0.1)


@contextmanager
def starved(planted: Planted, hogs: int = 4) -> Iterator[None]:
    """While entered, what begins under the server shares one processor with so many that never sleep."""
    everywhere = os.sched_getaffinity(planted.pid)
    one = {min(everywhere)}
    os.sched_setaffinity(planted.pid, one)
    with ExitStack() as open_now:
        open_now.callback(os.sched_setaffinity, planted.pid, everywhere)
        for _ in range(hogs):
            process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            open_now.callback(process.wait)
            open_now.callback(process.kill)
            os.sched_setaffinity(process.pid, one)
        yield


_NEIGHBOUR = """
import sys
from iocast.load.core_phases import measure
from iocast.model.plan import FileRegion, Length, PhasePlan
from iocast.model.workload import Closed, MixItem, Uniform, Unique
path, size, depth, block = sys.argv[1], *map(int, sys.argv[2:])
plan = PhasePlan(
    name="neighbour", role="measure", engine="uring", files=(FileRegion(path, 0, size),), mix=(MixItem("read", block),),
    locality=Uniform(), arrival=Closed(), users=2, depth=depth, direct=True, sync="none", fsync_every=0,
    payload=Unique(), length=Length(seconds=20.0), interval_ns=1_000_000_000, seed=3,
)
print("begun", flush=True)
measure(plan, lambda *_: True)
"""


@contextmanager
def neighbour(planted: Planted, depth: int = 256, size_bytes: int = 64 << 10) -> Iterator[None]:
    """While entered, another process keeps the queue of the same disk full: two users that read blocks of this size."""
    file_bytes = 128 << 20
    file = planted.server.folder / "neighbour"
    with file.open("wb") as out:
        for _ in range(file_bytes >> 20):
            out.write(os.urandom(1 << 20))
        os.fsync(out.fileno())
    process = subprocess.Popen(
        [sys.executable, "-c", _NEIGHBOUR, *map(str, (file, file_bytes, depth, size_bytes))],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        yield
    finally:
        process.kill()
        process.communicate()
        file.unlink()


def resident(file: Path, share: float) -> None:
    """Makes the page cache hold the first share of a file, and nothing else of it."""
    descriptor = os.open(file, os.O_RDONLY)
    try:
        size = os.fstat(descriptor).st_size
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_RANDOM)
        for at in range(0, round(size * share), 1 << 20):
            os.pread(descriptor, 1 << 20, at)
    finally:
        os.close(descriptor)
