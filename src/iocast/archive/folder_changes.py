"""Renames and deletes a run folder: never one that is being written, and never a file that is not of a run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from iocast.archive.file_names import DOCUMENTS, EXPERIMENTS, INTERVALS, RUN_FILE, SAMPLES
from iocast.archive.ownership import owner_alive
from iocast.archive.summary_file import read_summary
from iocast.archive.writing.held_folder import HeldFolder, open_folder
from iocast.archive.writing.leftovers import leftovers_of, tables_of
from iocast.archive.writing.renaming import rename_to_free_name
from iocast.errors import ArchiveError, SpecError

LONGEST_NAME = 120
_TABLES = {INTERVALS: re.compile(r"\d{3,}\.parquet"), SAMPLES: re.compile(r"\d{3,}\.(parquet|jsonl)")}


def rename_run(folder: str, name: str) -> str:
    """Gives a run folder another name beside its old one; returns its path. Raises ArchiveError, SpecError."""
    name = name.strip()
    if not name or len(name.encode()) > LONGEST_NAME or name.startswith(".") or re.search(r"[/\\\x00-\x1f\x7f]", name):
        raise SpecError(
            f'"{name}" is not a name for a run',
            f"a name has 1 to {LONGEST_NAME} bytes, no slash, and no dot at its start",
        )
    if name == "last":
        raise SpecError('"last" is not a name for a run', "it already stands for the newest run")
    old = Path(os.path.abspath(folder))
    new = old.with_name(name)
    if new == old:
        return str(old)
    _refuse_under_way(str(old))
    try:
        above = open_folder(old.parent, links=True)
        rename_to_free_name(above.descriptor, old.name, name)
    except FileExistsError:
        raise ArchiveError(f"{new} already exists", "choose another name") from None
    except OSError as error:
        raise ArchiveError(
            f"cannot rename {old}: {error.strerror}", "check the permissions of its directory"
        ) from error
    return str(new)


def delete_run(folder: str) -> tuple[str, ...]:
    """Deletes the files of a run, and its folder when it is empty then; returns what else was in it, and stays.

    Links are not followed. Raises ArchiveError.
    """
    path = Path(os.path.abspath(folder))
    if path.is_symlink() or not os.path.isfile(path / RUN_FILE):
        raise ArchiveError(f"{path} is not a run folder", "give the folder that has a run.json")
    for each in (path, *_experiments_of(path)):
        _refuse_under_way(str(each))
    above, held = open_folder(path.parent, links=True), open_folder(path)
    try:
        _delete(held)
        if left := held.names():
            return tuple(sorted(left))
        above.remove_folder(path.name, held)
        return ()
    except OSError as error:
        raise ArchiveError(
            f"cannot delete {error.filename or path}: {error.strerror}", "check the permissions of the folder"
        ) from error


def _experiments_of(run: Path) -> Iterator[Path]:
    return (file.parent for file in (run / EXPERIMENTS).rglob(RUN_FILE))


def _refuse_under_way(folder: str) -> None:
    try:
        running = read_summary(folder).status == "running"
    except ArchiveError:  # of a damaged run only its owner is asked
        running = False
    if running or owner_alive(folder):
        raise ArchiveError(
            f"{folder} is still running",
            "wait until it ends; a dead run of this machine is closed by `iocast runs --mend`",
        )


def _delete(run: HeldFolder) -> None:
    for room, name in tuple(leftovers_of(run)):
        room.remove(name)
    for room in tuple(tables_of(run)):
        for name in filter(_TABLES[room.path.name].fullmatch, room.names()):
            room.remove(name)
        run.remove_folder(room.path.name, room)
    if run.has_folder(EXPERIMENTS):
        _delete_runs_in(run.folder(EXPERIMENTS))
        run.remove_folder(EXPERIMENTS, run.folder(EXPERIMENTS))
    for name in DOCUMENTS:
        run.remove(name)


def _delete_runs_in(folder: HeldFolder) -> None:
    """The runs in a folder and in its groups."""
    for name in folder.names():
        if folder.has_folder(name):
            below = folder.folder(name)
            if RUN_FILE in below.names():
                if _is_run(below):
                    _delete(below)
            else:
                _delete_runs_in(below)
            folder.remove_folder(name, below)


def _is_run(folder: HeldFolder) -> bool:
    """Whether its run.json can be read: any other file of that name is somebody's."""
    try:
        return bool(read_summary(str(folder.place)).run_id)
    except ArchiveError:
        return False
