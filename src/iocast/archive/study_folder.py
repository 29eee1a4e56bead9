"""The folder of a study: study.toml, and LABEL/CELL/RUN for every run; what is complete is read from the runs alone."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from iocast.archive.catalogue import run_folders
from iocast.archive.json_files import put, unwritable
from iocast.archive.regular_file import regular_bytes
from iocast.archive.writing.held_folder import ForeignFile, HeldFolder, make_folder, open_base
from iocast.errors import ArchiveError

STUDY = "study.toml"
_LOCK = ".iocast-study.lock"


def is_study(path: str) -> bool:
    """Whether a path is the folder of a study."""
    return os.path.isfile(os.path.join(path, STUDY))


def study_text(folder: str) -> str:
    """The study file that the folder was made with. Raises ArchiveError."""
    file = Path(folder) / STUDY
    try:
        return regular_bytes(file).decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ArchiveError(f"{file}: {reason}", "name the folder of `iocast study`") from error


def begin(folder: str, text: str) -> None:
    """Makes the folder, or finds it again: it belongs to one study only. Raises ArchiveError."""
    place = Path(folder)
    try:
        held = open_base(place)
    except OSError as error:
        raise unwritable(place, error) from error
    if not is_study(folder):
        put(held, STUDY, text.rstrip("\n").encode())
    elif study_text(folder).rstrip("\n") != text.rstrip("\n"):
        raise ArchiveError(
            f"{folder} belongs to another study, or to another version of this one",
            "choose another directory with --out DIR: cells of two plans cannot be compared",
        )


@contextlib.contextmanager
def working_on(folder: str, label: str) -> Iterator[HeldFolder]:
    """The folder of a configuration; while entered, no other process runs it. Raises ArchiveError where one does."""
    place = Path(folder) / label
    try:
        held = _folder_of_label(folder, label)
        descriptor = held.open_to_append(_LOCK)
    except ForeignFile as error:
        why, hint = error.strerror or str(error), "or choose another --label, or another directory with --out DIR"
        raise ArchiveError(f"cannot write to {place}: {why}", hint) from error
    except OSError as error:
        raise unwritable(place, error) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ArchiveError(f"{place} is being measured by another process", "wait until it ends") from None
        except OSError:
            pass  # not every file system has locks
        yield held
    finally:
        os.close(descriptor)


def _folder_of_label(folder: str, label: str) -> HeldFolder:
    """It is made, or found again by its attribute or the lock in it. Raises OSError, ForeignFile."""
    above = open_base(folder, knows=_is_lock)
    with contextlib.suppress(FileExistsError):
        return make_folder(above, label, private=above.private)
    held = above.folder(label)
    if not held.is_proven and not held.is_own(_LOCK):
        raise ForeignFile(errno.EEXIST, f"{label} was not made by a study: move it away", str(held.path))
    return held


def _is_lock(folder: HeldFolder, name: str) -> bool:
    """Locks of older versions have no proof; nothing is ever written to one."""
    return name == _LOCK and not os.stat(folder.place / name).st_size


def labels(folder: str) -> tuple[str, ...]:
    """The configurations that have runs, in the order of their names. Raises ArchiveError."""
    try:
        names = sorted(each.name for each in os.scandir(folder) if each.is_dir() and not each.name.startswith("."))
    except OSError as error:
        raise ArchiveError(
            f"{folder} cannot be listed: {error.strerror}", "name the folder of `iocast study`"
        ) from error
    return tuple(name for name in names if next(run_folders(os.path.join(folder, name), 2), None) is not None)


def cell_folder(folder: str, label: str, cell: str) -> str:
    """Where the runs of a cell are."""
    return os.path.join(folder, label, cell)


def runs_of(folder: str, label: str, cell: str) -> tuple[str, ...]:
    """The run folders of a cell, complete or not, by name."""
    place = cell_folder(folder, label, cell)
    return tuple(sorted(run_folders(place, 1))) if os.path.isdir(place) else ()
