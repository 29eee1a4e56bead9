"""Writes the charts of a report as pictures: one file a chart, and one for the classic ones of a ladder; PNG or SVG."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap

from iocast.archive.writing.named_outputs import check_output, put_output
from iocast.errors import ArchiveError, DrawingError
from iocast.model.report import Chart, Report
from iocast.report.charts import CHARTS, place_of, plot_of
from iocast.report.plot.drawing import Drawing, below_each_other, drawing_of, file_svg
from iocast.report.plot.legends import legend_plot
from iocast.report.plot.svg_paths import words_svg
from iocast.report.plot.theme import Theme
from iocast.report.plot.words import width_px

SUFFIXES = (".png", ".svg")
SPACING = 10  # pixels between what stands under each other
LETTER = 5.2  # pixels of a letter of a sentence, on average
AXIS_ROOM = 60  # pixels beside the plot that a sentence may use as well
TITLE, SENTENCE, LINE = 14, 11, 15  # pixels: the size of both fonts, and from line to line
BELOW_TITLE = 8  # pixels more before the chart
ZOOM = 2  # pixels of a PNG for one of a drawing, for screens of today
# The first of these that a machine has; those before DejaVu Sans are as wide as drawings expect.
FAMILIES = (
    *("Liberation Sans", "Arial", "Helvetica", "Nimbus Sans", "FreeSans"),
    *("Noto Sans", "Open Sans", "Cantarell", "Ubuntu", "DejaVu Sans"),
)
WORD = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">{}</svg>'


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


def sheet(charts: Sequence[Chart], theme: Theme) -> Drawing:
    """Charts under each other, with what a page says around them: title, sentences and the legends of their colours."""
    plots = [plot_of(chart, theme) for chart in charts]
    drawings = [drawing_of(plot, theme, chart.key) for plot, chart in zip(plots, charts, strict=True)]
    width = plots[0].width
    legends = dict.fromkeys(legend for chart in charts for legend in place_of(chart).legends)
    rows = [drawing_of(legend_plot(legend(theme), theme, width), theme, "legend") for legend in legends]
    left = min(drawing.box[0] for drawing in drawings)
    return below_each_other([_title(charts, width, left, theme), *drawings, *rows], SPACING)


def classic_sheets(charts: Sequence[Chart]) -> list[tuple[str, tuple[Chart, ...]]]:
    """The charts that belong into one picture, as fio.r has them, by the key of their family."""
    by_sheet: dict[str, list[Chart]] = {}
    for chart in charts:
        if place_of(chart).classic:
            by_sheet.setdefault(chart.family, []).append(chart)
    whole = sum(each.PLACE.classic for each in CHARTS.values())
    return [(key, tuple(several)) for key, several in by_sheet.items() if len(several) == whole]


def _title(charts: Sequence[Chart], width: int, left: float, theme: Theme) -> Drawing:
    """The title of the first, and all that they say."""
    said = [line for chart in charts for line in (chart.summary, *chart.notes)]
    lines = [line for each in said for line in wrap(each, round((width + AXIS_ROOM) / LETTER))]
    about = f' font-size="{TITLE}" font-weight="bold" fill="{theme.ink}"'
    svg = words_svg(charts[0].title, left, TITLE, "left", about)
    for at, line in enumerate(lines, 1):
        svg += words_svg(line, left, TITLE + LINE * at + 3, "left", f' font-size="{SENTENCE}" fill="{theme.muted}"')
    wide = max(width_px(charts[0].title, TITLE, bold=True), *(width_px(line, SENTENCE) for line in lines))
    return Drawing(svg, (left, 0.0, left + wide, TITLE + LINE * len(lines) + BELOW_TITLE))


def png_of(svg: str) -> bytes:
    """A drawing as PNG. Raises DrawingError where this machine has no font: words would be missing without a trace."""
    family = font_family()
    if not family:
        raise DrawingError(
            "No sans-serif font is installed, so a PNG would have no words",
            "install one, for example fonts-liberation, or write the charts as SVG: -o card.svg",
        )
    return _rendered(svg, family)


@functools.cache
def font_family() -> str:
    """The first family that leaves anything in a picture, "" where none does."""
    nothing = _rendered(WORD.format(""), FAMILIES[0])
    word = WORD.format('<text x="2" y="16" font-family="sans-serif">I</text>')
    return next((family for family in FAMILIES if _rendered(word, family) != nothing), "")


def _rendered(svg: str, family: str) -> bytes:
    from resvg_py import svg_to_bytes

    return bytes(svg_to_bytes(svg_string=svg, zoom=ZOOM, sans_serif_family=family))
