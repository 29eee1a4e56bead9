"""The folder of a PostgreSQL server that iocast made for itself: marked, told from all others, and removed.

`PATH/.iocast-postgres` has a mark, `iocast.json`, that names that very directory by its inode, the process that made it
and what is outside of it. A folder without such a mark is nobody's of ours, and nothing in it is touched.

It is opened once, by a name that is no link, and all that is read or removed is so below that descriptor: whoever may
rename in PATH leads nothing of it elsewhere.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from iocast.archive.json_files import BROKEN, parsed
from iocast.archive.ownership import lives
from iocast.archive.writing.held_folder import HeldFolder
from iocast.archive.writing.whole_files import status_of
from iocast.databases.postgresql.own_processes import end_servers, remove_shared_memory, servers_in, small_file
from iocast.model.summary import Owner

FOLDER: Final = ".iocast-postgres"
MARK: Final = "iocast.json"
DATA: Final = "data"
SOCKETS: Final = "socket"
LOG: Final = "server.log"
MAKER: Final = "iocast"
LARGEST_MARK: Final = 4096  # bytes
FOREIGN: Final = "was not created by iocast"
MOVED: Final = "was moved away"
_IN_USE: Final = "is in use by an iocast process"
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_WRITABLE_BY_OTHERS: Final = 0o022


class ServerMark(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the mark says."""

    made_by: str
    inode: int
    owner: Owner | None  # the process that made it
    sockets: str  # the directory of its socket, "" for one inside; older versions had it outside where PATH was long


class Leftover(Struct, frozen=True):
    """A folder of ours: what it takes, the server that still runs in it, and why it has to stay ("": it may go)."""

    folder: str
    allocated_bytes: int
    pids: tuple[int, ...]
    why_not: str


class OwnFolder(NamedTuple):
    """The folder, held, and the directory that it lies in."""

    above: HeldFolder
    folder: HeldFolder


def place_in(path: str) -> Path:
    """Where the folder of a server in `path` is."""
    return Path(os.path.realpath(path)) / FOLDER


def held_directory(path: Path, below: HeldFolder | None = None) -> HeldFolder:
    """A directory that is there; one below a held one, by a name that is no link. Raises OSError."""
    if below is None:
        return HeldFolder(path, os.open(path, _DIRECTORY))
    return HeldFolder(path, os.open(path.name, _DIRECTORY | os.O_NOFOLLOW, dir_fd=below.descriptor))


def _held(folder: Path) -> OwnFolder:
    above = held_directory(folder.parent)
    return OwnFolder(above, held_directory(folder, above))


def _mark(folder: HeldFolder) -> ServerMark | None:
    """The mark of a folder, None for one that iocast did not make: a copy, a link, another user's."""
    try:
        status = os.fstat(folder.descriptor)
        marked, text = small_file(folder, MARK, LARGEST_MARK)
        ours = {status.st_uid, marked.st_uid} <= {os.geteuid(), 0}
        if not ours or status.st_mode & _WRITABLE_BY_OTHERS:
            return None
        mark = parsed(text, ServerMark)
    except (OSError, *BROKEN):
        return None
    return mark if mark.made_by == MAKER and mark.inode == status.st_ino else None


def _begun(folder: HeldFolder) -> bool:
    """Whether it is the trace of a kill before the mark was whole: ours by its owner, with nothing else inside than how
    the mark of that very directory begins.
    """
    try:
        status, names = os.fstat(folder.descriptor), folder.names()
        if status.st_uid != os.geteuid() or status.st_mode & _WRITABLE_BY_OTHERS:
            return False
        if names != [MARK]:
            return not names
        marked, text = small_file(folder, MARK, LARGEST_MARK)
    except OSError:
        return False
    whole = msgspec.json.encode(ServerMark(made_by=MAKER, inode=status.st_ino, owner=None, sockets=""))
    begins = whole.partition(b"null")[0]  # then comes the process
    is_ours = begins.startswith(text) or text.startswith(begins)
    return is_ours and marked.st_uid == status.st_uid and marked.st_nlink == 1


def leftover_in(path: str) -> Leftover | None:
    """The folder that a server of ours left in a directory, or has there now; None where nothing of that name is."""
    place = place_in(path)
    try:
        held = _held(place)
    except OSError:
        return Leftover(str(place), 0, (), FOREIGN) if os.path.lexists(place) else None
    mark = _mark(held.folder)
    if mark is None:
        return Leftover(str(place), 0, (), "" if _begun(held.folder) else FOREIGN)
    if mark.owner is not None and lives(mark.owner) is not False:
        return Leftover(str(place), 0, (), _IN_USE)
    pids: list[int] = []
    with contextlib.suppress(OSError):  # its removal says why
        pids = [pid for data in _data(held.folder) for pid in servers_in(data)]
    return Leftover(str(place), _allocated(held.folder), tuple(pids), "")


def remove_own_folder(folder: Path) -> str:
    """Ends the server in a folder that was left, and removes all of it; why not, in words that follow its name, or
    "".
    """
    try:
        held = _held(folder)
    except FileNotFoundError:
        return MOVED
    except OSError:
        return FOREIGN
    mark = _mark(held.folder)
    if mark is not None and mark.owner is not None and lives(mark.owner) is not False:
        return _IN_USE
    return remove_held(held)


def remove_held(held: OwnFolder) -> str:
    """The same for a folder that is held, whatever process its mark names."""
    folder, mark = held.folder, _mark(held.folder)
    if mark is None and not _begun(folder):
        return FOREIGN
    try:
        for data in _data(folder):
            end_servers(data)
            if left := servers_in(data):
                return f"is in use by process {left[0]}, which does not end"
            remove_shared_memory(data)
            _remove_tree(folder, data)
        if mark and mark.sockets:
            _remove_sockets(Path(mark.sockets))
        if status_of(folder.descriptor, SOCKETS) is not None:
            _remove_tree(folder, held_directory(folder.path / SOCKETS, folder))
        folder.remove_any(LOG)
        if others := sorted(set(folder.names()) - {MARK}):
            return f"stays: {others[0]} in it {FOREIGN}"
        folder.remove_any(MARK)  # last of what matters
        held.above.remove_folder(folder.path.name, folder)
    except (OSError, RecursionError) as error:  # of directories that somebody made so deep
        return f"could not be removed: {getattr(error, 'strerror', None) or error}"
    return "" if _is_gone(folder) else f"{MOVED}, and is empty now: {_path_now(folder)}"


def _data(folder: HeldFolder) -> list[HeldFolder]:
    """The data directory, held, where there is one. Raises OSError for a link of that name."""
    try:
        return [held_directory(folder.path / DATA, folder)]
    except FileNotFoundError:
        return []


def _remove_tree(folder: HeldFolder, below: HeldFolder) -> None:
    """Removes a directory of the folder, if its name still leads to it. Raises OSError."""
    name, status = below.path.name, os.fstat(below.descriptor)
    there = status_of(folder.descriptor, name)
    if there is None or not os.path.samestat(there, status):
        raise OSError(f"{name} in it was exchanged meanwhile")
    if status.st_dev != os.fstat(folder.descriptor).st_dev:
        raise OSError(f"something is mounted at {name} in it")
    shutil.rmtree(name, dir_fd=folder.descriptor)


def _is_gone(folder: HeldFolder) -> bool:
    return os.fstat(folder.descriptor).st_nlink == 0 or not os.path.lexists(_path_now(folder))


def _path_now(folder: HeldFolder) -> str:
    return os.readlink(folder.place)


def _allocated(folder: HeldFolder) -> int:
    """What its removal frees."""
    total = 0
    for _, _, names, place in os.fwalk(".", dir_fd=folder.descriptor):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.stat(name, dir_fd=place, follow_symlinks=False).st_blocks * 512
    return total


def _remove_sockets(place: Path) -> None:
    """The directory outside that older versions had: only what a server puts there."""
    with contextlib.suppress(OSError):
        if not place.name.startswith("iocast-pg-"):
            return
        sockets = HeldFolder(place, os.open(place, _DIRECTORY | os.O_NOFOLLOW))
        for name in sockets.names():
            status = status_of(sockets.descriptor, name)
            if name.startswith(".s.PGSQL.") and status is not None and not stat.S_ISDIR(status.st_mode):
                sockets.remove_any(name)
        place.rmdir()
