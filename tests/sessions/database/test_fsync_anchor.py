"""pg_test_fsync in a folder that another user owns: it has that user's rights only, and no name that was waited for."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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


@pytest.mark.parametrize("by", ["link", "folder"])
def test_what_takes_the_name_of_its_directory_is_left_alone(
    place: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    program(place, monkeypatch)
    others = place / "others"
    others.mkdir()
    (others / "written").write_text("of others")
    real = os.mkdir

    def mkdir(path: Any, *words: Any, **more: Any) -> None:
        real(path, *words, **more)
        made = folder / path
        made.rename(folder / "moved")
        made.symlink_to(others) if by == "link" else shutil.copytree(others, made)

    with monkeypatch.context() as patched:
        patched.setattr(os, "mkdir", _once(mkdir, real))
        found, why = measured_anchor(None, str(folder))
    assert found == {}
    assert "failed" in why
    assert (others / "written").read_text() == "of others"
    assert others.stat().st_uid == os.geteuid()
    if by == "folder":
        (exchanged,) = (each for each in folder.iterdir() if each.name != "moved")
        assert (exchanged / "written").read_text() == "of others"
        assert exchanged.stat().st_uid == os.geteuid()


def _once(first: Any, then: Any) -> Any:
    """A function of which only the first call is another."""
    calls: list[int] = []

    def called(*words: Any, **more: Any) -> None:
        calls.append(1)
        (first if len(calls) == 1 else then)(*words, **more)

    return called


def test_what_stays_is_said(place: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(place, monkeypatch, f'{TIMES}\ntouch "$(dirname "$2")/more"')
    found, why = measured_anchor(None, str(folder))
    assert found == {"fdatasync": 1_000_000}
    assert why.startswith(f"in {folder} there stays .iocast-fsync-")
    (room,) = folder.iterdir()
    assert os.listdir(room) == ["more"]


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
