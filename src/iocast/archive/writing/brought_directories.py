"""Directories that were missing where results were to lie: those that this process made, and no others, go again when
nothing came of it.
"""

from __future__ import annotations

import contextlib
import os
import time
import weakref
from pathlib import Path
from types import TracebackType

_ABOVE = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
_CLOCK_NS = 20_000_000  # how far the stamps of a file system may be behind the clock


class BroughtDirectories:
    """Makes what is missing of a path, level by level; what cannot be made is left to whoever opens it.

    Entered, it removes what it made after an error.
    """

    def __init__(self, path: str | Path) -> None:
        self._made: list[tuple[int, str, os.stat_result]] = []  # the directory above, name and status
        with contextlib.suppress(OSError):
            for level in (*reversed(Path(path).parents), Path(path)):
                if not os.path.isdir(level):
                    self._make(level)

    def _make(self, level: Path) -> None:
        above = os.open(level.parent, _ABOVE)
        weakref.finalize(self, os.close, above)
        begun_ns = time.time_ns() - _CLOCK_NS
        with contextlib.suppress(FileExistsError):  # another program made it meanwhile: it is theirs
            os.mkdir(level.name, dir_fd=above)
            status = os.stat(level.name, dir_fd=above, follow_symlinks=False)
            if status.st_uid == os.geteuid() and status.st_mtime_ns >= begun_ns:  # else it was exchanged
                self._made.append((above, level.name, status))

    def remove(self) -> None:
        """Removes them, from the lowest up, as long as nothing is in them."""
        with contextlib.suppress(OSError):
            for above, name, status in reversed(self._made):
                there = os.stat(name, dir_fd=above, follow_symlinks=False)
                if _taken_over(there) != _taken_over(status):
                    return
                os.rmdir(name, dir_fd=above)

    def __enter__(self) -> BroughtDirectories:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if kind is not None:
            self.remove()


def _taken_over(status: os.stat_result) -> tuple[int, ...]:
    """What somebody changes of a directory who uses it as his."""
    return status.st_dev, status.st_ino, status.st_uid, status.st_gid, status.st_mode
