"""Charts of the HTML page: each a figure with its sentence, its drawing, and its figures as a table."""

from __future__ import annotations

import re

from markupsafe import Markup

from iocast.errors import DrawingError
from iocast.model.report import Chart
from iocast.report.charts import place_of
from iocast.report.charts.drawing import engine
from iocast.report.charts.drawing.legends import Legend
from iocast.report.charts.drawing.theme import PAGE
from iocast.report.charts.svg import to_svgs
from iocast.report.renderers.page.page_tables import table_html

FIGURE = Markup(
    '<figure{wide} id="{chart.key}"><figcaption><h3>{chart.title}</h3><p>{chart.summary}</p></figcaption>'
    "{plot}{notes}<details{shown}><summary>Figures of “{chart.title}”</summary>{table}</details></figure>"
)
PLOT = Markup('<div class="plot" tabindex="0" role="img" aria-label="{chart.title}. {chart.summary}">{svg}</div>')


def drawings(charts: tuple[Chart, ...]) -> dict[str, Markup]:
    """All charts of a page as SVG, by their keys; none where nothing can draw them. Raises DrawingError."""
    if not engine.installed():
        return {}
    try:
        drawn = to_svgs(charts, PAGE)
    except DrawingError:
        if not engine.has_died():
            raise
        return {}  # the page has its figures as tables
    return {chart.key: _slim(svg) for chart, svg in zip(charts, drawn, strict=True)}


def charts_html(charts: tuple[Chart, ...], drawn: dict[str, Markup]) -> Markup:
    """The charts of a section, in two columns where the page is wide enough: on the left fio.r's."""
    wide = [chart for chart in charts if place_of(chart).wide]
    narrow = [chart for chart in charts if not place_of(chart).wide]
    left = [chart for chart in narrow if place_of(chart).classic]
    right = [chart for chart in narrow if not place_of(chart).classic]
    columns = _figures(narrow, drawn)
    if left and right:
        columns = Markup().join(
            Markup('<div class="column">{}</div>').format(_figures(side, drawn)) for side in (left, right)
        )
    legends = dict.fromkeys(legend for chart in charts if chart.key in drawn for legend in place_of(chart).legends)
    shown = Markup().join(_legend(legend(PAGE)) for legend in legends)
    return Markup('{}<div class="charts">{}{}</div>').format(
        Markup('<div class="legend">{}</div>').format(shown) if shown else "", columns, _figures(wide, drawn)
    )


def _figures(charts: list[Chart], drawn: dict[str, Markup]) -> Markup:
    return Markup().join(figure_html(chart, drawn.get(chart.key)) for chart in charts)


def figure_html(chart: Chart, svg: Markup | None) -> Markup:
    """A chart with what it says, drawn so that its colours follow the page; its figures alone where it is not drawn."""
    return FIGURE.format(
        chart=chart,
        wide=Markup(' class="wide"' if place_of(chart).wide else ""),
        plot="" if svg is None else PLOT.format(chart=chart, svg=svg),
        notes=Markup().join(Markup('<p class="hint">{}</p>').format(note) for note in chart.notes if svg is not None),
        shown=Markup(" open" if svg is None else ""),
        table=table_html(chart.tables[0], chart.title, sorts=False),
    )


def _slim(svg: str) -> Markup:
    """The SVG without what a page does not need: its size is given by its box."""
    svg = re.sub(r'<svg ([^>]*?) width="\d+(?:\.\d+)?" height="\d+(?:\.\d+)?"', r"<svg \1", svg, count=1)
    svg = svg.replace(' role="graphics-symbol"', "").replace(' role="graphics-object"', "")
    # Words have the font of the page.
    svg = re.sub(
        r' aria-roledescription="[^"]*"| font-family="[^"]*"| xmlns(?::xlink)?="[^"]*"| version="1.1"', "", svg
    )
    # Clip paths and images of SVG 1.1 refer by xlink:href; in a page href does the same.
    return Markup(svg.replace("xlink:href", "href").replace("<svg ", '<svg aria-hidden="true" ', 1))


def _legend(legend: Legend) -> Markup:
    if not legend.scale:
        square = Markup('<span><span class="dot" style="background:{}"></span>{}</span>')
        return Markup("<span>{}:</span>{}").format(
            legend.says, Markup().join(square.format(*each) for each in legend.squares)
        )
    squares = Markup().join(Markup('<i style="background:{}"></i>').format(colour) for colour, _ in legend.squares)
    return Markup('<span>{}<span class="swatches">{}</span>{}</span>').format(
        legend.says, squares, legend.squares[-1][1]
    )
