"""The folder of a study: study.toml, and LABEL/CELL/RUN for every run; what is complete is read from the runs alone."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from iocast.archive.catalogue import run_folders
from iocast.archive.guarded.regular_file import regular_bytes
from iocast.archive.json_files import put, unwritable
from iocast.archive.writing.held_folder import open_base
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
        raise unwritable(place, error.strerror or str(error)) from error
    if not is_study(folder):
        put(held, STUDY, text.rstrip("\n").encode())
    elif study_text(folder).rstrip("\n") != text.rstrip("\n"):
        raise ArchiveError(
            f"{folder} belongs to another study, or to another version of this one",
            "choose another directory with --out DIR: cells of two plans cannot be compared",
        )


@contextlib.contextmanager
def working_on(folder: str, label: str) -> Iterator[None]:
    """While entered, no other process runs this configuration. Raises ArchiveError where one does."""
    place = Path(folder) / label
    try:
        descriptor = open_base(folder).folder(label).open_to_append(_LOCK)
    except OSError as error:
        raise unwritable(place, error.strerror or str(error)) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ArchiveError(f"{place} is being measured by another process", "wait until it ends") from None
        except OSError:
            pass  # not every file system has locks
        yield
    finally:
        os.close(descriptor)


def labels(folder: str) -> tuple[str, ...]:
    """The configurations that have runs, in the order of their names. Raises ArchiveError."""
    try:
        found = sorted(each.name for each in os.scandir(folder) if each.is_dir() and not each.name.startswith("."))
    except OSError as error:
        raise ArchiveError(
            f"{folder} cannot be listed: {error.strerror}", "name the folder of `iocast study`"
        ) from error
    return tuple(name for name in found if next(run_folders(os.path.join(folder, name), 2), None) is not None)


def cell_folder(folder: str, label: str, cell: str) -> str:
    """Where the runs of a cell are."""
    return os.path.join(folder, label, cell)


def runs_of(folder: str, label: str, cell: str) -> tuple[str, ...]:
    """The run folders of a cell, complete or not, by name."""
    place = cell_folder(folder, label, cell)
    return tuple(sorted(run_folders(place, 1))) if os.path.isdir(place) else ()
