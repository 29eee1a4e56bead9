"""The folder of a PostgreSQL server that iocast made for itself: marked, told from all others, and removed.

`PATH/.iocast-postgres` has a mark, `iocast.json`, that names that very directory by its inode, the process that made it
and what is outside of it. A folder without such a mark is nobody's of ours, and nothing in it is touched.

It is opened once, by a name that is no link, and all that is read or removed is so below that descriptor: whoever may
rename in PATH leads nothing of it elsewhere.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import Struct

from iocast.archive.json_files import BROKEN, parsed
from iocast.archive.ownership import lives
from iocast.archive.writing.asides import remove_ours
from iocast.archive.writing.file_identity import identity, is_ours
from iocast.archive.writing.held_folder import HeldFolder, mount_of
from iocast.archive.writing.whole_files import status_of
from iocast.databases.postgresql.own_processes import (
    end_server,
    left_in,
    remove_shared_memory,
    servers_in,
    small_file,
)
from iocast.errors import TargetError
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
STAYS: Final = "stays"
_IN_USE: Final = "is in use by an iocast process"
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_WRITABLE_BY_OTHERS: Final = 0o022


class ServerMark(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the mark says."""

    made_by: str
    inode: int
    owner: Owner | None  # the process that made it
    sockets: str  # the directory of its socket, "" for one inside; older versions had it outside where PATH was long
    generation: int | None = None  # of the directory, as the next two; older versions had its inode only
    born_ns: int | None = None
    subvolume: int | None = None
    server: Owner | None = None  # the process that was started last
    data: tuple[int, int | None, int | None, int | None] | None = None  # identity of its data; older versions had none

    def names(self, descriptor: int) -> bool:
        """Whether an open directory is the one that it is of. Raises OSError."""
        known = identity(descriptor)
        return (
            (self.inode, self.subvolume) == (known.inode, known.subvolume)
            and self.generation in (None, known.generation)
            and self.born_ns in (None, known.born_ns)
        )


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


def mark_in(folder: HeldFolder) -> ServerMark | None:
    """The mark of a folder, None for one that iocast did not make: a copy, a link, another user's."""
    try:
        status = os.fstat(folder.descriptor)
        marked, text = small_file(folder, MARK, LARGEST_MARK)
        ours = is_ours(status, folder.place) and is_ours(marked, folder.place / MARK)
        if not ours or status.st_mode & _WRITABLE_BY_OTHERS:
            return None
        mark = parsed(text, ServerMark)
        return mark if mark.made_by == MAKER and mark.names(folder.descriptor) else None
    except (OSError, *BROKEN):
        return None


def leftover_in(path: str) -> Leftover | None:
    """The folder that a server of ours left in a directory, or has there now; None where nothing of that name is."""
    place = place_in(path)
    try:
        held = _held(place)
    except OSError:
        return Leftover(str(place), 0, (), FOREIGN) if os.path.lexists(place) else None
    mark = mark_in(held.folder)
    if mark is None:
        return Leftover(str(place), 0, (), FOREIGN)
    if mark.owner is not None and lives(mark.owner) is not False:
        return Leftover(str(place), 0, (), _IN_USE)
    pids: list[int] = []
    with contextlib.suppress(OSError):  # its removal says why
        pids = [pid for data in _part(held.folder, DATA) for pid in servers_in(data)]
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
    mark = mark_in(held.folder)
    if mark is not None and mark.owner is not None and lives(mark.owner) is not False:
        return _IN_USE
    return remove_held(held)


def remove_held(held: OwnFolder) -> str:
    """The same for a folder that is held, whatever process its mark names."""
    folder, mark = held.folder, mark_in(held.folder)
    if mark is None:
        return FOREIGN
    try:
        data, sockets = _part(folder, DATA), _part(folder, SOCKETS)
        for each in data:
            end_server(each, mark.server)
            if left := left_in(each):
                ours = mark.server is not None and left[0] == mark.server.pid
                return f"is in use by process {left[0]}, which " + ("does not end" if ours else "iocast did not start")
        others = [DATA for each in data if mark.data not in (None, identity(each.descriptor))]
        others += [f"{DATA}/{name}" for each in data if (name := foreign_in(each))]
        others += [f"{SOCKETS}/{name}" for each in sockets for name in each.names() if not SOCKET_NAMES.fullmatch(name)]
        if others := others or sorted(set(folder.names()) - {MARK, LOG, DATA, SOCKETS}):
            return f"{STAYS}: {others[0]} in it {FOREIGN}"
        for each in data:
            remove_shared_memory(each)
        for each in (*data, *sockets):
            _remove_tree(folder, each)
        if mark.sockets:
            _remove_sockets(Path(mark.sockets))
        folder.remove_any(LOG)
        _remove_emptied(held)
    except (OSError, RecursionError) as error:  # of directories that somebody made so deep
        return f"could not be removed: {getattr(error, 'strerror', None) or error}"
    return "" if _is_gone(folder) else f"{MOVED}, and is empty now: {_path_now(folder)}"


def _remove_emptied(held: OwnFolder) -> None:
    """The mark goes last, where nobody else comes: until then a kill leaves the folder with it. Raises OSError."""
    folder = held.folder

    def unmarked(descriptor: int) -> bool:
        same = os.path.samestat(os.fstat(descriptor), os.fstat(folder.descriptor))
        if same:
            folder.remove_any(MARK)
        return same

    try:
        remove_ours(str(held.above.place / folder.path.name), unmarked)
    except (FileNotFoundError, TargetError):  # it was moved away
        folder.remove_any(MARK)


def _part(folder: HeldFolder, name: str) -> list[HeldFolder]:
    """A directory in it, held, where there is one. Raises OSError for a link of that name."""
    try:
        return [held_directory(folder.path / name, folder)]
    except FileNotFoundError:
        return []


def _remove_tree(folder: HeldFolder, below: HeldFolder) -> None:
    """Removes a directory of the folder, if its name still leads to it. Raises OSError."""
    name, status = below.path.name, os.fstat(below.descriptor)
    there = status_of(folder.descriptor, name)
    if there is None or not os.path.samestat(there, status):
        raise OSError(f"{name} in it was exchanged meanwhile")
    if mount_of(below.descriptor) != mount_of(folder.descriptor):
        raise OSError(f"something is mounted at {name} in it")
    below.empty()
    folder.remove_folder(name, below)


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


SOCKET_NAMES: Final = re.compile(r"\.s\.PGSQL\.\d+(\.lock)?")
_TOP: Final = re.compile(
    r"PG_VERSION|postmaster\.(pid|opts)|postgresql(\.auto)?\.conf(\.tmp)?|pg_(hba|ident)\.conf|current_logfiles(\.tmp)?"
    r"|backup_label(\.old)?|base|global"
    r"|pg_(commit_ts|dynshmem|logical|multixact|notify|replslot|serial|snapshots|stat|stat_tmp|subtrans|tblspc|twophase"
    r"|wal|xact)"
)
_BELOW: Final = re.compile(
    r"PG_VERSION|pg_control|pg_filenode\.map(\.tmp)?|pg_internal\.init(\.\d+)?|config_exec_params(\.new)?"
    r"|(t\d+_)?\d+(_(fsm|vm|init))?(\.\d+)?"  # tables, their forks and segments; databases
    r"|[0-9A-F]{4,24}(\.(partial|history|backup|ready|done))*|[0-9A-F]{24}\.[0-9A-F]{8}\.backup|xlogtemp\.\d+"
    r"|[0-9A-F]+\.summary|temp\.summary|archive_status|summaries|members|offsets|mappings|map-[0-9a-f-]+|snapshots"
    r"|[0-9A-F]+-[0-9A-F]+(-\d+)?(\.snap|\.\d+\.tmp)?|replorigin_checkpoint(\.tmp)?|state(\.tmp)?"
    r"|[a-z_]+(_\d+)?\.(stat|tmp|statsnap)|mmap\.\d+"
    r"|pgsql_tmp|pgsql_tmp[\d.]+((shared)?fileset)?|[io]\d+of\d+(\.p\d+)?\.\d+|\d+\.\d+"
)


def foreign_in(data: HeldFolder) -> str:
    """What in a data directory no server of its owner made, "" where there is nothing of that kind. Raises OSError."""
    owner = os.fstat(data.descriptor).st_uid
    for place, folders, names, descriptor in os.fwalk(".", dir_fd=data.descriptor, onerror=_refuse):
        known = _TOP if place == "." else _BELOW
        for name in sorted((*folders, *names)):
            status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            plain = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
            if not plain or status.st_uid != owner or known.fullmatch(name) is None:
                return os.path.normpath(os.path.join(place, name))
    return ""


def _refuse(error: OSError) -> None:
    raise error
