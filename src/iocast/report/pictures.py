"""Writes the charts of a report as pictures, one file a chart: PNG or SVG."""

from __future__ import annotations

from pathlib import Path

from iocast.errors import ArchiveError
from iocast.model.report import Report
from iocast.report.vega import to_png, to_svg
from iocast.report.vega.theme import Theme

SUFFIXES = (".png", ".svg")


def write_pictures(report: Report, path: Path, theme: Theme) -> list[Path]:
    """`card.png` becomes `card-overview.png`, ... Raises ArchiveError where a file cannot be written."""
    written = []
    for chart in report.charts:
        file = path.with_name(f"{path.stem}-{chart.key}{path.suffix}")
        data = to_png(chart, theme) if path.suffix == ".png" else to_svg(chart, theme).encode()
        try:
            file.write_bytes(data)
        except OSError as error:
            raise ArchiveError(f"cannot write {file}: {error.strerror}", "name another place with -o") from error
        written.append(file)
    return written
