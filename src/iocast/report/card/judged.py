"""A run judged once, and its card from that: trust, grades, what was tested, its course over time."""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from iocast import archive
from iocast.analyse.facts import Facts, facts_of
from iocast.diagnose.examination import examine
from iocast.diagnose.grades import grade
from iocast.errors import ArchiveError
from iocast.model.experiment import Diagnosis
from iocast.model.finding import Examination
from iocast.model.grading import GradeRequest, Grades
from iocast.model.report import Report, Section
from iocast.model.run import Run
from iocast.model.summary import Figures, Summary, summary_of
from iocast.report import wording
from iocast.report.card.card_report import card, with_charts
from iocast.report.card.headline import worst_trust
from iocast.report.experiment_report import with_trial
from iocast.report.forecast.calibration_report import with_calibration, with_calibration_charts
from iocast.report.matrix.matrix_section import with_matrix
from iocast.results.row_figures import figures_of


class Judged(NamedTuple):
    """A run of `folder` ("" when it was not saved) with what is thought of it; the grades are None where nothing was
    measured."""

    facts: Facts
    folder: str
    diagnosis: Diagnosis | None
    examination: Examination
    grades: Grades | None

    @property
    def run(self) -> Run:
        """The run itself."""
        return self.facts.run

    def report(self, *, charts: bool = False) -> Report:
        """The card, with charts if asked for. Raises ArchiveError for a damaged folder."""
        plain = card(self.facts, self.examination, self.folder, None, self.diagnosis, self.grades)
        notes = _notes(self.folder) if self.folder else None
        plain = replace(plain, sections=(notes, *plain.sections)) if notes else plain
        plain = with_calibration(with_matrix(plain, self.run), self.facts, self.examination)
        report = with_trial(plain, self.run, self.folder)
        return self.charted(report) if charts else report

    def charted(self, report: Report) -> Report:
        """The same card with its charts. Raises ArchiveError for a damaged folder."""
        drawn = report
        if self.folder:
            courses = archive.load_courses(self.folder)
            drawn = with_charts(report, self.facts, self.examination, courses, self.grades)
        return with_calibration_charts(drawn, self.facts, self.examination)

    def summary(self, report: Report) -> Summary:
        """The line for lists of runs."""
        letter = self.grades.overall if self.grades else None
        trust = worst_trust(self.run, self.examination)
        return replace(summary_of(self.run), grade=letter, trust=trust, verdict=report.verdict)

    def figures(self) -> Figures:
        """What is kept of it to compare many hosts."""
        return figures_of(self.facts, self.examination)


def judge(run: Run | Facts, folder: str, grade_request: GradeRequest | None = None) -> Judged:
    """Examines and grades the run in `folder`. Raises ArchiveError for a damaged folder."""
    grade_request = grade_request or GradeRequest()
    diagnosis = archive.load_diagnosis(folder) if folder else None
    facts = facts_of(run)
    examination = examine(facts, diagnosis)
    grades = grade(facts, examination, grade_request.scale, grade_request.levels) if facts.run.measured else None
    return Judged(facts, folder, diagnosis, examination, grades)


def _notes(folder: str) -> Section | None:
    """The note, each of its lines a paragraph, and the tags; a file of them that cannot be read costs only them."""
    try:
        notes = archive.load_notes(folder)
    except ArchiveError as error:
        return wording.section("notes", (f"Notes not shown: {error.message}",))
    lines = [line.strip() for line in notes.note.split("\n") if line.strip()]
    if notes.tags:
        lines.append(f"Tags: {', '.join(notes.tags)}")
    return wording.section("notes", tuple(lines)) if lines else None
