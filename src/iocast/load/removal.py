"""Removes work files and their marks, and nothing that iocast did not make."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from pathlib import Path

from msgspec import Struct

from iocast.errors import TargetError
from iocast.load.marks import MARK_SUFFIX, begun, held, is_named, made_here, mark_path, read_mark
from iocast.load.os_refusals import refusal
from iocast.load.work_files import MOUNT_NAME, WORK_NAME

_OURS = re.compile(re.escape(WORK_NAME) + r"\.\w+\.dat")


class Cleaned(Struct, frozen=True):
    """What `clean` did, or would do: (path, bytes freed) of each file, and (path, why) of each left alone."""

    removed: tuple[tuple[str, int], ...]
    left: tuple[tuple[str, str], ...] = ()


def remove(path: str) -> int:
    """Removes one work file and its mark; returns the bytes that were allocated. Raises TargetError, OSError."""
    why = _why_not(path)
    if why:
        raise TargetError(f"{path} {why}", "remove it by hand if it is safe to delete")
    freed = _allocated(path)
    if os.path.lexists(path):
        _unlink_ours(path)
    if os.path.lexists(mark_path(path)):
        os.unlink(mark_path(path))
    return freed


def _unlink_ours(path: str) -> None:
    """Unlinks the file that the mark of `path` names. Raises TargetError, OSError.

    Another file may take the name between a look and an unlink: so it gets a name that nobody else knows first.
    """
    mark, aside = read_mark(path), f"{path}.{secrets.token_hex(8)}"
    os.rename(path, aside)
    descriptor = None
    try:
        descriptor = os.open(aside, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        ours = mark is not None and is_named(mark, path, descriptor)
    except OSError:
        ours = False
    finally:
        if descriptor is not None:
            os.close(descriptor)
    if ours:
        os.unlink(aside)
    else:
        _put_back(aside, path)
        raise TargetError(f"{path} was replaced while iocast removed it", "it was put back: look at it yourself")


def _put_back(aside: str, path: str) -> None:
    """Gives a file its name again, and fails rather than replace what came there meanwhile. Raises OSError."""
    if stat.S_ISDIR(os.lstat(aside).st_mode):
        os.rename(aside, path)  # over an empty directory, at most
    else:
        os.link(aside, path, follow_symlinks=False)
        os.unlink(aside)


def clean(path: str, dry_run: bool = False) -> Cleaned:
    """Removes the work files at `path` (a directory, or a work file). Raises TargetError.

    With `dry_run` nothing is removed.
    """
    if os.path.isdir(path):
        marks = sorted(str(mark) for mark in Path(path).glob(f"*{MARK_SUFFIX}"))
        found = [mark.removesuffix(MARK_SUFFIX) for mark in marks if _is_mark(mark)]
    elif os.path.lexists(path) or os.path.lexists(mark_path(path)):
        why = _why_not(path)
        if why:
            raise TargetError(f"{path} {why}", "remove it by hand if it is safe to delete")
        found = [path]
    else:
        if path.startswith("sim:"):
            raise TargetError(f"{path} is a simulated device: it has no work files", "give a directory or a file")
        raise TargetError(f"{path} does not exist", "give the tested directory or file")
    removed: list[tuple[str, int]] = []
    left: list[tuple[str, str]] = []
    for name in found:
        why = _why_not(name)
        if not why:
            try:
                with held(name):
                    removed.append((name, _allocated(name) if dry_run else remove(name)))
                continue
            except TargetError:
                why = "is in use by another iocast process"
            except OSError as error:
                raise refusal("cannot remove", name, error) from error
        left.append((name, why))
    place = str(Path(path) / MOUNT_NAME)
    if os.path.isdir(place) and not os.path.islink(place):
        try:
            removed += _removed_directory(place, dry_run)
        except OSError as error:
            left.append((place, f"is not empty, or in use ({error.strerror})"))
    return Cleaned(tuple(removed), tuple(left))


def _removed_directory(place: str, dry_run: bool) -> list[tuple[str, int]]:
    """The empty directory that a killed experiment mounted its images on. Raises OSError."""
    if os.path.ismount(place) or os.listdir(place):
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
    if not dry_run:
        os.rmdir(place)
    return [(place, 0)]


def _allocated(path: str) -> int:
    return os.lstat(path).st_blocks * 512 if os.path.lexists(path) else 0


def _is_mark(mark: str) -> bool:
    path = mark.removesuffix(MARK_SUFFIX)
    return read_mark(path) is not None or (begun(path) and _OURS.fullmatch(Path(path).name) is not None)


def _why_not(path: str) -> str:
    """Why this is not to be removed: in words that follow its name; "" when it is ours."""
    if read_mark(path) is None and not begun(path):
        return "was not created by iocast"
    if os.path.lexists(path) and made_here(path) is None:
        return "is not the file that iocast created there"
    return ""
