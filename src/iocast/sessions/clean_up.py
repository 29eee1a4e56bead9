"""clean, runs --mend: what iocast left is removed, and runs whose process died are closed and judged."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from iocast import archive
from iocast.archive.catalogue import CatalogueEntry, runs_below
from iocast.errors import ArchiveError
from iocast.load.removal import Cleaned, clean
from iocast.model.summary import DEAD
from iocast.sessions.run_card import judge, keep_summary

__all__ = ["Cleaned", "Mended", "clean_up", "mend_runs"]


def clean_up(path: str, *, dry_run: bool = False) -> Cleaned:
    """Removes the work files in a path, and the server of ours that a kill left; with `dry_run` only says which.

    Raises IocastError.
    """
    from iocast.observe.target.file_users import file_users

    cleaned = clean(path, dry_run=dry_run, users=file_users)
    return _without_server(path, cleaned, dry_run) if os.path.isdir(path) else cleaned


def _without_server(path: str, cleaned: Cleaned, dry_run: bool) -> Cleaned:
    """The same with the folder of a PostgreSQL that `card --with postgres` made."""
    from iocast.databases.postgresql.own_folder import leftover_in, remove_own_folder

    leftover = leftover_in(path)
    if leftover is None:
        return cleaned
    why = leftover.why_not or ("" if dry_run else remove_own_folder(Path(leftover.folder)))
    if why:
        return replace(cleaned, left=(*cleaned.left, (leftover.folder, why)))
    return replace(cleaned, removed=(*cleaned.removed, (leftover.folder, leftover.allocated_bytes)))


class Mended(Struct, frozen=True):
    """What came of the dead runs in a directory: those closed now, those that could not be, with the reason."""

    closed: tuple[CatalogueEntry, ...]
    left: tuple[tuple[str, str], ...]


def mend_runs(directory: str) -> Mended:
    """Closes every dead run in a directory and below. Raises ArchiveError where it cannot be listed."""
    closed, left = [], []
    for entry in runs_below(directory):
        if entry.summary is None or entry.summary.status != DEAD:
            continue
        try:
            if archive.mend(entry.folder):
                _judge(entry.folder)
                closed.append(entry)
        except ArchiveError as error:
            left.append((entry.name, error.message))
    return Mended(tuple(closed), tuple(left))


def _judge(folder: str) -> None:
    """The line in lists has the grade, as that of a run which ended by itself."""
    run = archive.load(folder)
    if run.measured:
        card = judge(run, folder)
        keep_summary(card, card.report())
