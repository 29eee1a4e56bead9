"""summary.json: the line that lists show of a run; made anew from the run where it is missing or damaged."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec.structs import replace

from iocast.archive.file_names import SUMMARY_FILE
from iocast.archive.guarded.regular_file import LARGEST_SMALL, regular_bytes
from iocast.archive.json_files import BROKEN, parsed, put
from iocast.archive.opening import load
from iocast.archive.ownership import owner_alive
from iocast.model.summary import DEAD, Summary, summary_of


def save_summary(folder: Path, summary: Summary) -> None:
    """Writes the line that lists show of a run. Raises ArchiveError."""
    put(folder / SUMMARY_FILE, msgspec.json.encode(summary))


def read_summary(folder: str) -> Summary:
    """The summary beside a run; made from the run itself where it is missing. Raises ArchiveError.

    A run whose process is gone, though it says that it is running, has the status "dead".
    """
    summary = _kept(folder) or summary_of(load(folder))
    if summary.status == "running" and owner_alive(folder) is False:
        return replace(summary, status=DEAD)
    return summary


def _kept(folder: str) -> Summary | None:
    try:
        return parsed(regular_bytes(Path(folder, SUMMARY_FILE), LARGEST_SMALL), Summary)
    except (OSError, *BROKEN):
        return None
