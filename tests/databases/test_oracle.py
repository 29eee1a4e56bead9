"""Oracle on paper: no server can be had here, so a scripted one answers its statements."""

from __future__ import annotations

import sys
import time
from types import SimpleNamespace
from typing import Any

import pytest
from makers.scripted_database import ScriptedSession, dialled

from iocast.databases.database import DatabaseObserver
from iocast.databases.oracle import oracle, oracle_session
from iocast.databases.query import LostError, RefusedError
from iocast.errors import DatabaseError, SpecError
from iocast.model.run import Sample
from iocast.model.view import views
from iocast.tools.database_rows import Row

SECRET = "open-sesame-9"
EVENTS = ("db file sequential read", "log file sync", "direct path read")
Answers = dict[str, list[Row] | Exception]


def answers(*, instances: int = 1, access: str = "NONE", version: str = "19.0.0.0.0") -> Answers:
    """What a server says, by a part of the statement; the first part that fits counts."""
    own = {"inst_id": 1, "instance_name": "orcl1", "host_name": "db1", "version": version, "started_s": 1_795_000_000}
    everyone: list[Row] = [{**own, "inst_id": at + 1} for at in range(instances)]
    return {
        "from dual": [{"whole_s": int(time.time()), "second_s": time.time() % 60, "container": "PDB1", "name": "U"}],
        "from gv$instance": everyone,
        "from v$instance": [own],
        "v$parameter": [
            {"name": "control_management_pack_access", "value": access},
            {"name": "timed_statistics", "value": "TRUE"},
        ],
        "event_histogram_micro": [
            {"inst_id": 1, "event": event, "wait_time_micro": 2**at, "wait_count": 5} for at, event in enumerate(EVENTS)
        ],
        "system_event": [
            {"inst_id": 1, "event": event, "total_waits": at, "time_waited_micro": at * 100}
            for at, event in enumerate(EVENTS, 1)
        ],
        "sysstat": [{"inst_id": 1, "name": "user commits", "value": 7}],
        "active_session_history": [{"inst_id": 1, "event": "CPU", "samples": 3}],
        "session where": [
            {"inst_id": 1, "sid": 7, "serial#": 3, "sql_id": "abc", "event": EVENTS[0], "wait_class": "User I/O"}
            | {"state": "WAITING"},
            {"inst_id": 1, "sid": 8, "serial#": 4, "sql_id": None, "event": EVENTS[1], "wait_class": "Commit"}
            | {"state": "WAITED SHORT TIME"},
        ],
        "sql_text": [{"sql_id": "abc", "sql_text": "alter user x identified by tiger"}],
    }


def watched(
    monkeypatch: pytest.MonkeyPatch, said: Answers, *, hosts: str = "db1", packs: bool = False, polls_per_s: float = 0
) -> tuple[DatabaseObserver, list[ScriptedSession]]:
    """An observer whose connections are made to a scripted server."""
    made: list[ScriptedSession] = []
    scripted = [(f"oracle://watcher@{host}/shop", dialled(said, made)) for host in hosts.split(",")]
    monkeypatch.setattr(oracle, "dialler", lambda url, ask: scripted)
    return oracle.connect(f"oracle://watcher@{hosts}/shop", packs=packs, polls_per_s=polls_per_s), made


def told(samples: list[Sample], name: str, subject: str, metric: str) -> float | None:
    found = [each.value for each in samples if (each.observer, each.subject, each.metric) == (name, subject, metric)]
    return found[-1] if found else None


def test_the_own_instance_is_asked_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    observer, made = watched(monkeypatch, answers())
    with observer:
        samples = observer.sample()
        server = observer.server
    assert (server.product, server.version, server.instance, server.container) == (
        "Oracle Database",
        "19.0.0.0.0",
        "orcl1",
        "PDB1",
    )
    assert told(samples, "oracle.system_event", "1|log file sync", "total_waits") == 2
    assert told(samples, "oracle.system_event", "1|log file sync", "time_waited_ns") == 200_000
    assert told(samples, "oracle.event_histogram_micro", "1|log file sync", "lt_2000ns") == 5
    assert not any("gv$" in sql for sql in made[0].asked if "gv$instance" not in sql)
    assert any(why.startswith("sqlstats: ORA-00942") for why in observer.unseen), "what was refused is told"
    assert not any(why.startswith("the instances") for why in observer.unseen)


@pytest.mark.parametrize("gone", EVENTS)
def test_an_event_that_is_missing_leaves_all_others_unchanged(monkeypatch: pytest.MonkeyPatch, gone: str) -> None:
    """MOATS matches by position: there, one that is missing shifts all rows behind it."""
    found = {}
    for without in ("", gone):
        said = answers()
        for view in ("event_histogram_micro", "system_event"):
            rows = said[view]
            assert isinstance(rows, list)
            said[view] = [row for row in rows if row["event"] != without]
        observer, _ = watched(monkeypatch, said)
        with observer:
            found[without] = {
                (each.observer, each.subject, each.metric): each.value
                for each in observer.sample()
                if each.metric != "epoch_ns"
            }
    assert found[gone] == {place: value for place, value in found[""].items() if gone not in place[1]}
    assert found[gone] != found[""]


def test_several_instances_behind_one_host_are_asked_together_and_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    observer, made = watched(monkeypatch, answers(instances=2))
    with observer:
        observer.sample()
        assert any("oracle://user@host1,host2/service" in why for why in observer.unseen)
    assert any("from gv$system_event" in sql for sql in made[0].asked)


def test_each_host_of_the_url_is_an_instance_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    observer, made = watched(monkeypatch, answers(instances=2), hosts="db1,db2")
    with observer:
        samples = [*observer.sample(), *observer.sample()]
    assert len(made) == 2
    assert all("from v$system_event" in " ".join(each.asked) for each in made)
    assert {each.observer for each in samples} >= {"oracle1.system_event", "oracle2.system_event"}
    for name in ("oracle1.system_event", "oracle2.system_event"):
        assert views(samples, name)["1|log file sync"].delta("total_waits") == 0
    assert all(each.closed for each in made)
    assert observer.url == "oracle://watcher@db1/shop oracle://watcher@db2/shop"


@pytest.mark.parametrize(
    ("access", "packs", "seen"),
    [
        ("NONE", False, False),
        ("NONE", True, False),
        ("DIAGNOSTIC+TUNING", False, False),
        ("DIAGNOSTIC", True, True),
        ("", True, False),
    ],
)
def test_the_diagnostics_pack_takes_the_word_of_both(
    monkeypatch: pytest.MonkeyPatch, access: str, packs: bool, seen: bool
) -> None:
    observer, made = watched(monkeypatch, answers(access=access), packs=packs)
    with observer:
        samples = observer.sample()
    assert any("active_session_history" in sql for sql in made[0].asked) == seen
    assert any(each.observer == "oracle.active_session_history" for each in samples) == seen
    assert any("control_management_pack_access is NONE" in why for why in observer.unseen) == (packs and not seen)


def test_a_restart_of_the_instance_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    said = answers()
    observer, _ = watched(monkeypatch, said)
    with observer:
        samples = observer.sample()
        said["from v$instance"] = [{**row, "started_s": 1_795_000_100} for row in said["from v$instance"]]  # type: ignore[union-attr]
        samples += observer.sample()
    assert all(view.deltas == {} for view in views(samples, "oracle.system_event").values())


def test_sessions_are_on_a_processor_unless_they_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    observer, _ = watched(monkeypatch, answers(), polls_per_s=100)
    with observer:
        samples: list[Sample] = []
        for _ in range(100):
            samples = observer.sample()
            if told(samples, "oracle.waits", "", "polls"):
                break
            time.sleep(0.05)
        texts = observer.texts()
    polls = told(samples, "oracle.waits", "", "polls")
    assert polls
    assert told(samples, "oracle.waits", "User I/O|db file sequential read", "samples") == polls
    assert told(samples, "oracle.waits", "CPU", "samples") == polls
    assert told(samples, "oracle.sessions", "1|7|3", "samples") == polls
    assert texts["sql|abc"] == "alter user x identified by '***'"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (f"oracle://scott:{SECRET}@host/shop", "must not have a password"),
        (f"oracle://scott@host/shop?wallet_password={SECRET}", "must not have a password"),
        ("oracle://scott@host", "no host or no service"),
        ("oracle://scott@/shop", "no host or no service"),
        ("oracle://scott@host/shop?threaded=1", "threaded"),
    ],
)
def test_urls_that_cannot_be_used_are_refused(url: str, message: str) -> None:
    with pytest.raises(SpecError, match=message) as refused:
        oracle.connect(url)
    assert SECRET not in refused.value.message + refused.value.hint


class FakeDriver(SimpleNamespace):
    """oracledb as far as it is used."""

    class Error(Exception):
        """Its errors."""


def failing(text: str) -> tuple[FakeDriver, Any]:
    fake = FakeDriver()

    class Connection:
        def cursor(self) -> Any:
            raise fake.Error(text)

        def close(self) -> None:
            raise fake.Error("DPY-1001: not connected to database")

    return fake, Connection()


@pytest.mark.parametrize(
    ("text", "error", "lasting"),
    [
        ("ORA-00942: table or view does not exist", RefusedError, True),
        ("ORA-01013: user requested cancel", RefusedError, False),
        ("DPY-4024: call timeout of 5000 ms exceeded", RefusedError, False),
        ("ORA-03113: end-of-file on communication channel", LostError, None),
        ("DPY-4011: the database or network closed the connection", LostError, None),
    ],
)
def test_errors_are_lost_or_refused_for_good_or_for_now(
    text: str, error: type[Exception], lasting: bool | None
) -> None:
    fake, connection = failing(text)
    session = oracle_session.OracleSession(connection, fake)
    with pytest.raises(error) as raised:
        session.rows("select 1 from dual")
    assert getattr(raised.value, "lasting", None) == lasting
    session.close()


def test_a_connection_that_fails_says_where_and_what_next(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("oracledb")
    monkeypatch.setenv("ORACLE_PASSWORD", SECRET)
    with pytest.raises(DatabaseError) as refused:
        oracle.connect("oracle://scott@127.0.0.1:1/shop").__enter__()
    assert "oracle://scott@127.0.0.1:1/shop" in refused.value.message
    assert refused.value.hint
    assert SECRET not in refused.value.message + refused.value.hint


def test_without_the_driver_the_way_out_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "oracledb", None)
    with pytest.raises(DatabaseError) as refused:
        oracle.connect("oracle://scott@host/shop", ask=lambda question: SECRET).__enter__()
    assert refused.value.hint == "pip install 'iocast[databases]'"


def test_numbers_that_no_server_has_end_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    said = answers()
    said["from dual"] = [{"whole_s": 1e308, "second_s": 1e308, "container": "PDB1", "name": "U"}]
    said["from v$instance"] = [{**row, "started_s": "1e308"} for row in said["from v$instance"]]  # type: ignore[union-attr]
    said["sysstat"] = [{"inst_id": 1, "name": "user commits", "value": 1e308}]
    observer, _ = watched(monkeypatch, said)
    with observer:
        samples = observer.sample()
        assert observer.server.started_unix_ns == 0
    assert told(samples, "oracle.sysstat", "1", "user commits") is None
    assert told(samples, "oracle.system_event", "1|direct path read", "total_waits") == 3
