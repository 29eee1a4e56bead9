"""Legends that several charts share: what their colours mean, for a page and for a picture alike."""

from __future__ import annotations

from msgspec import Struct

from iocast import text
from iocast.report.charts.drawing.latency_buckets import BUCKET_ENDS_NS
from iocast.report.charts.drawing.parts import OWN_COLOUR, Spec, chart, layer, quantitative
from iocast.report.charts.drawing.theme import Theme

START = 176  # pixels from the left where squares begin; the words before them end there
SQUARE = 11
GAP = 6
APART = 90  # from one square to the next where each is named


class Legend(Struct, frozen=True):
    """Words, then squares: a colour and what it means; where most mean nothing of their own, they are a scale."""

    says: str
    squares: tuple[tuple[str, str], ...]

    @property
    def scale(self) -> bool:
        """True where the squares touch each other and only the ends are named."""
        return not all(words for _, words in self.squares)


def bucket_legend(theme: Theme) -> Legend:
    """The colours of the sixteen buckets of response times, from fast to slow."""
    first, last = (text.brief_time(BUCKET_ENDS_NS[at]) for at in (1, -2))
    *others, slowest = theme.buckets
    return Legend(f"I/Os that took {first}", (*((each, "") for each in others), (slowest, f"{last} or more")))


def share_legend(theme: Theme) -> Legend:
    """The colours of three bands of response time."""
    shares = ((theme.fast, "up to 1 ms"), (theme.middling, "1 to 10 ms"), (theme.slow, "above 10 ms"))
    return Legend("share of I/Os", shares)


def legend_drawing(legend: Legend, theme: Theme, width: int) -> Spec:
    """A legend as one line of a picture: words, then squares in their colours with the words behind them."""
    x, y = (quantitative(field) | {"scale": None} for field in "xy")
    step = SQUARE if legend.scale else APART
    squares = [(START + step * at, colour, words) for at, (colour, words) in enumerate(legend.squares)]
    colours = [{"x": at, "x2": at + SQUARE, "y": 0, "y2": SQUARE, "c": colour} for at, colour, _ in squares]
    channels = {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "y2"}, "color": OWN_COLOUR}
    named = [{"x": at + SQUARE + GAP, "t": words} for at, _, words in squares if words]
    words = [{"x": START - GAP, "t": legend.says, "align": "right"}, *named]
    mark = {"type": "text", "baseline": "middle", "fontSize": 11, "align": "left"}
    at = [{**word, "y": SQUARE / 2} for word in words]
    layers = [
        layer("rect", colours, channels),
        layer(mark, at, {"x": x, "y": y, "text": {"field": "t"}}, color=theme.muted),
    ]
    return chart(width, SQUARE, layers)
