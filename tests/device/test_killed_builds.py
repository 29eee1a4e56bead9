"""MariaDB: builds and drops under kills of iocast and of the server at random moments, each followed by one that works.

IOCAST_FUZZ=20 (`make safety`) makes 60 of them, `make test` 3.
"""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from makers.command_line import start
from makers.database_servers import Mariadb, NoServer, drop, mariadb
from makers.mutations import TIMES

from iocast.errors import TargetError
from iocast.load.database.mysql import my_load

pytestmark = pytest.mark.device

pytest.importorskip("pymysql")
KILLS = 3 * TIMES
# Who gets the signal: the command, or the server.
WAYS = (
    ("iocast", signal.SIGKILL),
    ("server", signal.SIGKILL),
    ("iocast", signal.SIGTERM),
    ("iocast", signal.SIGINT),
    ("server", signal.SIGTERM),
)
TABLES, ROWS = 3, 256
BUILD = ("build", "--size", f"{TABLES * ROWS * 16}KiB", "--tables", str(TABLES), "--beside-others", "--force")
DROP = ("drop",)
OURS = {"data_set", "progress", "commits", *(f"t{number}" for number in range(1, TABLES + 1))}
THEIRS = {"theirs", "t9", "seen"}
_NAMES = "select table_name from information_schema.tables where table_schema = 'iocast_load'"
_LOOPS = "select routine_name from information_schema.routines where routine_schema = 'iocast_load'"


@pytest.fixture
def server() -> Iterator[Mariadb]:
    """A server whose commits are durable, with tables of others that bear names of ours."""
    try:
        with mariadb("--innodb-flush-log-at-trx-commit=1") as running:
            running.say("create user loader@localhost", "grant all on iocast_load.* to loader@localhost")
            running.say("create database other", "create table other.t1 (n int)", "insert into other.t1 values (7)")
            yield running
    except NoServer as why:
        pytest.skip(str(why))


class Bench:
    """The server, what happens to it, and what must be true afterwards."""

    def __init__(self, server: Mariadb, folder: Path) -> None:
        self.server, self.folder = server, folder
        self.chance = random.Random(11 if TIMES == 1 else None)
        self.ends: Counter[str] = Counter()
        self.files = {each.name for each in server.socket.parent.iterdir()}
        self.orphans = 0  # files of tables that are gone
        self.seconds = {words: self.finish(words) for words in (BUILD, DROP)}

    def iocast(self, words: tuple[str, ...]) -> subprocess.Popen[str]:
        verb, *options = words
        return start("load-db", verb, self.server.url("loader"), *options, cwd=self.folder)

    def begin(self, words: tuple[str, ...]) -> subprocess.Popen[str]:
        """Starts a command, and returns when it has connected."""
        command = self.iocast(words)
        until(lambda: self.server.rows(_AT_WORK) != [(0,)] or command.poll() is not None)
        return command

    def finish(self, words: tuple[str, ...]) -> float:
        """What nobody kills works; returns how long it took once it was connected."""
        command, began = self.begin(words), time.monotonic()
        _, errors = command.communicate(timeout=120)
        assert command.returncode == 0, (words, errors)
        return time.monotonic() - began

    def kill(self, words: tuple[str, ...], whom: str, number: int) -> bool:
        """Starts a command, and ends it or its server at a random moment; False where it had ended before."""
        command, began = self.begin(words), time.monotonic()
        met = True
        try:
            command.wait(self.chance.uniform(0, self.seconds[words]))
            met, self.seconds[words] = False, time.monotonic() - began
        except subprocess.TimeoutExpired:
            if whom == "iocast":
                command.send_signal(number)
            elif number == signal.SIGKILL:
                self.server.kill()
            else:
                self.server.stop()
        _, errors = command.communicate(timeout=120)
        if met and whom == "server":
            self.server.start()
            if words == DROP and number == signal.SIGKILL:
                self.remove_orphans()
        self.ends[f"{words[0]} {f'{whom} {signal.Signals(number).name}' if met else 'not met'}"] += 1
        assert "Traceback" not in errors, errors
        # A drop has no place to stop: it ends, or is ended.
        assert command.returncode in (0, 2, -number, 128 + number), (words, whom, number, errors)
        assert command.returncode != 2 or (met and whom == "server"), errors
        return met

    def remove_orphans(self) -> None:
        """MariaDB forgets a table first and removes its file then; the hint of iocast says what to remove by hand."""
        for file in self.server.socket.parent.glob("data/iocast_load/*.ibd"):
            if file.stem in OURS - self.names():
                self.orphans += 1
                file.unlink()

    def put_theirs(self) -> None:
        """Others put something beside our tables, as soon as there are any."""
        if self.names() & OURS and not self.names() & THEIRS:
            self.server.say(*(f"create table iocast_load.{name} (n int)" for name in ("theirs", "t9")))
            self.server.say("insert into iocast_load.theirs values (7)", "insert into iocast_load.t9 values (7)")
            self.server.say("create view iocast_load.seen as select 7 as n")

    def stage(self) -> str:
        """What the note says; "none" without one."""
        if "data_set" not in self.names():
            return "none"
        return "".join(state for (state,) in self.server.rows("select state from iocast_load.data_set")) or "no note"

    def names(self) -> set[str]:
        return {str(name) for (name,) in self.server.rows(_NAMES)}

    def check(self) -> bool:
        """Only a whole data set is taken for one; nothing of others has changed; no file is left over."""
        for name in self.names() & THEIRS:
            assert self.server.rows(f"select n from iocast_load.{name}") == [(7,)]
        assert self.names() <= OURS | THEIRS
        assert self.server.rows("select n from other.t1") == [(7,)]
        loading = my_load.connect(self.server.url("loader"))
        try:
            loading.describe()
            refusal = ""
        except TargetError as refused:
            refusal = refused.message
        finally:
            loading.close()
        whole = not refusal
        assert whole or any(why in refusal for why in ("not complete", "no data set", "not made by")), refusal
        if whole:
            self.check_whole()
        self.check_files()
        return whole

    def check_whole(self) -> None:
        """Each row once, with its filler, and each loop."""
        for table in range(1, TABLES + 1):
            counts = self.server.rows(
                "select count(*), count(k), count(distinct k), min(k), max(k), min(length(filler))"
                f" from iocast_load.t{table}"
            )
            assert counts == [(2 * ROWS, ROWS, ROWS, 1, ROWS, 8192 - 256)]
        loops = {name for (name,) in self.server.rows(_LOOPS)}
        assert loops == {f"load_{table}" for table in range(1, TABLES + 1)}

    def check_files(self) -> None:
        """Files belong to tables that the server knows; nothing temporary stays."""
        until(lambda: self.server.rows(_AT_WORK) == [(0,)])
        folder = self.server.socket.parent
        stems = {each.stem for each in folder.glob("data/iocast_load/*")}
        assert stems <= self.names() | {"db"}
        assert [str(each) for each in folder.rglob("*#sql*")] == []
        assert {each.name for each in folder.iterdir()} <= self.files
        known = {
            str(name).partition("/")[2]
            for (name,) in self.server.rows(
                "select name from information_schema.innodb_sys_tables where name like 'iocast_load/%'"
            )
        }
        assert known == {name for name in self.names() if name != "seen"}

    def dropped(self) -> None:
        """A drop removes exactly ours, what others put beside it stays."""
        before = self.names()
        if not before:
            return
        if before & OURS:
            drop(self.server)
        assert self.names() == before & THEIRS
        assert self.server.rows(_LOOPS) == []
        for name in before & THEIRS:
            assert self.server.rows(f"select n from iocast_load.{name}") == [(7,)]
            self.server.say(f"drop {'view' if name == 'seen' else 'table'} iocast_load.{name}")


_AT_WORK = "select count(*) from information_schema.processlist where user = 'loader'"


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_build_that_was_killed_is_followed_by_one_that_works(
    server: Mariadb, tmp_path: Path, say: Callable[[str], None]
) -> None:
    bench = Bench(server, tmp_path)
    stages: Counter[str] = Counter()
    number = 0
    while number < KILLS:
        if bench.stage() == "none":
            bench.dropped()  # of others alone: iocast takes no database that has objects of theirs
        dropping = bench.stage() in ("complete", "dropping")
        number += bench.kill(DROP if dropping else BUILD, *WAYS[number % len(WAYS)])
        bench.check()
        stages[bench.stage()] += 1
        if bench.chance.random() < 0.3:
            bench.put_theirs()
        if bench.stage() == "building" and bench.chance.random() < 0.4:
            bench.finish(BUILD)  # else the next one is killed as it goes on
            assert bench.check()
        if bench.chance.random() < 0.3:
            bench.dropped()
    bench.dropped()
    bench.finish(BUILD)
    assert bench.check()
    bench.dropped()
    bench.check_files()
    say(f"{bench.orphans} files were left by kills of the server in a drop")
    for counts in (bench.ends, stages):
        say(f"{number} kills: " + ", ".join(f"{what} {count}" for what, count in sorted(counts.items())))
