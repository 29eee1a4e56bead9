"""The card of a run with all that is known about it: trust, what was tested, its course over time."""

from __future__ import annotations

from iocast import archive
from iocast.diagnose import examine
from iocast.model.report import Report
from iocast.model.run import Run
from iocast.report.card import card


def complete(run: Run, folder: str, *, charts: bool = False) -> Report:
    """The card of the run in `folder` ("" when it was not saved). Raises ArchiveError for a damaged folder."""
    diagnosis = archive.load_diagnosis(folder) if folder else None
    courses = archive.load_courses(folder) if charts and folder else None
    return card(run, examine(run, diagnosis), folder, courses, diagnosis)
