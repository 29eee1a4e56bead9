"""MySQL and MariaDB: a real MariaDB with and without performance_schema, and MySQL's own views on paper."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from makers.database_servers import Mariadb, NoServer, mariadb

from iocast.databases.mysql import mysql, mysql_queries, mysql_session
from iocast.databases.query import RefusedError
from iocast.errors import DatabaseError, SpecError
from iocast.metrics import NO_BOUND
from iocast.model.run import Sample
from iocast.model.view import views
from iocast.tools.database_rows import samples_of

pytestmark = pytest.mark.long

pymysql = pytest.importorskip("pymysql")
SECRET = "open-sesame-8"
INSTRUMENTED = (
    "--performance-schema=ON",
    "--performance-schema-instrument=wait/io/file/%=ON",
    "--performance-schema-consumer-events-statements-current=ON",
    "--plugin-load-add=query_response_time",
    "--query-response-time-stats=ON",
)
ROWS = 300


def started(*options: str) -> Iterator[Mariadb]:
    try:
        with mariadb(*options) as running:
            say(running, "create database shop")
            say(running, "create table shop.kept (id int primary key, filler text)")
            yield running
    except NoServer as why:
        pytest.skip(str(why))


@pytest.fixture(scope="module")
def instrumented() -> Iterator[Mariadb]:
    yield from started(*INSTRUMENTED)


@pytest.fixture(scope="module")
def plain() -> Iterator[Mariadb]:
    yield from started()


def client(server: Mariadb, user: str = "root", password: str = "") -> Any:
    return pymysql.connect(unix_socket=str(server.socket), user=user, password=password, autocommit=True)


def say(server: Mariadb, *statements: str) -> None:
    with client(server) as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def alone(server: Mariadb) -> None:
    """Waits until the sessions of others are gone: a client that has its answer may still be seen for a moment, on a
    busy machine for a second. This one is known by its statement, like all of iocast."""
    looking = f"select count(*) from information_schema.processlist where command <> 'Daemon' {mysql_session.OURS}"
    with client(server) as connection, connection.cursor() as cursor:
        for _ in range(600):
            cursor.execute(looking)
            if cursor.fetchone()[0] == 1:
                return
            time.sleep(0.05)


def told(samples: list[Sample], name: str, subject: str, metric: str) -> int | None:
    seen = views(samples, f"mysql.{name}").get(subject)
    return seen.delta(metric) if seen else None


def test_every_statement_gives_the_columns_it_names(instrumented: Mariadb) -> None:
    _, dial = mysql_session.dialler(instrumented.url(), None)
    session = dial()
    for query in mysql_queries.queries_of(instrumented=True, histograms=frozenset({"query_response_time"})):
        rows = session.rows(query.sql, query.parameters)
        assert rows, query.name
        assert set(rows[0]) == set(query.shape.columns), query.name
    session.close()


def test_commits_and_statements_are_counted_one_by_one(instrumented: Mariadb) -> None:
    with mysql.connect(instrumented.url(), polls_per_s=0) as observer:
        assert observer.server.product == "MariaDB"
        assert observer.server.version.startswith("10.")
        before = observer.sample()
        with client(instrumented) as connection, connection.cursor() as cursor:
            for key in range(ROWS):
                cursor.execute("insert into shop.kept values (%s, 'x')", (key,))
            cursor.execute("flush tables shop.kept for export")
            cursor.execute("unlock tables")
        samples = [*before, *observer.sample()]
        texts = observer.texts()
    assert told(samples, "global_status", "", "com_insert") == ROWS
    (digest,) = [key for key, text in texts.items() if text.startswith("INSERT INTO `shop` . `kept`")]
    calls = {
        subject: view.delta("count_star")
        for subject, view in views(samples, "mysql.events_statements_summary_by_digest").items()
        if subject.startswith(digest.removeprefix("sql|"))
    }
    assert list(calls.values()) == [ROWS]
    data = "wait/io/file/innodb/innodb_data_file"
    written, bytes_ = (
        told(samples, "file_summary_by_event_name", data, metric)
        for metric in ("count_write", "sum_number_of_bytes_write")
    )
    assert written is not None
    assert bytes_ is not None
    assert written > 0
    assert bytes_ >= 16384
    files = views(samples, "mysql.file_summary_by_instance")
    assert any("shop/kept.ibd" in subject and (seen.delta("count_write") or 0) > 0 for subject, seen in files.items())


def test_response_times_are_a_histogram_with_its_sum(instrumented: Mariadb) -> None:
    with mysql.connect(instrumented.url(), polls_per_s=0) as observer:
        before = observer.sample()
        say(instrumented, "select sleep(0.2)")
        seen = views([*before, *observer.sample()], "mysql.query_response_time")[""]
    assert (seen.delta("lt_1000000000ns"), seen.delta("lt_10000000000ns")) == (1, 0)
    assert seen.delta("total_ns") is not None
    assert seen.delta("total_ns") >= 200_000_000  # type: ignore[operator]


def test_sessions_have_their_thread_and_are_counted(instrumented: Mariadb) -> None:
    with mysql.connect(instrumented.url(), polls_per_s=50) as observer, client(instrumented) as connection:
        before = observer.sample()
        with connection.cursor() as cursor:
            cursor.execute("select sleep(0.5)")
        number = str(connection.thread_id())
        samples = [*before, *observer.sample()]
        texts = observer.texts()
    found = told(samples, "waits", "State|User sleep", "samples")
    assert found
    assert told(samples, "sessions", number, "samples") == found
    assert texts[f"session|{number}"] == "root@localhost"
    (thread,) = {each.value for each in samples if each.observer == "mysql.threads" and each.subject == number}
    assert thread > 1


@pytest.mark.parametrize("kind", ["instrumented", "plain"])
def test_our_own_sessions_are_not_counted(kind: str, request: pytest.FixtureRequest) -> None:
    server: Mariadb = request.getfixturevalue(kind)
    alone(server)
    with mysql.connect(server.url(), polls_per_s=100) as observer:
        samples = [sample for _ in range(100) for sample in observer.sample()]
        until = time.monotonic() + 20
        while not told(samples, "waits", "", "polls") and time.monotonic() < until:
            samples += observer.sample()  # a busy machine lets the thread that looks wait
    assert told(samples, "waits", "", "polls"), "it was looked at while samples were taken"
    assert {each.subject for each in samples if each.observer == "mysql.sessions"} == {""}


def test_without_performance_schema_the_rest_is_seen_and_the_way_out_told(plain: Mariadb) -> None:
    with mysql.connect(plain.url(), polls_per_s=50) as observer:
        before = observer.sample()
        say(plain, "insert into shop.kept values (1, 'x')", "select sleep(0.4)")
        samples = [*before, *observer.sample()]
        (why,) = [why for why in observer.unseen if "performance_schema" in why]
    assert why.startswith("files, statements and waits: performance_schema is off; start the server with")
    assert any("query_response_time" in each for each in observer.unseen)
    assert told(samples, "global_status", "", "com_insert") == 1
    assert told(samples, "waits", "State|User sleep", "samples")
    assert {each.observer for each in samples} == {
        "mysql.global_status",
        "mysql.waits",
        "mysql.active_sql",
        "mysql.session_waits",
        "mysql.sessions",
    }


def test_flushed_counters_are_unknown(plain: Mariadb) -> None:
    with mysql.connect(plain.url(), polls_per_s=0) as observer:
        time.sleep(4)  # uptime is told in whole seconds: two starts must be further apart
        before = observer.sample()
        say(plain, "flush status")
        samples = [*before, *observer.sample()]
        later = observer.sample()
    assert views(samples, "mysql.global_status")[""].deltas == {}
    assert told([*samples[len(before) :], *later], "global_status", "", "queries") is not None


def test_the_connection_can_write_nothing(plain: Mariadb) -> None:
    _, dial = mysql_session.dialler(plain.url(), None)
    session = dial()
    with pytest.raises(RefusedError, match="READ ONLY"):
        session.rows("insert into shop.kept values (7777, 'x')")
    assert session.rows("select @@max_statement_time as t")[0]["t"] == mysql_session.STATEMENT_TIMEOUT_S
    session.close()


def test_a_password_comes_from_the_environment_or_a_question(plain: Mariadb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/nonexistent")
    say(
        plain,
        f"create or replace user watcher@localhost identified by '{SECRET}'",
        "grant process on *.* to watcher@localhost",
    )
    with pytest.raises(DatabaseError) as refused:
        mysql.connect(plain.url("watcher")).__enter__()
    assert "MYSQL_PWD" in refused.value.hint
    with mysql.connect(plain.url("watcher"), ask=lambda question: SECRET) as observer:
        shown = repr(observer.sample()) + repr(observer.texts()) + repr(vars(observer)) + repr(observer)
        assert observer.sample()
    assert SECRET not in shown + observer.url
    monkeypatch.setenv("MYSQL_PWD", SECRET)
    with mysql.connect(plain.url("watcher"), polls_per_s=0) as observer:
        assert observer.sample()


def test_urls_that_say_too_much_are_refused(tmp_path: Path) -> None:
    for url in (f"mysql://root:{SECRET}@host/", f"mysql://root@host/?password={SECRET}"):
        with pytest.raises(SpecError) as refused:
            mysql.connect(url)
        assert SECRET not in refused.value.message
    with pytest.raises(SpecError, match="more than one host"):
        mysql.connect("mysql://root@one,two/")
    with pytest.raises(SpecError, match="autocommit"):
        mysql.connect("mysql://root@one/?autocommit=0")


def test_the_statement_histogram_of_mysql_8_keeps_its_bounds() -> None:
    """Picoseconds, exclusive; the last bucket has no bound. On paper: there is no MySQL here."""
    (query,) = [
        each
        for each in mysql_queries.queries_of(
            instrumented=True, histograms=frozenset({"events_statements_histogram_global"})
        )
        if each.name == "events_statements_histogram_global"
    ]
    rows = [
        {"bucket_timer_high": 10_000_000, "count_bucket": 3},
        {"bucket_timer_high": 10_471_285, "count_bucket": 4},
        {"bucket_timer_high": 18_446_744_073_709_551_615, "count_bucket": 1},
    ]
    found = {each.metric: each.value for each in samples_of(query.shape, rows, "mysql.histogram", 1)}
    assert found == {"lt_10000ns": 3.0, "lt_10471ns": 4.0, NO_BOUND: 1.0}
    assert "QUERY_RESPONSE_TIME" not in query.sql.upper()
