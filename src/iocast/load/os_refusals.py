"""What the operating system refused, as an error with a way out."""

from __future__ import annotations

import errno

from iocast.errors import TargetError

_NOT_YOURS = "choose a directory with write permission, or run as its owner"
_HINTS = {
    errno.ENOSPC: "free some space, reduce --size, or give another path",
    errno.EDQUOT: "the quota is exhausted: reduce --size, or give another path",
    errno.EACCES: _NOT_YOURS,
    errno.EPERM: _NOT_YOURS,
    errno.EROFS: "choose a path on a file system that is mounted read-write",
    errno.EFBIG: "the file system does not allow files of that size: reduce --size",
    errno.EIO: "the storage failed: check the kernel log (dmesg) first",
}


def way_out(number: int) -> str:
    """What a person can do about an errno of a work file."""
    return _HINTS.get(number, "check the kernel log (dmesg), or choose another path")


def refusal(doing: str, path: str, error: OSError) -> TargetError:
    """The error that says that `doing` ("cannot write") failed on `path`."""
    return TargetError(f"{doing} {path}: {error.strerror or error}", way_out(error.errno or 0))
