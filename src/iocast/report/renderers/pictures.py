"""Writes the charts of a report as pictures: one file a chart, and one for the classic ones of a ladder; PNG or SVG."""

from __future__ import annotations

from pathlib import Path

from iocast.archive.writing.named_outputs import check_output, put_output
from iocast.errors import ArchiveError
from iocast.model.report import Report
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.sheet import classic_sheets, sheet
from iocast.report.charts.svg.png import png_of
from iocast.report.charts.svg.svg_drawing import Drawing, file_svg

SUFFIXES = (".png", ".svg")


def write_pictures(report: Report, path: Path, theme: Theme, *, force: bool = False) -> list[Path]:
    """`card.png` becomes `card-overview.png`, ... Raises ArchiveError where a file cannot be
    written, or there is nothing to draw; DrawingError for a PNG where no font is installed."""
    if not report.charts:
        raise ArchiveError(
            f"cannot write {path}: this report has no chart", "write it as .html, .md, .json, .csv or .txt"
        )
    sheets = {chart.key: sheet((chart,), theme) for chart in report.charts}
    for key, charts in classic_sheets(report.charts):
        sheets[f"{key}-classic"] = sheet(charts, theme)
    files = {key: path.with_name(f"{path.stem}-{key}{path.suffix}") for key in sheets}
    for file in files.values():
        check_output(file, force=force)  # all of them, before the first is written
    drawings = {key: _drawn(drawing, path.suffix.lower(), theme) for key, drawing in sheets.items()}
    for key, data in drawings.items():
        put_output(files[key], data, force=force)
    return list(files.values())


def _drawn(drawing: Drawing, suffix: str, theme: Theme) -> bytes:
    return file_svg(drawing).encode() if suffix == ".svg" else png_of(file_svg(drawing, theme.ground))
