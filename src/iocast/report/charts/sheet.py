"""A drawing that stands by itself, as a picture does: what a page says around a chart is written into it."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from iocast.model.report import Chart
from iocast.report.charts import CHARTS, place_of, specification
from iocast.report.charts.drawing.legends import legend_drawing
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.svg.letter_widths import width_px
from iocast.report.charts.svg.svg_drawing import Drawing, below_each_other, drawing_of
from iocast.report.charts.svg.svg_paths import words_svg

SPACING = 10  # pixels between what stands under each other
LETTER = 5.2  # pixels of a letter of a sentence, on average
AXIS_ROOM = 60  # pixels beside the plot that a sentence may use as well
TITLE, SENTENCE, LINE = 14, 11, 15  # pixels: the size of both fonts, and from line to line
BELOW_TITLE = 8  # pixels more before the chart


def sheet(charts: Sequence[Chart], theme: Theme) -> Drawing:
    """The drawings of charts under each other, with title, sentences and the legends of their colours."""
    specs = [specification(chart, theme) for chart in charts]
    drawings = [drawing_of(spec, theme, chart.key) for spec, chart in zip(specs, charts, strict=True)]
    width = specs[0]["width"] if isinstance(specs[0], dict) else specs[0].width
    legends = dict.fromkeys(legend for chart in charts for legend in place_of(chart).legends)
    rows = [drawing_of(legend_drawing(legend(theme), theme, width), theme, "legend") for legend in legends]
    left = min(drawing.box[0] for drawing in drawings)
    return below_each_other([_title(charts, width, left, theme), *drawings, *rows], SPACING)


def classic_sheets(charts: Sequence[Chart]) -> list[tuple[str, tuple[Chart, ...]]]:
    """The charts that belong into one picture, as fio.r has them, by the key of their family."""
    found: dict[str, list[Chart]] = {}
    for chart in charts:
        if place_of(chart).classic:
            found.setdefault(chart.family, []).append(chart)
    whole = sum(each.PLACE.classic for each in CHARTS.values())
    return [(key, tuple(several)) for key, several in found.items() if len(several) == whole]


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
