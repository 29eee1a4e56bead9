"""Removes work files and their marks, and nothing that iocast did not make."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from msgspec import Struct

from iocast.archive.writing.renaming import others_may_rename
from iocast.errors import TargetError
from iocast.load.file_attributes import fixed
from iocast.load.marks import (
    MARK_SUFFIX,
    held,
    left_aside,
    made_here,
    mark_path,
    read_mark,
    settle,
    unlink_work_file,
)
from iocast.load.os_refusals import refusal
from iocast.load.tree_files import is_tree, opened_tree, remove_tree
from iocast.load.work_files import MOUNT_NAME, WORK_NAME

_OURS = re.compile(re.escape(WORK_NAME) + r"\.(\d+|image|trial)\.dat")

# Who uses these files, in a sentence each: told by the room that looks at the machine.
Users = Callable[[Sequence[str]], Mapping[str, Sequence[str]]]


def free(paths: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Nobody uses anything."""
    return {}


class Cleaned(Struct, frozen=True):
    """What `clean` did, or would do: (path, bytes freed) of each file, and (path, why) of each left alone."""

    removed: tuple[tuple[str, int], ...]
    left: tuple[tuple[str, str], ...] = ()


def remove(path: str) -> int:
    """Removes one work file and its mark; returns the bytes that were allocated. Raises TargetError, OSError."""
    why = _why_not(path)
    if why:
        raise TargetError(f"{path} {why}", "remove it by hand if it is safe to delete")
    if is_tree(path):
        return remove_tree(path)
    freed = _allocated(path)
    unlink_work_file(path)
    return freed


def clean(path: str, dry_run: bool = False, users: Users = free) -> Cleaned:
    """Removes the work files at `path` (a directory, or a work file). Raises TargetError.

    With `dry_run` nothing is removed. `users` says who uses a file otherwise: such a file is left alone.
    """
    removed: list[tuple[str, int]] = []
    left = _put_back(path, dry_run)
    for name in _found(path):
        try:
            why = _why_not(name) or _removed(name, dry_run, users, removed)
        except OSError as error:
            if name == path:
                raise refusal("cannot remove", name, error) from error
            why = f"could not be removed: {error.strerror or error}"
        if why:
            left.append((name, why))
    left += [(mark, "is empty, so that nothing says who made it: remove it by hand") for mark in _empty_marks(path)]
    place = str(Path(path) / MOUNT_NAME)
    if os.path.isdir(place) and not os.path.islink(place):
        try:
            removed += _removed_directory(place, dry_run)
        except OSError as error:
            foreign = error.errno == errno.EPERM
            why = "was not created by iocast" if foreign else f"is not empty, or in use ({error.strerror})"
            left.append((place, why))
    return Cleaned(tuple(removed), tuple(left))


def _put_back(path: str, dry_run: bool) -> list[tuple[str, str]]:
    """What killed ones had moved aside gets its name again, to be looked at; what has to stay aside, and why."""
    directory = path if os.path.isdir(path) and not is_tree(path) else os.path.dirname(path) or "."
    if not dry_run:
        return settle(directory)
    why = "was put aside by an iocast that was killed: clean puts it back under its name first"
    return [(aside, why) for aside in left_aside(directory)]


def _found(path: str) -> list[str]:
    """The files whose marks are in a directory, or the one file. Raises TargetError."""
    if os.path.isdir(path) and not is_tree(path):
        marks = sorted(str(mark) for mark in Path(path).glob(f"*{MARK_SUFFIX}"))
        return [name for mark in marks if read_mark(name := mark.removesuffix(MARK_SUFFIX)) is not None]
    if os.path.lexists(path) or os.path.lexists(mark_path(path)):
        why = _why_not(path)
        if why:
            raise TargetError(f"{path} {why}", "remove it by hand if it is safe to delete")
        return [path]
    if path.startswith("sim:"):
        raise TargetError(f"{path} is a simulated device: it has no work files", "give a directory or a file")
    raise TargetError(f"{path} does not exist", "give the tested directory or file")


def _removed(name: str, dry_run: bool, users: Users, removed: list[tuple[str, int]]) -> str:
    """Removes one file of ours, or would; why not, in words that follow its name. Raises OSError."""
    what, letter = next((found for each in (name, mark_path(name)) if (found := fixed(each))[0]), ("", ""))
    if what:
        return f"is {what} (chattr -{letter} makes it removable)"
    with ExitStack() as stack:
        try:
            stack.enter_context(held(name))
        except TargetError:
            return "is in use by another iocast process"
        if used := users([name]).get(name):
            return f"is in use: {'; '.join(used)}"
        try:
            removed.append((name, _allocated(name) if dry_run else remove(name)))
        except TargetError as error:
            if is_tree(name):
                return error.message.removeprefix(name).strip()
            return "was replaced while iocast removed it, and was put back"
    return ""


def _removed_directory(place: str, dry_run: bool) -> list[tuple[str, int]]:
    """The empty directory that a killed experiment mounted its images on: they are where nobody else may rename. Raises
    OSError.
    """
    status = os.lstat(place)
    if (
        status.st_uid != os.geteuid()
        or others_may_rename(Path(place).resolve().parent)
        or stat.S_IMODE(status.st_mode) != 0o700
    ):
        raise OSError(errno.EPERM, "iocast did not make it")
    if os.path.ismount(place) or os.listdir(place):
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
    if not dry_run:
        os.rmdir(place)
    return [(place, 0)]


def _allocated(path: str) -> int:
    """What its removal frees: nothing where the file has a second name."""
    if not os.path.lexists(path):
        return 0
    if is_tree(path):
        return remove_tree(path, dry=True)
    status = os.lstat(path)
    return status.st_blocks * 512 if status.st_nlink == 1 else 0


def _empty_marks(path: str) -> list[str]:
    """Empty files with the names of marks of ours: older versions that were killed left some."""
    marks = sorted(Path(path).glob(f"{WORK_NAME}.*{MARK_SUFFIX}")) if os.path.isdir(path) else []
    named = [mark for mark in marks if _OURS.fullmatch(mark.name.removesuffix(MARK_SUFFIX))]
    return [str(mark) for mark in named if stat.S_ISREG(mark.lstat().st_mode) and not mark.lstat().st_size]


def _why_not(path: str) -> str:
    """Why this is not to be removed: in words that follow its name; "" when it is ours."""
    if read_mark(path) is None:
        return "was not created by iocast"
    if is_tree(path) and os.path.lexists(path):
        try:
            with opened_tree(path):
                return ""
        except (TargetError, OSError):
            return "is not the directory that iocast created there"
    if os.path.lexists(path) and made_here(path) is None:
        return "is not the file that iocast created there"
    return ""
