"""A drawing that stands by itself, as a picture does: what a page says around a chart is written into it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap

from iocast.model.report import Chart
from iocast.report import format as text
from iocast.report.charts.latency_by_load import BUCKET_ENDS_NS
from iocast.report.vega.parts import OWN_COLOUR, Spec, layer, quantitative
from iocast.report.vega.theme import Theme

SPACING = 10  # pixels between what stands under each other
LETTER = 5.2  # pixels of a letter of a sentence, on average
AXIS_ROOM = 60  # pixels beside the plot that a sentence may use as well
LABELS = 176  # where the legend's squares begin; their names end before
SQUARE = 11
LINE = 18


def sheet(drawing: Spec, charts: Sequence[Chart], theme: Theme) -> Spec:
    """The drawing of a chart, or of several under each other, with title, sentences and the legend of its colours."""
    parts = drawing.get("vconcat") or [_plot(drawing)]
    whole = {key: value for key, value in drawing.items() if key not in (*_plot(drawing), "vconcat")}
    kinds = {chart.kind for chart in charts}
    legend = [
        *(_buckets(theme) if kinds & {"latency_by_load", "throughput"} else ()),
        *(_shares(theme) if "latency_by_load" in kinds else ()),
    ]
    under = [{"width": parts[0]["width"], "height": LINE * len(legend) // 2, "layer": legend}] if legend else []
    return {**whole, "title": _title(charts, parts[0]["width"], theme), "spacing": SPACING, "vconcat": [*parts, *under]}


def _plot(drawing: Spec) -> Spec:
    return {key: drawing[key] for key in ("width", "height", "layer") if key in drawing}


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


def _buckets(theme: Theme) -> Iterable[Spec]:
    first, last = (text.duration_in_words(BUCKET_ENDS_NS[at]) for at in (1, -2))
    end = LABELS + SQUARE * len(theme.buckets)
    yield _squares((LABELS + SQUARE * at, colour) for at, colour in enumerate(theme.buckets))
    yield from _words(((LABELS - 6, f"I/Os that took {first}", True), (end + 6, f"{last} and more", False)), theme)


def _shares(theme: Theme) -> Iterable[Spec]:
    shares = ((theme.fast, "up to 1 ms"), (theme.middling, "1 to 10 ms"), (theme.slow, "above 10 ms"))
    places = [LABELS + 90 * at for at in range(len(shares))]
    yield _squares(((at, colour) for at, (colour, _) in zip(places, shares, strict=True)), 1)
    named = [(at + SQUARE + 6, words, False) for at, (_, words) in zip(places, shares, strict=True)]
    yield from _words([(LABELS - 6, "behind, all I/Os shared out", True), *named], theme, 1)


def _squares(places: Iterable[tuple[float, str]], line: int = 0) -> Spec:
    top = LINE * line
    rows = [{"x": x, "x2": x + SQUARE, "y": top, "y2": top + SQUARE, "c": colour} for x, colour in places]
    return layer(
        "rect",
        rows,
        {"x": _pixels("x"), "x2": {"field": "x2"}, "y": _pixels("y"), "y2": {"field": "y2"}, "color": OWN_COLOUR},
    )


def _words(words: Iterable[tuple[float, str, bool]], theme: Theme, line: int = 0) -> Iterable[Spec]:
    """Names at pixels; one that is "before" ends there."""
    rows = [{"x": x, "y": LINE * line + SQUARE / 2, "t": said, "before": before} for x, said, before in words]
    mark: Spec = {
        "type": "text",
        "baseline": "middle",
        "fontSize": 11,
        "align": {"expr": "datum.before ? 'right' : 'left'"},
    }
    yield layer(mark, rows, {"x": _pixels("x"), "y": _pixels("y"), "text": {"field": "t"}}, color=theme.muted)


def _pixels(field: str) -> Spec:
    return quantitative(field) | {"scale": None}
