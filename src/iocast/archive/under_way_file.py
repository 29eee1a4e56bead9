"""under_way.json: how far a run has come, written at most once a second for those who follow it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from iocast.archive.file_names import UNDER_WAY_FILE
from iocast.archive.json_files import BROKEN, parsed, put
from iocast.archive.regular_file import regular_bytes
from iocast.archive.writing.held_folder import HeldFolder
from iocast.model.summary import UnderWay


def save_under_way(folder: HeldFolder, now: UnderWay) -> None:
    """Writes how far the run is. Raises ArchiveError."""
    put(folder, UNDER_WAY_FILE, msgspec.json.encode(now))


def load_under_way(folder: str) -> UnderWay | None:
    """How far a run is that is under way; None when it is not, or what is there is damaged."""
    try:
        return parsed(regular_bytes(Path(folder, UNDER_WAY_FILE)), UnderWay)
    except (OSError, *BROKEN):
        return None
