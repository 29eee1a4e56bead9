"""A folder that appears under its name when it is whole: until then it is hidden and locked, and a killed iocast's is
removed by the next one.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from iocast.archive.file_names import DOCUMENTS, PROFILE_FILES, SPILL
from iocast.archive.writing.brought_directories import BroughtDirectories
from iocast.archive.writing.file_identity import belongs_to
from iocast.archive.writing.held_folder import HeldFolder, make_folder, open_base
from iocast.archive.writing.whole_files import NEW
from iocast.errors import ArchiveError

_TRIES = 1000  # another process removes what is not locked yet, seldom twice
_FILES = "|".join(map(re.escape, (*DOCUMENTS, *PROFILE_FILES)))
_OURS = re.compile(rf"(?:{_FILES})(?:{re.escape(NEW)})?|\.(?:{_FILES})\.[0-9a-f]{{8}}{re.escape(NEW)}")
_UNBORN = re.compile(r"\.\d{4}-\d\d-\d\dT\d{6}-[a-z0-9-]{1,40}\.\d+\.new")


@contextlib.contextmanager
def growing_folder(base: str | Path, names: Iterable[str], *, private: bool, kind: str = "run") -> Iterator[HeldFolder]:
    """A folder in `base` that gets the first free one of `names` at the end; an error removes it, and the directories
    above it that it brought. Raises ArchiveError.
    """
    with BroughtDirectories(base):
        try:
            above = open_base(base)
            sweep_unborn(above)
            folder = _begun(above, f".{time.strftime('%Y-%m-%dT%H%M%S')}-{kind}.{os.getpid()}{NEW}", private)
        except OSError as error:
            raise _refused(base, kind, error) from error
        try:
            yield folder
            try:
                _appear(folder, names)
            except OSError as error:
                raise _refused(base, kind, error) from error
        except BaseException:
            folder.discard()
            raise


def sweep_unborn(base: HeldFolder) -> None:
    """Removes folders that never got their names, because their process was killed."""
    with contextlib.suppress(OSError):
        for name in filter(_UNBORN.fullmatch, base.names()):
            with contextlib.suppress(OSError):
                _remove_unborn(base, name)


def _remove_unborn(base: HeldFolder, name: str) -> None:
    folder = base.folder(name)
    if not _is_our_own(folder):  # somebody else's of such a name, a copy, or one without attributes
        return
    folder.claim()
    for each in folder.names():
        with contextlib.suppress(OSError):
            if each.startswith(SPILL):
                _remove_room(folder, each)
            elif _OURS.fullmatch(each):
                folder.remove(each)
    base.remove_folder(name, folder)  # what iocast did not put there stays


def _remove_room(folder: HeldFolder, name: str) -> None:
    room = folder.folder(name)
    if _is_our_own(room):
        room.empty()
        folder.remove_folder(name, room)


def _is_our_own(folder: HeldFolder) -> bool:
    """The attribute alone proves nothing: the owner of a folder can set any."""
    return folder.is_proven and belongs_to(os.fstat(folder.descriptor), folder.place, (os.geteuid(),))


def _begun(above: HeldFolder, name: str, private: bool) -> HeldFolder:
    for _ in range(_TRIES):
        try:
            return make_folder(above, name, private=private)
        except FileExistsError:  # of a second thread of this process
            name = f"{name.removesuffix(NEW).rpartition('.')[0]}.{time.monotonic_ns()}{NEW}"
        except FileNotFoundError:  # taken for a leftover before it was locked
            continue
    raise FileNotFoundError(errno.ENOENT, "no folder can be made there")


def _appear(folder: HeldFolder, names: Iterable[str]) -> None:
    for name in names:
        with contextlib.suppress(FileExistsError):
            folder.rename(name)
            return
    raise FileExistsError(errno.EEXIST, "it already has 1000 folders of this second")


def _refused(base: str | Path, kind: str, error: OSError) -> ArchiveError:
    why = error.strerror or str(error)
    return ArchiveError(f"cannot create a {kind} folder in {base}: {why}", "choose another directory with --out DIR")
