"""Marks: beside each work file a small JSON file, `<file>.iocast`, says which file iocast made there.

A mark is written before its file is made, so that no kill can leave a file without one. It names the very
file, by inode and generation: another file that later takes the place, or a symbolic link put there, is not
the one that iocast made. It is one short record, written in place by one call. A mark counts only when it
belongs to the caller or to root, whoever can write in the directory.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import msgspec
from msgspec import Struct

from iocast.errors import TargetError

T = TypeVar("T")

MARK_SUFFIX = ".iocast"
MAKER = "iocast"
_RECORD_BYTES = 256
_FS_IOC_GETVERSION = 0x80087601
_ASIDE = re.compile(r"(?P<name>.+)\.[0-9a-f]{16}", re.DOTALL)  # what a removal renames to
# A link is not followed, and a FIFO of the name does not block.
_SAFELY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Mark(Struct, frozen=True, forbid_unknown_fields=True):
    """What the file beside a work file says."""

    made_by: str
    size_bytes: int
    whole: bool  # filled to the end with unique data, and checked
    inode: int | None = None  # None: about to be made
    generation: int | None = None  # tells a file from a later one of the same inode number


def mark_path(path: str) -> str:
    """Where the mark of a work file is."""
    return path + MARK_SUFFIX


def read_mark(path: str) -> Mark | None:
    """What stands beside `path`, None when there is no mark of the caller or of root. It may be the mark of another,
    earlier file.
    """
    return _look(mark_path(path), _mark_in, None)


def _mark_in(descriptor: int) -> Mark | None:
    """The mark in an open file; None when it is none, or is another user's, who may have written anything there."""
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid not in (os.geteuid(), 0):
            return None
        mark = msgspec.json.decode(os.pread(descriptor, 16 * _RECORD_BYTES, 0), type=Mark)
    except (OSError, msgspec.MsgspecError):
        return None
    return mark if mark.made_by == MAKER else None


def begun(path: str) -> bool:
    """True for an empty file in the place of a mark, with nothing beside it: the trace of a kill."""
    try:
        status = os.lstat(mark_path(path))
    except OSError:
        return False
    ours = status.st_uid in (os.geteuid(), 0)
    return stat.S_ISREG(status.st_mode) and status.st_size == 0 and ours and not os.path.lexists(path)


def write_mark(path: str, mark: Mark) -> None:
    """Writes the mark of `path`, over an earlier mark only. Raises TargetError, OSError."""
    name = mark_path(path)
    if os.path.lexists(name) and read_mark(path) is None and not begun(path):
        raise TargetError(
            f"{name} exists and is not an iocast mark",
            "move it away, or choose another path: iocast writes only to files that it created",
        )
    descriptor = os.open(name, os.O_RDWR | os.O_CREAT | _SAFELY, 0o600)
    try:
        status = os.fstat(descriptor)
        if status.st_nlink != 1:
            raise TargetError(f"{name} has a second name (hard link)", "remove the other name, or choose another path")
        foreign = not stat.S_ISREG(status.st_mode) or status.st_uid not in (os.geteuid(), 0)
        if foreign or (status.st_size and _mark_in(descriptor) is None):
            raise TargetError(f"{name} was replaced while iocast worked", "choose a directory that only you can change")
        os.pwrite(descriptor, msgspec.json.encode(mark).ljust(_RECORD_BYTES - 1) + b"\n", 0)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def identity(descriptor: int) -> tuple[int, int | None]:
    """Inode and generation of an open file; no generation where the file system keeps none."""
    answer = bytearray(8)
    try:
        fcntl.ioctl(descriptor, _FS_IOC_GETVERSION, answer)
    except OSError:
        return os.fstat(descriptor).st_ino, None
    return os.fstat(descriptor).st_ino, int.from_bytes(answer[:4], "little")


def made_here(path: str) -> Mark | None:
    """The mark of the very file that is at `path`; None when iocast did not make that file."""
    mark = read_mark(path)
    if mark is None:
        return None
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode):
            return None
        descriptor = os.open(path, os.O_RDONLY | _SAFELY)
    except OSError:
        return None
    try:
        return mark if is_named(mark, path, descriptor) else None
    finally:
        os.close(descriptor)


def require_ours(path: str, descriptor: int) -> None:
    """Raises TargetError unless the open file is the one that iocast made at `path`, and has no other name."""
    mark = read_mark(path)
    if mark is None or not stat.S_ISREG(os.fstat(descriptor).st_mode) or not is_named(mark, path, descriptor):
        raise TargetError(f"{path} is not the file that iocast created", "move it away, or choose another directory")
    if os.fstat(descriptor).st_nlink != 1:
        raise TargetError(f"{path} has a second name (hard link)", "remove the other name, or choose another directory")


def is_named(mark: Mark, path: str, descriptor: int) -> bool:
    """True when the open file is the one that the mark names.

    Where the file system keeps no generations an inode number may have been used before, so that the mark is
    believed only where nobody else can put files under names of ours.
    """
    status = os.fstat(descriptor)
    if mark.inode is None:
        return _begun_file(status, path)
    inode, generation = identity(descriptor)
    if (inode, generation) != (mark.inode, mark.generation):
        return False
    if generation is None and mark.whole and stat.S_ISREG(status.st_mode) and status.st_size != mark.size_bytes:
        return False
    return generation is not None or is_ours_alone(os.path.dirname(path) or ".", status)


def _begun_file(status: os.stat_result, path: str) -> bool:
    """An empty file beside a mark that names none yet: made after that mark, by us, where nobody else can make it."""
    try:
        marked_ns = os.lstat(mark_path(path)).st_mtime_ns
    except OSError:
        return False
    later = status.st_mtime_ns >= marked_ns and status.st_uid in (os.geteuid(), 0)
    return status.st_size == 0 and later and is_ours_alone(os.path.dirname(path) or ".", status)


def is_ours_alone(directory: str, status: os.stat_result) -> bool:
    """Whether nobody but us and root can move what is in the directory; with the sticky bit, our own files only."""
    place = os.stat(directory)
    ours = (os.geteuid(), 0)
    if place.st_uid not in ours:
        return False
    open_to_others = bool(place.st_mode & (stat.S_IWGRP | stat.S_IWOTH))
    return not open_to_others or (bool(place.st_mode & stat.S_ISVTX) and status.st_uid in ours)


def unlink_ours(path: str, is_ours: Callable[[int], bool]) -> None:
    """Removes what is at `path` if its descriptor is ours; else it is put back. Raises TargetError, OSError.

    Another file may take the name between a look and an unlink: so it gets a name that nobody else knows first.
    """
    aside = f"{path}.{secrets.token_hex(8)}"
    os.rename(path, aside)
    try:
        ours = _look(aside, is_ours, False)
    except OSError:
        ours = False
    if not ours:
        try:
            _put_back(aside, path)
        except FileExistsError:
            raise TargetError(
                f"{path} was replaced twice while iocast removed it", f"what was there before is {aside} now"
            ) from None
        raise TargetError(f"{path} was replaced while iocast removed it", "it was put back: look at it yourself")
    os.unlink(aside)


def unlink_work_file(path: str) -> None:
    """Removes the file that the mark of `path` names, and the mark. Raises TargetError, OSError."""
    mark = read_mark(path)
    if os.path.lexists(path):
        unlink_ours(path, lambda descriptor: mark is not None and is_named(mark, path, descriptor))
    if os.path.lexists(mark_path(path)):
        unlink_mark(path)


def unlink_stray(stray: str) -> None:
    """Removes a mark that a killed removal had given another name. Raises TargetError, OSError."""
    unlink_ours(stray, lambda descriptor: _mark_in(descriptor) is not None)


def unlink_mark(path: str) -> None:
    """Removes the mark of `path`; one that was never written is empty. Raises TargetError, OSError."""

    def is_mark(descriptor: int) -> bool:
        status = os.fstat(descriptor)
        empty = stat.S_ISREG(status.st_mode) and not status.st_size and status.st_uid in (os.geteuid(), 0)
        return empty or _mark_in(descriptor) is not None

    unlink_ours(mark_path(path), is_mark)


def unlink_aside(path: str) -> int:
    """Removes the file that the mark of `path` names where a killed removal had given it another name already.
    Returns the bytes that were allocated. Raises OSError.
    """
    mark, freed = read_mark(path), 0
    if mark is None or mark.inode is None:
        return freed

    def allocated(descriptor: int) -> int | None:
        status = os.fstat(descriptor)
        named = stat.S_ISREG(status.st_mode) and is_named(mark, path, descriptor)
        return status.st_blocks * 512 if named else None

    directory, name = os.path.split(path)
    for aside, before in _asides(directory or "."):
        size_bytes = _look(aside, allocated, None) if before == name else None
        if size_bytes is not None:
            unlink_ours(aside, lambda descriptor: allocated(descriptor) is not None)
            freed += size_bytes
    return freed


def stray_marks(directory: str) -> list[str]:
    """Marks that a killed removal had given another name already."""
    if not os.path.isdir(directory):
        return []
    marks = [aside for aside, before in _asides(directory) if before.endswith(MARK_SUFFIX)]
    return [aside for aside in marks if _look(aside, _mark_in, None) is not None]


def _asides(directory: str) -> Iterator[tuple[str, str]]:
    """What has a name that a removal gives, with its name before. Raises OSError."""
    for entry in sorted(os.listdir(directory)):
        if known := _ASIDE.fullmatch(entry):
            yield os.path.join(directory, entry), known["name"]


def _look(path: str, ask: Callable[[int], T], otherwise: T) -> T:
    """What `ask` says of a file; no link is followed, and nothing waits. `otherwise` where it cannot be opened."""
    try:
        descriptor = os.open(path, os.O_RDONLY | _SAFELY)
    except OSError:
        return otherwise
    try:
        return ask(descriptor)
    finally:
        os.close(descriptor)


def _put_back(aside: str, path: str) -> None:
    """Gives a file its name again, and fails rather than replace what came there meanwhile. Raises OSError."""
    if stat.S_ISDIR(os.lstat(aside).st_mode):
        os.rename(aside, path)  # over an empty directory, at most
    else:
        os.link(aside, path, follow_symlinks=False)
        os.unlink(aside)


@contextmanager
def held(path: str) -> Iterator[None]:
    """While entered, no other iocast works on the file of this mark. Raises TargetError when one does."""
    descriptor = os.open(mark_path(path), os.O_RDONLY | _SAFELY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            # Some network file systems have no locks: that is no reason not to measure them.
            if error.errno in (errno.EWOULDBLOCK, errno.EAGAIN):
                raise TargetError(
                    f"{path} is in use by another iocast process", "wait until it ends, or give another path"
                ) from None
        yield
    finally:
        os.close(descriptor)
