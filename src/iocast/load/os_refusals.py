"""What the operating system refused, as an error with a way out."""

from __future__ import annotations

import errno

from iocast.errors import TargetError

_NOT_YOURS = "choose a directory that you may write to, or run as its owner"
_HINTS = {
    errno.ENOSPC: "make room, ask for less with --size, or give another path",
    errno.EDQUOT: "your quota is used up: ask for less with --size, or give another path",
    errno.EACCES: _NOT_YOURS,
    errno.EPERM: _NOT_YOURS,
    errno.EROFS: "choose a path on a file system that is mounted read-write",
    errno.EFBIG: "the file system holds no file of that size: ask for less with --size",
    errno.EIO: "the storage fails: look into the kernel's log (dmesg) before anything else",
}


def way_out(number: int) -> str:
    """What a person can do about an errno of a work file."""
    return _HINTS.get(number, "look into the kernel's log (dmesg), or choose another path")


def refusal(doing: str, path: str, error: OSError) -> TargetError:
    """The error that says that `doing` ("cannot write") failed on `path`."""
    return TargetError(f"{doing} {path}: {error.strerror or error}", way_out(error.errno or 0))
