"""A plot as SVG: its axes, its marks on them, and a frame that is as large as what is drawn."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from iocast.report.plot.axes import Axis, Scale
from iocast.report.plot.marks import Areas, Lines, Plot
from iocast.report.plot.svg_axes import DrawnAxis, x_axis, y_axis
from iocast.report.plot.svg_marks import Frame, Rectangle, extent, mark_svg
from iocast.report.plot.svg_paths import px, quoted
from iocast.report.plot.theme import Theme
from iocast.report.plot.words import FONT, FONT_SIZE

PADDING = 4


class Drawing(Struct, frozen=True):
    """What is drawn, with the upper left corner of the plot at 0, and the box around it, in pixels."""

    svg: str
    box: Rectangle


def drawing_of(plot: Plot, theme: Theme, name: str) -> Drawing:
    """A plot; `name` is put before what the drawing refers to inside."""
    width, height = plot.width, plot.height
    frame = Frame(width, height, _scale(plot.x).placing(0, width), _scale(plot.y).placing(height, 0), theme.ink)
    axes = [*_axes(plot, frame, theme)]
    drawn, boxes = [axis.svg for axis in axes], [(0.0, 0.0, width, height), *(axis.box for axis in axes)]
    clip = f"{name}-clip"
    for mark in plot.marks:
        drawn.append(mark_svg(mark, frame, clip))
        boxes += extent(mark, frame)
    if any(isinstance(mark, Lines | Areas) and mark.clip for mark in plot.marks):
        box = f'<rect width="{px(width)}" height="{px(height)}"/>'
        drawn.append(f'<clipPath id="{quoted(clip)}">{box}</clipPath>')
    return Drawing("".join(drawn), _around(boxes))


def _scale(axis: Axis | Scale) -> Scale:
    return axis.scale if isinstance(axis, Axis) else axis


def _axes(plot: Plot, frame: Frame, theme: Theme) -> Sequence[DrawnAxis]:
    return [
        *([x_axis(plot.x, frame, theme)] if isinstance(plot.x, Axis) else []),
        *([y_axis(plot.y, frame, theme)] if isinstance(plot.y, Axis) else []),
    ]


def below_each_other(drawings: Sequence[Drawing], spacing: float) -> Drawing:
    """Drawings as one, their plots on one line at the left."""
    moved, boxes, down = list[str](), list[Rectangle](), 0.0
    for drawing in drawings:
        left, top, right, bottom = drawing.box
        moved.append(f'<g transform="translate(0 {px(down - top)})">{drawing.svg}</g>')
        boxes.append((left, down, right, down + bottom - top))
        down += bottom - top + spacing
    return Drawing("".join(moved), _around(boxes))


def page_svg(plot: Plot, theme: Theme, name: str) -> str:
    """For a page, which gives it its size and its font."""
    drawing = drawing_of(plot, theme, name)
    return f'<svg aria-hidden="true" {_view(drawing.box)} font-size="{FONT_SIZE}">{drawing.svg}</svg>'


def file_svg(drawing: Drawing, ground: str = "") -> str:
    """For a file of its own; `ground` is the colour behind it."""
    left, top, right, bottom = _padded(drawing.box)
    behind = f'<rect x="{px(left)}" y="{px(top)}" width="100%" height="100%" fill="{quoted(ground)}"/>'
    size = f'width="{px(right - left)}" height="{px(bottom - top)}"'
    about = f'font-family="{quoted(FONT)}" font-size="{FONT_SIZE}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {_view(drawing.box)} {about}>'
        f"{behind if ground else ''}{drawing.svg}</svg>"
    )


def _around(boxes: Sequence[Rectangle]) -> Rectangle:
    left, top, right, bottom = zip(*boxes, strict=True)
    return min(left), min(top), max(right), max(bottom)


def _padded(box: Rectangle) -> Rectangle:
    left, top, right, bottom = box
    return left - PADDING, top - PADDING, right + PADDING, bottom + PADDING


def _view(box: Rectangle) -> str:
    left, top, right, bottom = _padded(box)
    return f'viewBox="{px(left)} {px(top)} {px(right - left)} {px(bottom - top)}"'
