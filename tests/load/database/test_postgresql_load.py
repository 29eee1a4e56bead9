"""PostgreSQL 14 to 18: the data set, exact counts and keys of sessions, what is left of those who are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from makers.database_servers import VERSIONS, NoServer, Postgres, build, drop, postgres

from iocast.errors import IocastError, LoadError, TargetError
from iocast.load.database import data_set_plan
from iocast.load.database.data_set_plan import BuildStoppedError
from iocast.load.database.key_stream import due_before, kind_of, place_of, places_of, stream_of
from iocast.load.database.load_server import SessionPlan, Slice
from iocast.load.database.postgresql import pg_load
from iocast.model.database.database_load import CommitLoad, DatabaseLoad, DataSet

pytestmark = [pytest.mark.slow, pytest.mark.long]

psycopg = pytest.importorskip("psycopg")
MIB = 1 << 20
ROWS = 256
SMALL = DataSet(size_bytes=2 * ROWS * 8192, tables=2)
SECOND = 1_000_000_000


@pytest.fixture(scope="module", params=VERSIONS)
def server(request: pytest.FixtureRequest) -> Iterator[Postgres]:
    """A server of each version, with a role that may do nothing but make its own schema."""
    try:
        with postgres(request.param) as running:
            running.say("create role loader login", "grant create on database postgres to loader")
            build(running, SMALL)
            yield running
    except NoServer as why:
        pytest.skip(str(why))


@pytest.fixture(scope="module")
def newest() -> Iterator[Postgres]:
    """One server to be mistreated."""
    try:
        with postgres(18, fsync="on", restart_after_crash="on") as running:
            running.say("create role loader login", "grant create on database postgres to loader")
            yield running
    except NoServer as why:
        pytest.skip(str(why))


def begin_anew(server: Postgres, data_set: DataSet | None = None) -> None:
    """Nothing of earlier tests is there."""
    server.say("drop schema if exists iocast_load cascade", "drop schema if exists other cascade")
    if data_set is not None:
        build(server, data_set)


def asked(load: DatabaseLoad | CommitLoad, **more: Any) -> SessionPlan:
    return SessionPlan(0, 1, stream_of(5, 0), load, ROWS, 8192, **more)


def slices(server: Postgres, load: DatabaseLoad | CommitLoad, seconds: float = 0.25, **more: Any) -> Slice:
    """What one session does in one slice."""
    loading = pg_load.connect(server.url("loader"))
    try:
        loading.prepare(load)
        session = loading.session(asked(load, **more))
        session.begin(loading.now())
        did = session.run(round(seconds * SECOND))
        session.close()
        return did
    finally:
        loading.close()


def counted(did: Slice) -> Counter[str]:
    """How many statements of each kind, the last one included."""
    counts = Counter({kind: tally.total for kind, tally in did.response.items()})
    if did.crossing is not None:
        counts[did.crossing.kind] += 1
    return counts


def test_the_data_set_has_one_row_a_block_in_random_order(server: Postgres) -> None:
    for table in (1, 2):
        blocks, keys = server.rows(
            f"select count(distinct (ctid::text::point)[0]), count(distinct k) from iocast_load.t{table}"
        )[0]
        assert (blocks, keys) == (ROWS, ROWS)
        order = [k for (k,) in server.rows(f"select k from iocast_load.t{table} order by ctid")]
        assert order != sorted(order)
    (filler, other) = (each for (each,) in server.rows("select filler from iocast_load.t1 limit 2"))
    assert filler != other
    assert len(filler) == 704
    loading = pg_load.connect(server.url("loader"))
    found = loading.describe()
    loading.close()
    assert (found.tables, found.table_blocks, found.data_bytes) == (2, ROWS, SMALL.size_bytes)
    assert found.version.startswith(str(server.version))
    assert found.cache_bytes == 16 * MIB


def test_a_slice_touches_exactly_the_blocks_of_its_statements(server: Postgres) -> None:
    for unit in (1, 16):
        did = slices(server, DatabaseLoad(work_unit=unit))
        statements = counted(did)
        assert statements["read"] > 50
        assert set(+statements) == {"read"}
        assert did.touched[0] == statements["read"] * unit
        assert 0.24 * SECOND < did.ended_ns < 3 * SECOND


def test_the_loop_takes_the_keys_and_kinds_of_its_stream(server: Postgres) -> None:
    load = DatabaseLoad(update_pct=40, scan_pct=10, scan_blocks=8)
    server.say("update iocast_load.t1 set c1 = 0 where c1 <> 0")
    statements = counted(slices(server, load))
    total = sum(statements.values())
    expected = Counter[str](kind_of(load, number) for number in range(total))
    assert statements == expected
    assert abs(statements["update"] - total * 0.4) < 1
    stream, places = stream_of(5, 0), places_of(load, ROWS, 8192)
    updated = Counter(place_of(places, stream, n, 1) for n in range(total) if kind_of(load, n) == "update")
    found = dict(server.rows("select k, c1 from iocast_load.t1 where c1 <> 0"))
    assert found == dict(updated)


def test_a_client_takes_the_same_keys(server: Postgres) -> None:
    told: list[tuple[str, int]] = []
    load = DatabaseLoad(driver="client", update_pct=20, work_unit=2)
    did = slices(server, load, traced=lambda kind, place: told.append((kind, place)))
    stream, places = stream_of(5, 0), places_of(load, ROWS, 8192)
    assert told == [(kind_of(load, n), place_of(places, stream, n, 2)) for n in range(len(told))]
    assert sum(counted(did).values()) == len(told)


@pytest.mark.parametrize("driver", ["server", "client"])
def test_an_open_loop_keeps_its_rate_and_counts_how_late_it_is(server: Postgres, driver: Any) -> None:
    did = slices(server, DatabaseLoad(driver=driver), 0.5, gap_ns=5e6, even=True)
    unsent = due_before(stream_of(5, 0), did.number, did.due_ns, 5e6, SECOND // 2, even=True)
    assert sum(counted(did).values()) + unsent == 100
    response, service = did.response["read"], did.service["read"]
    assert did.lag.total == response.total
    assert response.sum_ns >= service.sum_ns


def test_commits_are_durable_rows(server: Postgres) -> None:
    did = slices(server, CommitLoad(row_bytes=200))
    total = sum(counted(did).values())
    assert server.rows("select count(*), min(length(filler)) from iocast_load.commits") == [(total, 200)]


def test_a_build_that_was_killed_goes_on(newest: Postgres) -> None:
    """kill -9 of the client, then of its server process, then to the end."""
    begin_anew(newest)
    data_set = DataSet(size_bytes=96 * MIB, filling="half")
    words = [sys.executable, "-c", _BUILD.format(url=newest.url("loader"), size=data_set.size_bytes)]
    client = subprocess.Popen(words)
    done = wait_for_rows(newest, 1)
    client.kill()
    client.wait()
    # Until its server process has noticed, the data set is still being built: whoever comes waits for that.
    calls = iter([True, False])
    with pytest.raises(BuildStoppedError):
        build(newest, data_set, lambda *_: next(calls))
    with pytest.raises(TargetError, match="not complete"):
        slices(newest, DatabaseLoad())
    loading = pg_load.connect(newest.url("loader"), building=True)
    with recovering(newest), pytest.raises(LoadError, match="gone"):
        loading.build(data_set, lambda *_: kill_backend(loading))
    loading.close()
    built = build(newest, data_set)
    assert built.resumed
    assert newest.rows("select count(*), count(distinct k) from iocast_load.t1") == [(12288, 12288)]
    assert done <= 12288
    assert not built.notes or all("checkpoint" in note for note in built.notes)


_BUILD = """
from iocast.load.database.postgresql import pg_load
from iocast.model.database.database_load import DataSet
server = pg_load.connect({url!r}, building=True)
server.build(DataSet(size_bytes={size}, filling="half"), lambda *_: True)
"""


def kill_backend(loading: pg_load.PgLoad) -> bool:
    pid = loading.local_pid()
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    return True


def wait_for_rows(server: Postgres, least: int) -> int:
    for _ in range(200):
        try:
            done = int(server.rows("select max(done) from iocast_load.progress")[0][0] or 0)
        except psycopg.Error:
            done = 0
        if done >= least:
            return done
        time.sleep(0.05)
    raise AssertionError("nothing was built")


@contextmanager
def recovering(server: Postgres) -> Iterator[None]:
    """While entered a process of the server is killed; afterwards it has noticed, and takes sessions again."""
    log = server.folder / "server.log"
    before = log.read_text(errors="replace").count("reinitializing")
    yield
    for _ in range(200):
        try:
            if log.read_text(errors="replace").count("reinitializing") > before:
                server.rows("select 1")
                return
        except psycopg.Error:
            pass
        time.sleep(0.05)
    raise AssertionError("the server did not come back")


def wait_until_gone(server: Postgres) -> None:
    sql = "select count(*) from pg_stat_activity where application_name = 'iocast-load'"
    for _ in range(100):
        if server.rows(sql) == [(0,)]:
            return
        time.sleep(0.1)
    raise AssertionError("a session of the load is still there")


def test_a_load_whose_server_process_dies_says_so(newest: Postgres) -> None:
    begin_anew(newest, SMALL)
    loading = pg_load.connect(newest.url("loader"))
    loading.prepare(DatabaseLoad())
    session = loading.session(asked(DatabaseLoad()))
    session.begin(loading.now())
    (pid,) = newest.rows("select max(pid) from pg_stat_activity where application_name = 'iocast-load'")[0]
    with recovering(newest):
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(LoadError, match="connection to the server is gone"):
            session.run(SECOND)
    loading.close()


def test_a_load_whose_client_dies_leaves_no_session(newest: Postgres) -> None:
    begin_anew(newest, SMALL)
    client = subprocess.Popen([sys.executable, "-c", _LOAD.format(url=newest.url("loader"))], stdout=subprocess.PIPE)
    assert client.stdout is not None
    assert client.stdout.readline() == b"running\n"
    client.kill()
    client.wait()
    client.stdout.close()
    wait_until_gone(newest)
    drop(newest)


_LOAD = """
from iocast.load.database.load_server import SessionPlan
from iocast.load.database.postgresql import pg_load
from iocast.model.database.database_load import DatabaseLoad
server = pg_load.connect({url!r})
server.prepare(DatabaseLoad())
session = server.session(SessionPlan(0, 1, 7, DatabaseLoad(update_pct=20), 256, 8192))
session.begin(server.now())
print("running", flush=True)
session.run(1_000_000_000)
"""


def test_drop_removes_what_is_ours_and_leaves_the_rest(newest: Postgres) -> None:
    begin_anew(newest, SMALL)
    newest.say("create table iocast_load.theirs (n int)", "create schema other", "create table other.t1 (n int)")
    dropped = drop(newest)
    assert dropped.left == ("iocast_load.theirs",)
    left = newest.rows(
        "select schemaname || '.' || tablename from pg_tables where schemaname in ('iocast_load', 'other')"
    )
    assert sorted(left) == [("iocast_load.theirs",), ("other.t1",)]
    for refused in (lambda: drop(newest), lambda: build(newest, SMALL)):
        with pytest.raises(TargetError, match="not made by iocast"):
            refused()
    newest.say("drop table iocast_load.theirs", "drop schema iocast_load")
    build(newest, SMALL)
    with pytest.raises(TargetError, match="already"):
        build(newest, SMALL)
    drop(newest)
    assert newest.rows("select count(*) from pg_namespace where nspname = 'iocast_load'") == [(0,)]
    with pytest.raises(TargetError, match="no data set"):
        drop(newest)


def test_nobody_drops_what_is_being_loaded(newest: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who comes waits for a while; the refusal says which process holds the data set, and how it is ended."""
    begin_anew(newest, SMALL)
    loading = pg_load.connect(newest.url("loader"))
    loading.prepare(DatabaseLoad())
    pid = loading.local_pid()
    dropping = pg_load.connect(newest.url("loader"), building=True)
    assert dropping.held_by().startswith(f"server process {pid} (iocast-load, connected for ")
    with monkeypatch.context() as sooner:
        sooner.setattr(data_set_plan, "WAIT_S", 0.1)
        with pytest.raises(TargetError, match="another iocast") as refused:
            dropping.drop()
    assert f"server process {pid} (iocast-load" in refused.value.hint
    assert f"select pg_terminate_backend({pid})" in refused.value.hint
    other = pg_load.connect(newest.url("loader"))
    assert other.held_by() == ""  # loads share it
    other.close()
    leaving = threading.Timer(0.3, loading.close)
    leaving.start()
    assert dropping.drop().left == ()
    leaving.join()
    dropping.close()


def test_an_index_that_is_being_built_can_be_stopped(newest: Postgres) -> None:
    """The statement is cancelled on the server; the rows are kept, and the index is built the next time."""
    begin_anew(newest)
    data_set, asked_again = DataSet(size_bytes=64 * MIB), 0

    def on_build(step: str, *_: int) -> bool:
        nonlocal asked_again
        asked_again += step == "index"
        return asked_again < 2  # the first time it is asked before it begins

    loading = pg_load.connect(newest.url("loader"), building=True)
    # A lock of another on the rows makes the index wait, as a large table would.
    with psycopg.connect(newest.url()) as other:
        calls = iter([True, False])
        with pytest.raises(BuildStoppedError):
            loading.build(data_set, lambda *_: next(calls))
        other.execute("lock table iocast_load.t1 in row exclusive mode")
        with pytest.raises(BuildStoppedError):
            loading.build(data_set, on_build)
        assert asked_again == 2
    assert loading.build(data_set, lambda *_: True).resumed
    loading.close()
    assert newest.rows("select count(distinct k), count(*) from iocast_load.t1") == [(8192, 8192)]
    assert newest.rows("select indexed from iocast_load.progress") == [(True,)]


def test_a_role_without_rights_is_told_what_to_grant(newest: Postgres) -> None:
    begin_anew(newest)
    newest.say("create role stranger login")
    loading = pg_load.connect(newest.url("stranger"), building=True)
    with pytest.raises(IocastError) as refused:
        loading.build(SMALL, lambda *_: True)
    loading.close()
    assert "grant create on database postgres to stranger" in refused.value.hint


def test_sessions_of_others_are_seen(newest: Postgres) -> None:
    newest.say("grant pg_monitor to loader")
    with psycopg.connect(newest.url(), autocommit=True) as other:
        other.execute("begin")
        loading = pg_load.connect(newest.url("loader"))
        assert loading.foreign_sessions() == (0, 0, "")
        busy = subprocess.Popen([sys.executable, "-c", _BUSY.format(url=newest.url())])
        found = 0
        for _ in range(100):
            found = loading.foreign_sessions()[0]
            if found:
                break
            time.sleep(0.05)
        busy.kill()
        busy.wait()
        loading.close()
        assert found == 1


_BUSY = "import psycopg; psycopg.connect({url!r}).execute('select pg_sleep(30)')"
