"""Files that are written beside their place and renamed; what a killed iocast left of one is told by its lock."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

NEW = ".new"  # the end of the name of every file that is not whole yet
_SAFELY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Growing(NamedTuple):
    """A file that is being written. Its lock is held until it is closed; a leftover is locked by nobody."""

    path: Path
    descriptor: int


@contextlib.contextmanager
def growing(fresh: Path) -> Iterator[Growing]:
    """A new file called `fresh`, which ends in NEW; one that was not renamed at the end is removed. Raises OSError.

    A leftover of that name is removed first. Where another process is writing under it, or it is not ours, the new file
    gets a name that nobody has.
    """
    file = _begun(fresh)
    try:
        yield file
    finally:
        with contextlib.suppress(OSError):
            if _is_at(file.path, file.descriptor):
                os.unlink(file.path)
        os.close(file.descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Writes all of it. Raises OSError."""
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


def put_whole(path: Path, data: bytes) -> None:
    """Writes a file of a folder that iocast made: it is there whole, or as it was. Raises OSError."""
    with growing(path.with_name(path.name + NEW)) as file:
        write_all(file.descriptor, data)
        os.replace(file.path, path)


def remove_leftover(path: Path) -> None:
    """Removes what a killed iocast left: a file of ours, no link, that no process is writing. Any other stays."""
    try:
        descriptor = os.open(path, os.O_RDONLY | _SAFELY)
    except OSError:
        return
    with contextlib.suppress(OSError):  # of the lock: somebody is writing it
        found = os.fstat(descriptor)
        if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid():
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(path, descriptor):
                os.unlink(path)
    os.close(descriptor)


def hold(descriptor: int) -> None:
    """Takes the lock that tells a file or folder from a leftover; not every file system has locks."""
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def _begun(fresh: Path) -> Growing:
    path = fresh
    while True:
        remove_leftover(path)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _SAFELY, 0o666)
        except FileExistsError:
            path = fresh.with_name(f"{fresh.name.removesuffix(NEW)}.{secrets.token_hex(4)}{NEW}")
            continue
        hold(descriptor)
        if _is_at(path, descriptor):  # nobody took it for a leftover before it was locked
            return Growing(path, descriptor)
        os.close(descriptor)


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.lstat(path), os.fstat(descriptor))
    except OSError:
        return False
