"""PostgreSQL: only what iocast made is loaded, emptied or dropped, whatever bears its names; dependents are named."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from makers.database_servers import NoServer, Postgres, build, drop, postgres
from makers.pooler import pooler

from iocast.errors import DatabaseError, IocastError, TargetError
from iocast.load.database.postgresql import pg_load, pg_objects
from iocast.load.database.postgresql.pg_connection import PgConnection
from iocast.model.database.database_load import CommitLoad, DatabaseLoad, DataSet
from iocast.tools.pg_dialling import PgDialling

pytestmark = [pytest.mark.slow, pytest.mark.long]

psycopg = pytest.importorskip("psycopg")
SMALL = DataSet(size_bytes=2 * 256 * 8192, tables=2)
OURS = "select count(*) from pg_class where relnamespace = to_regnamespace('iocast_load') and relkind = 'r'"
MINE = (  # with the columns of any table of ours
    "create table iocast_load.{0} (k bigint, c1 bigint, filler bytea, number int, done bigint, indexed bool,"
    " state text)",
    "insert into iocast_load.{0} (k, number, done, state) values (7, 1, 7, 'mine')",
)


@pytest.fixture(scope="module", params=(15, 18))
def running(request: pytest.FixtureRequest) -> Iterator[Postgres]:
    """A server with the role that the guide recommends, and one of an application."""
    try:
        with postgres(request.param) as server:
            server.say("create role loader login", "create role shop login")
            server.say("grant create on database postgres to loader", "grant create on schema public to loader")
            yield server
    except NoServer as why:
        pytest.skip(str(why))


@pytest.fixture
def server(running: Postgres) -> Postgres:
    """It, with a data set and nothing else."""
    running.say("drop schema if exists iocast_load cascade")
    build(running, SMALL)
    return running


def replace(server: Postgres, name: str) -> None:
    """A table of ours gives way to one of somebody else, with a row; of the same role, which no right holds back."""
    server.say(f"drop table iocast_load.{name}", *(each.format(name) for each in MINE), user="loader")


def is_theirs(server: Postgres, name: str) -> bool:
    """Their table is there, with its one row as it was."""
    return server.rows(f"select k, done, state from iocast_load.{name}") == [(7, 7, "mine")]


def prepare(server: Postgres, work: DatabaseLoad | CommitLoad) -> None:
    loading = pg_load.connect(server.url("loader"))
    try:
        loading.prepare(work)
    finally:
        loading.close()


@pytest.mark.parametrize("name", ["t2", "commits", "progress"])
def test_a_table_of_others_that_bears_our_name_is_left_as_it_is(server: Postgres, name: str) -> None:
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
    assert server.rows(OURS) == [(1,)]


def test_a_drop_needs_no_note_of_ours(server: Postgres) -> None:
    """What is ours is known by itself, so that a lost `data_set` does not strand the rest."""
    replace(server, "data_set")
    with pytest.raises(TargetError, match="data_set is not"):
        prepare(server, DatabaseLoad())
    assert drop(server).left == ("iocast_load.data_set",)
    assert is_theirs(server, "data_set")


def test_a_table_of_ours_that_somebody_renamed_or_moved_is_theirs_now(server: Postgres) -> None:
    server.say("alter table iocast_load.t1 rename to kept", "create schema other")
    server.say("alter table iocast_load.t2 set schema other")
    assert drop(server).left == ("iocast_load.kept",)
    assert server.rows("select count(*) from iocast_load.kept") == [(256,)]
    assert server.rows("select count(*) from other.t2") == [(256,)]
    server.say("drop schema other cascade")


def test_a_clone_of_its_database_is_not_ours(server: Postgres) -> None:
    """It has our names, OIDs and comments."""
    for _ in range(50):  # until sessions of before have ended
        try:
            server.say("create database cloned template postgres", database="template1")
            break
        except psycopg.errors.ObjectInUse:
            time.sleep(0.1)
    try:
        loading = pg_load.connect(server.url("loader", "cloned"))
        try:
            with pytest.raises(TargetError, match="came with a clone of its database"):
                loading.drop()
        finally:
            loading.close()
        with psycopg.connect(server.url(database="cloned")) as cloned:
            assert cloned.execute(OURS).fetchall() == [(5,)]
    finally:
        server.say("drop database if exists cloned", database="template1")
    assert drop(server).left == ()


def test_a_build_goes_on_in_its_own_tables_only(server: Postgres) -> None:
    drop(server)
    calls = iter([True, True, False])
    bigger = DataSet(size_bytes=80 << 20, tables=2)
    with pytest.raises(IocastError, match="stopped"):
        build(server, bigger, lambda *_: next(calls))
    replace(server, "t2")
    with pytest.raises(TargetError, match=r"iocast_load\.t2 is not"):
        build(server, bigger)
    assert is_theirs(server, "t2")
    assert drop(server).left == ("iocast_load.t2",)


@pytest.mark.parametrize("name", ["t1", "progress", "data_set"])
def test_a_table_that_takes_the_place_of_ours_in_mid_build_is_not_written(server: Postgres, name: str) -> None:
    drop(server)
    calls = 0

    def swapped(*_: object) -> bool:
        nonlocal calls
        calls += 1
        if calls == 2:
            replace(server, name)
        return True

    with pytest.raises(IocastError, match=rf"iocast_load\.{name} is not"):
        build(server, DataSet(size_bytes=40 << 20), swapped)
    assert is_theirs(server, name)


def test_procedures_of_others_are_neither_replaced_nor_dropped(server: Postgres) -> None:
    server.say("create procedure iocast_load.load_1(mine int) language sql as 'select 1'", user="loader")
    with pytest.raises(TargetError, match=r"iocast_load.load_1\(integer\) is not"):
        prepare(server, DatabaseLoad())
    assert drop(server).left == ("iocast_load.load_1(integer)",)
    assert server.rows("select count(*) from pg_proc where pronamespace = to_regnamespace('iocast_load')") == [(1,)]


def test_one_with_our_parameters_is_not_replaced_either(server: Postgres) -> None:
    ((signature, source),) = server.rows(
        "select p.oid::regprocedure::text, pg_get_functiondef(p.oid) from pg_proc p where proname = 'load_1'"
    )
    server.say(f"drop procedure {signature}", source, user="loader")  # and without our comment
    with pytest.raises(TargetError, match=r"iocast_load.load_1\(.* is not"):
        prepare(server, DatabaseLoad())
    drop(server)
    left = server.rows("select proname from pg_proc where pronamespace = to_regnamespace('iocast_load')")
    assert left == [("load_1",)]


DEPENDENTS = {
    "view public.v": ("create view public.v as select k from iocast_load.t1",),
    "materialized view public.m": ("create materialized view public.m as select k from iocast_load.t1",),
    "public.orders": ("create table public.orders (k bigint references iocast_load.t1 (k))",),
    "table public.heir": ("create table public.heir () inherits (iocast_load.t1)",),
    "public.holder": ("create table public.holder (c iocast_load.t1)",),
    "public.parted": (
        "create table public.parted (like iocast_load.t1 including defaults) partition by range (k)",
        "alter table public.parted attach partition iocast_load.t1 for values from (0) to (1000000)",
    ),
    "iocast_load.counting": (
        "create sequence iocast_load.counting",
        "alter sequence iocast_load.counting owned by iocast_load.t1.c1",
    ),
    "trigger counts on table iocast_load.t1": (
        "create or replace function public.g() returns trigger language plpgsql as 'begin return new; end'",
        "create trigger counts before update on iocast_load.t1 for each row execute function public.g()",
    ),
    "policy mine on table iocast_load.t1": ("create policy mine on iocast_load.t1",),
    "rule quiet on table iocast_load.t1": ("create rule quiet as on delete to iocast_load.t1 do instead nothing",),
    "statistics object public.pairs": ("create statistics public.pairs on k, c1 from iocast_load.t1",),
    "function public.f()": (
        "create function public.f() returns bigint begin atomic; select max(k) from iocast_load.t1; end",
    ),
    "public.twice": ("create function public.twice(iocast_load.t1) returns bigint language sql as 'select 2 * $1.k'",),
}


@pytest.mark.parametrize("name", DEPENDENTS)
def test_what_depends_on_our_tables_is_named_and_nothing_is_dropped(server: Postgres, name: str) -> None:
    server.say(*DEPENDENTS[name], user="loader")
    with pytest.raises(IocastError) as refused:
        drop(server)
    assert name in refused.value.message, refused.value.message
    assert "iocast_load.t1" in refused.value.message
    assert "nothing was changed" in refused.value.hint
    assert server.rows(OURS) == [(5,)]
    server.say("drop table if exists public.holder, public.orders, public.heir cascade")
    server.say("do $$ begin alter table public.parted detach partition iocast_load.t1;"
               " exception when undefined_table then null; end $$")  # fmt: skip
    server.say("drop table if exists public.parted", "drop sequence if exists iocast_load.counting")
    server.say("drop function if exists public.f(), public.twice", "drop view if exists public.v")
    server.say("drop materialized view if exists public.m", "drop trigger if exists counts on iocast_load.t1")
    server.say("drop policy if exists mine on iocast_load.t1", "drop rule if exists quiet on iocast_load.t1")
    server.say("drop statistics if exists public.pairs", "drop function if exists public.g()")
    assert drop(server).left == ()


@pytest.mark.parametrize(
    ("made", "name", "undone"),
    [
        ("create publication mine for tables in schema iocast_load", "publication mine", "drop publication mine"),
        (
            "alter default privileges for role loader in schema iocast_load grant select on tables to public",
            "default privileges",
            "alter default privileges for role loader in schema iocast_load revoke select on tables from public",
        ),
    ],
)
def test_what_goes_with_the_schema_is_named_and_nothing_is_dropped(
    server: Postgres, made: str, name: str, undone: str
) -> None:
    server.say(made)
    with pytest.raises(TargetError, match=name) as refused:
        drop(server)
    assert "nothing was changed" in refused.value.hint
    assert server.rows(OURS) == [(5,)]
    server.say(undone)
    assert drop(server).left == ()


def test_an_heir_of_a_table_of_ours_is_neither_emptied_nor_updated(server: Postgres) -> None:
    """`truncate` and `update` reach the heirs of a table unless they are told not to."""
    server.say("create table public.heir (note text) inherits (iocast_load.commits)")
    server.say("insert into public.heir values (1, 1, '', 'mine')")
    server.say("grant all on public.heir to loader")
    prepare(server, CommitLoad())
    assert server.rows("select note from public.heir") == [("mine",)]
    server.say("drop table public.heir")


def test_rows_of_an_heir_are_none_of_the_data_set(server: Postgres) -> None:
    """It ended in a traceback: two rows said what the data set is."""
    server.say("create table public.heir () inherits (iocast_load.data_set)")
    server.say("insert into public.heir select * from only iocast_load.data_set")
    server.say("grant all on public.heir to loader")
    prepare(server, CommitLoad())
    server.say("drop table public.heir")


def test_all_kinds_that_others_put_into_the_schema_stay_and_are_named(server: Postgres) -> None:
    server.say("create type iocast_load.mood as enum ('ok')", "create sequence iocast_load.counting")
    server.say("create domain iocast_load.small as int", "create function iocast_load.f(int) returns int return 1")
    server.say("create collation iocast_load.plain (locale = 'C')", "create view iocast_load.v as select 1 as one")
    server.say("create operator iocast_load.=== (procedure = int4eq, leftarg = int, rightarg = int)")
    assert set(drop(server).left) == {
        "iocast_load.mood",
        "iocast_load.counting",
        "iocast_load.small",
        "iocast_load.f(integer)",
        "iocast_load.plain",
        "iocast_load.v",
        "iocast_load.===(integer,integer)",
    }
    assert server.rows(OURS) == [(0,)]


def test_a_table_that_takes_the_place_of_ours_between_the_look_and_the_drop_stays(server: Postgres) -> None:
    """The drop waits for a lock, which whoever holds it gives back with the name of another table."""
    other = psycopg.connect(server.url(), autocommit=False)
    other.execute("lock table iocast_load.t2 in access exclusive mode")
    refusals: list[str] = []

    def dropping() -> None:
        try:
            drop(server)
        except IocastError as error:
            refusals.append(error.message)

    thread = threading.Thread(target=dropping)
    thread.start()
    waiting = "select count(*) from pg_locks where not granted"
    until(lambda: server.rows(waiting) == [(1,)])
    other.execute("alter table iocast_load.t2 rename to t2_old")
    other.execute(MINE[0].format("t2"))
    other.execute(MINE[1].format("t2"))
    other.commit()
    other.close()
    thread.join()
    assert is_theirs(server, "t2")
    assert server.rows("select count(*) from iocast_load.t2_old") == [(256,)]
    assert server.rows("select count(*) from iocast_load.t1") == [(256,)]
    assert len(refusals) == 1
    assert "changed while" in refusals[0] or "t2" in refusals[0]


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_session_that_uses_a_table_of_ours_is_named(server: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pg_objects, "LOCK_TIMEOUT_S", 0.2)
    with psycopg.connect(server.url(), application_name="pg_dump") as other:
        other.execute("select count(*) from iocast_load.t1")
        with pytest.raises(IocastError) as refused:
            drop(server)
        assert f"server process {other.info.backend_pid} (pg_dump" in refused.value.hint
        assert server.rows(OURS) == [(5,)]
    assert drop(server).left == ()


def test_a_data_set_without_our_marks_is_refused_with_the_way_out(server: Postgres) -> None:
    """That of an older iocast, which marked its schema only, and one that was restored from a dump."""
    names = [name for (name,) in server.rows("select relname from pg_class c where relnamespace ="
             " to_regnamespace('iocast_load') and relkind = 'r'")]  # fmt: skip
    ((oid,),) = server.rows("select to_regnamespace('iocast_load')::oid")
    for mark in ("iocast load data set, generation 3b1f", f"iocast load data set: iocast_load, oid {oid + 1}"):
        server.say(*(f"comment on table iocast_load.{name} is null" for name in names))
        server.say(f"comment on schema iocast_load is '{mark}'")
        for refusing in (lambda: drop(server), lambda: build(server, SMALL), lambda: prepare(server, DatabaseLoad())):
            with pytest.raises(TargetError, match="older iocast built it, or it was restored from a dump") as refused:
                refusing()
            assert "drop schema iocast_load cascade" in refused.value.hint
        assert server.rows(OURS) == [(5,)]


def test_what_the_recommended_role_cannot_see_of_others_is_counted(running: Postgres) -> None:
    loading = pg_load.connect(running.url("loader"))
    try:
        until(lambda: loading.foreign_sessions()[:2] == (0, 0))  # those of earlier tests are gone
        with psycopg.connect(running.url("shop"), autocommit=True), psycopg.connect(running.url(), autocommit=True):
            active, unjudged, way_out = loading.foreign_sessions()
            assert (active, unjudged) == (0, 2)
            assert "grant pg_monitor to loader" in way_out
            running.say("grant pg_monitor to loader")
            assert loading.foreign_sessions()[:2] == (0, 0)
    finally:
        loading.close()
        running.say("revoke pg_monitor from loader")


def test_a_session_that_tells_nothing_of_itself_cannot_be_judged(running: Postgres) -> None:
    """Of the loader's own role, so that nothing is hidden."""
    running.say("grant set on parameter track_activities to loader")
    loading = pg_load.connect(running.url("loader"))
    with psycopg.connect(running.url("loader"), autocommit=True) as other:
        other.execute("set track_activities = off")
        other.execute("select 1")
        assert loading.foreign_sessions()[:2] == (0, 1)
    loading.close()


TRAP = (  # a function that does what only its caller may do
    "create or replace function public.trap() returns trigger language plpgsql as"
    " $$ begin set role none; delete from public.payroll; return null; end $$",
    "create or replace function public.trapped() returns bigint language plpgsql as"
    " $$ begin set role none; delete from public.payroll; return 0; end $$",
)
HUNG = {
    "trigger": "create trigger hung before truncate on iocast_load.commits execute function public.trap()",
    "rule": "create rule hung as on insert to iocast_load.t1 do also select public.trapped()",
    "policy": "create policy hung on iocast_load.progress using (public.trapped() = 0)",
    "default": "alter table iocast_load.commits alter number set default public.trapped()",
    "check": "alter table iocast_load.commits add constraint hung check (public.trapped() = 0)",
    "default of the server": "alter table iocast_load.commits add hung bigint default nextval('public.order_no')",
    "foreign key": "create table public.child (k bigint references iocast_load.t1 (k) on update cascade)",
    "check of the server": "alter table iocast_load.commits add check (setval('public.order_no', 1) = 1) not valid",
    "domain": "create domain public.hung as bigint; alter table iocast_load.commits alter number type public.hung",
    "type": "create type public.hung_type as (k bigint); alter table iocast_load.commits add hung public.hung_type",
    "statistics": "create statistics public.hung on (k + public.trapped()), c1 from iocast_load.t1",
    "whole": "create table public.whole (like iocast_load.commits) partition by range (stream);"
    " alter table public.whole attach partition iocast_load.commits default",
}


@pytest.fixture
def payroll(server: Postgres) -> Postgres:
    """With a table that only the superuser may change, and functions of the role of the data set that would."""
    server.say("drop table if exists public.payroll", "create table public.payroll as select 1 as salary")
    server.say(*TRAP, "create sequence if not exists public.order_no", user="loader")
    return server


def test_a_build_that_goes_on_cleans_no_table_of_others(server: Postgres) -> None:
    """From PostgreSQL 18 on a vacuum goes on to tables that inherit."""
    heir = "create table public.heir () inherits (iocast_load.t1)", "insert into public.heir values (1, 0, '')"
    server.say(*heir, user="loader")
    server.say("update iocast_load.data_set set state = 'building'")
    cleaned = "select vacuum_count from pg_stat_all_tables where relname = "
    before = server.rows(f"{cleaned} 't1'")
    try:
        build(server, SMALL)
        until(lambda: server.rows(f"{cleaned} 't1'") > before)
        assert server.rows(f"{cleaned} 'heir'") == [(0,)]
    finally:
        server.say("drop table public.heir")


@pytest.mark.parametrize("how", ["as it is", "by a setting of the database"])
def test_nobody_works_on_the_data_set_of_another_role(payroll: Postgres, how: str) -> None:
    """Whoever owns a table says what is done when it is written to, with the rights of whoever writes."""
    payroll.say(HUNG["trigger"], user="loader")
    payroll.say("alter database postgres set role = loader" if how != "as it is" else "select 1")
    try:
        loading = pg_load.connect(payroll.url(), building=True)
        try:
            for act in (lambda: loading.prepare(CommitLoad()), lambda: loading.build(SMALL, lambda *_: True)):
                with pytest.raises(TargetError, match="belongs to the role loader") as why:
                    act()
                assert "connect as loader" in why.value.hint
        finally:
            loading.close()
    finally:
        payroll.say("set role none", "alter database postgres reset role")
    assert payroll.rows("select salary from public.payroll") == [(1,)]
    payroll.say("drop trigger hung on iocast_load.commits")
    drop(payroll, payroll.user)
    assert payroll.rows(OURS) == [(0,)]


@pytest.mark.parametrize("kind", HUNG)
def test_what_others_hung_on_our_tables_does_not_run(payroll: Postgres, kind: str) -> None:
    """A superuser who took the data set over has its tables, and all that hangs on them."""
    payroll.say(HUNG[kind], user="loader")
    payroll.say(f"reassign owned by loader to {payroll.user}")
    try:
        loading = pg_load.connect(payroll.url(), building=True)
        try:
            with pytest.raises(TargetError, match="hang on tables of the data set") as why:
                loading.prepare(CommitLoad())
            assert "iocast_load." in why.value.message or "public." in why.value.message
        finally:
            loading.close()
        assert payroll.rows("select salary from public.payroll") == [(1,)]
    finally:
        payroll.say("drop owned by loader cascade", "drop function if exists public.trap cascade")
        payroll.say("drop function if exists public.trapped cascade")
        payroll.say("grant create on database postgres to loader", "grant create on schema public to loader")


def test_what_is_hung_on_in_mid_build_does_not_run_at_its_end(payroll: Postgres) -> None:
    """A vacuum computes statistics of expressions."""
    hung = HUNG["statistics"].replace("public.trapped()", "public.spend()").replace("load.t1", "load.t2")
    spend = (
        "create function public.spend() returns bigint language plpgsql immutable as"
        " $$ begin delete from public.payroll; return 0; end $$"
    )
    payroll.say("update iocast_load.data_set set state = 'building'", "grant all on public.payroll to loader")

    def hang(step: str, *_: object) -> bool:
        if step == "vacuum" and not payroll.rows("select from pg_statistic_ext"):
            payroll.say(spend, hung, user="loader")
        return True

    loading = pg_load.connect(payroll.url("loader"), building=True)
    try:
        with pytest.raises(TargetError, match=r"statistics object public\.hung"):
            loading.build(SMALL, hang)
    finally:
        loading.close()
        payroll.say("drop function if exists public.spend cascade")
    assert payroll.rows("select salary from public.payroll") == [(1,)]


def test_a_trigger_is_seen_under_the_lock_that_keeps_others_out(payroll: Postgres) -> None:
    """Between the look and the deed nobody hangs one on: the tables are locked first."""
    connection = PgConnection(PgDialling(payroll.url("loader"), None))
    try:
        with pg_objects.PgObjects(connection).touching("commits"), pytest.raises(psycopg.errors.LockNotAvailable):
            payroll.say("set lock_timeout = '200ms'", HUNG["trigger"], user="loader")
    finally:
        connection.close()


def test_names_in_our_statements_are_those_of_the_server(payroll: Postgres) -> None:
    """The owner of a database sets where names are looked up first."""
    payroll.say("create schema shade authorization loader")
    payroll.say(
        "create function shade.clock_timestamp() returns timestamptz language plpgsql as"
        " $$ begin delete from public.payroll; return null; end $$",
        user="loader",
    )
    payroll.say("alter database postgres set search_path = shade, pg_catalog")
    try:
        loading = pg_load.connect(payroll.url())
        try:
            assert loading.now() is not None
        finally:
            loading.close()
    finally:
        payroll.say("alter database postgres reset search_path", "drop schema shade cascade")
    assert payroll.rows("select salary from public.payroll") == [(1,)]


@pytest.mark.parametrize("kind", ["drops", "lends"])
def test_through_a_pooler_nothing_is_built_and_no_function_of_others_runs(server: Postgres, kind: str) -> None:
    """Without the settings of the session, names of ours would be those of whoever owns the database; and locks and
    settings of a session that is lent are those of its next user, too."""
    server.say(
        "create schema if not exists evil",
        "create table if not exists evil.victim (who text)",
        "create or replace function evil.to_regnamespace(text) returns regnamespace language plpgsql as"
        " $$ begin insert into evil.victim values (current_user); return pg_catalog.to_regnamespace($1); end $$",
        "grant usage on schema evil to loader",
        "grant insert on evil.victim to loader",
        "alter database postgres set search_path = evil, pg_catalog",
    )
    try:
        with tempfile.TemporaryDirectory() as room, pooler(server.folder, Path(room), **{kind: True}) as host:
            url = f"postgresql://loader@/postgres?{host}"
            with pytest.raises(IocastError, match=r"did not reach the server|but with a pooler") as refused:
                pg_load.connect(url, building=True)
            assert "the server" in refused.value.hint
            if kind == "drops":
                with pytest.raises(DatabaseError, match="settings of the session did not reach"):
                    PgDialling(url, None).connect("iocast", "-c default_transaction_read_only=on")
        assert server.rows("select count(*) from evil.victim") == [(0,)]
        pg_load.connect(server.url("loader")).close()
        assert server.rows("select count(*) from evil.victim") == [(0,)]
    finally:
        server.say("alter database postgres reset search_path", "drop schema evil cascade")


def test_a_part_of_an_extension_is_named_and_stays(server: Postgres) -> None:
    """The server says of it what it is, and nothing in detail."""
    server.say("alter extension plpgsql add table iocast_load.t1")
    try:
        with pytest.raises(IocastError, match=r"extension|not ours|is not") as refused:
            drop(server)
        assert "t1" in refused.value.message
        assert server.rows("select count(*) from iocast_load.t1") == [(256,)]
    finally:
        server.say("alter extension plpgsql drop table iocast_load.t1")
