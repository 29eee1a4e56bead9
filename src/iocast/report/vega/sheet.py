"""A drawing that stands by itself, as a picture does: what a page says around a chart is written into it."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from iocast import text
from iocast.model.report import Chart
from iocast.report.charts.latency_by_load import BUCKET_ENDS_NS
from iocast.report.vega.parts import OWN_COLOUR, Spec, layer, quantitative
from iocast.report.vega.theme import Theme

PLOT = ("width", "height", "layer")  # what each drawing has for itself
SPACING = 10  # pixels between what stands under each other
LETTER = 5.2  # pixels of a letter of a sentence, on average
AXIS_ROOM = 60  # pixels beside the plot that a sentence may use as well
LABELS = 176  # where the legend's squares begin; their names end before
SQUARE = 11
GAP = 6
APART = 90  # the squares of the shares


def sheet(drawings: Sequence[Spec], charts: Sequence[Chart], theme: Theme) -> Spec:
    """The drawings of charts under each other, with title, sentences and the legend of their colours."""
    parts = [{key: drawing[key] for key in PLOT} for drawing in drawings]
    whole = {key: value for key, value in drawings[0].items() if key not in PLOT}
    kinds = {chart.kind for chart in charts}
    width = parts[0]["width"]
    legend = [
        *([_buckets(theme)] if kinds & {"latency_by_load", "throughput"} else ()),
        *([_shares(theme)] if "latency_by_load" in kinds else ()),
    ]
    rows = [{"width": width, "height": SQUARE, "layer": row} for row in legend]
    return {**whole, "title": _title(charts, width, theme), "spacing": SPACING, "vconcat": [*parts, *rows]}


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


def _buckets(theme: Theme) -> list[Spec]:
    first, last = (text.duration_in_words(BUCKET_ENDS_NS[at]) for at in (1, -2))
    end = LABELS + SQUARE * len(theme.buckets)
    squares = [(LABELS + SQUARE * at, colour) for at, colour in enumerate(theme.buckets)]
    return _row(squares, f"I/Os that took {first}", [(end, f"{last} and more")], theme)


def _shares(theme: Theme) -> list[Spec]:
    shares = ((theme.fast, "up to 1 ms"), (theme.middling, "1 to 10 ms"), (theme.slow, "above 10 ms"))
    places = [LABELS + APART * at for at in range(len(shares))]
    squares = [(at, colour) for at, (colour, _) in zip(places, shares, strict=True)]
    named = [(at + SQUARE, words) for at, (_, words) in zip(places, shares, strict=True)]
    return _row(squares, "behind, all I/Os shared out", named, theme)


def _row(squares: list[tuple[int, str]], before: str, named: list[tuple[int, str]], theme: Theme) -> list[Spec]:
    """Squares in their colours at pixels from the left, words before the first, and words behind others."""
    x, y = (quantitative(field) | {"scale": None} for field in "xy")
    colours = [{"x": at, "x2": at + SQUARE, "y": 0, "y2": SQUARE, "c": colour} for at, colour in squares]
    channels = {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "y2"}, "color": OWN_COLOUR}
    words = [{"x": LABELS - GAP, "t": before, "before": True}, *({"x": at + GAP, "t": said} for at, said in named)]
    mark = {"type": "text", "baseline": "middle", "fontSize": 11, "align": {"expr": "datum.before ? 'right' : 'left'"}}
    at = [{**word, "y": SQUARE / 2} for word in words]
    return [
        layer("rect", colours, channels),
        layer(mark, at, {"x": x, "y": y, "text": {"field": "t"}}, color=theme.muted),
    ]
