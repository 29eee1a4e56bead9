"""Axes as SVG: lines across the plot, labels that do not lie on each other, a title; and how much room they take."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from iocast.report.plot.axes import Axis
from iocast.report.plot.axis_labels import alike
from iocast.report.plot.axis_ticks import round_ticks
from iocast.report.plot.svg_marks import Frame, Rectangle
from iocast.report.plot.svg_paths import BASELINES, px, words_svg
from iocast.report.plot.theme import Theme
from iocast.report.plot.words import FONT_SIZE, width_px

X_TICKS, Y_TICKS = 10, 6  # where an axis does not say how many
LABEL_GAP, TITLE_GAP = 6, 8  # pixels between the plot and its labels, and between them and the title
# Pixels between a line of words and what it stands below or above; from the plot to its title, below it and above.
ASCENT, DESCENT = 9, 3
TITLE_BELOW, TITLE_ABOVE = 34, 30
APART = 2.0  # pixels between two labels
AT_END = 1.0  # a label this near to an end of its axis stands inside
SHARP = 0.5  # half a pixel: a line of one pixel fills one


class Tick(Struct, frozen=True):
    """A place on an axis, its words, and from where to where they go along it."""

    at: float
    words: str
    low: float
    high: float
    align: str = "center"


class DrawnAxis(Struct, frozen=True):
    """An axis as SVG: what lies behind the marks, and the room that it takes around the plot."""

    svg: str
    box: Rectangle


def ticks_of(axis: Axis, count: int) -> list[tuple[float, str]]:
    """The values that an axis marks inside of its scale, about so many where it does not say, and how each is
    written."""
    least, most = sorted((axis.scale.low, axis.scale.high))
    values = axis.ticks
    if values is None:
        values = round_ticks(least, most, count if axis.count is None else axis.count, axis.least_step)
    room = 1e-9 * (abs(least) + abs(most))
    inside = [value for value in values if least - room <= value <= most + room]
    label = axis.label or alike(inside)
    return [(value, label(value)) for value in inside]


def x_axis(axis: Axis, frame: Frame, theme: Theme) -> DrawnAxis:
    """Below the plot, or above it where the axis says so."""
    ticks = [_along(frame.x(value), words, frame.width) for value, words in ticks_of(axis, X_TICKS)]
    lines = "".join(f"M{px(tick.at + SHARP)} 0V{px(frame.height)}" for tick in ticks) if axis.grid else ""
    shown = ticks if axis.each_label else thinned(ticks, log=axis.scale.log)
    edge = -LABEL_GAP - DESCENT if axis.top else frame.height + LABEL_GAP + ASCENT
    labels = "".join(words_svg(tick.words, tick.at, edge, tick.align) for tick in shown)
    far = edge - FONT_SIZE if axis.top else edge + 4
    if axis.title:
        far = -TITLE_ABOVE if axis.top else frame.height + TITLE_BELOW
        labels += words_svg(axis.title, frame.width / 2, far, "center")
        far += -FONT_SIZE if axis.top else 4
    left, right = min((tick.low for tick in shown), default=0.0), max((tick.high for tick in shown), default=0.0)
    return DrawnAxis(_svg(lines, labels, theme), (left, min(far, 0.0), right, max(far, frame.height)))


def y_axis(axis: Axis, frame: Frame, theme: Theme) -> DrawnAxis:
    """To the left of the plot."""
    ticks = [(frame.y(value), words) for value, words in ticks_of(axis, Y_TICKS)]
    lines = "".join(f"M0 {px(at + SHARP)}H{px(frame.width)}" for at, _ in ticks) if axis.grid else ""
    below = BASELINES["middle"] * FONT_SIZE
    tall = [Tick(at, words, at - FONT_SIZE / 2, at + FONT_SIZE / 2) for at, words in ticks]
    shown = tall if axis.each_label else thinned(tall, log=axis.scale.log)
    labels = "".join(words_svg(tick.words, -LABEL_GAP, tick.at + below, "right") for tick in shown)
    wide = max((width_px(tick.words, FONT_SIZE) for tick in shown), default=0.0) + LABEL_GAP
    wide = max(wide, axis.room)
    if axis.title:
        at = -wide - TITLE_GAP
        turned = f' transform="translate({px(at)} {px(frame.height / 2)}) rotate(-90)"'
        labels += words_svg(axis.title, 0.0, BASELINES["bottom"] * FONT_SIZE, "center", turned)
        wide += TITLE_GAP + FONT_SIZE + 1
    top, bottom = min((tick.low for tick in shown), default=0.0), max((tick.high for tick in shown), default=0.0)
    return DrawnAxis(_svg(lines, labels, theme), (-wide, min(0.0, top), 0.0, max(frame.height, bottom)))


def thinned(ticks: Sequence[Tick], *, log: bool = False) -> list[Tick]:
    """Labels of which none lies on another: on a logarithmic axis each that has room, else every second, fourth, ..."""
    ordered = sorted(ticks, key=lambda tick: tick.at)
    if log:
        kept: list[Tick] = []
        for tick in ordered:
            if not kept or tick.low >= kept[-1].high + APART:
                kept.append(tick)
        return kept
    while len(ordered) > 1 and any(after.low < before.high + APART for before, after in pairwise(ordered)):
        ordered = ordered[::2]
    return ordered


def _along(at: float, words: str, width: float) -> Tick:
    """A label below its tick; one at an end of the axis begins, or ends, there."""
    wide = width_px(words, FONT_SIZE)
    if at <= AT_END:
        return Tick(at, words, at, at + wide, "left")
    if at >= width - AT_END:
        return Tick(at, words, at - wide, at, "right")
    return Tick(at, words, at - wide / 2, at + wide / 2)


def _svg(lines: str, labels: str, theme: Theme) -> str:
    drawn = f'<path stroke="{theme.line}" d="{lines}"/>' if lines else ""
    return drawn + (f'<g class="axis" fill="{theme.muted}">{labels}</g>' if labels else "")
