"""The folder of a PostgreSQL server that iocast made for itself: marked, told from all others, and removed.

`PATH/.iocast-postgres` has a mark, `iocast.json`, that names that very directory by its inode, the process that made it
and what is outside of it. A folder without such a mark is nobody's of ours, and nothing in it is touched.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import shutil
import signal
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from iocast.archive.guarded.regular_file import LARGEST_SMALL, regular_bytes
from iocast.archive.json_files import BROKEN, parsed
from iocast.archive.ownership import lives
from iocast.model.summary import Owner

FOLDER: Final = ".iocast-postgres"
MARK: Final = "iocast.json"
DATA: Final = "data"
MAKER: Final = "iocast"
LARGEST_MARK: Final = 4096  # bytes
FOREIGN: Final = "was not created by iocast"
_WAIT_S: Final = 20.0


class ServerMark(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the mark says."""

    made_by: str
    inode: int
    owner: Owner | None  # the process that made it
    sockets: str  # the directory of its socket, "" for one inside


class Leftover(Struct, frozen=True):
    """A folder of ours: what it takes, the server that still runs in it, and why it has to stay ("": it may go)."""

    folder: str
    allocated_bytes: int
    pids: tuple[int, ...]
    why_not: str


def place_in(path: str) -> Path:
    """Where the folder of a server in `path` is."""
    return Path(os.path.realpath(path)) / FOLDER


def read_server_mark(folder: Path) -> ServerMark | None:
    """The mark of a folder, None for one that iocast did not make: a copy, a link, another user's."""
    try:
        status, marked = os.lstat(folder), os.lstat(folder / MARK)
        if not stat.S_ISDIR(status.st_mode) or not stat.S_ISREG(marked.st_mode):
            return None
        if not {status.st_uid, marked.st_uid} <= {os.geteuid(), 0}:
            return None
        mark = parsed(regular_bytes(folder / MARK, LARGEST_SMALL), ServerMark)
    except (OSError, *BROKEN):
        return None
    return mark if mark.made_by == MAKER and mark.inode == status.st_ino else None


def _begun(folder: Path) -> bool:
    """Whether it is the trace of a kill before the mark was whole: ours by its owner, with nothing else inside."""
    try:
        status, names = os.lstat(folder), set(os.listdir(folder))
        ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
        return ours and (not names or (names == {MARK} and os.lstat(folder / MARK).st_size < LARGEST_MARK))
    except OSError:
        return False


def leftover_in(path: str) -> Leftover | None:
    """The folder that a server of ours left in a directory, or has there now; None where nothing of that name is."""
    folder = place_in(path)
    if not os.path.lexists(folder):
        return None
    mark = read_server_mark(folder)
    if mark is None:
        return Leftover(str(folder), 0, (), "" if _begun(folder) else FOREIGN)
    if mark.owner is not None and lives(mark.owner) is not False:
        return Leftover(str(folder), 0, (), "is in use by an iocast process")
    return Leftover(str(folder), _allocated(folder), tuple(pid for pid, _ in _processes(folder / DATA)), "")


def remove_own_folder(folder: Path) -> str:
    """Ends the server in a folder of ours and removes all of it; why not, in words that follow its name, or ""."""
    mark = read_server_mark(folder)
    if mark is None and not _begun(folder):
        return FOREIGN
    _end_processes(folder / DATA)
    if left := [pid for pid, _ in _processes(folder / DATA)]:
        return f"is in use by process {left[0]}, which does not end"
    if mark and mark.sockets:
        _remove_sockets(Path(mark.sockets))
    _remove_shared_memory(folder / DATA)
    try:
        shutil.rmtree(folder / DATA, ignore_errors=False)
    except FileNotFoundError:
        pass
    except OSError as error:
        return f"could not be removed: {error.strerror or error}"
    with contextlib.suppress(OSError):
        shutil.rmtree(folder)  # the mark goes last of what matters
    return "could not be removed" if os.path.lexists(folder) else ""


def _allocated(folder: Path) -> int:
    """What its removal frees."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_blocks * 512
    return total


def _processes(data: Path) -> Iterator[tuple[int, int]]:
    """The servers that work in a data directory, each with a descriptor of it: PostgreSQL goes where its data are."""
    real = os.path.realpath(data)
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            descriptor = os.pidfd_open(int(name))
        except OSError:
            continue
        try:
            # Asked while the descriptor is held: the number cannot be another's meanwhile.
            works = os.readlink(f"/proc/{name}/cwd") == real
            is_server = os.path.basename(os.readlink(f"/proc/{name}/exe")).startswith("postgres")
            if works and is_server:
                yield int(name), descriptor
        except OSError:
            pass
        finally:
            os.close(descriptor)


def _end_processes(data: Path) -> None:
    """Ends what works in a data directory: first as PostgreSQL ends without a checkpoint, then by force."""
    for number, wait_s in ((signal.SIGQUIT, _WAIT_S), (signal.SIGKILL, _WAIT_S)):
        for _, descriptor in _processes(data):
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(descriptor, number)
                select.select([descriptor], [], [], wait_s)


def _remove_sockets(place: Path) -> None:
    """The directory outside, where the path was too long for a socket: only what a server puts there."""
    with contextlib.suppress(OSError):
        status = os.lstat(place)
        if stat.S_ISDIR(status.st_mode) and place.name.startswith("iocast-pg-"):
            for each in place.iterdir():
                if each.name.startswith(".s.PGSQL."):
                    each.unlink()
            place.rmdir()


def _remove_shared_memory(data: Path) -> None:
    """The segment of System V that a killed server leaves: the one that its pid file names, and nobody has attached."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        key, number = (int(word) for word in (data / "postmaster.pid").read_text().splitlines()[6].split())
        owner = os.lstat(data).st_uid
        for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]:
            cells = line.split()  # key shmid perms size cpid lpid nattch uid ...
            if (int(cells[0]), int(cells[1])) == (key, number) and int(cells[6]) == 0 and int(cells[7]) == owner:
                ctypes.CDLL(None, use_errno=True).shmctl(number, 0, None)  # IPC_RMID
