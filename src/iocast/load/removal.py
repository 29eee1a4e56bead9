"""Removes work files and their marks, and nothing that iocast did not make."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from msgspec import Struct

from iocast.archive.writing.asides import put_back_left, rooms_left
from iocast.archive.writing.file_identity import MARK_SUFFIX
from iocast.archive.writing.held_directories import directory_of, held_directory, held_path, holding
from iocast.archive.writing.proofs import is_folder_proven
from iocast.archive.writing.renaming import others_may_rename
from iocast.errors import TargetError
from iocast.load.file_attributes import fixed
from iocast.load.marks import (
    WRITTEN_BY_OTHERS,
    held,
    is_changed_by_others,
    made_here,
    mark_path,
    read_mark,
    unlink_work_file,
)
from iocast.load.os_refusals import refusal
from iocast.load.tree_files import is_tree, opened_tree, remove_tree
from iocast.load.work_files import MOUNT_NAME, WORK_NAME

_PLACE = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
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
    directory = str(Path(path)) if os.path.isdir(path) and not is_tree(path) else directory_of(path)
    with ExitStack() as stack:
        with suppress(OSError):  # what is not there is said below
            stack.enter_context(holding(directory))
        return _clean(path, directory, dry_run, users)


def _clean(path: str, directory: str, dry_run: bool, users: Users) -> Cleaned:
    removed: list[tuple[str, int]] = []
    left = _put_back(directory, dry_run)
    for name in _files_of(path):
        try:
            why = _why_not(name)
            why = (_use(name, users) or why) if why else _removed(name, dry_run, users, removed)
        except OSError as error:
            if name == path:
                raise refusal("cannot remove", name, error) from error
            why = f"could not be removed: {error.strerror or error}"
        if why:
            left.append((name, why))
    left += [(mark, "is empty, so that nothing says who made it: remove it by hand") for mark in _empty_marks(path)]
    place = str(Path(directory) / MOUNT_NAME)
    if directory == str(Path(path)) and os.path.isdir(held_path(place)) and not os.path.islink(held_path(place)):
        try:
            removed += _removed_directory(place, dry_run)
        except OSError as error:
            foreign = error.errno == errno.EPERM
            why = "was not created by iocast" if foreign else f"is not empty, or in use ({error.strerror})"
            left.append((place, why))
    return Cleaned(tuple(removed), tuple(left))


def _put_back(directory: str, dry_run: bool) -> list[tuple[str, str]]:
    """What killed ones had moved aside gets its name again, to be looked at; what has to stay aside, and why."""
    if not dry_run:
        return put_back_left(directory)
    why = "was put aside by an iocast that was killed: clean puts it back under its name first"
    return [(aside, why) for aside in rooms_left(directory)]


def _files_of(path: str) -> list[str]:
    """The files whose marks are in a directory, or the one file. Raises TargetError."""
    if os.path.isdir(path) and not is_tree(path):
        return [name for name in _marked(path) if read_mark(name) is not None]
    if os.path.lexists(held_path(path)) or os.path.lexists(held_path(mark_path(path))):
        why = _why_not(path)
        if why:
            raise TargetError(f"{path} {why}", "remove it by hand if it is safe to delete")
        return [path]
    if path.startswith("sim:"):
        raise TargetError(f"{path} is a simulated device: it has no work files", "give a directory or a file")
    raise TargetError(f"{path} does not exist", "give the tested directory or file")


def _marked(path: str) -> list[str]:
    """Of the names in a directory those that have a mark beside them, or what is called like one."""
    try:
        names = sorted(os.listdir(held_directory(str(Path(path)))))
    except OSError:
        return []
    return [str(Path(path) / name.removesuffix(MARK_SUFFIX)) for name in names if name.endswith(MARK_SUFFIX)]


def _removed(name: str, dry_run: bool, users: Users, removed: list[tuple[str, int]]) -> str:
    """Removes one file of ours, or would; why not, in words that follow its name. Raises OSError."""
    what, letter = next((mark for each in (name, mark_path(name)) if (mark := fixed(each))[0]), ("", ""))
    if what:
        return f"is {what} (chattr -{letter} makes it removable)"
    with ExitStack() as stack:
        try:
            stack.enter_context(held(name))
        except TargetError:
            return "is in use by another iocast process"
        if why := _use(name, users):
            return why
        try:
            removed.append((name, _allocated(name) if dry_run else remove(name)))
        except TargetError as error:
            if is_tree(name):
                return error.message.removeprefix(name).strip()
            return "was replaced while iocast removed it, and was put back"
    return ""


def _use(name: str, users: Users) -> str:
    used = users([name]).get(name)
    return f"is in use: {'; '.join(used)}" if used else ""


def _removed_directory(place: str, dry_run: bool) -> list[tuple[str, int]]:
    """The empty directory that a killed experiment mounted its images on: they are where nobody else may rename. Raises
    OSError.
    """
    above = os.open(held_directory(directory_of(place)), os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        descriptor = os.open(os.path.basename(place), _PLACE, dir_fd=above)
        try:
            _refuse_other_place(descriptor, Path(f"/proc/self/fd/{above}").resolve())
        finally:
            os.close(descriptor)
        if not dry_run:
            os.rmdir(os.path.basename(place), dir_fd=above)
    finally:
        os.close(above)
    return [(place, 0)]


def _refuse_other_place(descriptor: int, above: Path) -> None:
    """Raises OSError unless an open directory is one that iocast made, and is free. Where the file system has no
    attributes nothing says so.
    """
    status = os.fstat(descriptor)
    ours = status.st_uid == os.geteuid() and stat.S_IMODE(status.st_mode) == 0o700 and is_folder_proven(descriptor)
    if not ours or others_may_rename(above):
        raise OSError(errno.EPERM, "iocast did not make it")
    if os.path.ismount(f"/proc/self/fd/{descriptor}/.") or os.listdir(descriptor):
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))


def _allocated(path: str) -> int:
    """What its removal frees: nothing where the file has a second name."""
    if not os.path.lexists(held_path(path)):
        return 0
    if is_tree(path):
        return remove_tree(path, dry=True)
    status = os.lstat(held_path(path))
    return status.st_blocks * 512 if status.st_nlink == 1 else 0


def _empty_marks(path: str) -> list[str]:
    """Empty files with the names of marks of ours: older versions that were killed left some."""
    marks = [mark_path(name) for name in _marked(path) if _OURS.fullmatch(os.path.basename(name))]
    known = {mark: os.lstat(held_path(mark)) for mark in marks}
    return [mark for mark, status in known.items() if stat.S_ISREG(status.st_mode) and not status.st_size]


def _why_not(path: str) -> str:
    """Why this is not to be removed: in words that follow its name; "" when it is ours."""
    if read_mark(path) is None:
        return "was not created by iocast"
    if is_tree(path) and os.path.lexists(held_path(path)):
        try:
            with opened_tree(path):
                return ""
        except (TargetError, OSError):
            return "is not the directory that iocast created there"
    if os.path.lexists(held_path(path)) and made_here(path) is None:
        changed = is_changed_by_others(path)
        return WRITTEN_BY_OTHERS if changed else "is not the file that iocast created there"
    return ""
