"""Charts of the HTML page: each a figure with its sentence, its drawing, and its figures as a table."""

from __future__ import annotations

import re
from html import escape

from iocast import text
from iocast.model.report import Chart, ChartKind
from iocast.report.charts.latency_by_load import BUCKET_ENDS_NS
from iocast.report.renderers.page.page_tables import table_html
from iocast.report.vega import WIDE_KINDS, to_svgs
from iocast.report.vega.theme import PAGE

# The classic three stand under each other, as fio.r has them; what else there is of a ladder stands beside.
LEFT: tuple[ChartKind, ...] = ("latency_by_load", "scaling", "throughput")


def drawings(charts: tuple[Chart, ...]) -> dict[str, str]:
    """All charts of a page as SVG, by their keys."""
    return {chart.key: _slim(svg) for chart, svg in zip(charts, to_svgs(charts, PAGE), strict=True)}


def charts_html(charts: tuple[Chart, ...], drawn: dict[str, str]) -> str:
    """The charts of a section, in two columns where the page is wide enough."""
    wide = [chart for chart in charts if chart.kind in WIDE_KINDS]
    narrow = [chart for chart in charts if chart.kind not in WIDE_KINDS]
    left = [chart for chart in narrow if chart.kind in LEFT]
    right = [chart for chart in narrow if chart.kind not in LEFT]
    if not left or not right:
        columns = _figures(narrow, drawn)
    else:
        columns = "".join(f'<div class="column">{_figures(side, drawn)}</div>' for side in (left, right))
    legend = _legend() if left else ""
    return f'{legend}<div class="charts">{columns}{_figures(wide, drawn)}</div>'


def _figures(charts: list[Chart], drawn: dict[str, str]) -> str:
    return "".join(figure_html(chart, drawn[chart.key]) for chart in charts)


def figure_html(chart: Chart, svg: str) -> str:
    """A chart with what it says, drawn so that its colours follow the page."""
    wide = ' class="wide"' if chart.kind in WIDE_KINDS else ""
    notes = "".join(f'<p class="hint">{escape(note)}</p>' for note in chart.notes)
    table = table_html(chart.tables[0], chart.title, sorts=False)
    return (
        f'<figure{wide} id="{escape(chart.key)}"><figcaption><h3>{escape(chart.title)}</h3>'
        f"<p>{escape(chart.summary)}</p></figcaption>"
        f'<div class="plot" tabindex="0" role="img" aria-label="{escape(chart.title)}. {escape(chart.summary)}">'
        f"{svg}</div>{notes}"
        f"<details><summary>Figures of “{escape(chart.title)}”</summary>{table}</details></figure>"
    )


def _slim(svg: str) -> str:
    """The SVG without what a page does not need: its size is given by its box."""
    svg = re.sub(r'<svg ([^>]*?) width="\d+(?:\.\d+)?" height="\d+(?:\.\d+)?"', r"<svg \1", svg, count=1)
    svg = svg.replace(' role="graphics-symbol"', "").replace(' role="graphics-object"', "")
    # Words have the font of the page.
    svg = re.sub(
        r' aria-roledescription="[^"]*"| font-family="[^"]*"| xmlns(?::xlink)?="[^"]*"| version="1.1"', "", svg
    )
    # Clip paths and images of SVG 1.1 refer by xlink:href; in a page href does the same.
    return svg.replace("xlink:href", "href").replace("<svg ", '<svg aria-hidden="true" ', 1)


def _legend() -> str:
    shares = "".join(
        f'<span><span class="dot" style="background:var(--c-{name})"></span>{words}</span>'
        for name, words in (("fast", "up to 1 ms"), ("middling", "1 to 10 ms"), ("slow", "above 10 ms"))
    )
    first, last = (text.duration_in_words(BUCKET_ENDS_NS[at]) for at in (1, -2))
    swatches = "".join(f'<i style="background:var(--c-b{at})"></i>' for at in range(len(BUCKET_ENDS_NS) - 1))
    return (
        f'<div class="legend"><span>I/Os that took {first}<span class="swatches">{swatches}</span>{last} and more'
        f"</span><span>behind, all I/Os shared out:</span>{shares}</div>"
    )
