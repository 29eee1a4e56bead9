"""The folder of a server of our own is made: held from the start, marked, with a part that the server's user owns."""

from __future__ import annotations

import errno
import os
import pwd
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from iocast.archive.ownership import process_of, this_process
from iocast.archive.writing.asides import making_room
from iocast.archive.writing.file_identity import identity
from iocast.archive.writing.held_folder import HeldFolder
from iocast.databases.postgresql.own_folder import (
    DATA,
    FOLDER,
    MAKER,
    MARK,
    SOCKETS,
    OwnFolder,
    ServerMark,
    held_directory,
    leftover_in,
    mark_in,
    remove_held,
)
from iocast.errors import TargetError

ELSEWHERE: Final = "give a directory with write permission, on another file system"
_MARK_BYTES: Final = 2048
_FOR_ALL_TO_READ: Final = 0o644  # whoever asks may know that the folder is in use
_FOR_ALL_TO_PASS: Final = 0o711


class OwnPlace(NamedTuple):
    """The folder of a server with its parts, all of them held."""

    held: OwnFolder
    data: HeldFolder
    sockets: HeldFolder

    @property
    def path(self) -> Path:
        """What the folder was called when it was made."""
        return self.held.folder.path

    def note_server(self, pid: int) -> None:
        """The mark says which process the server is, and which directory its data, so that no other is taken for them.
        Raises TargetError.
        """
        mark, folder = mark_in(self.held.folder), self.held.folder
        try:
            descriptor = os.open(MARK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder.descriptor)
            try:
                if mark is None:
                    raise PermissionError(errno.EPERM, f"{MARK} in it was exchanged")
                noted = replace(mark, server=process_of(pid), data=tuple(identity(self.data.descriptor)))
                _write_mark(descriptor, noted)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise TargetError(f"cannot write in {self.path}: {error.strerror}", ELSEWHERE) from error

    def remove(self) -> str:
        """Removes all of it; why not, in words that follow its name, or ""."""
        return remove_held(self.held)


def made_place(path: str, user: pwd.struct_passwd | None, needed_bytes: int) -> OwnPlace:
    """The marked folder with its empty parts, which belong to `user`. Raises TargetError."""
    if not os.path.isdir(path):
        raise TargetError(f"{path} is not a directory: a database needs one", "give a directory on the storage")
    if leftover := leftover_in(path):
        why = leftover.why_not or "was left behind by an iocast that was killed"
        way_out = f"iocast clean {path}" if not leftover.why_not else "give another directory"
        raise TargetError(f"{leftover.folder} {why}", way_out)
    try:
        above = held_directory(Path(os.path.realpath(path)))
        _check_way(above.path, user)
        room = os.fstatvfs(above.descriptor)
    except OSError as error:
        raise TargetError(f"cannot look into {path}: {error.strerror}", ELSEWHERE) from error
    free_bytes = room.f_bavail * room.f_frsize
    if free_bytes < needed_bytes:
        said = f"{path} has {free_bytes >> 20} MiB free; {needed_bytes >> 20} MiB are needed"
        raise TargetError(said, "free some space")
    try:
        held = OwnFolder(above, _made_folder(above))
    except OSError as error:
        raise TargetError(f"cannot make {above.path / FOLDER}: {error.strerror}", ELSEWHERE) from error
    try:
        return _with_parts(held, user)
    except OSError as error:
        stays = remove_held(held)
        said = f"cannot make {held.folder.path}: {error.strerror}" + (f"; it {stays}" if stays else "")
        raise TargetError(said, ELSEWHERE) from error


def _made_folder(above: HeldFolder) -> HeldFolder:
    """Made and marked where nobody else comes, then named. Raises OSError."""
    with making_room(above.place) as room:
        folder = room.folder.folder(FOLDER)
        known = identity(folder.descriptor)
        mark = ServerMark(made_by=MAKER, owner=this_process(), sockets="", **known._asdict())
        descriptor = folder.create(MARK)
        try:
            os.fchmod(descriptor, _FOR_ALL_TO_READ)
            _write_mark(descriptor, mark)
        finally:
            os.close(descriptor)
        room.give_name(FOLDER)
        return HeldFolder(above.path / FOLDER, os.dup(folder.descriptor), above)


def _write_mark(descriptor: int, mark: ServerMark) -> None:
    """By one call, over all of an earlier one."""
    os.pwrite(descriptor, msgspec.json.encode(mark).ljust(_MARK_BYTES), 0)


def _with_parts(held: OwnFolder, user: pwd.struct_passwd | None) -> OwnPlace:
    folder = held.folder
    place = OwnPlace(held, folder.folder(DATA), folder.folder(SOCKETS))
    if user:
        for part in (place.data, place.sockets):
            os.fchown(part.descriptor, user.pw_uid, user.pw_gid)
        os.fchmod(folder.descriptor, _FOR_ALL_TO_PASS)  # its user goes through; what is inside is closed to all others
    return place


def _check_way(place: Path, user: pwd.struct_passwd | None) -> None:
    """Raises TargetError where the user of the server cannot get to the directory; OSError where nobody can."""
    if user is None:
        return
    for part in (place, *place.parents):
        status = part.stat()
        bit = 0o100 if status.st_uid == user.pw_uid else 0o010 if status.st_gid == user.pw_gid else 0o001
        if not status.st_mode & bit:
            said = f"{user.pw_name}, as whom the server runs, may not enter {part}"
            raise TargetError(said, "give a directory that everybody may enter, or run iocast as an ordinary user")
