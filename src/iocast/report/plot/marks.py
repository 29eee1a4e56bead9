"""Marks: what stands on a plot. Each kind has places, in the values of the axes, and the look that all of it shares.

A value that is None, or no number, is unknown: what it would place is not drawn, and a line is interrupted there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

from iocast.report.plot.axes import Axis, Scale

Value = float | None
Side = Literal["left", "center", "right"]


class Point(NamedTuple):
    """A place."""

    x: Value
    y: Value


class Range(NamedTuple):
    """From x to x2 at a height."""

    x: Value
    x2: Value
    y: Value


class Band(NamedTuple):
    """From y to y2 at a place."""

    x: Value
    y: Value
    y2: Value


class Box(NamedTuple):
    """A rectangle, or what leads from one of its corners to the other."""

    x: Value
    y: Value
    x2: Value
    y2: Value


class Word(NamedTuple):
    """One line of words at a place, moved by pixels; and to which side they go, if not as the others."""

    x: Value
    y: Value
    text: str
    dx: float = 0
    dy: float = 0
    align: Side | None = None


class _Mark(Struct, frozen=True, kw_only=True):
    """What all have: one colour, or one of each; what each says under the pointer, which goes through all others."""

    colour: str = ""  # "": that of words
    colours: Sequence[str] = ()
    opacity: float | None = (
        None  # None: of discs, circles and ticks a little less than all, so that one on another is seen
    )
    tips: Sequence[str] = ()


class Lines(_Mark, frozen=True):
    """Lines through points; `steps` go along first and then up or down."""

    lines: Sequence[Sequence[Point]]
    width: float = 2
    dash: tuple[float, ...] = ()
    steps: bool = False
    clip: bool = False  # cut off at the ends of the plot


class Areas(_Mark, frozen=True):
    """What lies between two lines."""

    areas: Sequence[Sequence[Band]]
    clip: bool = False


class Boxes(_Mark, frozen=True):
    """Rectangles."""

    boxes: Sequence[Box]
    y_in_px: bool = False  # heights are pixels from the top already


class Bars(_Mark, frozen=True):
    """Rectangles of a height in pixels about their place."""

    bars: Sequence[Range]
    height: float
    radius: float | None = None  # of their corners


def unseen_rows(low: float, high: float, height: float, tips: Sequence[str]) -> Bars:
    """What says something wherever the pointer is in a row."""
    return Bars([Range(low, high, at) for at in range(len(tips))], height, tips=tips, opacity=0)


class Rules(_Mark, frozen=True):
    """Straight lines from one corner of a box to the other."""

    rules: Sequence[Box]
    width: float | None = None
    dash: tuple[float, ...] = ()


class Uprights(_Mark, frozen=True):
    """Straight lines from the bottom of the plot to its top."""

    at: Sequence[Value]
    width: float | None = None
    dash: tuple[float, ...] = ()


class Levels(_Mark, frozen=True):
    """Straight lines across the whole plot."""

    at: Sequence[Value]
    width: float | None = None
    dash: tuple[float, ...] = ()


class Dots(_Mark, frozen=True):
    """Discs of a size in square pixels."""

    dots: Sequence[Point]
    size: float = 30


class Rings(_Mark, frozen=True):
    """Circles of a size in square pixels."""

    rings: Sequence[Point]
    size: float = 30
    width: float = 2


class Ticks(_Mark, frozen=True):
    """Short upright strokes, of a width and a height in pixels."""

    ticks: Sequence[Point]
    thickness: float
    height: float


class Words(_Mark, frozen=True):
    """Words; `rim` is the colour of what stands behind them, so that they can be read on anything."""

    words: Sequence[Word]
    align: Side = "center"
    baseline: Literal["alphabetic", "middle", "top", "bottom"] = "alphabetic"
    dx: float = 0
    dy: float = 0
    size: int | None = None  # None: that of labels
    weight: int | None = None
    rim: str = ""
    rim_opacity: float = 0.85
    x_in_px: bool = False  # places are pixels from the left already
    y_in_px: bool = False


class Picture(Struct, frozen=True):
    """An image; its place and its size are in pixels."""

    url: str
    x: float
    y: float
    width: float
    height: float
    middle: bool = False  # `y` is the middle of its height instead of its top


Drawn = Lines | Areas | Boxes | Bars | Rules | Uprights | Levels | Dots | Rings | Ticks | Words
Mark = Drawn | Picture


class Plot(Struct, frozen=True):
    """Marks on a plot of so many pixels, the first behind the others. A scale alone is an axis that is not shown."""

    width: int
    height: int
    x: Axis | Scale
    y: Axis | Scale
    marks: Sequence[Mark]
