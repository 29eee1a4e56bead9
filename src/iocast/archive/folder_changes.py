"""Renames and deletes a run folder: never one that is being written, and never a file that is not of a run."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from iocast.archive.file_names import DOCUMENTS, EXPERIMENTS, RUN_FILE
from iocast.archive.own_files import is_table_name, open_run_folder, run_in
from iocast.archive.ownership import owner_alive
from iocast.archive.summary_file import read_summary
from iocast.archive.writing.held_folder import ForeignFile, HeldFolder, open_folder
from iocast.archive.writing.leftovers import leftovers_of, tables_of
from iocast.errors import ArchiveError, SpecError

LONGEST_NAME = 120
_MOST_NAMED = 5  # files, in a refusal


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
    held = open_run_folder(old)
    if run_in(held) is None:
        raise ArchiveError(f"{old} is not a run folder", "rename other folders in a shell")
    _refuse_under_way(str(old))
    try:
        open_folder(old.parent, links=True).rename_folder(held, name)
    except FileExistsError:
        raise ArchiveError(f"{new} already exists", "choose another name") from None
    except OSError as error:
        raise ArchiveError(
            f"cannot rename {old}: {error.strerror}", "check the permissions of its directory"
        ) from error
    return str(new)


def delete_run(folder: str, *, unproven: bool = False) -> tuple[str, ...]:
    """Deletes the files of a run, and its folder when it is empty then; returns what else was in it, and stays.

    While something has the name of a file of a run and nothing proves that iocast wrote it, nothing is deleted;
    `unproven`: such files go, too, if they are the caller's. Links are not followed. Raises ArchiveError.
    """
    path = Path(os.path.abspath(folder))
    if path.is_symlink() or not os.path.isfile(path / RUN_FILE):
        raise ArchiveError(f"{path} is not a run folder", "give the folder that has a run.json")
    for each in (path, *_experiments_of(path)):
        _refuse_under_way(str(each))
    above, held = open_folder(path.parent, links=True), open_run_folder(path)
    try:
        if not unproven:
            _refuse_unproven(held)
        _delete(held, unproven)
        if left := held.names():
            return tuple(sorted(left))
        above.remove_folder(path.name, held)
        return ()
    except OSError as error:
        raise ArchiveError(
            f"cannot delete {error.filename or path}: {error.strerror}", "check the permissions of the folder"
        ) from error


def _refuse_unproven(run: HeldFolder) -> None:
    unknown = [str(room.path / name) for room, name in _files_of(run) if not room.is_own(name)]
    if unknown:
        shown = ", ".join(os.path.relpath(each, run.path) for each in unknown[:_MOST_NAMED])
        more = f" and {len(unknown) - _MOST_NAMED} more" if len(unknown) > _MOST_NAMED else ""
        raise ArchiveError(
            f"nothing is deleted: nothing proves that iocast wrote {shown}{more}",
            "move away what is yours, or confirm that unproven files are deleted, too (a copy can lose its proofs)",
        )


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


def _files_of(run: HeldFolder) -> Iterator[tuple[HeldFolder, str]]:
    """What has the name of a file of the run, or of a run that was made because of it."""
    for room in tables_of(run):
        yield from ((room, name) for name in room.names() if is_table_name(room.path.name, name))
    if run.has_folder(EXPERIMENTS):
        for below, _ in _runs_in(run.folder(EXPERIMENTS)):
            yield from _files_of(below)
    yield from ((run, name) for name in run.names() if name in DOCUMENTS)


def _runs_in(folder: HeldFolder) -> Iterator[tuple[HeldFolder, HeldFolder]]:
    """The runs in a folder and in its groups, and where each lies: any other run.json is somebody's."""
    for name in filter(folder.has_folder, folder.names()):
        below = folder.folder(name)
        if RUN_FILE not in below.names():
            yield from _runs_in(below)
        elif run_in(below) is not None:
            yield below, folder


def _delete(run: HeldFolder, unproven: bool) -> None:
    for room, name in tuple(leftovers_of(run)):
        room.remove_leftover(name)
    for room in tuple(tables_of(run)):
        for name in room.names():
            if is_table_name(room.path.name, name):
                _remove(room, name, unproven)
        run.remove_folder(room.path.name, room)
    if run.has_folder(EXPERIMENTS):
        experiments = run.folder(EXPERIMENTS)
        for below, group in tuple(_runs_in(experiments)):
            _delete(below, unproven)
            group.remove_folder(below.path.name, below)
            if group is not experiments:
                experiments.remove_folder(group.path.name, group)
        run.remove_folder(EXPERIMENTS, experiments)
    for name in DOCUMENTS:
        _remove(run, name, unproven)


def _remove(folder: HeldFolder, name: str, unproven: bool) -> None:
    with contextlib.suppress(ForeignFile):  # it stays, and is told
        folder.remove(name, unproven=unproven)
