"""Rooms beside what iocast makes and removes: what is removed goes there first, and what is made comes from there.

A room is a folder that only the caller may enter, so that what was looked at in it is what is removed or named. Its
attribute names that very folder: what a killed iocast had put aside gets its name back, what it was making is removed.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from iocast.archive.writing.file_identity import identity, is_ours
from iocast.archive.writing.held_directories import directory_of, held_directory
from iocast.archive.writing.held_folder import HeldFolder, make_folder
from iocast.archive.writing.renaming import rename_to_free_name
from iocast.errors import TargetError

_ASIDE, _NEW = ".iocast-aside.", ".iocast-new."
_ROOMS = re.compile(rf"({re.escape(_ASIDE)}|{re.escape(_NEW)})[0-9a-f]{{16}}")
_OURS = "user.iocast.room"
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_SAFELY = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FULL = (errno.ENOSPC, errno.EDQUOT)


class Room(NamedTuple):
    """A room, and the directory that it lies in."""

    above: HeldFolder
    folder: HeldFolder

    def give_name(self, name: str) -> None:
        """What is in the room gets the same name beside it, if nothing has that. Raises FileExistsError, OSError."""
        rename_to_free_name(self.folder.descriptor, name, name, self.above.descriptor)


@contextmanager
def making_room(directory: str | Path) -> Iterator[Room]:
    """A room in a directory, for what gets its name when it is whole; what did not is removed. Raises OSError."""
    with _room(directory, _NEW) as room:
        try:
            yield room
        finally:
            room.folder.empty()


@contextmanager
def _room(directory: str | Path, prefix: str) -> Iterator[Room]:
    """At the end it is removed, if nothing is in it. Raises OSError."""
    above = _held(directory)
    folder = make_folder(above, f"{prefix}{secrets.token_hex(8)}", private=True)
    with suppress(OSError):  # not every file system has attributes
        os.setxattr(folder.descriptor, _OURS, _named(folder, prefix))
    try:
        yield Room(above, folder)
    finally:
        if not folder.remove_if_empty():
            with suppress(OSError):
                fcntl.flock(folder.descriptor, fcntl.LOCK_UN)  # it is of nobody now


def remove_ours(path: str, proven: Callable[[int], bool]) -> None:
    """Removes the file, or the empty directory, at `path` if its descriptor is proven ours; else it is put back.

    On a full file system there is no place for a room: what nobody else can exchange is removed where it is. Raises
    TargetError, OSError.
    """
    name = os.path.basename(path)
    try:
        with _room(directory_of(path), _ASIDE) as room:
            os.rename(name, name, src_dir_fd=room.above.descriptor, dst_dir_fd=room.folder.descriptor)
            try:
                removed = _remove(room.folder, name, proven)
            except BaseException:
                _put_back(room, name, path)
                raise
            if not removed:
                _put_back(room, name, path)
    except OSError as error:
        if error.errno not in _FULL:
            raise
        above = _held(directory_of(path))
        if not _remove(above, name, lambda each: is_ours_alone(above.place, each) and proven(each)):
            raise
        return
    if not removed:
        raise TargetError(f"{path} was replaced while iocast removed it", "it was put back: look at it yourself")


def _remove(folder: HeldFolder, name: str, proven: Callable[[int], bool]) -> bool:
    try:
        descriptor = os.open(name, _SAFELY, dir_fd=folder.descriptor)
    except OSError:
        return False
    try:
        if not proven(descriptor):
            return False
        remove = os.rmdir if stat.S_ISDIR(os.fstat(descriptor).st_mode) else os.unlink
    finally:
        os.close(descriptor)
    remove(name, dir_fd=folder.descriptor)
    return True


def is_ours_alone(directory: str | Path, descriptor: int) -> bool:
    """Whether nobody but us and root can move what is in the directory; with the sticky bit, our own files only: as the
    open one is, or not.
    """
    place = os.stat(directory)
    if not is_ours(place, directory):
        return False
    if not place.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return True
    return bool(place.st_mode & stat.S_ISVTX) and is_ours(os.fstat(descriptor), f"/proc/self/fd/{descriptor}")


def _put_back(room: Room, name: str, path: str) -> None:
    try:
        room.give_name(name)
    except OSError as error:
        twice = isinstance(error, FileExistsError)
        why = "was replaced twice" if twice else f"could not be put back ({error.strerror})"
        said = f"{path} {why} while iocast removed it"
        raise TargetError(said, f"what was there before is {room.folder.find() / name} now") from None


def rooms_left(directory: str) -> list[str]:
    """What killed ones put aside."""
    rooms = [room.folder for room in _rooms(directory) if room.folder.path.name.startswith(_ASIDE)]
    return [str(folder.path / name) for folder in rooms for name in folder.names()]


def put_back_left(directory: str) -> list[tuple[str, str]]:
    """Gives what killed ones had put aside its name again, and removes what they were making. Returns what has to stay
    in a room, and why.

    A room without its attribute may be another's folder, that somebody renamed: nothing in it is touched.
    """
    left = []
    for room in _rooms(directory):
        if not _is_room(room.folder):
            why = "may be of an iocast that was killed: look at it yourself"
            left.append((str(room.folder.path), why))
            continue
        if room.folder.path.name.startswith(_NEW):
            with suppress(OSError):
                room.folder.empty()
        for name in room.folder.names():
            try:
                room.give_name(name)
            except OSError as error:
                why = "was put aside by an iocast that was killed, and cannot be put back"
                left.append((str(room.folder.path / name), f"{why}: {error.strerror or error}"))
        with suppress(OSError):
            room.above.remove_folder(room.folder.path.name, room.folder)
    return left


def _rooms(directory: str) -> Iterator[Room]:
    """The rooms in a directory that no process uses."""
    try:
        above = _held(directory)
        names = sorted(filter(_ROOMS.fullmatch, os.listdir(held_directory(directory))))
    except OSError:
        return
    for name in names:
        with suppress(OSError):  # another user's, or one that a process holds
            folder = HeldFolder(above.path / name, os.open(name, _DIRECTORY | os.O_NOFOLLOW, dir_fd=above.descriptor))
            if folder.private and is_ours(os.fstat(folder.descriptor), folder.place):
                folder.claim()
                yield Room(above, folder)


def _held(directory: str | Path) -> HeldFolder:
    """Also one that may be written to and not read."""
    place = held_directory(str(directory))
    return HeldFolder(Path(directory), os.open(place, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC))


def _named(folder: HeldFolder, prefix: str) -> bytes:
    """Its attribute: what the room is for, so that a rename changes nothing, and which folder it is."""
    return repr((prefix, *identity(folder.descriptor))).encode()


def _is_room(folder: HeldFolder) -> bool:
    prefix = _NEW if folder.path.name.startswith(_NEW) else _ASIDE
    try:
        return identity(folder.descriptor).lasts and os.getxattr(folder.descriptor, _OURS) == _named(folder, prefix)
    except OSError:
        return False
