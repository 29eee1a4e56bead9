"""Closes a run whose process died: it becomes "interrupted", with the rows or moments that were saved until then."""

from __future__ import annotations

from msgspec.structs import replace

from iocast.archive.file_names import SAMPLES, folder_of
from iocast.archive.folder import RunFolder
from iocast.archive.opening import load
from iocast.archive.ownership import owner_alive
from iocast.archive.tapes.unfinished_reels import unfinished_reels
from iocast.archive.writing.held_folder import ForeignFile
from iocast.errors import ArchiveError
from iocast.model.run import Run


def is_dead(run: Run, folder: str) -> bool:
    """True when the run in a folder says that it is running, and its process is gone."""
    return run.status == "running" and owner_alive(str(folder_of(folder))) is False


def mend(folder: str) -> bool:
    """Closes the run in a folder if it is dead; what was measured stays. Raises ArchiveError."""
    run = load(folder)
    if not is_dead(run, folder):
        return False
    try:
        return _close(run, RunFolder.open(folder))
    except ForeignFile as error:
        raise ArchiveError(f"cannot close the run in {folder}: {error.strerror}", "what is there stays") from error


def _close(run: Run, closing: RunFolder) -> bool:
    reels = unfinished_reels(closing.held.place)
    for number in [each for each in reels if each < len(run.phases)]:
        closing.save_reel(number, run.phases[number].phase.name)
    closing.save(replace(run, status="interrupted"))
    for file in reels.values():
        closing.held.folder(SAMPLES).remove(file.name)
    closing.end()
    return True
