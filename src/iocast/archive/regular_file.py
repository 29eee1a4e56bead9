"""Reads a whole file that is regular and not too large: nothing else that has its name makes a reader wait or grow."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

LARGEST_DOCUMENT = 256 << 20  # bytes of a run.json: a phase of 256 users takes 30 kB
LARGEST_SMALL = 1 << 20  # of what is small by its nature
LARGEST_WRITTEN = 16 << 20  # of what a person wrote
PARQUET = b"PAR1"  # how such a table begins
GIVEN_BY_SHELL = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")  # <(command): whoever writes there is known to
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_AT_ONCE = 16 << 20  # bytes
_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
}


class UnfitFile(OSError):
    """A file that is there and is not read: not a regular one, or larger than any of its kind."""


def regular_bytes(path: Path | str, most: int = LARGEST_DOCUMENT) -> bytes:
    """All of a regular file. Raises OSError, and UnfitFile for what is no such file."""
    refuse_unfit(path)  # as _opened does; here without what Python adds to a descriptor, for thousands of small files
    descriptor = os.open(path, _FLAGS)
    try:
        status = os.fstat(descriptor)
        _refuse(status, path, most)
        text = _read(descriptor, status.st_size + 1)
        if len(text) > status.st_size:  # it grew, or is of /proc
            text += _read(descriptor, most + 1 - len(text))
    except BlockingIOError as error:  # of /proc/kmsg, which others have read
        raise UnfitFile(errno.EAGAIN, "it gives nothing to read", str(path)) from error
    finally:
        os.close(descriptor)
    if len(text) > most:  # files of /proc have no size
        raise _too_large(path, most)
    return text


def _read(descriptor: int, most: int) -> bytes:
    """So many bytes, or all up to the end: no more memory is asked for than they take, nearly."""
    text = os.read(descriptor, min(most, _AT_ONCE))
    parts, left = [text], most - len(text)
    while left and text:
        text = os.read(descriptor, min(left, _AT_ONCE))
        parts.append(text)
        left -= len(text)
    return b"".join(parts)


def written_text(path: str) -> str:
    """The text of a file that a person wrote: a job, rates. Raises OSError, UnfitFile; ValueError where it is no text.

    What the shell gives, as in <(command), is read to its end.
    """
    if path.startswith(GIVEN_BY_SHELL):
        with open(path, "rb") as file:
            text = file.read(LARGEST_WRITTEN + 1)
        if len(text) > LARGEST_WRITTEN:
            raise _too_large(path, LARGEST_WRITTEN)
    else:
        text = regular_bytes(path, LARGEST_WRITTEN)
    return text.decode("utf-8-sig")  # some editors begin a file with a byte order mark


def first_bytes(path: Path | str, count: int) -> bytes:
    """The first bytes of a regular file, all of a shorter one. Raises OSError; UnfitFile for what is no such file."""
    with _opened(path) as file:
        return file.read(count) or b""  # None of /proc/kmsg


def regular_lines(path: Path, longest: int, *, cut: bool = False) -> Iterator[bytes]:
    """The lines of a regular file, one at a time; what has no end is none, unless what is `cut` is asked for too.

    Raises OSError; UnfitFile for what is no such file, too large, or has a longer line.
    """
    with _opened(path, LARGEST_DOCUMENT) as file:
        while line := file.readline(longest + 1):
            if len(line) > longest:
                raise UnfitFile(errno.EFBIG, f"a line is longer than {longest >> 20} MiB", str(path))
            if cut or line.endswith(b"\n"):
                yield line


def may_begin(cut: bytes, beginnings: Iterable[bytes]) -> bool:
    """Whether a line that was being written when its process died may have begun so."""
    return any(cut[: len(each)] == each[: len(cut)] for each in beginnings)


@contextlib.contextmanager
def _opened(path: Path | str, most: int | None = None) -> Iterator[IO[bytes]]:
    refuse_unfit(path)  # before it is opened: to open a device may do something to it
    descriptor = os.open(path, _FLAGS)
    with open(descriptor, "rb") as file:
        _refuse(os.fstat(descriptor), path, most)  # another may have taken its name since
        yield file


def refuse_unfit(path: Path | str, most: int | None = None) -> None:
    """Raises UnfitFile for a path that is not a regular file, or larger than `most`; OSError where nothing is."""
    _refuse(os.stat(path), path, most)


def _refuse(status: os.stat_result, path: Path | str, most: int | None) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "something else")
        raise UnfitFile(errno.EINVAL, f"it is {kind}, not a regular file", str(path))
    if most is not None and status.st_size > most:
        raise _too_large(path, most)


def _too_large(path: Path | str, most: int) -> UnfitFile:
    return UnfitFile(errno.EFBIG, f"it is larger than {most >> 20} MiB", str(path))
