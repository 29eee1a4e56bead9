"""A drawing that stands by itself, as a picture does: what a page says around a chart is written into it."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from iocast.model.report import Chart
from iocast.report.charts import CHARTS, place_of, specification
from iocast.report.charts.drawing.legends import legend_drawing
from iocast.report.charts.drawing.parts import Spec
from iocast.report.charts.drawing.theme import Theme

PLOT = ("width", "height", "layer")  # what each drawing has for itself
SPACING = 10  # pixels between what stands under each other
LETTER = 5.2  # pixels of a letter of a sentence, on average
AXIS_ROOM = 60  # pixels beside the plot that a sentence may use as well


def sheet(charts: Sequence[Chart], theme: Theme) -> Spec:
    """The drawings of charts under each other, with title, sentences and the legends of their colours."""
    drawings = [specification(chart, theme) for chart in charts]
    parts = [{key: drawing[key] for key in PLOT} for drawing in drawings]
    whole = {key: value for key, value in drawings[0].items() if key not in PLOT}
    width = parts[0]["width"]
    legends = dict.fromkeys(legend for chart in charts for legend in place_of(chart).legends)
    rows = [legend_drawing(legend(theme), theme, width) for legend in legends]
    return {**whole, "title": _title(charts, width, theme), "spacing": SPACING, "vconcat": [*parts, *rows]}


def classic_sheets(charts: Sequence[Chart]) -> list[tuple[str, tuple[Chart, ...]]]:
    """The charts that belong into one picture, as fio.r has them, by the key of their family."""
    found: dict[str, list[Chart]] = {}
    for chart in charts:
        if place_of(chart).classic:
            found.setdefault(chart.family, []).append(chart)
    whole = sum(each.PLACE.classic for each in CHARTS.values())
    return [(key, tuple(several)) for key, several in found.items() if len(several) == whole]


def _title(charts: Sequence[Chart], width: int, theme: Theme) -> Spec:
    said = [line for chart in charts for line in (chart.summary, *chart.notes)]
    return {
        "text": charts[0].title,
        "subtitle": [line for each in said for line in wrap(each, round((width + AXIS_ROOM) / LETTER))],
        "anchor": "start",
        "color": theme.ink,
        "fontSize": 14,
        "subtitleColor": theme.muted,
        "subtitleFontSize": 11,
        "subtitleLineHeight": 15,
        "subtitlePadding": 5,
        "offset": 12,
    }
