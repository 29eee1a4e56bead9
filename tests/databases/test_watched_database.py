"""What every database has in common: queries that fail, connections that are lost, URLs, texts without secrets."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import pytest
from makers.scripted_database import ScriptedSession, dialled

from iocast.databases import DATABASES, connect, database_of, watched_database
from iocast.databases.database import DatabaseObserver, Server
from iocast.databases.mysql import mysql
from iocast.databases.oracle import oracle
from iocast.databases.postgresql import postgresql
from iocast.databases.query import LostError, Query, RefusedError, Session
from iocast.databases.watched_database import Circumstances, ClockOffset, WatchedDatabase, without_secrets
from iocast.errors import DatabaseError, SpecError
from iocast.model.run import Sample
from iocast.model.view import views
from iocast.observe.observer import Observer
from iocast.tools.database_address import parsed
from iocast.tools.database_rows import Active, ActivityCounts, Row, Rows, counters

IO = Rows(key=("who",), counters=counters("reads read_time:ms/reads"))


class Paper:
    """A kind of database with two views; the first has a reset and times."""

    name = "paper"

    def __init__(self) -> None:
        self.timing = {"io_timing": True}
        self.clock_ns = 0

    def identify(self, session: Session) -> Server:
        session.rows("identity")
        return Server(product="Paper", version="1")

    def clock(self, session: Session) -> int:
        return self.clock_ns

    def queries(self, session: Session) -> tuple[Query, ...]:
        timing = {"read_time": "io_timing"}
        io = Query(name="io", sql="select io", shape=IO, reset="reset_s", timing=timing)
        return (io, Query(name="other", sql="select other", shape=IO))

    def unseen(self, session: Session) -> list[str]:
        return ["a part: always"]

    def circumstances(self, session: Session) -> Circumstances:
        return Circumstances(started_ns=10**18, timing=self.timing)

    def active(self, session: Session) -> list[Active]:
        session.rows("sessions")
        return [Active("1")]

    def texts(self, session: Session, counts: ActivityCounts, known: Mapping[str, str]) -> dict[str, str]:
        return {"sql|1": "alter role a password 'b'"}


ROW: Row = {"who": "me", "reads": 4, "read_time": 2.0, "reset_s": 1_000_000_000.0}


def answers() -> dict[str, list[Row] | Exception]:
    return {"identity": [{}], "select io": [ROW], "select other": [ROW], "sessions": [{}]}


def watched(
    said: dict[str, list[Row] | Exception], polls_per_s: float = 0
) -> tuple[WatchedDatabase, Paper, list[ScriptedSession]]:
    engine, made = Paper(), list[ScriptedSession]()
    return WatchedDatabase(engine, "paper://here/", dialled(said, made), polls_per_s), engine, made


def names(samples: list[Sample]) -> set[str]:
    return {each.observer for each in samples}


def test_a_query_that_is_refused_for_good_is_asked_once_and_others_go_on() -> None:
    said = answers()
    said["select io"] = RefusedError("permission denied", lasting=True)
    observer, _, made = watched(said)
    with observer:
        assert names(observer.sample()) == names(observer.sample()) == {"paper.other"}
        assert observer.unseen == ("a part: always", "io: permission denied")
    assert made[0].asked.count("select io") == 1


def test_a_query_that_is_refused_for_now_is_asked_again() -> None:
    said = answers()
    said["select io"] = RefusedError("canceled due to statement timeout", lasting=False)
    observer, _, _ = watched(said)
    with observer:
        assert names(observer.sample()) == {"paper.other"}
        assert "io: canceled due to statement timeout" in observer.unseen
        said["select io"] = [ROW]
        assert names(observer.sample()) == {"paper.io", "paper.other"}
        assert observer.unseen == ("a part: always",)


def test_a_connection_that_was_lost_is_made_again_within_the_sample() -> None:
    observer, _, made = watched(answers())
    with observer:
        before = observer.sample()
        made[0].closed = True
        samples = [*before, *observer.sample()]
        assert len(made) == 2
    assert views(samples, "paper.io")["me"].delta("reads") == 0


def test_a_server_that_stays_away_is_asked_each_time_and_nothing_is_invented() -> None:
    said = answers()
    observer, _, made = watched(said)
    with observer:
        before = observer.sample()
        said["identity"], said["select io"] = LostError("refused"), LostError("gone")
        assert names(observer.sample()) == {"paper.answer"}
        assert "the server does not answer: refused" in observer.unseen
        said["identity"], said["select io"] = [{}], [{**ROW, "reads": 9}]
        after = observer.sample()
        assert observer.unseen == ("a part: always",)
    assert views([*before, *after], "paper.io")["me"].delta("reads") == 5
    assert all(each.closed for each in made)


def test_no_server_at_all_raises() -> None:
    said = answers()
    said["identity"] = RefusedError("no", lasting=True)
    observer, _, made = watched(said)
    with pytest.raises(DatabaseError, match="paper://here/: no"):
        observer.__enter__()
    assert made[0].closed


def test_times_that_are_not_taken_leave_counts() -> None:
    observer, engine, _ = watched(answers())
    with observer:
        assert "read_time_ns" in {each.metric for each in observer.sample() if each.observer == "paper.io"}
        engine.timing["io_timing"] = False
        assert {each.metric for each in observer.sample() if each.observer == "paper.io"} == {"epoch_ns", "reads"}
        assert "io: timing off: io_timing" in observer.unseen
        engine.timing["io_timing"] = True
        observer.sample()
        assert observer.unseen == ("a part: always",)


def test_texts_have_no_secrets() -> None:
    observer, _, _ = watched(answers())
    with observer:
        assert observer.texts() == {"sql|1": "alter role a password '***'"}


def test_texts_of_ever_new_statements_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched_database, "_MOST_TEXT", 10_000)
    observer, engine, _ = watched(answers())
    with observer:
        for at in range(100):
            newest = {f"sql|{at}": f"select {at} " + "x" * 900}
            monkeypatch.setattr(engine, "texts", lambda *_, newest=newest: newest)
            texts = observer.texts()
            assert newest.items() <= texts.items()
    assert list(texts) == [f"sql|{at}" for at in range(91, 100)]


def test_the_poller_says_why_it_does_not_look_and_its_counts_stay() -> None:
    said = answers()
    said["sessions"] = RefusedError("no right to sessions", lasting=True)
    observer, _, _ = watched(said, polls_per_s=200)
    with observer:
        for _ in range(500):
            samples = observer.sample()
            if observer.unseen != ("a part: always",):
                break
        assert "sessions: no right to sessions" in observer.unseen
        assert [each.value for each in samples if each.metric == "polls"] == [0.0, 0.0, 0.0, 0.0]


def test_a_database_is_an_observer() -> None:
    observer: DatabaseObserver = watched(answers())[0]
    as_any_other: Observer = observer
    assert as_any_other.unseen == ()


def test_the_clock_is_off_by_what_the_quickest_round_trip_says() -> None:
    local = iter([0, 100, 200, 210, 300, 400, 500, 600, 700, 800])
    measured = ClockOffset.measured(lambda: 1_205, lambda: next(local))
    assert measured == ClockOffset(1_000, 5)


@pytest.mark.parametrize(
    ("url", "module"),
    [
        ("postgresql://h/d", postgresql),
        ("postgres://h/d", postgresql),
        ("PostgreSQL://h/d", postgresql),
        ("mysql://h/", mysql),
        ("mariadb://h/", mysql),
        ("oracle://h/s", oracle),
    ],
)
def test_the_scheme_names_the_database(url: str, module: object) -> None:
    assert database_of(url) is module
    assert connect(url).url.lower() == url.lower()


def test_other_schemes_are_refused_with_those_that_are_known() -> None:
    for url in ("sqlite:///x", "host/db", ""):
        with pytest.raises(SpecError) as refused:
            database_of(url)
        assert all(f"{scheme}://" in refused.value.hint for module in DATABASES for scheme in module.SCHEMES)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u@h:5432/d",
        "postgresql://u@[::1]:5432/d?sslmode=require",
        "postgresql:///d?host=/run/sock",
        "oracle://u@a:1521,b:1522/s",
        "postgresql://u%40x@%2Frun%2Fsock/d",
    ],
)
def test_an_address_is_shown_as_it_was_written(url: str) -> None:
    assert parsed(url, "").redacted == url


@pytest.mark.parametrize("url", ["postgresql://u@h:99999/d", "postgresql://h:x/d", "postgresql://[::1/d"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(SpecError):
        parsed(url, "")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("select 'a' from t", "select 'a' from t"),
        ("create role r password 'it''s'", "create role r password '***'"),
        ("ALTER USER u IDENTIFIED BY tiger", "ALTER USER u IDENTIFIED BY '***'"),
        ('alter user u identified by "Ti ger"', "alter user u identified by '***'"),
        ("create user u identified by values 'S:12'", "create user u identified by values '***'"),
        ("create subscription s connection 'host=a password=b' publication p", None),
        ("select dblink($x$host=a password=b$x$)", "select dblink('***')"),
        ("alter role r password 'cut o", "alter role r password '***'"),
        ("create user mapping for u server s options (password E'\\'x')", None),
    ],
)
def test_passwords_in_texts_are_hidden(text: str, shown: str | None) -> None:
    if shown is not None:
        assert without_secrets(text) == shown
    assert not any(secret in without_secrets(text) for secret in ("tiger", "Ti ger", "password=b", "S:12", "x')"))


@pytest.mark.parametrize(
    ("module", "package", "url"),
    [(postgresql, "psycopg", "postgresql:///x"), (mysql, "pymysql", "mysql://u@localhost:1/")],
)
def test_without_a_driver_the_way_out_is_told(
    monkeypatch: pytest.MonkeyPatch, module: object, package: str, url: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(DatabaseError) as refused:
        connect(url).__enter__()
    assert refused.value.hint == "pip install 'iocast[databases]'"
    assert package in refused.value.message
