"""Card: a run with what is thought of it, and the files that its report is written into."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from iocast.errors import ArchiveError, IocastError
from iocast.model.experiment import Diagnosis
from iocast.model.finding import Examination, Grade
from iocast.model.grading import GradeAsked, Grades, Letter
from iocast.model.report import Report, Section
from iocast.model.run import Run
from iocast.sessions.events import FloorMissed, PageFailed, PageWritten
from iocast.sessions.listener import Listener

if TYPE_CHECKING:
    from iocast.report.card.judged import Judged


class Card(Struct, frozen=True):
    """A run that was examined and graded. `folder` is "" where it was not saved."""

    judged: Judged

    @property
    def run(self) -> Run:
        """The plan, the host, and every phase with its measurement."""
        return self.judged.run

    @property
    def folder(self) -> str:
        """The run folder."""
        return self.judged.folder

    @property
    def grades(self) -> Grades | None:
        """The letters with their evidence; None where nothing was measured."""
        return self.judged.grades

    @property
    def grade(self) -> Letter | None:
        """The overall letter; None where none was given (`grades.says` tells why)."""
        return self.grades.overall if self.grades else None

    @property
    def trust(self) -> Grade | None:
        """The trust of the row that deserves least; None without rows."""
        from iocast.report.card.headline import worst_trust

        return worst_trust(self.run, self.examination)

    @property
    def examination(self) -> Examination:
        """The findings, and the trust and the bound of each row."""
        return self.judged.examination

    @property
    def diagnosis(self) -> Diagnosis | None:
        """What was tested by experiment; None where nothing was."""
        return self.judged.diagnosis

    @property
    def bad_blocks(self) -> int:
        """Blocks that the last verification found not as they must be."""
        return sum(found.bad_blocks for found in self.run.verifications[-1:])

    def report(self, *, charts: bool = False) -> Report:
        """The card as sections and tables, with charts if asked for. Raises ArchiveError for a damaged folder."""
        return self.judged.report(charts=charts)

    def write(self, path: str | Path, theme: str = "light", *, force: bool = False) -> list[Path]:
        """Writes the card with charts in the form of the suffix; returns the files. Raises IocastError.

        With `force` a file that iocast did not make is replaced, too.
        """
        from iocast.sessions.report_files import write_file

        return write_file(self.report(charts=True), Path(path), theme, force=force)

    def reaches(self, floor: Letter | None) -> bool:
        """True when the overall letter is at least `floor`, or none is asked for."""
        return floor is None or (self.grades is not None and self.grades.reaches(floor))


def make_card(run: Run, folder: str, asked: GradeAsked | None = None) -> Card:
    """Examines and grades the run in `folder`. Raises ArchiveError for a damaged folder."""
    from iocast.report.card.judged import judge

    return Card(judge(run, folder, asked))


def open_card(folder: str, asked: GradeAsked | None = None) -> Card:
    """The card of the run in a folder, which is only read. Raises ArchiveError."""
    from iocast import archive

    return make_card(archive.load(folder), folder, asked)


def keep_summary(card: Card, report: Report) -> None:
    """Puts the grade into the folder, for lists of runs; they do without it where the disk is full."""
    from iocast.archive import save_summary

    with contextlib.suppress(ArchiveError):
        save_summary(Path(card.folder), card.judged.summary(report))


def keep_judgement(folder: Path) -> None:
    """The same for a run whose card nobody makes: judged, and its letters kept. Raises ArchiveError."""
    card = open_card(str(folder))
    keep_summary(card, card.report())


def check_floor(card: Card, floor: Letter | None, listener: Listener) -> bool:
    """Whether the card earns the letter asked for; tells when not."""
    if card.reaches(floor) or floor is None:
        return True
    listener.tell(FloorMissed(card.folder or card.run.plan.name, floor, card.grades))
    return False


def with_sections(report: Report, added: tuple[Section, ...]) -> Report:
    """The same with sections behind its results."""
    at = next((at for at, each in enumerate(report.sections, 1) if each.code == "results"), len(report.sections))
    return replace(report, sections=(*report.sections[:at], *added, *report.sections[at:]))


def leave_page(card: Card, listener: Listener, added: tuple[Section, ...] = ()) -> None:
    """Writes the page into the run folder; the measurement is safe whether it can or not."""
    from iocast.archive import REPORT_PAGE
    from iocast.sessions.report_files import write_file

    page = Path(card.folder, REPORT_PAGE)
    try:
        write_file(with_sections(card.report(charts=True), added), page, own=True)
    except IocastError as error:
        listener.tell(PageFailed(error))
    else:
        from iocast.report.charts.drawing.engine import what_is_missing

        listener.tell(PageWritten(page, what_is_missing()))


def shown_folder(folder: Path) -> str:
    """A run folder as it is named to people: from where they stand."""
    return os.path.relpath(folder)
