"""What a path is that is no file: to open or read it might never end."""

from __future__ import annotations

import os
import stat

_KINDS = {stat.S_IFIFO: "a FIFO", stat.S_IFCHR: "a character device", stat.S_IFBLK: "a block device"}
_GIVEN_BY_SHELL = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")  # <(command): whoever writes there is known to


def special_kind(path: str) -> str:
    """ "a FIFO", "a character device", "a block device"; "" for all else, and for what is not there."""
    if path.startswith(_GIVEN_BY_SHELL):
        return ""
    try:
        return _KINDS.get(stat.S_IFMT(os.stat(path).st_mode), "")
    except (OSError, ValueError):
        return ""
