"""pg_test_fsync in a folder that another user owns: it has that user's rights only, and no name that was waited for."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from makers.rootly import need

from iocast.sessions.database.fsync_anchor import measured_anchor

USER = 65534
FORMER_NAME = "iocast_pg_test_fsync.tmp"
PROGRAM = """#!/bin/sh
while [ "$1" != -f ]; do shift; done
echo written > "$2" || exit 1
echo "user $(id -u) group $(id -g) groups $(id -G) secret ${SECRET:-none}" >&2
echo 'Compare file sync methods using one 8kB write:'
{more}
"""
TIMES = "printf '        fdatasync                        1000.000 ops/sec    1000 usecs/op\\n'"


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory that all may enter; pytest's own are closed."""
    made = tempfile.mkdtemp(prefix="iocast-test-anchor-", dir="/var/tmp")
    os.chmod(made, 0o755)
    yield Path(made)
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture
def folder(place: Path) -> Path:
    """The folder of a server; another user's where root asks."""
    made = place / "data"
    made.mkdir(mode=0o700)
    if os.geteuid() == 0:
        os.chown(made, USER, USER)
    return made


def program(place: Path, monkeypatch: pytest.MonkeyPatch, more: str = TIMES) -> None:
    made = place / "bin"
    made.mkdir()
    (made / "pg_test_fsync").write_text(PROGRAM.replace("{more}", more))
    (made / "pg_test_fsync").chmod(0o755)
    monkeypatch.setenv("PATH", f"{made}:{os.environ['PATH']}")
    monkeypatch.setenv("SECRET", "of the caller")


def test_it_measures_and_leaves_nothing(place: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(place, monkeypatch)
    assert measured_anchor(None, str(folder)) == ({"fdatasync": 1_000_000}, "")
    assert os.listdir(folder) == []


def test_what_others_put_there_is_neither_written_to_nor_removed(
    place: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(place, monkeypatch)
    precious = place / "precious"
    precious.write_text("of root")
    (folder / FORMER_NAME).symlink_to(precious)
    assert measured_anchor(None, str(folder))[0]
    assert precious.read_text() == "of root"
    assert os.listdir(folder) == [FORMER_NAME]
    (folder / FORMER_NAME).unlink()
    (folder / FORMER_NAME).write_text("of the user")
    assert measured_anchor(None, str(folder))[0]
    assert (folder / FORMER_NAME).read_text() == "of the user"


def test_root_runs_it_as_the_owner_of_the_folder(place: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need()
    program(place, monkeypatch, "")
    found, why = measured_anchor(None, str(folder))
    assert found == {}
    assert why.endswith(f"user {USER} group {USER} groups {USER} secret none")


def test_root_runs_no_program_of_a_server_that_another_user_runs(
    place: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need()
    program(place, monkeypatch)
    assert measured_anchor(os.getpid(), str(folder))[1].endswith("the server does not work there any more")
    monkeypatch.chdir(folder)
    assert measured_anchor(os.getpid(), str(folder))[1].endswith("it does not belong to the user of the server")
    assert os.listdir(folder) == []


def test_a_kill_leaves_nothing(place: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program is killed with its file open; what began it is ended as if by kill -9."""
    pid = folder / "pid"  # all that the owner of the folder may write
    program(place, monkeypatch, f'echo $$ > "{pid}"; exec sleep 60')
    asked = f"from iocast.sessions.database.fsync_anchor import measured_anchor; measured_anchor(None, {str(folder)!r})"
    asking = subprocess.Popen([sys.executable, "-c", asked])
    deadline = time.monotonic() + 20
    while not pid.exists() or not pid.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    asking.kill()
    asking.wait()
    os.kill(int(pid.read_text()), signal.SIGKILL)
    assert os.listdir(folder) == ["pid"]


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.device
def test_the_real_program_measures_as_that_user(folder: Path) -> None:
    beside = next(iter(Path("/usr/lib/postgresql").glob("*/bin/pg_test_fsync")), None)
    if beside is None and shutil.which("pg_test_fsync") is None:
        pytest.skip("needs pg_test_fsync")
    with pytest.MonkeyPatch.context() as patched:
        if beside is not None:
            patched.setenv("PATH", f"{beside.parent}:{os.environ['PATH']}")
        found, why = measured_anchor(None, str(folder))
    assert why == ""
    assert found["fdatasync"] > 0
    assert os.listdir(folder) == []
