"""Card: a run with what is thought of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from iocast.model.experiment import Diagnosis
from iocast.model.finding import Examination, Grade
from iocast.model.grading import Grades, Letter
from iocast.model.report import Report, Section
from iocast.model.run import Run
from iocast.sessions.in_notebook import InNotebook

if TYPE_CHECKING:
    from iocast.archive.frames import Frame
    from iocast.report.card.judged import Judged


class Card(Struct, InNotebook, frozen=True):
    """A run that was examined and graded. `folder` is "" where it was not saved.

    `beside`: sections of what was measured beside it, such as a database on the same storage; they are not saved.
    """

    judged: Judged
    beside: tuple[Section, ...] = ()

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
    def rows(self) -> Frame:
        """The rows of results, with their intervals, as a table for Polars, pandas, pyarrow or DuckDB."""
        from iocast.archive.frames import frame_of
        from iocast.model.results.card import MeasuredRow
        from iocast.results.measured_rows import measured_rows

        return frame_of(measured_rows(self.judged.facts, self.examination), MeasuredRow)

    @property
    def intervals(self) -> Frame:
        """What each operation did in each interval, with histograms, as a table. Raises ArchiveError if not saved."""
        from iocast.archive.frames import interval_frame

        return interval_frame(self.folder)

    @property
    def samples(self) -> Frame:
        """What was observed: raw counters of all observers, as a table. Raises ArchiveError if not saved."""
        from iocast.archive.frames import sample_frame

        return sample_frame(self.folder)

    @property
    def bad_blocks(self) -> int:
        """Blocks that the last verification found not as they must be."""
        return sum(verification.bad_blocks for verification in self.run.verifications[-1:])

    def report(self, *, charts: bool = False) -> Report:
        """The card as sections and tables, with charts if asked for. Raises ArchiveError for a damaged folder."""
        report = self.with_beside(self.judged.report())
        return self.judged.charted(report) if charts else report

    def with_beside(self, report: Report) -> Report:
        """A report of the run with what was measured beside it."""
        at = next((at for at, each in enumerate(report.sections, 1) if each.code == "results"), len(report.sections))
        sections = (*report.sections[:at], *self.beside, *report.sections[at:])
        tables = (table for section in self.beside for table in section.tables)
        rows = {table.key: tuple(row.record for row in table.rows) for table in tables}
        return replace(report, sections=sections, result=replace(report.result, **rows) if report.result else None)

    def write(self, path: str | Path, theme: str = "light", *, force: bool = False) -> list[Path]:
        """Writes the card with charts in the form of the suffix; returns the files. Raises IocastError.

        With `force` a file that iocast did not make is replaced, too.
        """
        from iocast.sessions.report_files import write_file

        return write_file(self.report(charts=True), Path(path), theme, force=force)

    def reaches(self, floor: Letter | None) -> bool:
        """True when the overall letter is at least `floor`, or none is asked for."""
        return floor is None or (self.grades is not None and self.grades.reaches(floor))
