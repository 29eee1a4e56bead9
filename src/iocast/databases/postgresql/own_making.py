"""The folder of a server of our own is made: held from the start, marked, with a part that the server's user owns."""

from __future__ import annotations

import errno
import os
import pwd
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from iocast.archive.ownership import this_process
from iocast.archive.writing.held_folder import HeldFolder, make_folder
from iocast.archive.writing.whole_files import write_all
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
    remove_held,
)
from iocast.errors import TargetError

ELSEWHERE: Final = "give a directory with write permission, on another file system"
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

    def remove(self) -> str:
        """Removes all of it; why not, in words that follow its name, or ""."""
        return remove_held(self.held)


def made_place(path: str, user: pwd.struct_passwd | None, needed_bytes: int) -> OwnPlace:
    """The marked folder with its empty parts, which belong to `user`. Raises TargetError."""
    if not os.path.isdir(path):
        raise TargetError(f"{path} is not a directory: a database needs one", "give a directory on the storage")
    if found := leftover_in(path):
        why = found.why_not or "was left behind by an iocast that was killed"
        way_out = f"iocast clean {path}" if not found.why_not else "give another directory"
        raise TargetError(f"{found.folder} {why}", way_out)
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
    """Raises OSError, also where another folder was put in its place meanwhile."""
    folder = make_folder(above, FOLDER, private=True)
    if folder.names():
        raise PermissionError(errno.EPERM, "another folder was put in its place", str(folder.path))
    return folder


def _with_parts(held: OwnFolder, user: pwd.struct_passwd | None) -> OwnPlace:
    folder = held.folder
    mark = ServerMark(made_by=MAKER, inode=os.fstat(folder.descriptor).st_ino, owner=this_process(), sockets="")
    descriptor = folder.create(MARK)
    try:
        os.fchmod(descriptor, _FOR_ALL_TO_READ)
        write_all(descriptor, msgspec.json.encode(mark))
    finally:
        os.close(descriptor)
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
