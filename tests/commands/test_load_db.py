"""`iocast load-db`: build, run, commit and drop on a real server, as a person does it; refusals with the way out."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from makers.command_line import iocast
from makers.database_servers import NoServer, Postgres, postgres

pytest.importorskip("psycopg")


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    """A server with a data set of 8 MiB."""
    try:
        with postgres(18, fsync="on") as running:
            yield running
    except NoServer as why:
        pytest.skip(str(why))


def load_db(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return iocast("load-db", *words, cwd=cwd)


def card(shown: subprocess.CompletedProcess[str]) -> Any:
    assert shown.returncode == 0, shown.stderr
    return json.loads(shown.stdout)


def test_the_story_of_a_data_set(server: Postgres, tmp_path: Path) -> None:
    url = server.url()
    built = load_db("build", url, "--size", "8MiB", "--tables", "2", cwd=tmp_path)
    assert built.returncode == 0, built.stderr
    assert "built the schema iocast_load: 2 tables of 512 blocks" in built.stderr
    assert "fits into it, so that loads test memory" in built.stderr
    how = ("--time", "1s", "--no-page", "--json", "--out", "runs")
    told = card(load_db("run", url, "--sessions", "1,2", "--update-pct", "10", *how, cwd=tmp_path))
    loads = told["database_loads"]
    assert [row["phase"] for row in loads] == ["db 10% update 8k 1x1", "db 10% update 8k 2x1"]
    assert all(row["statements_per_s"] > 0 and row["engine_cache_share"] > 0.5 for row in loads)
    assert any(each["code"] == "memory_test" for each in told["findings"])
    told = card(load_db("commit", url, "--sessions", "2", *how, cwd=tmp_path))
    durable, floor = told["database_commits"]
    assert durable["commits_per_s"] < floor["commits_per_s"]
    assert 0.4 < durable["commits_per_sync"] <= 2.2
    runs = sorted(str(each) for each in (tmp_path / "runs").iterdir())
    again = iocast("report", runs[0], "--json", cwd=tmp_path)
    assert json.loads(again.stdout)["database_loads"] == loads
    dropped = load_db("drop", url, "--json", cwd=tmp_path)
    assert dropped.returncode == 0, dropped.stderr
    assert "dropped 8 objects" in dropped.stderr
    assert len(json.loads(dropped.stdout)["objects"]) == 8


def test_repeats_are_compared(server: Postgres, tmp_path: Path) -> None:
    url = server.url(database="template1")
    assert load_db("build", url, "--size", "1MiB", cwd=tmp_path).returncode == 0
    shown = load_db(
        "run", url, "--sessions", "1", "--time", "1s", "--repeat", "2", "--driver", "client", "--no-page", cwd=tmp_path
    )
    assert shown.returncode == 0, shown.stderr
    assert "db read 8k 1x1" in shown.stdout
    assert load_db("drop", url, cwd=tmp_path).returncode == 0


def test_refusals_name_the_way_out(server: Postgres, tmp_path: Path) -> None:
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
        shown = load_db(*words, cwd=tmp_path)
        assert shown.returncode == 2
        assert message in shown.stderr
        assert hint in shown.stderr
        assert "secret" not in shown.stderr


def test_sessions_of_others_are_not_disturbed_without_a_word(server: Postgres, tmp_path: Path) -> None:
    url = server.url()
    busy = subprocess.Popen(
        [sys.executable, "-c", f"import psycopg; psycopg.connect({url!r}).execute('select pg_sleep(60)')"]
    )
    try:
        for _ in range(10):
            refused = load_db("build", url, "--size", "1MiB", cwd=tmp_path)
            if refused.returncode:
                break
            load_db("drop", url, cwd=tmp_path)
            time.sleep(0.2)
        assert "1 sessions of others are active" in refused.stderr
        forced = load_db("build", url, "--size", "1MiB", "--force", cwd=tmp_path)
        assert forced.returncode == 0
        assert "note: 1 sessions of others are active" in forced.stderr
        assert load_db("drop", url, cwd=tmp_path).returncode == 0
    finally:
        busy.kill()
        busy.wait()
