"""Legends: what colours mean, for a page and for a picture alike."""

from __future__ import annotations

from msgspec import Struct

from iocast.report.plot.axes import Scale
from iocast.report.plot.marks import Box, Boxes, Plot, Word, Words
from iocast.report.plot.theme import Theme

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


def legend_plot(legend: Legend, theme: Theme, width: int) -> Plot:
    """A legend as one line of a picture: words, then squares in their colours with the words behind them."""
    step = SQUARE if legend.scale else APART
    squares = [(START + step * at, words) for at, (_, words) in enumerate(legend.squares)]
    boxes = [Box(at, 0, at + SQUARE, SQUARE) for at, _ in squares]
    named = [Word(at + SQUARE + GAP, SQUARE / 2, words) for at, words in squares if words]
    words = [Word(START - GAP, SQUARE / 2, legend.says, align="right"), *named]
    marks = (
        Boxes(boxes, colours=[colour for colour, _ in legend.squares]),
        Words(words, "left", "middle", size=11, colour=theme.muted),
    )
    return Plot(width, SQUARE, Scale(0, width), Scale(SQUARE, 0), marks)
