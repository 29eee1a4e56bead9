"""`iocast load-db`: build, run, commit and drop on a real server, as a person does it; refusals with the way out."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, LiteralString, NamedTuple

import pytest
from makers.command_line import in_this_process, start
from makers.database_servers import NoServer, Postgres, postgres

import iocast
from iocast.model.database.database_load import DatabaseLoad

pytestmark = pytest.mark.slow

psycopg = pytest.importorskip("psycopg")


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    """A server whose commits are durable."""
    try:
        with postgres(18, fsync="on") as running:
            yield running
    except NoServer as why:
        pytest.skip(str(why))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run folders go where pytest removes them."""
    monkeypatch.chdir(tmp_path)


class Shown(NamedTuple):
    """What a command said."""

    code: int
    stdout: str
    stderr: str

    @property
    def card(self) -> Any:
        """The JSON of a run that went well."""
        assert self.code == 0, self.stderr
        return json.loads(self.stdout)


Say = Callable[..., Shown]


@pytest.fixture
def load_db(capsys: pytest.CaptureFixture[str]) -> Say:
    """`iocast load-db`, in this process: it starts in no time."""

    def said(*words: str) -> Shown:
        capsys.readouterr()
        code = in_this_process("load-db", *words)
        return Shown(code, *capsys.readouterr())

    return said


def interrupted(number: signal.Signals, *words: str) -> tuple[int, str]:
    """A command in a process of its own that gets a signal while its statements run: its exit code, what it said."""
    command = start("load-db", *words, cwd=Path.cwd(), preexec_fn=heeding_signals)
    with psycopg.connect(words[1], autocommit=True) as looking:
        until(lambda: looking.execute(AT_WORK).fetchone() != (0,) or command.poll() is not None)
    command.send_signal(number)
    out, said = command.communicate(timeout=30)
    return command.returncode, out + said


AT_WORK: LiteralString = (
    "select count(*) from pg_stat_activity where application_name = 'iocast-load'"
    " and state = 'active' and (query like 'insert into iocast_load.t%' or query like 'call iocast_load.%')"
)


def heeding_signals() -> None:
    """Whoever started the tests may ignore some."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL if number != signal.SIGINT else signal.default_int_handler)


@pytest.fixture(autouse=True)
def anew(server: Postgres) -> None:
    """Without the data set that a test left which failed: another try begins as the first one did."""
    with psycopg.connect(server.url(), autocommit=True) as looking:
        looking.execute("drop schema if exists iocast_load cascade")


@pytest.mark.long
def test_the_story_of_a_data_set(
    server: Postgres, load_db: Say, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C in the build, SIGTERM in a load, SIGHUP in a commit test: what was done is kept, and it goes on."""
    url = server.url()
    size = ("--size", "48MiB", "--tables", "2")
    code, said = interrupted(signal.SIGINT, "build", url, *size)
    assert code == 128 + signal.SIGINT
    assert re.search(r"stopped at \d+% of 48.0 MiB: the same command goes on", said)
    assert "is not complete" in load_db("run", url).stderr
    built = load_db("build", url, *size)
    assert built.code == 0, built.stderr
    assert "completed the schema iocast_load: 2 tables of 3,072 blocks" in built.stderr
    how = ("--no-page", "--json", "--out", "runs")
    code, said = interrupted(signal.SIGTERM, "run", url, "--sessions", "1", "--time", "60s", *how)
    assert code == 128 + signal.SIGTERM
    assert "stopped: 1 of 1 rows kept, 1 of them cut short" in said
    told = load_db("run", url, "--sessions", "1,2", "--time", "1s", "--update-pct", "10", *how).card
    loads = told["database_loads"]
    assert [row["phase"] for row in loads] == ["db 10% update 8k 1x1", "db 10% update 8k 2x1"]
    assert all(row["statements_per_s"] > 0 and 0 < row["engine_cache_share"] < 0.9 for row in loads)
    code, said = interrupted(signal.SIGHUP, "commit", url, "--sessions", "1", "--time", "60s", *how)
    assert code == 128 + signal.SIGHUP
    assert "stopped: 1 of 2 rows kept, 1 of them cut short" in said
    told = load_db("commit", url, "--sessions", "2", "--time", "1s", *how).card
    durable, floor = told["database_commits"]
    assert durable["commits_per_s"] < floor["commits_per_s"]
    assert 0.4 < durable["commits_per_sync"] <= 2.2
    runs = sorted(str(each) for each in (tmp_path / "runs").iterdir())
    assert len(runs) == 4
    capsys.readouterr()
    assert in_this_process("report", runs[1], "--json") == 0
    assert json.loads(capsys.readouterr().out)["database_loads"] == loads
    dropped = load_db("drop", url, "--json")
    assert dropped.code == 0, dropped.stderr
    assert "dropped 8 objects" in dropped.stderr
    assert len(json.loads(dropped.stdout)["objects"]) == 8


JOB = """
name = "shop"

[[database]]
sessions = 1
time = "1s"
driver = "client"
"""


@pytest.mark.long
def test_a_job_file_is_planned_and_repeated_on_a_data_set(
    server: Postgres, load_db: Say, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a data set that the server's cache holds: a memory test."""
    url = server.url(database="template1")
    built = load_db("build", url, "--size", "1MiB")
    assert built.code == 0, built.stderr
    assert "fits into it, so that loads test memory" in built.stderr
    card = iocast.load_db(url, sessions=(1,), time="1s", load=DatabaseLoad(work_unit=4), out="from-python")
    assert [phase.phase.name for phase in card.run.measured] == ["db read 32k 1x1"]
    assert "memory_test" in {finding.code for finding in card.examination.findings}
    (tmp_path / "shop.toml").write_text(JOB)
    assert in_this_process("plan", "shop.toml", url) == 0
    assert "db read 8k 1x1" in capsys.readouterr().out
    assert in_this_process("repeat", "2", "shop.toml", url, "--out", "runs") == 0
    assert "db read 8k 1x1" in capsys.readouterr().out
    (group,) = (tmp_path / "runs").iterdir()
    repeated = [iocast.open(str(folder)).run for folder in group.iterdir()]
    assert [run.plan.job for run in repeated] == [JOB, JOB]
    assert load_db("drop", url).code == 0


def test_refusals_name_the_way_out(server: Postgres, load_db: Say) -> None:
    url = server.url()
    for words, message, hint in (
        (("run", url), "no data set of iocast", "iocast load-db build URL"),
        (("drop", url), "no data set of iocast", "nothing was changed"),
        (("build", url, "--size", "8k"), "too small", "larger --size"),
        (("build", url, "--size", "900TiB"), "are free below the database", "--force"),
        (("run", "redis://host/"), "names no database", "postgresql://"),
        (("run", url, "--sessions", "1,x"), "not a list of numbers", "--sessions 1,4,8,16"),
        (("run", "postgresql://u:secret@h/d"), "must not have a password", "PGPASSWORD"),
    ):
        shown = load_db(*words)
        assert shown.code == 2
        assert message in shown.stderr
        assert hint in shown.stderr
        assert "secret" not in shown.stderr


def test_sessions_of_others_are_not_disturbed_without_a_word(
    server: Postgres, load_db: Say, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = server.url()
    busy = psycopg.connect(url, autocommit=True)
    sleeping = threading.Thread(target=sleep_on, args=(busy,))
    sleeping.start()
    try:
        with psycopg.connect(url, autocommit=True) as looking:
            until(lambda: looking.execute(BUSY).fetchone() == (1,))
        refused = load_db("build", url, "--size", "1MiB")
        assert "1 session of others is active" in refused.stderr
        forced = load_db("build", url, "--size", "1MiB", "--beside-others")
        assert forced.code == 0
        assert "note: 1 session of others is active" in forced.stderr
        (tmp_path / "shop.toml").write_text(JOB)
        assert in_this_process("run", "shop.toml", url) == 2
        assert "set beside_others = true in [[database]]" in capsys.readouterr().err
        assert load_db("drop", url).code == 0
    finally:
        busy.cancel()
        sleeping.join()
        busy.close()


def test_sessions_that_nobody_can_judge_are_not_disturbed_without_a_word_either(
    server: Postgres, load_db: Say, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The role that the guide recommends sees of others that they are there, and no more."""
    server.say("create role loader login", "grant create on database postgres to loader")
    url = server.url("loader")
    with psycopg.connect(server.url(), autocommit=True):
        refused = load_db("build", url, "--size", "1MiB", "--force")
        assert refused.code == 2
        assert "1 session of others cannot be judged" in refused.stderr
        assert "grant pg_monitor to loader" in refused.stderr
        assert "--beside-others" in refused.stderr
        assert server.rows("select to_regnamespace('iocast_load')") == [(None,)]
        built = load_db("build", url, "--size", "1MiB", "--beside-others")
        assert built.code == 0, built.stderr
        assert "note: 1 session of others cannot be judged" in built.stderr
        for verb in ("run", "commit"):
            assert "cannot be judged" in load_db(verb, url).stderr
        (tmp_path / "shop.toml").write_text(JOB)
        assert in_this_process("run", "shop.toml", url) == 2
        assert "set beside_others = true in [[database]]" in capsys.readouterr().err
    assert load_db("drop", url).code == 0


BUSY: LiteralString = "select count(*) from pg_stat_activity where query = 'select pg_sleep(60)' and state = 'active'"


def sleep_on(busy: Any) -> None:
    with contextlib.suppress(psycopg.Error):
        busy.execute("select pg_sleep(60)")


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)
