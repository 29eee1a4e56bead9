"""MariaDB: the data set, the keys and kinds of its loops, what a killed server leaves, and what drop leaves."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from makers.database_servers import Mariadb, NoServer, build, drop, mariadb

from iocast.errors import LoadError, TargetError
from iocast.load.database import data_set_plan
from iocast.load.database.key_stream import due_before, kind_of, place_of, places_of, stream_of
from iocast.load.database.load_server import Counters, SessionPlan, Slice
from iocast.load.database.mysql import my_load
from iocast.load.database.mysql.my_load import Shape, touched_blocks
from iocast.model.database.database_load import CommitLoad, DatabaseLoad, DataSet
from iocast.model.database.database_result import Statements

pytestmark = pytest.mark.long

pymysql = pytest.importorskip("pymysql")
ROWS, PAGE = 128, 16384
SMALL = DataSet(size_bytes=2 * ROWS * PAGE, tables=2)
SECOND = 1_000_000_000


@pytest.fixture(scope="module")
def server() -> Iterator[Mariadb]:
    """A server with a user that has rights on the one database only."""
    try:
        options = ["--performance-schema=ON", "--performance-schema-instrument=wait/io/file/%=ON"]
        options += ["--innodb-lru-scan-depth=100"]  # pages that are kept free; the default is more than there are
        # A commit is with the kernel: it outlives the server, though not the machine.
        with mariadb(*options, "--innodb-flush-log-at-trx-commit=2") as running:
            running.rows("create user loader@localhost")
            running.rows("grant all on iocast_load.* to loader@localhost")
            build(running, SMALL)
            yield running
    except NoServer as why:
        pytest.skip(str(why))


def begin_anew(server: Mariadb) -> None:
    """Nothing of earlier tests is there."""
    server.rows("drop database if exists iocast_load")
    build(server, SMALL)


def slices(
    server: Mariadb, load: DatabaseLoad | CommitLoad, seconds: float = 0.25, *, other: Any = None, **more: Any
) -> Slice:
    loading = other or my_load.connect(server.url("loader"))
    try:
        if other is None:
            loading.prepare(load)
        session = loading.session(SessionPlan(0, 1, stream_of(5, 0), load, ROWS, PAGE, **more))
        session.begin(loading.now())
        did = session.run(round(seconds * SECOND))
        session.close()
        return did
    finally:
        if other is None:
            loading.close()


def counted(did: Slice) -> Counter[str]:
    counts = Counter({kind: tally.total for kind, tally in did.response.items()})
    if did.crossing is not None:
        counts[did.crossing.kind] += 1
    return counts


def test_each_block_has_its_own_page(server: Mariadb) -> None:
    for table in (1, 2):
        found = server.rows(f"select count(*), count(k), min(k), max(k), min(length(filler)) from iocast_load.t{table}")
        assert found == [(2 * ROWS, ROWS, 1, ROWS, PAGE // 2 - 256)]
        in_order = [k for (k,) in server.rows(f"select k from iocast_load.t{table} where k is not null order by p")]
        assert in_order != sorted(in_order)
    (pages,) = server.rows("select data_length div 16384 from information_schema.tables where table_name = 't1'")[0]
    assert ROWS <= pages <= 1.3 * ROWS  # the inner nodes of the tree, and the extent that is being filled


def test_the_loop_takes_the_keys_and_kinds_of_its_stream(server: Mariadb) -> None:
    load = DatabaseLoad(update_pct=40, scan_pct=10, scan_blocks=4)
    server.rows("update iocast_load.t1 set c1 = 0")
    statements = counted(slices(server, load))
    total = sum(statements.values())
    assert total > 100
    assert +statements == Counter[str](kind_of(load, number) for number in range(total))
    stream, places = stream_of(5, 0), places_of(load, ROWS, PAGE)
    updated = Counter(place_of(places, stream, n, 1) for n in range(total) if kind_of(load, n) == "update")
    assert dict(server.rows("select k, c1 from iocast_load.t1 where c1 <> 0")) == dict(updated)


@pytest.mark.parametrize("driver", ["server", "client"])
def test_an_open_loop_counts_what_it_sent_and_what_it_did_not(server: Mariadb, driver: Any) -> None:
    did = slices(server, DatabaseLoad(driver=driver, work_unit=2), 0.5, gap_ns=5e6, even=True)
    unsent = due_before(stream_of(5, 0), did.number, did.due_ns, 5e6, SECOND // 2, even=True)
    assert sum(counted(did).values()) + unsent == 100
    assert did.lag.total == did.response["read"].total


def counters(reads: int | None, misses: int) -> Counters:
    return Counters(reads=reads, read_ns=None if reads is None else reads * 1000, misses=misses)


STAYS, LEAVES = Shape(100, index_stays=True), Shape(100, index_stays=False)


@pytest.mark.parametrize(
    ("reads", "of_server", "shape", "misses", "says"),
    [
        (800, 5000, STAYS, 800, ""),  # the files of the data set tell what is its own
        (0, 800, STAYS, 800, "misses of the whole server"),  # files are not instrumented
        (None, 800, STAYS, 800, "misses of the whole server"),  # performance_schema is off
        (None, 0, LEAVES, 0, ""),
        (None, 4000, LEAVES, None, "4,000 misses are counted for 1,000 blocks"),
        (1400, 1900, STAYS, None, "1,400 misses are counted for 1,000 blocks"),
        (1900, 1900, LEAVES, 1000, "reads of the index are in the sum, so that the storage has at least 100%"),
        (950, 950, LEAVES, 950, "reads of the index are in the sum, so that the storage has at least 50%"),
    ],
)
def test_misses_that_may_be_of_others_are_a_bound_or_unknown(
    reads: int | None, of_server: int, shape: Shape, misses: int | None, says: str
) -> None:
    before = counters(None if reads is None else 0, 0)
    did = touched_blocks(before, counters(reads, of_server), Statements(reads=900, scans=1), SCANS, shape)
    assert (did.table_blocks, did.table_misses) == (1000, misses)
    assert did.misses_say.startswith(says)
    assert bool(did.misses_say) == bool(says)


SCANS = DatabaseLoad(scan_pct=10, scan_blocks=128)  # of a table of 100 blocks: all of it


def test_others_on_the_server_are_no_part_of_what_the_data_set_missed(server: Mariadb) -> None:
    """All its blocks are in the buffer pool, while another table is read into it."""
    server.rows("create table mysql.theirs (id int primary key auto_increment, filler varbinary(8000) not null)")
    server.rows("insert into mysql.theirs select seq, repeat(uuid(), 200) from mysql.seq_1_to_3000")
    server.rows("grant select on performance_schema.* to loader@localhost")
    loading = my_load.connect(server.url("loader"))
    try:
        loading.prepare(DatabaseLoad())
        slices(server, DatabaseLoad(), other=loading)
        before = loading.counters()
        server.rows("select sum(length(filler)) from mysql.theirs")  # through a pool of 16 MB
        did = counted(slices(server, DatabaseLoad(), other=loading))
        after = loading.counters()
        told = loading.touched(before, after, Statements(reads=did["read"]), DatabaseLoad())
        assert after.misses is not None
        assert before.misses is not None
        assert after.misses - before.misses > 100
        assert told.table_misses is not None
        assert told.table_misses <= 3 * ROWS  # table 1 came back: its blocks, and the pages of its index
        assert told.misses_say == ""
        server.rows("revoke select on performance_schema.* from loader@localhost")
        assert loading.counters().reads is None
    finally:
        loading.close()
        server.rows("drop table mysql.theirs")


def test_heavy_updates_keep_the_size_of_the_row(server: Mariadb) -> None:
    for driver in ("server", "client"):
        assert counted(slices(server, DatabaseLoad(driver=driver, update_pct=100, redo="heavy")))["update"]  # type: ignore[arg-type]
    assert server.rows("select distinct length(filler) from iocast_load.t1") == [(PAGE // 2 - 256,)]


def test_commits_are_rows(server: Mariadb) -> None:
    """Sent one by one: a procedure goes on while the log is flushed, so that four sessions had 62 commits a sync."""
    total = sum(counted(slices(server, CommitLoad(row_bytes=200))).values())
    assert server.rows("select count(*), min(length(filler)) from iocast_load.commits") == [(total, 200)]


def test_a_stopped_build_goes_on_and_drop_leaves_what_others_made(server: Mariadb) -> None:
    drop(server)
    with pytest.raises(TargetError, match="no data set"):
        drop(server)
    calls = iter([True, False])
    bigger = DataSet(size_bytes=8 << 20)
    with pytest.raises(LoadError, match="stopped"):
        build(server, bigger, lambda *_: next(calls))
    with pytest.raises(TargetError, match="not complete"):
        slices(server, DatabaseLoad())
    with pytest.raises(TargetError, match="another shape"):
        build(server, SMALL)
    assert build(server, bigger).resumed
    assert server.rows("select count(k), count(distinct k) from iocast_load.t1") == [(512, 512)]
    server.rows("create table iocast_load.theirs (n int)")
    assert drop(server).left == ("iocast_load.theirs",)
    with pytest.raises(TargetError, match="not made by iocast"):
        build(server, SMALL)
    server.rows("drop table iocast_load.theirs")
    build(server, SMALL)  # an empty database is taken over
    drop(server)
    assert server.rows("show databases like 'iocast%'") == []


def test_a_client_or_a_server_that_is_killed_loses_nothing(server: Mariadb) -> None:
    """kill -9 of the client of a build, of the server in a build and in a load: the next build goes on."""
    server.rows("drop database if exists iocast_load")
    data_set = DataSet(size_bytes=16 << 20)
    client = subprocess.Popen(
        [sys.executable, "-c", _BUILD.format(url=server.url("loader"), size=data_set.size_bytes)],
        stdout=subprocess.PIPE,
    )
    assert client.stdout is not None
    assert any(line == b"2\n" for line in client.stdout)
    client.kill()
    client.wait()
    client.stdout.close()
    asked = 0

    def kill_the_server(*_: Any) -> bool:
        nonlocal asked
        asked += 1
        if asked == 3:
            server.kill()
        return True

    with pytest.raises(LoadError, match="gone"):
        build(server, data_set, kill_the_server)
    server.start()
    with pytest.raises(TargetError, match="not complete"):
        slices(server, DatabaseLoad())
    assert server.rows("select done from iocast_load.progress") >= [(256,)]
    assert build(server, data_set).resumed
    assert server.rows("select count(k), count(distinct k) from iocast_load.t1") == [(1024, 1024)]
    loading = my_load.connect(server.url("loader"))
    load = DatabaseLoad(update_pct=50)
    loading.prepare(load)
    session = loading.session(SessionPlan(0, 1, stream_of(5, 0), load, 1024, PAGE))
    session.begin(loading.now())
    threading.Timer(0.2, server.kill).start()
    with pytest.raises(LoadError, match="gone"):
        session.run(SECOND)
    loading.close()
    server.start()
    client = subprocess.Popen(
        [sys.executable, "-c", _LOAD.format(url=server.url("loader"), page=PAGE)], stdout=subprocess.PIPE
    )
    assert client.stdout is not None
    assert client.stdout.readline() == b"loads\n"
    until(lambda: server.rows(_AT_WORK) == [(1,)])
    client.kill()
    client.wait()
    client.stdout.close()
    until(lambda: server.rows(_AT_WORK) == [(0,)])  # it ends with its slice of a second, and gives up the lock
    assert counted(slices(server, load))["update"]
    drop(server)
    assert server.rows("show databases like 'iocast%'") == []


_AT_WORK = "select count(*) from information_schema.processlist where user = 'loader'"


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


_LOAD = """
from iocast.load.database.key_stream import stream_of
from iocast.load.database.load_server import SessionPlan
from iocast.load.database.mysql import my_load
from iocast.model.database.database_load import DatabaseLoad
load = DatabaseLoad(update_pct=50)
server = my_load.connect({url!r})
server.prepare(load)
session = server.session(SessionPlan(0, 1, stream_of(5, 0), load, 1024, {page}))
session.begin(server.now())
server.close()
print("loads", flush=True)
for second in range(1, 60):
    session.run(second * 1_000_000_000)
"""
_BUILD = """
from iocast.load.database.mysql import my_load
from iocast.model.database.database_load import DataSet
def on_build(step, table, done, of):
    print(done // (2 << 20), flush=True)
    return True
server = my_load.connect({url!r})
server.build(DataSet(size_bytes={size}), on_build)
"""


def test_a_drop_that_was_killed_leaves_what_only_a_drop_takes(server: Mariadb) -> None:
    begin_anew(server)
    server.rows("update iocast_load.data_set set state = 'dropping'")
    server.rows("drop table iocast_load.t2")
    with pytest.raises(TargetError, match="not complete"):
        slices(server, DatabaseLoad())
    with pytest.raises(TargetError, match="left of a data set that was being dropped"):
        build(server, SMALL)
    assert drop(server).left == ()
    # A build that was killed before its first note.
    server.rows("create database iocast_load comment 'iocast load data set: iocast_load'")
    assert drop(server).objects == ()


def test_who_holds_the_data_set_is_told(server: Mariadb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_set_plan, "WAIT_S", 0.1)
    begin_anew(server)
    loading, other = my_load.connect(server.url("loader")), my_load.connect(server.url("loader"))
    loading.prepare(DatabaseLoad())
    (number,) = server.rows("select is_used_lock('iocast_load')")[0]
    assert other.held_by().startswith(f"connection {number} (of loader, ")
    with pytest.raises(TargetError, match="another iocast") as refused:
        other.drop()
    assert f"kill {number}" in refused.value.hint
    loading.close()
    other.drop()
    other.close()


def test_the_server_is_found_where_it_runs(server: Mariadb) -> None:
    loading = my_load.connect(server.url())
    pid = loading.local_pid()
    loading.close()
    assert pid is not None
    assert os.path.exists(f"/proc/{pid}")
