"""Somebody exchanges the folder of our server, or plants links in it, between two steps: others lose nothing."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from iocast.archive.writing import asides
from iocast.archive.writing.held_folder import HeldFolder
from iocast.databases.postgresql.own_folder import (
    FOLDER,
    MARK,
    ServerMark,
    held_directory,
    remove_own_folder,
)
from iocast.databases.postgresql.own_processes import pid_file
from iocast.databases.postgresql.own_server import own_server
from iocast.databases.postgresql.server_programs import ServerPrograms
from iocast.errors import DatabaseError, TargetError
from iocast.sessions.clean_up import clean_up

pytestmark = pytest.mark.long

psycopg = pytest.importorskip("psycopg")
IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # initdb syncs a thousand files
PRECIOUS = "# of others\n"  # a configuration that PostgreSQL can read, too


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory that the user of the server may enter; pytest's own are closed."""
    made = tempfile.mkdtemp(prefix="iocast-test-swap-", dir=IN_MEMORY)
    os.chmod(made, 0o755)
    yield Path(made)
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture
def target(place: Path) -> Path:
    """The PATH that a server is to run in."""
    made = place / "path"
    made.mkdir()
    return made


@pytest.fixture
def others(place: Path) -> Path:
    """A folder of somebody else with all that ours has, closed to others."""
    made = place / "others"
    (made / "data").mkdir(parents=True)
    for name in (MARK, "server.log", "data/postgresql.conf", "data/postmaster.pid", "data/table"):
        (made / name).write_text(PRECIOUS)
        (made / name).chmod(0o600)
    made.chmod(0o700)
    return made


def look(folder: Path) -> list[tuple[object, ...]]:
    """All that a folder of others has, with owners, modes and contents."""
    found: list[tuple[object, ...]] = []
    for each in (folder, *sorted(folder.rglob("*"))):
        status = each.lstat()
        text = each.read_bytes() if each.is_file() else b""
        found.append((str(each), status.st_uid, status.st_mode, status.st_ino, text))
    return found


def exchange(target: Path, by: Path | None) -> None:
    """The folder of our server is moved away, and a link, or nothing, has its name."""
    ours = target / FOLDER
    if not ours.is_symlink() and ours.exists():
        ours.rename(target / "moved")
        if by is not None:
            ours.symlink_to(by)


def before(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, then: Callable[..., None]) -> None:
    """Does something before each call of a function."""
    real = getattr(module, name)

    def told(*words: Any, **more: Any) -> Any:
        then(*words)
        return real(*words, **more)

    monkeypatch.setattr(module, name, told)


def test_a_name_that_is_taken_while_the_folder_is_made(
    target: Path, others: Path, some: ServerPrograms, monkeypatch: pytest.MonkeyPatch
) -> None:
    former, real = look(others), asides.Room.give_name

    def give_name(room: asides.Room, name: str) -> None:
        (target / FOLDER).symlink_to(others)
        real(room, name)

    monkeypatch.setattr(asides.Room, "give_name", give_name)
    with pytest.raises(TargetError, match=r"cannot make .* File exists"), own_server(str(target), some):
        pass
    assert look(others) == former
    assert os.listdir(target) == [FOLDER]


@pytest.mark.parametrize("whose", ["link", "full", "old", "fresh"])
def test_another_directory_that_takes_the_place_while_the_folder_is_made(
    target: Path, others: Path, some: ServerPrograms, monkeypatch: pytest.MonkeyPatch, whose: str
) -> None:
    """One that belongs to the caller, too, as a run folder in PATH does; also one that is empty, old or just made."""
    spool, real, seen = target / "spool", os.mkdir, look(others)
    target.chmod(0o777)  # others may rename in it

    def theirs() -> None:
        if whose == "link":
            spool.symlink_to(others)
            return
        real(spool, 0o700)
        if whose == "full":
            (spool / "run.json").write_text(PRECIOUS)
        if whose == "old":
            os.utime(spool, (1, 1))

    def mkdir(path: Any, *words: Any, **more: Any) -> None:
        real(path, *words, **more)
        if str(path).startswith(".iocast-") and not (target / "moved").exists():
            if whose == "fresh":
                theirs()
                time.sleep(0.05)
            (target / path).rename(target / "moved")
            spool.rename(target / path)

    if whose != "fresh":
        theirs()
    monkeypatch.setattr(os, "mkdir", mkdir)
    with contextlib.suppress(TargetError), own_server(str(target), some):
        pass
    monkeypatch.undo()
    (there,) = target.glob(".iocast-*")
    assert look(others) == seen
    assert there.is_symlink() or (there.stat().st_mode & 0o7777, os.listdir(there)) == (
        0o700,
        ["run.json"] if whose == "full" else [],
    )
    assert not os.path.lexists(target / FOLDER)


@pytest.mark.parametrize("step", ["run", "Popen"])  # of initdb, of the server
@pytest.mark.parametrize("by", ["link", "nothing"])
def test_an_exchange_before_a_program_starts(
    target: Path, others: Path, some: ServerPrograms, monkeypatch: pytest.MonkeyPatch, step: str, by: str
) -> None:
    """The server runs where its folder is by then, and all but that empty folder is removed at the end."""
    former = look(others)

    def first(words: list[str], *_: Any) -> None:
        if os.path.basename(words[0]) == ("initdb" if step == "run" else "postgres"):
            exchange(target, others if by == "link" else None)

    before(monkeypatch, subprocess, step, first)
    with (
        pytest.raises(TargetError, match="was moved away, and is empty now") as told,
        own_server(str(target), some) as own,
    ):
        assert os.readlink(f"/proc/{own.pid}/cwd") == f"{target}/moved/data"
    assert told.value.hint == "remove it there, and give a directory in which only you may rename"
    assert look(others) == former
    assert not os.path.exists(f"/proc/{own.pid}")
    assert os.listdir(target / "moved") == []


def test_an_exchange_while_the_server_runs(target: Path, others: Path, some: ServerPrograms) -> None:
    """Where others may rename in PATH, clients get to the socket by its descriptor."""
    former, said = look(others), list[str]()
    if os.geteuid() == 0:
        os.chown(target, 65534, 65534)
    else:
        os.chmod(target, 0o777)
    with own_server(str(target), some, say=said.append) as own:
        exchange(target, others)
        with psycopg.connect(own.url) as connection:
            row = connection.execute("select 1").fetchone()
    assert row == (1,)
    assert look(others) == former
    (left,) = said
    assert left.startswith(f"{target}/{FOLDER} was moved away, and is empty now: {target}/moved: remove it there")


def test_a_link_that_the_user_of_the_server_put_into_its_data(
    target: Path, others: Path, some: ServerPrograms, monkeypatch: pytest.MonkeyPatch
) -> None:
    conf = others / "data/postgresql.conf"
    others.chmod(0o755)
    (others / "data").chmod(0o755)
    conf.chmod(0o644)
    former = look(others)

    real = subprocess.run

    def run(words: list[str], *more: Any, **named: Any) -> subprocess.CompletedProcess[str]:
        done = real(words, *more, **named)
        ours = target / FOLDER / "data/postgresql.conf"
        if os.path.basename(words[0]) == "initdb" and "--show" not in words:
            ours.unlink()
            ours.symlink_to(conf)
        return done

    monkeypatch.setattr(subprocess, "run", run)
    said = list[str]()
    with own_server(str(target), some, say=said.append) as own:
        assert not own.url.startswith("postgresql:///")
    assert look(others) == former
    why = f"{target}/{FOLDER} stays: data/postgresql.conf in it was not created by iocast"
    assert said == [f"{why}: move that away, then iocast clean {target}"]
    (target / FOLDER / "data/postgresql.conf").unlink()
    mark = target / FOLDER / MARK
    mark.write_bytes(msgspec.json.encode(msgspec.json.decode(mark.read_bytes()) | {"owner": None}))
    assert clean_up(str(target)).left == ()
    assert os.listdir(target) == []


def test_what_cannot_be_removed_is_said(target: Path, some: ServerPrograms, monkeypatch: pytest.MonkeyPatch) -> None:
    real = HeldFolder.empty

    def refused(folder: HeldFolder) -> None:
        if folder.path.name == "data":
            raise OSError(16, "Device or resource busy")
        real(folder)

    monkeypatch.setattr(HeldFolder, "empty", refused)
    why = f"{target}/{FOLDER} could not be removed: Device or resource busy"
    with pytest.raises(TargetError, match=why) as told, own_server(str(target), some):
        pass
    assert told.value.hint == f"iocast clean {target}"
    monkeypatch.setattr(HeldFolder, "empty", real)
    mark = target / FOLDER / MARK
    mark.write_bytes(msgspec.json.encode(msgspec.json.decode(mark.read_bytes()) | {"owner": None}))
    assert clean_up(str(target)).left == ()
    monkeypatch.setattr(HeldFolder, "empty", refused)
    with pytest.raises(DatabaseError, match=f"of the load; {why}"), own_server(str(target), some):
        raise DatabaseError("of the load", "a way out")


def left_behind(target: Path) -> Path:
    """A folder as a killed iocast leaves it."""
    ours = target / FOLDER
    ours.mkdir(mode=0o700)
    mark = ServerMark(made_by="iocast", inode=ours.stat().st_ino, owner=None, sockets="")
    (ours / MARK).write_bytes(msgspec.json.encode(mark))
    (ours / "data").mkdir()
    (ours / "data/PG_VERSION").write_text("ours")
    return ours


def test_clean_ends_and_removes_nothing_of_a_folder_that_takes_the_name(
    target: Path, others: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the data of another server are removed nor its processes ended."""
    ours, former, real = left_behind(target), look(others), os.listdir
    program = shutil.copy(shutil.which("sleep") or "", place / "postgres")

    def listdir(*words: Any) -> list[str]:
        if words == ("/proc",):
            exchange(target, others)
        return real(*words)

    with subprocess.Popen([program, "60"], cwd=others / "data") as server:
        monkeypatch.setattr(os, "listdir", listdir)
        why = remove_own_folder(ours)
        assert server.poll() is None
        server.kill()
    assert look(others) == former
    assert why == f"was moved away, and is empty now: {target}/moved"
    assert real(target / "moved") == []


def test_clean_removes_no_data_of_a_folder_that_takes_the_name(
    target: Path, others: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, former, real = left_behind(target), look(others), HeldFolder.empty

    def empty(folder: HeldFolder) -> None:
        if folder.path.name == "data":
            exchange(target, others)
        real(folder)

    monkeypatch.setattr(HeldFolder, "empty", empty)
    assert remove_own_folder(ours) == f"was moved away, and is empty now: {target}/moved"
    assert look(others) == former


def test_a_folder_in_use_that_takes_the_name_after_the_look_stays(target: Path, some: ServerPrograms) -> None:
    with own_server(str(target), some) as own:
        assert remove_own_folder(Path(own.folder)) == "is in use by an iocast process"
        assert os.path.exists(f"/proc/{own.pid}")


@pytest.mark.parametrize("text", ["{}", '{"made_by": "others"}', '{"made_by":"iocast","inode":1,"owner":', "settings"])
def test_a_folder_with_a_small_file_of_others_is_theirs(target: Path, text: str) -> None:
    (target / FOLDER).mkdir(mode=0o700)
    (target / FOLDER / MARK).write_text(text)
    assert clean_up(str(target)).left == ((f"{target}/{FOLDER}", "was not created by iocast"),)
    assert (target / FOLDER / MARK).read_text() == text


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.9])
def test_a_folder_whose_mark_is_cut_off_stays(target: Path, share: float) -> None:
    """A folder of ours has its whole mark from the start."""
    ours = left_behind(target)
    whole = (ours / MARK).read_text()
    (ours / MARK).write_text(whole[: int(share * len(whole))])
    assert clean_up(str(target)).left == ((str(ours), "was not created by iocast"),)
    assert (ours / "data/PG_VERSION").read_text() == "ours"


def test_what_a_kill_left_half_made_goes(target: Path, some: ServerPrograms) -> None:
    child = os.fork()
    if not child:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(asides.Room, "give_name", lambda *_: os.kill(os.getpid(), 9))
            with own_server(str(target), some):
                pass
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 9
    assert len(list(target.glob(f".iocast-new.*/{FOLDER}/{MARK}"))) == 1
    assert clean_up(str(target)).left == ()
    assert os.listdir(target) == []


def test_a_path_that_goes_meanwhile_is_an_error_with_a_way_out(
    target: Path, some: ServerPrograms, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of PATH is moved away while initdb runs."""

    def gone(words: list[str], *_: Any) -> None:
        if os.path.basename(words[0]) == "initdb" and target.exists():
            shutil.move(target, target.with_name("elsewhere"))

    before(monkeypatch, subprocess, "run", gone)
    with own_server(str(target), some) as own:
        assert os.readlink(f"/proc/{own.pid}/cwd").startswith(f"{target.parent}/elsewhere/")
    assert os.listdir(target.with_name("elsewhere")) == []


def test_a_pid_file_that_the_user_of_the_server_exchanged_is_none(place: Path, others: Path) -> None:
    """A FIFO keeps nobody waiting for a writer, and a link leads nowhere."""
    data = held_directory(place)
    assert pid_file(data) == []
    os.mkfifo(place / "postmaster.pid")
    assert pid_file(data) == []
    (place / "postmaster.pid").unlink()
    (place / "postmaster.pid").symlink_to(others / "data/table")
    assert pid_file(data) == []
    (place / "postmaster.pid").unlink()
    (place / "postmaster.pid").write_text("1\n2\n")
    assert pid_file(data) == ["1", "2"]
