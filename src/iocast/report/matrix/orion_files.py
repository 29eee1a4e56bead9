"""ORION's result files of a run, for scripts that read ORION."""

from __future__ import annotations

from typing import TextIO

from iocast.model.run import Run
from iocast.report.matrix.measured_points import measured_points, orion_result, settings_of
from iocast.report.renderers.safe_words import SafeLines
from iocast.tools.orion.result_writing import files_of, summary_text


def render_summary(run: Run, out: TextIO) -> None:
    """Writes what ORION prints: its summary. Raises ArchiveError for a run that is none of ORION's."""
    SafeLines(out).write(summary_text(orion_result(run)))


def orion_files(run: Run) -> dict[str, str]:
    """The text of each of ORION's files by its name. Raises ArchiveError for a run that is none of ORION's."""
    return files_of(orion_result(run))


def has_points(run: Run) -> bool:
    """True when at least one data point was measured to its end."""
    settings = settings_of(run)
    return settings is not None and bool(measured_points(run, settings))
