"""The files of a run, opened once: the load goes to these descriptors, whatever takes their paths meanwhile."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from msgspec import Struct

from iocast.archive.writing.held_directories import held_path
from iocast.errors import TargetError
from iocast.load.marks import refuse_second_name, require_ours
from iocast.load.os_refusals import refusal
from iocast.load.tree_files import require_our_tree
from iocast.load.work_files import Layout
from iocast.model.target import Target

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


class _Opened(Struct, frozen=True):
    """A descriptor, and what it was when it was opened: device number of the file system, inode, type, own number."""

    descriptor: int
    what: tuple[int, int, int, int]


class OpenedFiles:
    """Opens each file of a layout when it is first needed, as it can be a work file that is still to be made.

    A block device must have the number that it was planned with. A context manager: at its end all are closed.
    """

    def __init__(self, layout: Layout, target: Target) -> None:
        self._layout = layout
        devices = (target, *target.members)
        self._numbers = {each.path: each.identity.number for each in devices if each.identity is not None}
        self._opened: dict[str, _Opened] = {}

    def __enter__(self) -> OpenedFiles:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def descriptors(self, paths: Iterable[str]) -> dict[str, int]:
        """The descriptor of each of these paths, all of which still lead to what was opened there first.

        Raises TargetError: a path leads elsewhere by now, or a work file there was not made by iocast.
        """
        return {path: self._descriptor(path) for path in dict.fromkeys(paths)}

    def _descriptor(self, path: str) -> int:
        try:
            if path not in self._opened:
                self._opened[path] = self._open(path)
            known = self._opened[path]
            there = os.stat(path, follow_symlinks=not self._layout.own)
            if _what(there) != known.what:
                raise _replaced(path)
            if self._layout.own and stat.S_ISREG(there.st_mode):
                refuse_second_name(path, there)
        except FileNotFoundError:
            raise _replaced(path) from None
        except OSError as error:
            raise refusal("cannot open", path, error) from error
        return known.descriptor

    def _open(self, path: str) -> _Opened:
        """A work file must be the one its mark names; what belongs to others may be given by a link."""
        descriptor = os.open(held_path(path), _FLAGS | (os.O_NOFOLLOW if self._layout.own else 0))
        try:
            status = os.fstat(descriptor)
            if self._layout.tree:
                require_our_tree(path, descriptor)
                return _Opened(descriptor, _what(status))
            if not (stat.S_ISREG(status.st_mode) or (stat.S_ISBLK(status.st_mode) and not self._layout.own)):
                raise _replaced(path)
            if self._layout.own:
                require_ours(path, descriptor)
            elif stat.S_ISBLK(status.st_mode) and not self._is_planned(path, status.st_rdev):
                raise _replaced(path)
        except BaseException:
            os.close(descriptor)
            raise
        return _Opened(descriptor, _what(status))

    def _is_planned(self, path: str, number: int) -> bool:
        return self._numbers.get(path) == f"{os.major(number)}:{os.minor(number)}"

    def close(self) -> None:
        """Closes all of them."""
        while self._opened:
            os.close(self._opened.popitem()[1].descriptor)


def _what(status: os.stat_result) -> tuple[int, int, int, int]:
    """Which file a status is of: nodes of one device are the same wherever they are."""
    kind = stat.S_IFMT(status.st_mode)
    if kind == stat.S_IFBLK:
        return 0, 0, kind, status.st_rdev
    return status.st_dev, status.st_ino, kind, 0


def _replaced(path: str) -> TargetError:
    return TargetError(
        f"{path} is not the file that the run opened: it was moved, removed or replaced during the run",
        "nothing more was written there; leave the target alone while iocast works, and start again",
    )
