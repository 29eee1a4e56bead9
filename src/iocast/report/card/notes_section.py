"""What people say about the run: its note, its tags. A file of notes that cannot be read costs only them."""

from __future__ import annotations

from iocast import archive
from iocast.errors import ArchiveError
from iocast.model.report import Section
from iocast.report import wording


def section(folder: str) -> Section | None:
    """The note, each of its lines a paragraph, and the tags."""
    try:
        notes = archive.load_notes(folder)
    except ArchiveError as error:
        return wording.section("notes", (f"Notes not shown: {error.message}",))
    lines = [line.strip() for line in notes.note.split("\n") if line.strip()]
    if notes.tags:
        lines.append(f"Tags: {', '.join(notes.tags)}")
    return wording.section("notes", tuple(lines)) if lines else None
