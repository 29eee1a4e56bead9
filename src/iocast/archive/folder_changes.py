"""Renames and deletes a run folder: never one that is being written, and never a file that is not of a run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from iocast.archive.file_names import DOCUMENTS, EXPERIMENTS, INTERVALS, RUN_FILE, SAMPLES
from iocast.archive.ownership import owner_alive
from iocast.archive.summary_file import read_summary
from iocast.archive.writing.leftovers import new_files
from iocast.errors import ArchiveError, SpecError

LONGEST_NAME = 120
_TABLE = re.compile(r"\d+\.parquet")


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
    if os.path.lexists(new):
        raise ArchiveError(f"{new} already exists", "choose another name")
    try:
        old.rename(new)
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
    try:
        _delete(path)
        return tuple(sorted(each.name for each in path.iterdir())) if path.exists() else ()
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


def _delete(run: Path) -> None:
    _unlink(tuple(new_files(run)))
    for tables in (run / INTERVALS, run / SAMPLES):
        if _is_own_folder(tables):
            _unlink(each for each in tables.iterdir() if _TABLE.fullmatch(each.name))
            _remove_if_empty(tables)
    _delete_runs_in(run / EXPERIMENTS)
    _unlink(run / name for name in DOCUMENTS)
    _remove_if_empty(run)


def _delete_runs_in(folder: Path) -> None:
    """The runs in a folder and in its groups."""
    if _is_own_folder(folder):
        for each in folder.iterdir():
            if (each / RUN_FILE).is_file() and _is_own_folder(each):
                _delete(each)
            else:
                _delete_runs_in(each)
        _remove_if_empty(folder)


def _is_own_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _unlink(files: Iterable[Path]) -> None:
    for file in files:
        if not (file.is_dir() and not file.is_symlink()):
            file.unlink(missing_ok=True)


def _remove_if_empty(folder: Path) -> None:
    if not any(folder.iterdir()):
        folder.rmdir()
