"""Attributes that forbid to change a file or directory (chattr): immutable, append-only."""

from __future__ import annotations

import fcntl
import os
import stat

from iocast.archive.writing.held_directories import held_path
from iocast.errors import TargetError

_FS_IOC_GETFLAGS = 0x80086601
_FIXED = {0x10: ("immutable", "i"), 0x20: ("append-only", "a")}  # linux/fs.h: FS_IMMUTABLE_FL, FS_APPEND_FL


def fixed(path: str) -> tuple[str, str]:
    """Which attribute forbids changes of a regular file or directory, and its letter; ("", "") when none does."""
    try:
        if stat.S_IFMT(os.lstat(held_path(path)).st_mode) not in (stat.S_IFREG, stat.S_IFDIR):
            return "", ""
        descriptor = os.open(held_path(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return "", ""
    answer = bytearray(8)
    try:
        fcntl.ioctl(descriptor, _FS_IOC_GETFLAGS, answer)
    except OSError:
        return "", ""  # the file system has no such attributes
    finally:
        os.close(descriptor)
    flags = int.from_bytes(answer[:4], "little")
    return next((names for bit, names in _FIXED.items() if flags & bit), ("", ""))


def refuse_fixed(*paths: str) -> None:
    """Raises TargetError when one of them must not be changed."""
    for path in paths:
        what, letter = fixed(path)
        if what:
            raise TargetError(
                f"{path} is {what} (lsattr shows it): nothing was written",
                f"chattr -{letter} {path} if it may be changed; or choose another directory",
            )
