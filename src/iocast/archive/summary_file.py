"""summary.json: the line that lists show of a run, made anew from it where it is missing, and what fleets compare."""

from __future__ import annotations

import os

import msgspec
from msgspec.structs import replace

from iocast.archive.file_names import SUMMARY_FILE
from iocast.archive.json_files import BROKEN, parsed, put
from iocast.archive.opening import load
from iocast.archive.own_files import open_run_folder
from iocast.archive.ownership import owner_alive
from iocast.archive.regular_file import LARGEST_SMALL, regular_bytes
from iocast.archive.writing.held_folder import HeldFolder
from iocast.errors import ArchiveError
from iocast.model.summary import DEAD, Figures, Summary, summary_of

MOST_ROWS = 2000  # of figures: the file stays small


class _Line(Summary, frozen=True, kw_only=True):
    """A summary with the figures by which hosts are compared; lists do not decode these."""

    figures: Figures | None = None


def save_summary(folder: HeldFolder, summary: Summary, figures: Figures | None = None) -> None:
    """Writes the line that lists show of a run, and what fleets compare of it. Raises ArchiveError."""
    kept = None if figures is None or len(figures.rows) > MOST_ROWS else figures
    line = summary if kept is None else _Line(**msgspec.structs.asdict(summary), figures=kept)
    put(folder, SUMMARY_FILE, msgspec.json.encode(line))


def keep_summary(folder: str, summary: Summary, figures: Figures | None = None) -> None:
    """The same in the folder of a run that has ended, and of no other. Raises ArchiveError."""
    save_summary(open_run(folder, summary.run_id), summary, figures)


def open_run(folder: str, run_id: str) -> HeldFolder:
    """The folder of this very run, to add to it what was made of it. Raises ArchiveError where it is another by now."""
    held = open_run_folder(folder)
    if read_summary(str(held.place)).run_id != run_id:
        raise ArchiveError(f"{folder} is not the folder of this run: it was replaced", "look where it was moved to")
    return held


def read_summary(folder: str) -> Summary:
    """The summary beside a run; made from the run itself where it is missing. Raises ArchiveError.

    A run whose process is gone, though it says that it is running, has the status "dead".
    """
    summary = _kept(folder) or summary_of(load(folder))
    if summary.status == "running" and owner_alive(folder) is False:
        return replace(summary, status=DEAD)
    return summary


def read_figures(folder: str) -> Figures | None:
    """The figures beside a run; None where it has none: nobody judged it, or an older iocast did."""
    try:
        return parsed(regular_bytes(os.path.join(folder, SUMMARY_FILE), LARGEST_SMALL), _Line).figures
    except (OSError, *BROKEN):
        return None


def _kept(folder: str) -> Summary | None:
    try:
        return parsed(regular_bytes(os.path.join(folder, SUMMARY_FILE), LARGEST_SMALL), Summary)
    except (OSError, *BROKEN):
        return None
