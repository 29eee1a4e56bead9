"""A PostgreSQL server of our own in a directory, for as long as it is needed: nobody else's data, network or user.

Its cluster is made in `PATH/.iocast-postgres`, on the storage that is tested. It listens on a Unix socket only, in a
directory that only its user may enter; its shared buffers are small, and where the version can, its data files are
opened with O_DIRECT, so that reads reach the storage. fsync is on. It ends with the process that started it, whatever
ends that: the kernel tells it. `iocast clean PATH` removes what a kill leaves.

Its folder is held by descriptors, which initdb and the server get instead of paths: whoever may rename in PATH leads
them nowhere else. Root writes nothing into what belongs to the user of the server.
"""

from __future__ import annotations

import os
import pwd
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple
from urllib.parse import quote

from msgspec import Struct

from iocast.archive.writing.held_folder import HeldFolder
from iocast.archive.writing.private_rooms import temporary_room
from iocast.archive.writing.renaming import others_may_rename
from iocast.databases.postgresql.own_folder import LOG, MOVED, STAYS
from iocast.databases.postgresql.own_making import ELSEWHERE, OwnPlace, made_place
from iocast.databases.postgresql.own_processes import pid_file
from iocast.databases.postgresql.server_programs import ServerPrograms, find_programs, identity_of, server_user
from iocast.errors import IocastError, TargetError
from iocast.starting import ending_with_us, starting

ROLE: Final = "iocast"
SHARED_BUFFERS_BYTES: Final = 16 << 20
CLUSTER_BYTES: Final = 300 << 20  # an empty cluster with its write-ahead log
DIRECT_IO_SINCE: Final = 16
_PORT: Final = 5432
_LONGEST_SOCKET: Final = 107 - len(f"/.s.PGSQL.{_PORT}.lock")
_READY_S: Final = 60.0
_LONGEST_SAID: Final = 1 << 16  # bytes of its log
_SAMPLE: Final = "postgresql.conf.sample"
Say = Callable[[str], None]


class OwnServer(Struct, frozen=True, kw_only=True):
    """A running server of ours."""

    url: str
    programs: ServerPrograms
    folder: str
    pid: int
    user: str  # that it runs as
    direct_io: bool  # its data files are opened with O_DIRECT: the page cache answers nothing
    shared_buffers_bytes: int
    start_again: Callable[[], None]  # with empty buffers, at the same URL; raises TargetError


@contextmanager
def own_server(
    path: str,
    programs: ServerPrograms | None = None,
    *,
    room_bytes: int = 0,
    shared_buffers_bytes: int = SHARED_BUFFERS_BYTES,
    direct_io: bool = True,
    say: Say | None = None,
) -> Iterator[OwnServer]:
    """While entered, a server runs in the directory `path`; afterwards nothing of it is left.

    `room_bytes` will be needed besides the cluster. With `direct_io` its data files are opened with O_DIRECT where the
    version and the file system can. To be entered on a thread that lives as long: the kernel ends the
    server with it. `say` is told what could not be removed; without it that is an error. Raises TargetError for a
    directory that will not do, DatabaseError where no server can be run.
    """
    programs = programs or find_programs()
    user = server_user()
    place = made_place(path, user, CLUSTER_BYTES + room_bytes)
    try:
        _init_cluster(programs, place, user)
        running = _Running(_Wanted(programs, place, user, _log(place), shared_buffers_bytes, direct_io))
        try:
            yield OwnServer(
                url=f"postgresql://{ROLE}@/postgres?host={quote(_sockets(place), safe='')}&port={_PORT}",
                programs=programs,
                folder=str(place.path),
                pid=running.process.pid,
                user=user.pw_name if user else pwd.getpwuid(os.geteuid()).pw_name,
                direct_io=running.direct_io,
                shared_buffers_bytes=shared_buffers_bytes,
                start_again=running.start_again,
            )
        finally:
            running.end()
    except BaseException as error:
        if why := place.remove():
            _add(error, f"{place.path} {why}: {_way_out(path, why)}", say)
        raise
    if why := place.remove():
        if say is None:
            raise TargetError(f"{place.path} {why}", _way_out(path, why))
        say(f"{place.path} {why}: {_way_out(path, why)}")


def _way_out(path: str, why: str) -> str:
    if why.startswith(MOVED):
        return "remove it there, and give a directory in which only you may rename"
    return ("move that away, then " if why.startswith(STAYS) else "") + f"iocast clean {path}"


def _add(error: BaseException, said: str, say: Say | None) -> None:
    """Says what stays beside an error that is under way."""
    if say is not None:
        say(said)
    elif isinstance(error, IocastError):
        error.message = f"{error.message}; {said}"
        error.args = (error.message,)
    else:
        error.add_note(said)


def _sockets(place: OwnPlace) -> str:
    """The directory of the socket for clients: its path where nobody else can lead it elsewhere and it is not too long,
    else one by its descriptor.
    """
    known = str(place.sockets.path)
    fits = len(known) <= _LONGEST_SOCKET and not others_may_rename(place.path.parent)
    return known if fits else str(place.sockets.place)


def _in_child(held: HeldFolder) -> str:
    """A path that leads a child process, which has the descriptor, to a held folder: whoever the child runs as."""
    return f"/proc/self/fd/{held.descriptor}"


def _environment() -> dict[str, str]:
    """Nothing of ours: PGDATA, PGPORT and their like would be obeyed."""
    return {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC", "HOME": "/"}


def _init_cluster(programs: ServerPrograms, place: OwnPlace, user: pwd.struct_passwd | None) -> None:
    """An empty cluster, synced. Raises TargetError."""
    words = ["-D", _in_child(place.data), "-U", ROLE, "-A", "trust", "-E", "UTF8", "--no-locale", "--no-instructions"]
    with _samples(programs, user) as samples:
        words += ["-L", _in_child(samples)]
        done = _initdb(programs, user, words, (place.data.descriptor, samples.descriptor))
    if done.returncode:
        said = " ".join(done.stdout.split()[-60:])
        raise TargetError(f"initdb failed in {place.path}: {said}", ELSEWHERE)


def _initdb(
    programs: ServerPrograms, user: pwd.struct_passwd | None, words: Sequence[str], descriptors: Sequence[int]
) -> subprocess.CompletedProcess[str]:
    """What it said, and how it ended. Raises TargetError where it cannot be run."""
    try:
        with starting():
            return subprocess.run(
                [f"{programs.folder}/initdb", *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                cwd="/",
                env=_environment(),
                pass_fds=tuple(descriptors),
                start_new_session=True,  # a Ctrl-C is ours to answer
                preexec_fn=ending_with_us(signal.SIGQUIT),
                check=False,
                **identity_of(user),
            )
    except OSError as error:
        raise TargetError(f"initdb of {programs.folder} cannot be run: {error.strerror}", ELSEWHERE) from error


@contextmanager
def _samples(programs: ServerPrograms, user: pwd.struct_passwd | None) -> Iterator[HeldFolder]:
    """What initdb makes a cluster of, with no settings in it. Those of the site's sample count while it works already:
    they may lead into the data of another server, to its files or its archive. Raises TargetError.
    """
    shown = _initdb(programs, user, ["--show", "-D", "/"], ()).stdout
    said = re.search(r"^share_path=(.+)$", shown, re.MULTILINE)
    site = said[1] if said else ""
    try:
        with temporary_room("iocast-initdb-") as room:
            os.fchmod(room.descriptor, 0o755)  # for the user of the server
            for name in os.listdir(site) if site else ():
                if name != _SAMPLE:
                    os.symlink(os.path.join(site, name), name, dir_fd=room.descriptor)
            descriptor = room.create(_SAMPLE)
            os.fchmod(descriptor, 0o644)
            os.close(descriptor)
            yield room
    except OSError as error:
        raise TargetError(f"cannot make a room for initdb: {error.strerror}", "TMPDIR names another place") from error


class _Wanted(NamedTuple):
    """A server that is to be started, once or again."""

    programs: ServerPrograms
    place: OwnPlace
    user: pwd.struct_passwd | None
    log: int  # a descriptor
    shared_buffers_bytes: int
    direct_io: bool


class _Running:
    """A server at work: its process, and what it takes to start it again, which is let go at the end."""

    def __init__(self, wanted: _Wanted) -> None:
        self._wanted: _Wanted | None = wanted
        try:
            self.process, self.direct_io = _started(wanted)
        except BaseException:
            os.close(wanted.log)
            raise

    def start_again(self) -> None:
        """With a checkpoint in between, and so with empty buffers. Raises TargetError."""
        if self._wanted is not None:
            _stop(self.process, signal.SIGINT)
            self.process, self.direct_io = _started(self._wanted)

    def end(self) -> None:
        """Its descriptors are closed with it."""
        _stop(self.process)
        if self._wanted is not None:
            os.close(self._wanted.log)
        self._wanted = None


def _own_settings(wanted: _Wanted, *, direct_io: bool) -> dict[str, str]:
    """What the server is told besides the defaults of the version: as words of its command line, which go before what
    any file in its folder says.
    """
    return {
        "listen_addresses": "",
        "unix_socket_directories": _in_child(wanted.place.sockets),
        "unix_socket_permissions": "0700",
        "port": str(_PORT),  # only the name of the socket
        "max_connections": "100",
        "shared_buffers": f"{wanted.shared_buffers_bytes >> 20}MB",
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


def _log(place: OwnPlace) -> int:
    """The file that the server's words go to, open. Raises TargetError."""
    try:
        return place.held.folder.create(LOG)
    except OSError as error:
        raise TargetError(f"cannot write in {place.path}: {error.strerror}", ELSEWHERE) from error


def _started(wanted: _Wanted) -> tuple[subprocess.Popen[bytes], bool]:
    """The server, listening, and whether with O_DIRECT: without it where the file system refuses that."""
    said, programs, place = "", wanted.programs, wanted.place
    for direct_io in (True, False) if wanted.direct_io and programs.major >= DIRECT_IO_SINCE else (False,):
        os.ftruncate(wanted.log, 0)
        os.lseek(wanted.log, 0, os.SEEK_SET)
        process = _server(wanted, direct_io=direct_io)
        try:
            place.note_server(process.pid)
            if _listens(process, place):
                return process, direct_io
        except BaseException:
            _stop(process)
            raise
        _stop(process)
        said = " ".join(os.pread(wanted.log, _LONGEST_SAID, 0).decode(errors="replace").split()[-60:])
    raise TargetError(f"PostgreSQL {programs.version} does not start in {place.path}: {said}", ELSEWHERE)


def _server(wanted: _Wanted, *, direct_io: bool) -> subprocess.Popen[bytes]:
    words = [f"--{name}={value}" for name, value in _own_settings(wanted, direct_io=direct_io).items()]
    programs, place, user, log = wanted[:4]
    try:
        with starting():
            return subprocess.Popen(
                [f"{programs.folder}/postgres", "-D", _in_child(place.data), *words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                env=_environment(),
                pass_fds=(place.data.descriptor, place.sockets.descriptor),
                start_new_session=True,
                preexec_fn=ending_with_us(signal.SIGQUIT),
                **identity_of(user),
            )
    except OSError as error:
        raise TargetError(f"postgres of {programs.folder} cannot be run: {error.strerror}", ELSEWHERE) from error


def _listens(process: subprocess.Popen[bytes], place: OwnPlace) -> bool:
    """Waits until the server says in its pid file that it is ready; False when it ended or took too long."""
    deadline = time.monotonic() + _READY_S
    while process.poll() is None and time.monotonic() < deadline:
        lines = pid_file(place.data)
        if len(lines) >= 8 and lines[7].strip() == "ready" and lines[0].strip() == str(process.pid):
            return True
        time.sleep(0.02)
    return False


def _stop(process: subprocess.Popen[bytes], by: signal.Signals = signal.SIGQUIT) -> None:
    """Ends the server: without a checkpoint, as its data are removed with it; by SIGINT with one."""
    if process.poll() is None:
        process.send_signal(by)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
