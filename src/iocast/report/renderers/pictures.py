"""Writes the charts of a report as pictures: one file a chart, and one for the classic ones of a ladder; PNG or SVG."""

from __future__ import annotations

from pathlib import Path

from iocast.archive.writing.named_outputs import check_output, put_output
from iocast.errors import ArchiveError
from iocast.model.report import Report
from iocast.report.charts.drawing import engine
from iocast.report.charts.drawing.parts import Spec
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.sheet import classic_sheets, sheet

SUFFIXES = (".png", ".svg")


def write_pictures(report: Report, path: Path, theme: Theme, *, force: bool = False) -> list[Path]:
    """`card.png` becomes `card-overview.png`, ... Raises ArchiveError where a file cannot be
    written, or there is nothing to draw."""
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
    drawings = {key: _drawn(spec, path.suffix.lower(), theme) for key, spec in sheets.items()}
    for key, data in drawings.items():
        put_output(files[key], data, force=force)
    return list(files.values())


def _drawn(spec: Spec, suffix: str, theme: Theme) -> bytes:
    if suffix == ".svg":
        return engine.to_svg(engine.text(spec)).encode()
    return engine.to_png(engine.text({**spec, "background": theme.ground}))
