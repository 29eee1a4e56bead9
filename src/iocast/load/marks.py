"""Marks: beside each work file a small JSON file, `<file>.iocast`, says which file iocast made there.

A mark is written before its file is made, so that no kill can leave a file without one. It names the very
file, by inode and generation: another file that later takes the place, or a symbolic link put there, is not
the one that iocast made. It is one short record, written in place by one call.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
from msgspec import Struct

from iocast.errors import TargetError

MARK_SUFFIX = ".iocast"
MAKER = "iocast"
_RECORD_BYTES = 256
_FS_IOC_GETVERSION = 0x80087601
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
    """What stands beside `path`, None when there is no mark. It may be the mark of another, earlier file."""
    try:
        descriptor = os.open(mark_path(path), os.O_RDONLY | _SAFELY)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        mark = msgspec.json.decode(os.read(descriptor, 16 * _RECORD_BYTES), type=Mark)
    except (OSError, msgspec.MsgspecError):
        return None
    finally:
        os.close(descriptor)
    return mark if mark.made_by == MAKER else None


def begun(path: str) -> bool:
    """True for an empty file in the place of a mark, with nothing beside it: the trace of a kill."""
    try:
        status = os.lstat(mark_path(path))
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size == 0 and not os.path.lexists(path)


def write_mark(path: str, mark: Mark) -> None:
    """Writes the mark of `path`, over an earlier mark only. Raises TargetError, OSError."""
    name = mark_path(path)
    if os.path.lexists(name) and read_mark(path) is None and not begun(path):
        raise TargetError(
            f"{name} exists and is not an iocast mark",
            "move it away, or choose another path: iocast writes only to files that it created",
        )
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | _SAFELY, 0o600)
    try:
        if os.fstat(descriptor).st_nlink != 1:
            raise TargetError(f"{name} has a second name (hard link)", "remove the other name, or choose another path")
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
    except PermissionError:
        return mark if mark.inode == status.st_ino else None
    except OSError:
        return None
    try:
        return mark if _names(mark, descriptor) else None
    finally:
        os.close(descriptor)


def _names(mark: Mark, descriptor: int) -> bool:
    """True when the open file is the one that the mark names; before it names one, an empty file is."""
    if mark.inode is None:
        return os.fstat(descriptor).st_size == 0
    inode, generation = identity(descriptor)
    return inode == mark.inode and (None in (generation, mark.generation) or generation == mark.generation)


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
