"""A PostgreSQL server of our own in a directory, for as long as it is needed: nobody else's data, network or user.

Its cluster is made in `PATH/.iocast-postgres`, on the storage that is tested. It listens on a Unix socket only, in a
directory that only its user may enter; its shared buffers are small, and where the version can, its data files are
opened with O_DIRECT, so that reads reach the storage. fsync is on. It ends with the process that started it, whatever
ends that: the kernel tells it. `iocast clean PATH` removes what a kill leaves.
"""

from __future__ import annotations

import ctypes
import os
import pwd
import secrets
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

import msgspec
from msgspec import Struct

from iocast.archive.ownership import this_process
from iocast.databases.postgresql.own_folder import (
    DATA,
    MAKER,
    MARK,
    ServerMark,
    leftover_in,
    place_in,
    remove_own_folder,
)
from iocast.databases.postgresql.server_programs import ServerPrograms, find_programs, identity_of, server_user
from iocast.errors import TargetError

ROLE: Final = "iocast"
SHARED_BUFFERS_BYTES: Final = 16 << 20
CLUSTER_BYTES: Final = 300 << 20  # an empty cluster with its write-ahead log
DIRECT_IO_SINCE: Final = 16
_LONGEST_SOCKET: Final = 107 - len("/.s.PGSQL.5432.lock")
_READY_S: Final = 60.0
_PR_SET_PDEATHSIG: Final = 1
_ELSEWHERE: Final = "give a directory with write permission, on another file system"


class OwnServer(Struct, frozen=True, kw_only=True):
    """A running server of ours."""

    url: str
    programs: ServerPrograms
    folder: str
    pid: int
    user: str  # that it runs as
    direct_io: bool  # its data files are opened with O_DIRECT: the page cache answers nothing
    shared_buffers_bytes: int


@contextmanager
def own_server(path: str, programs: ServerPrograms | None = None, *, room_bytes: int = 0) -> Iterator[OwnServer]:
    """While entered, a server runs in the directory `path`; afterwards nothing of it is left.

    `room_bytes` will be needed besides the cluster. To be entered on a thread that lives as long: the kernel ends the
    server with it. Raises TargetError for a directory that will not do, DatabaseError where no server can be run.
    """
    programs = programs or find_programs()
    user = server_user()
    folder = _made_folder(path, user, room_bytes)
    try:
        _init_cluster(programs, folder, user)
        process, direct_io = _started(programs, folder, user)
        try:
            yield OwnServer(
                url=f"postgresql://{ROLE}@/postgres?host={quote(_sockets(folder), safe='')}",
                programs=programs,
                folder=str(folder),
                pid=process.pid,
                user=user.pw_name if user else pwd.getpwuid(os.geteuid()).pw_name,
                direct_io=direct_io,
                shared_buffers_bytes=SHARED_BUFFERS_BYTES,
            )
        finally:
            _stop(process)
    finally:
        remove_own_folder(folder)


def _made_folder(path: str, user: pwd.struct_passwd | None, room_bytes: int) -> Path:
    """The marked folder with its empty parts. Raises TargetError."""
    if not os.path.isdir(path):
        raise TargetError(f"{path} is not a directory: a database needs one", "give a directory on the storage")
    if found := leftover_in(path):
        why = found.why_not or "was left behind by an iocast that was killed"
        way_out = f"iocast clean {path}" if not found.why_not else "give another directory"
        raise TargetError(f"{found.folder} {why}", way_out)
    folder = place_in(path)
    _check_way(folder.parent, user)
    free = os.statvfs(folder.parent)
    needed = CLUSTER_BYTES + room_bytes
    if free.f_bavail * free.f_frsize < needed:
        left = free.f_bavail * free.f_frsize >> 20
        raise TargetError(f"{path} has {left} MiB free; {needed >> 20} MiB are needed", "free some space")
    try:
        os.mkdir(folder, 0o700)
        inside = len(str(folder / "socket")) <= _LONGEST_SOCKET
        outside = os.path.join(tempfile.gettempdir(), f"iocast-pg-{secrets.token_hex(8)}")
        sockets = "" if inside else outside
        mark = ServerMark(made_by=MAKER, inode=os.lstat(folder).st_ino, owner=this_process(), sockets=sockets)
        (folder / MARK).write_bytes(msgspec.json.encode(mark))
        for each in (folder / DATA, Path(sockets or folder / "socket")):
            os.mkdir(each, 0o700)
            if user:
                os.chown(each, user.pw_uid, user.pw_gid)
        if user:
            os.chmod(folder, 0o711)  # its user goes through; what is inside is closed to all others
    except OSError as error:
        raise TargetError(f"cannot make {folder}: {error.strerror}", _ELSEWHERE) from error
    return folder


def _check_way(place: Path, user: pwd.struct_passwd | None) -> None:
    """Raises TargetError where the user of the server cannot get to the directory."""
    if user is None:
        return
    for part in (place, *place.parents):
        status = part.stat()
        bit = 0o100 if status.st_uid == user.pw_uid else 0o010 if status.st_gid == user.pw_gid else 0o001
        if not status.st_mode & bit:
            said = f"{user.pw_name}, as whom the server runs, may not enter {part}"
            raise TargetError(said, "give a directory that everybody may enter, or run iocast as an ordinary user")


def _sockets(folder: Path) -> str:
    mark = msgspec.json.decode((folder / MARK).read_bytes(), type=ServerMark)
    return mark.sockets or str(folder / "socket")


def _environment(folder: Path) -> dict[str, str]:
    """Nothing of ours: PGDATA, PGPORT and their like would be obeyed."""
    return {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC", "HOME": str(folder / DATA)}


def _init_cluster(programs: ServerPrograms, folder: Path, user: pwd.struct_passwd | None) -> None:
    """An empty cluster, synced. Raises TargetError."""
    words = ["-D", str(folder / DATA), "-U", ROLE, "-A", "trust", "-E", "UTF8", "--no-locale", "--no-instructions"]
    done = subprocess.run(
        [f"{programs.folder}/initdb", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder / DATA,
        env=_environment(folder),
        start_new_session=True,  # a Ctrl-C is ours to answer
        preexec_fn=_ends_with_us(),
        check=False,
        **identity_of(user),
    )
    if done.returncode:
        said = " ".join(done.stdout.split()[-60:])
        raise TargetError(f"initdb failed in {folder}: {said}", _ELSEWHERE)


def _settings(folder: Path, *, direct_io: bool) -> dict[str, str]:
    """What postgresql.conf says besides the defaults of the version."""
    return {
        "listen_addresses": "",
        "unix_socket_directories": _sockets(folder),
        "unix_socket_permissions": "0700",
        "port": "5432",  # only the name of the socket
        "max_connections": "100",
        "shared_buffers": f"{SHARED_BUFFERS_BYTES >> 20}MB",
        "huge_pages": "off",
        "dynamic_shared_memory_type": "mmap",  # in the data directory, where it is removed with it
        "fsync": "on",
        "synchronous_commit": "on",
        "full_page_writes": "on",
        "max_wal_size": "256MB",
        "autovacuum": "off",
        "jit": "off",
        "track_io_timing": "on",
        "track_wal_io_timing": "on",
        "restart_after_crash": "off",
        "logging_collector": "off",
        "log_timezone": "UTC",
        "timezone": "UTC",
        **({"debug_io_direct": "data"} if direct_io else {}),
    }


def _started(
    programs: ServerPrograms, folder: Path, user: pwd.struct_passwd | None
) -> tuple[subprocess.Popen[bytes], bool]:
    """The server, listening, and whether with O_DIRECT: without it where the file system refuses that."""
    said = ""
    for direct_io in (True, False) if programs.major >= DIRECT_IO_SINCE else (False,):
        lines = (f"{name} = '{value}'\n" for name, value in _settings(folder, direct_io=direct_io).items())
        (folder / DATA / "postgresql.conf").write_text("".join(lines))
        log = folder / "server.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                [f"{programs.folder}/postgres", "-D", str(folder / DATA)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                cwd=folder / DATA,
                env=_environment(folder),
                start_new_session=True,
                preexec_fn=_ends_with_us(),
                **identity_of(user),
            )
        try:
            if _listens(process, folder):
                return process, direct_io
        except BaseException:
            _stop(process)
            raise
        _stop(process)
        said = " ".join(log.read_text(errors="replace").split()[-60:])
    raise TargetError(f"PostgreSQL {programs.version} does not start in {folder}: {said}", _ELSEWHERE)


def _listens(process: subprocess.Popen[bytes], folder: Path) -> bool:
    """Waits until the server says in its pid file that it is ready; False when it ended or took too long."""
    deadline = time.monotonic() + _READY_S
    while process.poll() is None and time.monotonic() < deadline:
        try:
            lines = (folder / DATA / "postmaster.pid").read_text().splitlines()
        except OSError:
            lines = []
        if len(lines) >= 8 and lines[7].strip() == "ready":
            return True
        time.sleep(0.02)
    return False


def _ends_with_us() -> Callable[[], None]:
    """What a child does before it becomes a server: the kernel is to end it when its parent is gone."""
    prctl = ctypes.CDLL(None).prctl
    parent = os.getpid()

    def ask() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGQUIT, 0, 0, 0)
        if os.getppid() != parent:  # it went before it was asked
            os.kill(os.getpid(), signal.SIGKILL)

    return ask


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ends the server without a checkpoint: its data are removed with it."""
    if process.poll() is None:
        process.send_signal(signal.SIGQUIT)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
