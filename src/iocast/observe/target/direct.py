"""Does O_DIRECT work here: opened and tried with one aligned I/O: some file systems refuse only that."""

from __future__ import annotations

import errno
import mmap
import os
from typing import Literal

Answer = tuple[bool | None, str]
_TRY_BYTES = (4096, 65536)  # one page, then more for devices of larger blocks
_UNTRIED = {
    errno.EACCES: "not tried: no write permission",
    errno.EPERM: "not tried: no write permission",
    errno.EROFS: "not tried: the file system is mounted read-only",
    errno.ENOSPC: "not tried: the file system is full",
    errno.EDQUOT: "not tried: the quota is exhausted",
}


def probe_direct(path: str, kind: Literal["file", "directory", "block"]) -> Answer:
    """True, False or None (could not be tried), and in words why not. What exists is only read.

    In a directory one unnamed file (O_TMPFILE) is written, which is gone when this returns.
    """
    if kind == "directory":
        return _probe_directory(path)
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    except OSError as error:
        return _refused(error, "the file system refuses to open files with O_DIRECT")
    try:
        return _try_io(fd, write=False)
    finally:
        os.close(fd)


def _probe_directory(path: str) -> Answer:
    flags = os.O_TMPFILE | os.O_RDWR
    try:
        fd = os.open(path, flags | os.O_DIRECT, 0o600)
    except OSError as error:
        return _why_no_file(path, flags, error)
    try:
        return _try_io(fd, write=True)
    finally:
        os.close(fd)


def _why_no_file(path: str, flags: int, refusal: OSError) -> Answer:
    """Tells a file system without O_DIRECT from one without unnamed files by leaving O_DIRECT away."""
    try:
        os.close(os.open(path, flags, 0o600))
    except OSError as error:
        if error.errno in _UNTRIED:
            return None, _UNTRIED[error.errno]
        return (
            None,
            "unknown until the first work file exists: the file system does not support O_TMPFILE",
        )
    return _refused(refusal, "the file system refuses to open files with O_DIRECT")


def _try_io(fd: int, write: bool) -> Answer:
    refusal = OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    for size_bytes in _TRY_BYTES:
        with mmap.mmap(-1, size_bytes) as page:  # aligned to a page, as O_DIRECT asks
            try:
                moved = os.pwritev(fd, [page], 0) if write else os.preadv(fd, [page], 0)
            except OSError as error:
                refusal = error
                if error.errno != errno.EINVAL:
                    break
            else:
                return (False, "a direct write was incomplete") if write and moved < size_bytes else (True, "")
    return _refused(refusal, "the file system opens files with O_DIRECT but refuses the I/O")


def _refused(error: OSError, otherwise: str) -> Answer:
    if error.errno in _UNTRIED:
        return None, _UNTRIED[error.errno]
    if error.errno in (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTTY):
        return False, f"{otherwise} ({os.strerror(error.errno)})"
    return None, f"the test failed: {error.strerror}"
