"""Charts of the HTML page: each a figure with its sentence, its drawing, and its figures as a table."""

from __future__ import annotations

from markupsafe import Markup

from iocast.model.report import Chart
from iocast.report.charts import place_of, plot_of
from iocast.report.plot.drawing import page_svg
from iocast.report.plot.legends import Legend
from iocast.report.plot.theme import PAGE
from iocast.report.renderers.page.page_tables import table_html
from iocast.report.result_tables import chart_table

FIGURE = Markup(
    '<figure{wide} id="{chart.key}"><figcaption><h3>{chart.title}</h3><p>{chart.summary}</p></figcaption>'
    "{plot}{notes}<details{shown}><summary>Figures of “{chart.title}”</summary>{table}</details></figure>"
)
PLOT = Markup('<div class="plot" tabindex="0" role="img" aria-label="{chart.title}. {chart.summary}">{svg}</div>')


def drawing_html(chart: Chart) -> Markup:
    """A chart as SVG that takes its colours, its size and its font from the page."""
    return Markup(page_svg(plot_of(chart, PAGE), PAGE, chart.key))


def charts_html(charts: tuple[Chart, ...]) -> Markup:
    """The charts of a section, in two columns where the page is wide enough: on the left fio.r's."""
    wide = [chart for chart in charts if place_of(chart).wide]
    narrow = [chart for chart in charts if not place_of(chart).wide]
    left = [chart for chart in narrow if place_of(chart).classic]
    right = [chart for chart in narrow if not place_of(chart).classic]
    sides = (left, right) if left and right else ()
    columns = Markup().join(
        Markup('<div class="column">{}</div>').format(_figures(side)) for side in sides
    ) or _figures(narrow)
    legends = dict.fromkeys(legend for chart in charts for legend in place_of(chart).legends)
    shown = Markup().join(_legend(legend(PAGE)) for legend in legends)
    return Markup('{}<div class="charts">{}{}</div>').format(
        Markup('<div class="legend">{}</div>').format(shown) if shown else "", columns, _figures(wide)
    )


def _figures(charts: list[Chart]) -> Markup:
    return Markup().join(map(figure_html, charts))


def figure_html(chart: Chart) -> Markup:
    """A chart with what it says, drawn so that its colours follow the page; its figures alone where drawing fails."""
    try:
        plot, failed = PLOT.format(chart=chart, svg=drawing_html(chart)), ""
    except Exception as error:  # a fault of ours costs one picture, and neither the page nor the card
        plot, failed = (
            Markup(),
            f"This chart could not be drawn ({type(error).__name__}: {error}); these are its figures.",
        )
    return FIGURE.format(
        chart=chart,
        shown=Markup(" open" if failed else ""),
        wide=Markup(' class="wide"' if place_of(chart).wide else ""),
        plot=plot,
        notes=Markup().join(
            Markup('<p class="hint">{}</p>').format(note) for note in ([failed] if failed else chart.notes)
        ),
        table=table_html(chart_table(chart), chart.title, sorts=False),
    )


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
