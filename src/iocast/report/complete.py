"""The card of a run with all that is known about it: trust, grades, what was tested, its course over time."""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from iocast import archive
from iocast.diagnose import examine
from iocast.diagnose.grades import grade
from iocast.model.finding import Grade
from iocast.model.grading import GradeAsked, Grades
from iocast.model.report import Report
from iocast.model.run import Run
from iocast.model.summary import Summary, summary_of
from iocast.report.card import card
from iocast.report.heads import worst_trust
from iocast.report.trial import with_trial


class Complete(NamedTuple):
    """The report, the grades in it (None: nothing that could be graded), and the line for lists of runs."""

    report: Report
    grades: Grades | None
    summary: Summary


def complete(run: Run, folder: str, asked: GradeAsked | None = None, *, charts: bool = False) -> Complete:
    """The card of the run in `folder` ("" when it was not saved). Raises ArchiveError for a damaged folder."""
    asked = asked or GradeAsked()
    diagnosis = archive.load_diagnosis(folder) if folder else None
    courses = archive.load_courses(folder) if charts and folder else None
    examination = examine(run, diagnosis)
    grades = grade(run, examination, asked.scale, asked.level) if run.measured else None
    report = with_trial(card(run, examination, folder, courses, diagnosis, grades), run, folder)
    return Complete(report, grades, _summary(run, report, grades, worst_trust(run, examination)))


def _summary(run: Run, report: Report, grades: Grades | None, trust: Grade | None) -> Summary:
    letter = grades.overall if grades else None
    return replace(summary_of(run), grade=letter, trust=trust, verdict=report.verdict)
