"""A PostgreSQL of our own: it listens nowhere else, reaches the storage, and nothing of it outlives its process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import LiteralString

import msgspec
import pytest
from makers.database_servers import NoServer, postgres_programs
from msgspec.structs import replace

from iocast.archive.ownership import process_of
from iocast.databases.postgresql.own_folder import FOLDER, MARK, ServerMark, leftover_in
from iocast.databases.postgresql.own_server import OwnServer, own_server
from iocast.databases.postgresql.server_programs import Identity, ServerPrograms, find_programs
from iocast.errors import DatabaseError, TargetError
from iocast.sessions.clean_up import clean_up

pytestmark = pytest.mark.long

psycopg = pytest.importorskip("psycopg")
CHILD = """
import sys, time
from iocast.databases.postgresql.own_server import own_server
from iocast.databases.postgresql.server_programs import find_programs
with own_server(sys.argv[1], find_programs(sys.argv[2])) as server:
    print(server.pid, flush=True)
    time.sleep(60)
"""


IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # initdb syncs a thousand files


@pytest.fixture
def place(request: pytest.FixtureRequest) -> Iterator[str]:
    """A directory that the user of the server may enter; pytest's own are closed. On a disk for O_DIRECT."""
    on_disk = request.node.name.startswith("test_each_version") and "18" in request.node.name
    made = tempfile.mkdtemp(prefix="iocast-test-pg-", dir=None if on_disk else IN_MEMORY)
    os.chmod(made, 0o755)
    yield made
    shutil.rmtree(made, ignore_errors=True)


def programs(version: int) -> ServerPrograms:
    try:
        return find_programs(str(postgres_programs(version)))
    except (NoServer, DatabaseError) as why:
        pytest.skip(str(why))


def value(server: OwnServer, statement: LiteralString) -> str:
    with psycopg.connect(server.url) as connection:
        row = connection.execute(statement).fetchone()
        return str(row[0]) if row else ""


def work_in(server: OwnServer) -> None:
    """What makes files of many kinds: all of them are told from those of others by their names."""
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("create database other")
        connection.execute("create table t as select i, repeat('x', 500) as s from generate_series(1, 20000) i")
        connection.execute("create unlogged table u as select i from generate_series(1, 20000) i")
        connection.execute("create index on t (s, i)")
        connection.execute("vacuum full t")
        connection.execute("checkpoint")
        connection.execute("select pg_switch_wal()")
        connection.execute("set work_mem = '64kB'")
        connection.execute("create temporary table v as select * from t order by s, i desc")
        connection.execute("select count(*) from t a join t b on a.s = b.s and a.i = b.i")


@pytest.mark.parametrize("version", [14, 15, 16, 17, 18])  # Debian's is 15
def test_each_version_runs_on_a_socket_of_its_own_and_is_gone_afterwards(version: int, place: str) -> None:
    with own_server(place, programs(version)) as server:
        assert server.programs.major == version
        assert value(server, "show listen_addresses") == ""
        assert value(server, "show fsync") == "on"
        assert os.readlink(f"/proc/{server.pid}/cwd") == f"{place}/{FOLDER}/data"
        assert int(value(server, "select setting::bigint * 8192 from pg_settings where name = 'shared_buffers'")) == (
            server.shared_buffers_bytes
        )
        assert server.direct_io == (version >= 16) or (place.startswith("/dev") and not server.direct_io)
        if server.direct_io:
            assert value(server, "show debug_io_direct") == "data"
        work_in(server)
        found = leftover_in(place)
        assert found is not None
        assert found.why_not == "is in use by an iocast process"
    assert os.listdir(place) == []
    assert not os.path.exists(f"/proc/{server.pid}")


@pytest.fixture
def open_place() -> Iterator[Path]:
    """A directory that the user of the server may enter; those of pytest are closed."""
    with tempfile.TemporaryDirectory(prefix="iocast-test-") as made:
        os.chmod(made, 0o755)
        yield Path(made)


@pytest.mark.parametrize("setting", ["external_pid_file", "data_directory"])
def test_settings_of_the_site_lead_nowhere(place: str, some: ServerPrograms, open_place: Path, setting: str) -> None:
    """initdb works by the site's postgresql.conf.sample, which may name a file for the pid, or the data of another."""
    site, share, other = open_place / "site", open_place / "share", open_place / "other"
    for each in (site, share, other):
        each.mkdir(mode=0o755)
    other.chmod(0o700)
    if os.geteuid() == 0:
        shutil.chown(other, "postgres")
    told = subprocess.run([f"{some.folder}/pg_config", "--sharedir"], capture_output=True, text=True, check=True)
    usual = Path(told.stdout.strip())
    for name in os.listdir(usual):
        (share / name).symlink_to(usual / name)
    (share / "postgresql.conf.sample").unlink()
    leads_to = other / "main.pid" if setting == "external_pid_file" else other
    sample = (usual / "postgresql.conf.sample").read_text("utf-8")
    (share / "postgresql.conf.sample").write_text(f"{sample}\n{setting} = '{leads_to}'\n", "utf-8")
    for name in os.listdir(some.folder):
        (site / name).symlink_to(os.path.join(some.folder, name))
    (site / "initdb").unlink()  # one that was built with another share
    (site / "initdb").write_text(
        f'#!/bin/sh\ncase "$*" in\n*--show*) echo "share_path={share}" >&2; exit ;;\n*" -L "*) ;;\n'
        f'*) set -- "$@" -L {share} ;;\nesac\nexec {some.folder}/initdb "$@"\n'
    )
    (site / "initdb").chmod(0o755)
    with own_server(place, replace(some, folder=str(site))) as server:
        assert value(server, "show external_pid_file") == ""
        assert value(server, "show data_directory") != str(other)
        assert value(server, "show archive_command") in ("", "(disabled)")
    assert os.listdir(other) == []


def test_a_path_too_long_for_a_socket_has_it_elsewhere(place: str, some: ServerPrograms) -> None:
    deep = Path(place, "d" * 100)
    deep.mkdir()
    with own_server(str(deep), some) as server:
        sockets = value(server, "show unix_socket_directories")
        assert not sockets.startswith(place)
    assert not os.path.exists(sockets)
    assert list(deep.iterdir()) == []


def test_it_ends_with_its_process_and_clean_removes_the_rest(place: str, some: ServerPrograms) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, place, some.folder], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        pid = int(child.stdout.readline())
        assert clean_up(place).left == ((f"{place}/{FOLDER}", "is in use by an iocast process"),)
        child.kill()
    until(lambda: not os.path.exists(f"/proc/{pid}"))
    with pytest.raises(TargetError, match="was left behind by an iocast that was killed"), own_server(place, some):
        pass
    (folder, freed_bytes) = clean_up(place, dry_run=True).removed[0]
    assert folder == f"{place}/{FOLDER}"
    assert freed_bytes > 20 << 20
    assert clean_up(place).removed == ((folder, freed_bytes),)
    assert os.listdir(place) == []


def left_behind(place: str, some: ServerPrograms) -> Path:
    """The data directory that a killed iocast leaves; its server has ended by then."""
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, place, some.folder], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        child.kill()
    data = Path(place, FOLDER, "data")
    until(lambda: not (data / "postmaster.pid").exists())
    return data


@contextmanager
def another(data: Path, some: ServerPrograms) -> Iterator[subprocess.Popen[bytes]]:
    """A server in the same data that iocast did not start."""
    owner = data.stat()
    identity = Identity() if os.geteuid() else Identity(user=owner.st_uid, group=owner.st_gid, extra_groups=[])
    words = ["-D", str(data), "-c", "listen_addresses=", "-c", f"unix_socket_directories={data.parent}/socket"]
    server = subprocess.Popen([f"{some.folder}/postgres", *words], stderr=subprocess.DEVNULL, cwd=data, **identity)
    try:
        until(lambda: (data / "postmaster.pid").exists() and "ready" in (data / "postmaster.pid").read_text())
        yield server
    finally:
        server.terminate()
        server.wait()


def test_clean_ends_a_server_that_still_runs(place: str, some: ServerPrograms) -> None:
    """One that the kernel did not end: told by the number and the start that are in the mark."""
    data = left_behind(place, some)
    with another(data, some) as again:
        mark = data.parent / MARK
        known = msgspec.json.decode(mark.read_bytes(), type=ServerMark)
        assert known.server is not None
        mark.write_bytes(msgspec.json.encode(replace(known, server=process_of(again.pid))))
        assert [folder for folder, _ in clean_up(place).removed] == [f"{place}/{FOLDER}"]
        assert again.wait(10) is not None
    assert os.listdir(place) == []


def test_clean_ends_no_process_that_iocast_did_not_start(place: str, some: ServerPrograms) -> None:
    """It ended whatever was called postgres… and worked there, and removed the data below it."""
    data = left_behind(place, some)
    exporter = shutil.copy(shutil.which("sleep") or "", f"{place}/postgres_exporter")
    with another(data, some) as again, subprocess.Popen([exporter, "60"], cwd=data) as other:
        why = f"is in use by process {again.pid}, which iocast did not start"
        assert [said.partition(" by ")[0] for _, said in clean_up(place).left] == [why.partition(" by ")[0]]
        assert (again.poll(), other.poll()) == (None, None)
        assert (data / "PG_VERSION").exists()
        again.terminate()
        again.wait()
        assert [folder for folder, _ in clean_up(place).removed] == [f"{place}/{FOLDER}"]
        assert other.poll() is None
        other.kill()
    assert os.listdir(place) == ["postgres_exporter"]


@pytest.mark.parametrize("name", ["data/my-dump.sql", "data/base/notes", "data/global/1260.sql", "socket/mine", "mine"])
def test_what_no_server_made_stays_with_all_else(place: str, some: ServerPrograms, name: str) -> None:
    data = left_behind(place, some)
    mine = data.parent / name
    mine.write_text("precious")
    os.chown(mine, data.stat().st_uid, data.stat().st_gid)
    left = ((str(data.parent), f"stays: {name} in it was not created by iocast"),)
    assert clean_up(place).left == left
    assert mine.read_text() == "precious"
    assert (data / "PG_VERSION").exists()
    mine.unlink()
    assert [folder for folder, _ in clean_up(place).removed] == [f"{place}/{FOLDER}"]


def test_other_data_in_the_place_of_ours_stays(place: str, some: ServerPrograms) -> None:
    """Somebody moved a cluster of his own into a folder that was left, and clean removed it."""
    data = left_behind(place, some)
    data.rename(data.parent.parent / "moved")
    shutil.copytree(data.parent.parent / "moved", data)
    os.chown(data, (data.parent.parent / "moved").stat().st_uid, -1)
    assert clean_up(place).left == ((str(data.parent), "stays: data in it was not created by iocast"),)
    assert (data / "PG_VERSION").exists()
    shutil.rmtree(data)
    (data.parent.parent / "moved").rename(data)
    assert [folder for folder, _ in clean_up(place).removed] == [f"{place}/{FOLDER}"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("where", ["data", "data/base"])
def test_what_is_mounted_in_it_stays(place: str, some: ServerPrograms, where: str) -> None:
    """Also from the same file system."""
    data = left_behind(place, some)
    at, other = data.parent / where, Path(place) / "other"
    shutil.copytree(at, other)
    for each in (other, *other.rglob("*")):
        os.chown(each, data.stat().st_uid, data.stat().st_gid)
    before = sorted(str(each) for each in other.rglob("*"))
    subprocess.run(["mount", "--bind", other, at], check=True)
    try:
        assert [path for path, _ in clean_up(place).left] == [str(data.parent)]
        assert sorted(str(each) for each in other.rglob("*")) == before
    finally:
        subprocess.run(["umount", at], check=True)


def test_what_iocast_did_not_make_is_left_alone(place: str, some: ServerPrograms) -> None:
    folder = Path(place, FOLDER)
    folder.mkdir()
    (folder / "precious").write_text("data of others")
    left = ((str(folder), "was not created by iocast"),)
    assert clean_up(place).left == left
    (folder / MARK).write_text('{"made_by": "iocast", "inode": 1, "owner": null, "sockets": ""}')  # of another folder
    assert clean_up(place).left == left
    with pytest.raises(TargetError, match="was not created by iocast"), own_server(place, some):
        pass
    assert (folder / "precious").exists()


def test_an_empty_folder_of_the_name_stays(place: str) -> None:
    """Somebody renamed one of root's, and clean removed it."""
    Path(place, FOLDER).mkdir()
    assert clean_up(place).left == ((f"{place}/{FOLDER}", "was not created by iocast"),)
    assert os.listdir(place) == [FOLDER]


def test_what_cannot_hold_a_server_is_refused(place: str, some: ServerPrograms) -> None:
    with pytest.raises(TargetError, match="is not a directory"), own_server(f"{place}/missing", some):
        pass
    with pytest.raises(TargetError, match="MiB free"), own_server(place, some, room_bytes=1 << 60):
        pass
    with pytest.raises(DatabaseError, match="no PostgreSQL server that iocast can run in"):
        find_programs(place)
    if not os.geteuid():
        os.chmod(place, 0o700)
        with pytest.raises(TargetError, match="may not enter"), own_server(place, some):
            pass
    assert os.listdir(place) == []


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)
