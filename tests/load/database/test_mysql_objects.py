"""MariaDB: only what iocast made is loaded, emptied or dropped, whatever bears its names; dependents are named."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from makers.database_servers import Mariadb, NoServer, build, drop, mariadb

from iocast.errors import IocastError, TargetError
from iocast.load.database.data_set_plan import MARK
from iocast.load.database.mysql import my_load, my_objects
from iocast.model.database.database_load import CommitLoad, DatabaseLoad, DataSet

pytestmark = pytest.mark.long

pymysql = pytest.importorskip("pymysql")
SMALL = DataSet(size_bytes=2 * 128 * 16384, tables=2)
MINE = (  # with the columns of any table of ours
    "create table iocast_load.{0} (p bigint, k bigint, filler blob, number int, done bigint, state varchar(16))",
    "insert into iocast_load.{0} (p, number, done, state) values (7, 1, 7, 'mine')",
)


@pytest.fixture(scope="module")
def running() -> Iterator[Mariadb]:
    """A server with the user that the guide recommends."""
    try:
        with mariadb() as server:
            server.say("create user loader@localhost", "grant all on iocast_load.* to loader@localhost")
            yield server
    except NoServer as why:
        pytest.skip(str(why))


@pytest.fixture
def server(running: Mariadb) -> Mariadb:
    """It, with a data set and nothing else."""
    running.say("drop database if exists other", "drop database if exists iocast_load", "create database other")
    build(running, SMALL)
    return running


def replace(server: Mariadb, name: str) -> None:
    """A table of ours gives way to one of somebody else, with a row."""
    server.say(f"drop table if exists iocast_load.{name}", *(each.format(name) for each in MINE))


def is_theirs(server: Mariadb, name: str) -> bool:
    """Their table is there, with its one row as it was."""
    return server.rows(f"select p, done, state from iocast_load.{name}") == [(7, 7, "mine")]


def tables(server: Mariadb) -> set[str]:
    return {name for (name,) in server.rows("select table_name from information_schema.tables where table_schema ="
                                            " 'iocast_load'")}  # fmt: skip


def prepare(server: Mariadb, work: DatabaseLoad | CommitLoad, user: str = "loader") -> None:
    loading = my_load.connect(server.url(user))
    try:
        loading.prepare(work)
    finally:
        loading.close()


@pytest.mark.parametrize("name", ["t2", "commits", "progress"])
def test_a_table_of_others_that_bears_our_name_is_left_as_it_is(server: Mariadb, name: str) -> None:
    """By whatever touches tables: a load, a commit test (it empties its table), another build, the drop."""
    replace(server, name)
    refusing: tuple[Callable[[], object], ...] = (
        lambda: prepare(server, DatabaseLoad(update_pct=50)),
        lambda: prepare(server, CommitLoad()),
        lambda: build(server, SMALL),
    )
    for touching in refusing:
        with pytest.raises(TargetError) as refused:
            touching()
        assert f"iocast_load.{name} is not" in refused.value.message
        assert "iocast load-db drop" in refused.value.hint
        assert is_theirs(server, name)
    dropped = drop(server)
    assert is_theirs(server, name)
    assert dropped.left == (f"iocast_load.{name}",)
    assert f"iocast_load.{name}" not in dropped.objects
    assert tables(server) == {name}


def test_a_drop_needs_no_note_of_ours(server: Mariadb) -> None:
    replace(server, "data_set")
    with pytest.raises(TargetError, match="data_set is not"):
        prepare(server, DatabaseLoad())
    assert drop(server).left == ("iocast_load.data_set",)
    assert is_theirs(server, "data_set")


def test_a_copy_of_a_table_of_ours_is_not_ours(server: Mariadb) -> None:
    """`create table like` copies the comment."""
    server.say("drop table iocast_load.t2", "create table iocast_load.t2 like iocast_load.t1")
    server.say("insert into iocast_load.t2 (p, filler) values (7, 'mine')")
    server.say("rename table iocast_load.commits to iocast_load.kept")
    with pytest.raises(TargetError, match=r"iocast_load\.\w+ is not"):
        prepare(server, DatabaseLoad())
    assert drop(server).left == ("iocast_load.kept", "iocast_load.t2")
    assert server.rows("select filler from iocast_load.t2") == [(b"mine",)]


def test_a_build_takes_no_table_of_others(server: Mariadb) -> None:
    """One that lies where the interrupted build would have made its own."""
    drop(server)
    calls = iter([True, False])
    bigger = DataSet(size_bytes=8 << 20, tables=2)
    with pytest.raises(IocastError, match="stopped"):
        build(server, bigger, lambda *_: next(calls))
    replace(server, "t2")
    with pytest.raises(TargetError, match=r"iocast_load\.t2 is not"):
        build(server, bigger)
    assert is_theirs(server, "t2")
    assert drop(server).left == ("iocast_load.t2",)
    assert is_theirs(server, "t2")


@pytest.mark.parametrize("name", ["t1", "progress", "data_set"])
def test_a_table_that_takes_the_place_of_ours_in_mid_build_is_not_written(server: Mariadb, name: str) -> None:
    drop(server)
    calls = 0

    def swapped(*_: object) -> bool:
        nonlocal calls
        calls += 1
        if calls == 2:
            replace(server, name)
        return True

    with pytest.raises(TargetError, match=rf"iocast_load\.{name} is not"):
        build(server, DataSet(size_bytes=8 << 20), swapped)
    assert is_theirs(server, name)


@pytest.mark.parametrize("kind", ["procedure", "function"])
def test_routines_of_others_are_neither_replaced_nor_dropped(server: Mariadb, kind: str) -> None:
    server.say("drop procedure iocast_load.load_1")
    returns = "begin end" if kind == "procedure" else "returns int return 1"
    server.say(f"create {kind} iocast_load.load_1() {returns}")
    if kind == "procedure":
        with pytest.raises(TargetError, match=r"iocast_load\.load_1 is not"):
            prepare(server, DatabaseLoad())
    else:  # names of functions are their own
        prepare(server, DatabaseLoad())
    assert drop(server).left == ("iocast_load.load_1",)
    kinds = server.rows("select routine_type from information_schema.routines where routine_schema = 'iocast_load'")
    assert kinds == [(kind.upper(),)]


def test_what_depends_on_our_tables_is_named_and_nothing_is_dropped(server: Mariadb) -> None:
    before = tables(server)
    server.say("create view other.v as select k from iocast_load.t1")
    server.say("create view iocast_load.inner_view as select k from iocast_load.t2")
    server.say("create table other.orders (k bigint, foreign key (k) references iocast_load.t1 (k)) engine = innodb")
    server.say("create trigger iocast_load.counting before update on iocast_load.t1 for each row set new.c1 = new.c1")
    with pytest.raises(TargetError) as refused:
        drop(server, "root")
    for name in ("view other.v", "view iocast_load.inner_view", "foreign key of other.orders", "iocast_load.counting"):
        assert name in refused.value.message
    assert "nothing was changed" in refused.value.hint
    with pytest.raises(TargetError, match=r"view iocast_load\.inner_view"):
        drop(server)
    assert tables(server) == before | {"inner_view"}
    server.say("drop trigger iocast_load.counting")
    prepare(server, DatabaseLoad())  # it is a whole data set still
    server.say("drop view other.v", "drop view iocast_load.inner_view", "drop table other.orders")
    assert drop(server).left == ()


HUNG = {
    "trigger": "create trigger iocast_load.hung before insert on iocast_load.commits"
    " for each row insert into other.log values (1)",
    "default": "alter table iocast_load.commits add hung bigint default nextval(other.order_no)",
    "check": "alter table iocast_load.commits add constraint hung check (number < 1000000)",
    "generated": "alter table iocast_load.commits add hung bigint generated always as (number + 1)",
    "index of a key that is not seen": "create index hung on iocast_load.t1 (k, c1)",
}


@pytest.mark.parametrize("kind", HUNG)
def test_what_others_hung_on_our_tables_does_not_run(server: Mariadb, kind: str) -> None:
    server.say("create sequence if not exists other.order_no", "create table if not exists other.log (n int)")
    server.say(HUNG[kind])
    with pytest.raises(TargetError, match="hang on tables of the data set") as refused:
        prepare(server, CommitLoad())
    assert any(f"{name}.hung" in refused.value.message for name in ("commits", "iocast_load", "t1"))
    assert server.rows("select count(*) from other.log") == [(0,)]


def test_a_table_of_ours_that_another_engine_keeps_is_not_ours(server: Mariadb) -> None:
    """One of MERGE empties and fills the tables that it stands for."""
    columns = "id bigint auto_increment primary key, stream bigint, number bigint, filler varbinary(8192)"
    server.say(f"create table other.kept ({columns}) engine = myisam")
    server.say("insert into other.kept values (1, 7, 7, 'theirs')")
    server.say("alter table iocast_load.commits engine = mrg_myisam union = (other.kept) insert_method = last")
    with pytest.raises(TargetError, match="commits"):
        prepare(server, CommitLoad())
    assert server.rows("select number from other.kept") == [(7,)]
    assert "iocast_load.commits" in drop(server).left
    assert server.rows("select number from other.kept") == [(7,)]


@pytest.mark.parametrize("kind", ["table", "procedure"])
def test_a_name_of_others_is_no_part_of_a_statement(server: Mariadb, kind: str) -> None:
    """`theirs nowait` with a comment like ours would lock, and drop, `theirs`."""
    named = {"table": "`theirs nowait`", "procedure": "`theirp #x`"}[kind]
    if kind == "table":
        server.say("create table iocast_load.theirs (n int)", "insert into iocast_load.theirs values (7)")
        server.say(f"create table iocast_load.{named} (n int) comment '{MARK}: theirs nowait'")
    else:
        server.say("create procedure iocast_load.theirp() select 42")
        server.say(f"create procedure iocast_load.{named}() comment '{MARK}: theirp #x' select 43")
    left = drop(server).left
    assert f"iocast_load.{named}" in left
    if kind == "table":
        assert server.rows("select n from iocast_load.theirs") == [(7,)]
    else:
        assert "iocast_load.theirp" in " ".join(left).replace("`", "")


def test_a_foreign_key_does_not_carry_our_updates_over(server: Mariadb) -> None:
    server.say("create table other.child (k bigint, foreign key (k) references iocast_load.t1 (k) on update cascade)")
    try:
        with pytest.raises(TargetError, match=r"foreign key of other\.child"):
            prepare(server, CommitLoad(), "root")
    finally:
        server.say("drop table other.child")


@pytest.mark.parametrize("name", ["LOAD_1", "Load_1"])
def test_a_procedure_of_others_in_another_case_is_theirs(server: Mariadb, name: str) -> None:
    """The server takes both names for one: a drop of ours would be one of theirs."""
    server.say("drop procedure iocast_load.load_1", f"create procedure iocast_load.{name}() select 42")
    with pytest.raises(TargetError, match="procedure"):
        prepare(server, DatabaseLoad())
    with pytest.raises(TargetError, match="procedure"):
        build(server, SMALL)
    routines = "select routine_name from information_schema.routines where routine_schema = 'iocast_load'"
    assert (name,) in server.rows(routines)
    assert ("load_1",) not in server.rows(routines)


def test_a_database_of_which_not_all_is_seen_stays(server: Mariadb) -> None:
    server.say(
        "revoke event on iocast_load.* from loader@localhost",
        "create event iocast_load.nightly on schedule every 1 day do select 1",
    )
    try:
        dropped = drop(server)
        assert dropped.place_stays
        assert server.rows("select name from mysql.event where db = 'iocast_load'") == [("nightly",)]
    finally:
        server.say("drop event iocast_load.nightly", "grant event on iocast_load.* to loader@localhost")


def test_of_several_grants_the_narrowest_counts(server: Mariadb) -> None:
    """The server takes one pattern of those that the name meets."""
    server.say(
        "create user narrow@localhost", "grant all on `iocast%`.* to narrow@localhost",
        "grant select, insert, update, delete, create, drop, index, alter, execute, create routine, alter routine,"
        " lock tables on `iocast\\_load`.* to narrow@localhost",
        "create event iocast_load.nightly on schedule every 1 day do select 1",
    )  # fmt: skip
    try:
        assert drop(server, "narrow").place_stays
        assert server.rows("select name from mysql.event where db = 'iocast_load'") == [("nightly",)]
    finally:
        server.say("drop event if exists iocast_load.nightly", "drop user narrow@localhost")


def test_a_foreign_key_that_the_user_cannot_see_keeps_the_data_set(server: Mariadb) -> None:
    server.say("create table other.orders (k bigint, foreign key (k) references iocast_load.t1 (k)) engine = innodb")
    with pytest.raises(IocastError) as refused:
        drop(server)
    assert "foreign key" in refused.value.message
    assert "innodb_sys_foreign" in refused.value.hint
    server.say("drop table other.orders")
    assert drop(server).left == ()
    assert server.rows("show databases like 'iocast%'") == []


def test_a_table_that_takes_the_place_of_ours_between_the_look_and_the_drop_stays(server: Mariadb) -> None:
    """Three stand in line for the table: who reads it, who renames it, and the drop, which looked at it before."""
    server.say(*(each.format("theirs") for each in MINE))
    reading = pymysql.connect(unix_socket=str(server.socket), user=server.user)
    reading.cursor().execute("select count(*) from iocast_load.t2")
    refusals: list[str] = []

    def dropping() -> None:
        try:
            drop(server)
        except IocastError as error:
            refusals.append(error.message)

    renames = "rename table iocast_load.t2 to iocast_load.t2_old, iocast_load.theirs to iocast_load.t2"
    waiting = "select count(*) from information_schema.processlist where state like 'Waiting for table metadata%'"
    threads = [threading.Thread(target=server.say, args=(renames,)), threading.Thread(target=dropping)]
    for number, thread in enumerate(threads, 1):
        thread.start()
        until(lambda count=number: server.rows(waiting) == [(count,)])  # type: ignore[misc]
    reading.close()
    for thread in threads:
        thread.join()
    assert is_theirs(server, "t2")
    assert len(refusals) == 1
    assert "changed while" in refusals[0]
    assert {"t1", "data_set", "t2_old"} < tables(server)
    assert drop(server).left == ("iocast_load.t2", "iocast_load.t2_old")


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_session_that_uses_a_table_of_ours_holds_up_the_drop_for_a_while_only(
    server: Mariadb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(my_objects, "LOCK_TIMEOUT_S", 1)
    other = pymysql.connect(unix_socket=str(server.socket), user=server.user)
    with other.cursor() as cursor:
        cursor.execute("select count(*) from iocast_load.t1")  # a transaction keeps its tables until it ends
        with pytest.raises(IocastError) as refused:
            drop(server)
        assert "are in use" in refused.value.message
        assert "show full processlist" in refused.value.hint
    other.close()
    assert drop(server).left == ()


def test_a_database_that_was_there_before_stays(running: Mariadb) -> None:
    """Its administrator made it for the user: iocast takes it, and gives it back empty."""
    running.say("drop database if exists iocast_load", "create database iocast_load comment 'for tests of storage'")
    with pytest.raises(TargetError, match="no data set of iocast"):
        drop(running)
    build(running, SMALL)
    assert drop(running).left == ()
    assert running.rows("show databases like 'iocast%'") == [("iocast_load",)]
    assert tables(running) == set()
    running.say("drop database iocast_load")


def test_a_file_that_a_killed_server_left_is_named_with_the_way_out(server: Mariadb) -> None:
    """MariaDB forgets the table first and removes its file then: no statement removes what is left in between."""
    drop(server)
    server.say("create database iocast_load comment 'iocast load data set: iocast_load'")
    file = server.socket.parent / "data/iocast_load/t1.ibd"
    file.write_bytes(bytes(16384))
    for refusing in (lambda: build(server, SMALL), lambda: drop(server)):
        with pytest.raises(IocastError, match="belongs to no table") as refused:
            refusing()
        assert "look into the folder iocast_load" in refused.value.hint
        assert file.exists()
    file.unlink()
    server.say("drop database if exists iocast_load")
    build(server, SMALL)
    assert drop(server).left == ()


def test_a_data_set_without_our_marks_is_refused_with_the_way_out(server: Mariadb) -> None:
    """That of an older iocast, which marked one table only."""
    for name in tables(server):
        server.say(f"alter table iocast_load.{name} comment = '{'iocast load data set' * (name == 'data_set')}'")
    server.say("alter database iocast_load comment = ''")
    server.say("drop procedure iocast_load.load_1", "drop procedure iocast_load.load_2")
    for refusing in (lambda: drop(server), lambda: build(server, SMALL), lambda: prepare(server, DatabaseLoad())):
        with pytest.raises(TargetError, match="an older iocast built it") as refused:
            refusing()
        assert "drop database iocast_load" in refused.value.hint
    assert len(tables(server)) == 5


def test_what_is_hidden_of_others_is_counted(running: Mariadb) -> None:
    running.say("create or replace user shop@localhost")
    loading = my_load.connect(running.url("loader"))
    others: list[Any] = []
    try:
        until(lambda: loading.foreign_sessions()[:2] == (0, 0))  # those of earlier tests are gone
        others = [pymysql.connect(unix_socket=str(running.socket), user="shop") for _ in range(2)]
        active, unjudged, why = loading.foreign_sessions()
        assert (active, unjudged) == (0, 2)
        assert "grant process on *.* to loader@localhost" in why.lower().replace("`", "").replace("'", "")
        running.say("grant process on *.* to loader@localhost")
        seeing = my_load.connect(running.url("loader"))
        assert seeing.foreign_sessions()[:2] == (0, 0)
        seeing.close()
    finally:
        for each in others:
            each.close()
        loading.close()
        running.say("revoke process on *.* from loader@localhost")


def test_a_database_of_the_same_name_in_another_case_is_another(server: Mariadb) -> None:
    """Its procedure bears our comment, as one of a dump does: the drop looked at it, and failed each time."""
    ((text,),) = [row[2:3] for row in server.rows("show create procedure iocast_load.load_1")]
    server.say("create database IOCAST_LOAD", "use IOCAST_LOAD")
    try:
        comment = text[text.index("COMMENT '") :].partition("\n")[0]
        server.say(f"create procedure IOCAST_LOAD.load_1() {comment} begin end")
        dropped = drop(server, user="root")
        assert dropped.left == ()
        kept = server.rows("select routine_schema from information_schema.routines where routine_name = 'load_1'")
        assert kept == [("IOCAST_LOAD",)]
    finally:
        server.say("drop database IOCAST_LOAD")
