"""Closes a run whose process died: it becomes "interrupted", with the rows that were saved until then."""

from __future__ import annotations

from msgspec.structs import replace

from iocast.archive.file_names import folder_of
from iocast.archive.folder import RunFolder
from iocast.archive.opening import load
from iocast.archive.ownership import owner_alive
from iocast.model.run import Run


def is_dead(run: Run, folder: str) -> bool:
    """True when the run in a folder says that it is running, and its process is gone."""
    return run.status == "running" and owner_alive(str(folder_of(folder))) is False


def mend(folder: str) -> bool:
    """Closes the run in a folder if it is dead; what was measured stays. Raises ArchiveError."""
    run = load(folder)
    if not is_dead(run, folder):
        return False
    closing = RunFolder(folder_of(folder))
    closing.save(replace(run, status="interrupted"))
    closing.end()
    return True
