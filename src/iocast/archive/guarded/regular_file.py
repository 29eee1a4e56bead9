"""Reads a whole file that is regular and not too large: nothing else that has its name makes a reader wait or grow."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO

LARGEST_DOCUMENT = 256 << 20  # bytes of a run.json: a phase of 256 users takes 30 kB
LARGEST_SMALL = 1 << 20  # of what is small by its nature
_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
}


class UnfitFile(OSError):
    """A file that is there and is not read: not a regular one, or larger than any of its kind."""


def regular_bytes(path: Path, most: int = LARGEST_DOCUMENT) -> bytes:
    """All of a regular file. Raises OSError, and UnfitFile for what is no such file."""
    with _opened(path, most) as file:
        text = file.read(most + 1)
    if text is None:  # of /proc/kmsg, which others have read
        raise UnfitFile(errno.EAGAIN, "it gives nothing to read", str(path))
    if len(text) > most:  # files of /proc have no size
        raise _too_large(path, most)
    return text


def first_bytes(path: Path, count: int) -> bytes:
    """The first bytes of a regular file, all of a shorter one. Raises OSError; UnfitFile for what is no such file."""
    with _opened(path) as file:
        return file.read(count) or b""  # None of /proc/kmsg


@contextlib.contextmanager
def _opened(path: Path, most: int | None = None) -> Iterator[IO[bytes]]:
    refuse_unfit(path)  # before it is opened: to open a device may do something to it
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        _refuse(os.fstat(descriptor), path, most)  # another may have taken its name since
        yield file


def refuse_unfit(path: Path, most: int | None = None) -> None:
    """Raises UnfitFile for a path that is not a regular file, or larger than `most`; OSError where nothing is."""
    _refuse(os.stat(path), path, most)


def _refuse(status: os.stat_result, path: Path, most: int | None) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "something else")
        raise UnfitFile(errno.EINVAL, f"it is {kind}, not a regular file", str(path))
    if most is not None and status.st_size > most:
        raise _too_large(path, most)


def _too_large(path: Path, most: int) -> UnfitFile:
    return UnfitFile(errno.EFBIG, f"it is larger than {most >> 20} MiB", str(path))
