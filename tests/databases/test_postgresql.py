"""PostgreSQL, each version that can be had here: real servers, counts that are known, resets, rights, secrets."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, LiteralString, cast

import pytest
from makers.database_servers import VERSIONS, NoServer, Postgres, postgres

from iocast.databases.database import DatabaseObserver
from iocast.databases.postgresql import pg_queries, pg_session, postgresql
from iocast.databases.postgresql.postgresql import wait_name
from iocast.databases.query import RefusedError
from iocast.errors import DatabaseError, SpecError
from iocast.model.run import Sample
from iocast.model.view import View, views

pytestmark = pytest.mark.long

psycopg = pytest.importorskip("psycopg")
ROWS = 400
SECRET = "open-sesame-7"


@pytest.fixture(scope="module", params=VERSIONS)
def server(request: pytest.FixtureRequest) -> Iterator[Postgres]:
    """A server of each version, with a table of one row a block."""
    try:
        with postgres(request.param) as running:
            say(
                running,
                "create extension pg_stat_statements",
                "create table kept (id int primary key, filler text) with (fillfactor = 10)",
                f"insert into kept select n, repeat('x', 700) from generate_series(1, {ROWS}) n",
                "vacuum (freeze, analyze) kept",
                "checkpoint",
                "create role watcher login in role pg_monitor",
                "create role stranger login",
            )
            settle(running)
            yield running
    except NoServer as why:
        pytest.skip(str(why))


def say(server: Postgres, *statements: str) -> None:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        for statement in statements:
            connection.execute(cast(LiteralString, statement))


def value(server: Postgres, statement: str) -> Any:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        row = connection.execute(cast(LiteralString, statement)).fetchone()
        return row[0] if row else None


def settle(server: Postgres) -> None:
    """Waits until the table's making is in the statistics: 14 collects them in a process of its own."""
    asked = "select heap_blks_read + heap_blks_hit from pg_statio_user_tables where relname = 'kept'"
    before = -1
    for _ in range(50):
        now = value(server, asked) or 0
        if now == before and now > ROWS:
            return
        before = now
        time.sleep(0.7)
    raise AssertionError("the statistics never settled")


def until(observer: DatabaseObserver, before: list[Sample], done: Callable[[list[Sample]], bool]) -> list[Sample]:
    """Samples until what was done has reached the statistics: backends tell theirs up to a second later."""
    for _ in range(100):
        samples = [*before, *observer.sample()]
        if done(samples):
            return samples
        time.sleep(0.1)
    raise AssertionError("the statistics never told it")


def view(samples: list[Sample], name: str, subject: str) -> View:
    return views(samples, f"postgresql.{name}")[subject]


def told(samples: list[Sample], name: str, subject: str, *metrics: str) -> int:
    """How far counters went so far, 0 for what is not there yet."""
    seen = views(samples, f"postgresql.{name}").get(subject)
    return sum(seen.delta(metric) or 0 for metric in metrics) if seen else 0


def quiet(server: Postgres, user: str = "") -> DatabaseObserver:
    """An observer that does not look at sessions in between."""
    return postgresql.connect(server.url(user), polls_per_s=0)


@contextmanager
def waiting_for_a_lock(server: Postgres) -> Iterator[int]:
    """While entered, a session waits for a table that another one has locked and does nothing with."""
    with psycopg.connect(server.url()) as holder, psycopg.connect(server.url(), autocommit=True) as waiter:
        holder.execute("create table if not exists locked (id int)")
        holder.commit()
        holder.execute("lock table locked")
        thread = threading.Thread(target=waiter.execute, args=("select count(*) from locked",))
        thread.start()
        time.sleep(0.3)
        yield holder.info.backend_pid
        holder.rollback()
        thread.join()
        holder.execute("drop table locked")


def test_who_holds_what_others_wait_for_is_known(server: Postgres) -> None:
    _, dial = pg_session.dialler(server.url("watcher"), None)
    session = dial()
    (locks,) = [query for query in pg_queries.queries_of(server.version, {}) if query.name == "held_locks"]
    with waiting_for_a_lock(server) as holder:
        (row,) = session.rows(locks.sql)
    session.close()
    assert row == {"holder": holder, "state": "idle in transaction", "relation": "public.locked", "waiting": 1}


def test_every_statement_of_the_version_gives_the_columns_it_names(server: Postgres) -> None:
    _, dial = pg_session.dialler(server.url("watcher"), None)
    session = dial()
    with quiet(server) as observer:
        version = int(observer.server.version.partition(".")[0])
        assert (observer.server.product, version) == ("PostgreSQL", server.version)
    found = session.rows(pg_queries.EXTENSIONS)
    extensions = {str(row["name"]): (str(row["version"]), str(row["schema"])) for row in found}
    queries = {query.name: query for query in pg_queries.queries_of(version, extensions)}
    assert ("pg_stat_io" in queries) == (version >= 16)
    assert ("pg_stat_checkpointer" in queries) == (version >= 17)
    assert "pg_stat_statements" in queries
    for query in queries.values():
        rows = session.rows(query.sql, query.parameters)
        if query.name in ("held_locks", "pg_stat_progress_vacuum"):  # nobody waits, and nothing is vacuumed
            continue
        assert rows, query.name
        assert tuple(rows[0]) == (*query.shape.columns, *([query.reset] if query.reset else ())), query.name
    session.close()


def test_no_column_of_the_statistics_is_overlooked(server: Postgres) -> None:
    """A version that has a time, a count of bytes or of calls which is not asked for is noticed."""
    taken = {
        query.name: set(query.shape.columns)
        for query in pg_queries.queries_of(server.version, {"pg_stat_statements": ("1.12", "public")})
    }
    for name in ("pg_stat_io", "pg_stat_wal", "pg_stat_bgwriter", "pg_stat_checkpointer"):
        if name in taken:
            asked = "select string_agg(attname, ' ') from pg_attribute where attnum > 0"
            there = value(server, f"{asked} and attrelid = 'pg_catalog.{name}'::regclass")
            there = there.decode() if isinstance(there, bytes) else there
            assert set(there.split()) - {"stats_reset"} == taken[name], name


def test_reads_by_key_are_counted_one_by_one(server: Postgres) -> None:
    """Each lookup touches one block of the table, three at most of its index, and is one call."""
    with quiet(server, "watcher") as observer:
        before = observer.sample()
        with psycopg.connect(server.url(), autocommit=True) as client:
            for key in range(1, ROWS + 1):
                client.execute("select filler from kept where id = %s", (key,))
        table = ("pg_statio_user_tables", "public|kept")
        blocks = ("heap_blks_read", "heap_blks_hit")
        samples = until(observer, before, lambda all_: told(all_, *table, *blocks) >= ROWS)
        assert told(samples, *table, *blocks) == ROWS
        index = told(samples, "pg_statio_user_indexes", "public|kept|kept_pkey", "idx_blks_read", "idx_blks_hit")
        assert ROWS <= index <= 3 * ROWS
        texts = observer.texts()
    ours = [text for text in texts.values() if pg_session.OURS in text]
    assert any("pg_stat_wal" in text for text in ours), "our own statements are known among all others"
    (statement,) = [subject for subject, text in texts.items() if text == "select filler from kept where id = $1"]
    calls = {
        subject: seen.delta("calls")
        for subject, seen in views(samples, "postgresql.pg_stat_statements").items()
        if subject.startswith(statement.removeprefix("sql|") + "|")
    }
    assert list(calls.values()) == [ROWS]
    assert any(name == "public.kept" for subject, name in texts.items() if subject.startswith("file|base/"))


def test_the_same_reads_stand_in_all_views(server: Postgres) -> None:
    """Blocks of the database are those of pg_stat_io, and both took time."""
    if server.version < 16:
        pytest.skip("pg_stat_io is there from 16 on")
    with quiet(server) as observer:
        before = observer.sample()
        say(server, "set effective_io_concurrency = 0", "select count(*) from kept")
        row = ("pg_stat_io", "client backend|relation|normal")
        done = lambda all_: told(all_, *row, "reads", "hits") >= ROWS  # noqa: E731
        samples = until(observer, before, done)
        assert told(samples, *row, "hits", "reads") >= ROWS
        metrics = {sample.metric for sample in samples if sample.observer == "postgresql.pg_stat_io"}
        assert "read_time_ns" in metrics
        assert "read_time" not in metrics
        assert ("read_bytes" in metrics) == (server.version >= 18)
        assert ("op_bytes" in metrics) == (server.version < 18)


def test_a_reset_makes_its_view_unknown_and_no_other(server: Postgres) -> None:
    with quiet(server) as observer:
        before = observer.sample()
        say(server, "select pg_stat_reset_shared('bgwriter')", "select pg_stat_statements_reset()")
        say(server, "select count(*) from kept")
        samples = until(observer, before, lambda all_: view(all_, "pg_stat_bgwriter", "").deltas == {})
        again = observer.sample()
    assert view(samples, "pg_stat_bgwriter", "").deltas == {}
    assert view([*samples, *again], "pg_stat_bgwriter", "").deltas == {}, "whatever came since"
    assert view([*samples[len(before) :], *again], "pg_stat_bgwriter", "").delta("buffers_alloc") is not None
    assert view(samples, "pg_stat_wal", "").delta("wal_records") is not None
    both = views(samples, "postgresql.pg_stat_statements")
    if server.version < 17:  # later versions say it of each statement
        assert both
        assert all(seen.deltas == {} for seen in both.values())
    assert [seen.delta("calls") for seen in both.values() if (seen.delta("calls") or 0) < 0] == []


def test_a_restart_is_unknown_and_what_comes_after_is_not(server: Postgres) -> None:
    with quiet(server) as observer:
        before = observer.sample()
        started_ns = observer.server.started_unix_ns
        server.restart()
        after = observer.sample()
        assert after, "the connection that was lost was made again"
        assert observer.server.started_unix_ns > started_ns
        assert not any("does not answer" in why for why in observer.unseen)
        later = observer.sample()
    for name in ("pg_stat_database", "pg_stat_wal"):
        assert all(seen.deltas == {} for seen in views([*before, *after], f"postgresql.{name}").values()), name
    assert view([*after, *later], "pg_stat_database", "postgres").delta("xact_commit") is not None


def test_a_server_that_is_gone_gives_no_samples_and_says_so(server: Postgres) -> None:
    with quiet(server) as observer:
        observer.sample()
        hidden = server.folder / "hidden"
        (socket,) = [path for path in server.folder.glob(".s.PGSQL.*") if not path.name.endswith("lock")]
        say(server, "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'iocast'")
        socket.rename(hidden)
        try:
            assert [each.metric for each in observer.sample()] == ["silent_ns"]
            assert any(why.startswith("the server does not answer: ") for why in observer.unseen)
        finally:
            hidden.rename(socket)
        assert observer.sample() != []
        assert not any("does not answer" in why for why in observer.unseen)


def test_times_that_are_not_taken_are_unknown(server: Postgres) -> None:
    """Off, on, off again: no time, none across the change, times."""
    with quiet(server) as observer:
        on = observer.sample()
        say(server, "alter system set track_io_timing = off", "alter system set track_wal_io_timing = off")
        say(server, "select pg_reload_conf()")
        try:
            samples = until(observer, [], lambda all_: any("timing off" in why for why in observer.unseen))
            off = samples[-len(observer.sample()) :]
            say(server, "select count(*) from kept", "create table passing as select 1")
            off = [*off, *observer.sample()]
        finally:
            say(server, "alter system reset track_io_timing", "alter system reset track_wal_io_timing")
            say(server, "select pg_reload_conf()", "drop table if exists passing")
        timed = ("_blk_read_time_ns", "blk_read_time_ns", "wal_write_time_ns", "read_time_ns", "write_time_ns")
        io = ("postgresql.pg_stat_io", "postgresql.pg_stat_database", "postgresql.pg_stat_statements")
        assert {each.metric for each in off if each.observer in io and each.metric.endswith(timed)} == set()
        assert "pg_stat_database: timing off: track_io_timing" in observer.unseen
        assert view([*on, *off], "pg_stat_database", "postgres").deltas == {}
        until(observer, [], lambda all_: not any("timing off" in why for why in observer.unseen))


def test_the_role_of_monitoring_sees_all_and_another_is_told_what_it_lacks(server: Postgres) -> None:
    say(server, "select 1 as of_the_superuser")
    seen = {}
    for user in ("watcher", "stranger"):
        with quiet(server, user) as observer:
            observer.sample()
            seen[user] = any("of_the_superuser" in text for text in observer.texts().values())
            lacks = [why for why in observer.unseen if "grant pg_monitor to stranger" in why]
            assert bool(lacks) == (user == "stranger")
    assert seen == {"watcher": True, "stranger": False}


def test_the_connection_can_write_nothing(server: Postgres) -> None:
    _, dial = pg_session.dialler(server.url(), None)
    session = dial()
    with pytest.raises(RefusedError, match="read-only"):
        session.rows("create table written (i int)")
    assert session.rows("select current_setting('application_name') as name")[0]["name"] == "iocast"
    assert session.rows("show statement_timeout")[0]["statement_timeout"] == "5s"
    session.close()


def test_sessions_are_counted_by_what_they_wait_for(server: Postgres) -> None:
    with postgresql.connect(server.url(), polls_per_s=50) as observer:
        before = until(observer, [], lambda all_: any(each.metric == "polls" and each.value for each in all_))
        before = before[-len(observer.sample()) :]
        with psycopg.connect(server.url()) as client:
            pid = client.info.backend_pid
            client.execute("select pg_sleep(0.5)")
        samples = until(observer, before, lambda all_: told(all_, "waits", "Timeout|PgSleep", "samples") > 0)
        texts = observer.texts()
    polls = told(samples, "waits", "", "polls")
    found = told(samples, "waits", "Timeout|PgSleep", "samples")
    assert 0 < found <= polls
    assert found <= told(samples, "sessions", str(pid), "samples") <= polls, "a look may meet it before it sleeps"
    assert sum(seen.delta("samples") or 0 for seen in views(samples, "postgresql.active_sql").values()) >= found
    assert texts[f"session|{pid}"].startswith(server.user) if f"session|{pid}" in texts else True
    assert not any(each.subject == "Timeout|PgSleep" for each in before)


def test_our_own_sessions_are_not_counted(server: Postgres) -> None:
    with postgresql.connect(server.url(), polls_per_s=100) as observer:
        samples = [sample for _ in range(100) for sample in observer.sample()]
    assert told(samples, "waits", "", "polls"), "it was looked at while samples were taken"
    assert {each.subject for each in samples if each.observer == "postgresql.sessions"} == {""}


def test_waits_are_profiled_in_the_server_where_the_extension_is(server: Postgres) -> None:
    there = value(server, "select count(*) from pg_available_extensions where name = 'pg_wait_sampling'")
    if not there:
        pytest.skip("pg_wait_sampling is not installed")
    preloaded = "'pg_stat_statements,pg_wait_sampling'"
    with postgres(server.version, shared_preload_libraries=preloaded) as own:
        say(own, "create extension pg_wait_sampling")
        with quiet(own) as observer:
            before = observer.sample()
            say(own, "select pg_sleep(0.5)")
            samples = [*before, *observer.sample()]
    assert told(samples, "pg_wait_sampling_profile", "Timeout|PgSleep", "count") > 5


def test_the_clock_of_the_same_machine_is_ours(server: Postgres) -> None:
    with quiet(server) as observer:
        server_ = observer.server
    assert abs(server_.clock_offset_ns) <= server_.clock_uncertainty_ns + 1_000_000, "microseconds are told"


def test_a_password_comes_from_the_environment_or_a_question_and_is_kept_nowhere(
    server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    access = server.folder / "data/pg_hba.conf"
    kept = access.read_text()
    say(server, "drop role if exists secretive", f"create role secretive login password '{SECRET}' in role pg_monitor")
    access.write_text(f"local all secretive scram-sha-256\n{kept}")
    say(server, "select pg_reload_conf()")
    try:
        asked: list[str] = []

        def ask(question: str) -> str:
            asked.append(question)
            return SECRET

        with postgresql.connect(server.url("secretive"), ask=ask, polls_per_s=20) as observer:
            samples = observer.sample()
            texts = observer.texts()
            assert any("create role secretive login password '***'" in text for text in texts.values())
            shown = [repr(samples), repr(observer.texts()), repr(observer), repr(vars(observer)), *observer.unseen]
            assert samples
        assert asked == [f"password for {observer.url}: "]
        assert SECRET not in "".join([*shown, observer.url, *asked])
        monkeypatch.setenv("PGPASSWORD", SECRET)
        with postgresql.connect(server.url("secretive"), polls_per_s=0) as observer:
            assert observer.sample()
        monkeypatch.setenv("PGPASSWORD", "wrong-" + SECRET)
        with pytest.raises(DatabaseError) as refused:
            postgresql.connect(server.url("secretive")).__enter__()
        assert SECRET not in refused.value.message + refused.value.hint
        assert "PGPASSWORD" in refused.value.hint
    finally:
        access.write_text(kept)
        say(server, "select pg_reload_conf()")


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://user:{SECRET}@host/db",
        f"postgresql://host/db?password={SECRET}",
        f"postgresql://user:{SECRET}/x@host/db",
        f"postgresql://user:{SECRET}@[::1/db",
        f"postgresql://host/db?PASSWORD={SECRET}",
    ],
)
def test_a_password_in_the_url_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(SpecError) as refused:
        postgresql.connect(url)
    assert SECRET not in refused.value.message + refused.value.hint


def test_waits_are_spelt_as_18_does(server: Postgres) -> None:
    assert wait_name("IO", "WALSync") == wait_name("IO", "WalSync") == "IO|WalSync"
    assert wait_name("LWLock", "WALWrite") == "LWLock|WALWrite", "an event of another type keeps its own"
    assert wait_name("Extension", "MyOwn") == "Extension|MyOwn"
    if server.version >= 17:
        with psycopg.connect(server.url(), client_encoding="utf8") as connection:
            events = connection.execute("select type, name from pg_wait_events where type <> 'Extension'").fetchall()
        assert [each for each in events if wait_name(*each) != "|".join(each)] == []
