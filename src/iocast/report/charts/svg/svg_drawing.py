"""A specification as SVG: its axes, its layers on them, and a frame that is as large as what is drawn."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from iocast.report.charts.drawing.parts import FONT, FONT_SIZE, Spec
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.svg.svg_axes import Axis, x_axis, y_axis
from iocast.report.charts.svg.svg_marks import Box, Plot, extent, layer_svg, placed
from iocast.report.charts.svg.svg_paths import px, quoted
from iocast.report.charts.svg.svg_scales import axis_of, scale_of

PADDING = 4


class Drawing(Struct, frozen=True):
    """What is drawn, with the upper left corner of the plot at 0, and the box around it, in pixels."""

    svg: str
    box: Box


def drawing_of(spec: Spec, theme: Theme, name: str) -> Drawing:
    """A specification; `name` is put before what the drawing refers to inside."""
    from iocast.report.plot import drawing, marks

    if isinstance(spec, marks.Plot):
        made = drawing.drawing_of(spec, theme, name)
        return Drawing(made.svg, made.box)
    layers, width, height = spec["layers"], spec["width"], spec["height"]
    plot = Plot(width, height, scale_of(layers, "x", 0, width), scale_of(layers, "y", height, 0), theme.ink)
    axes = [*_axes(layers, plot, theme)]
    drawn, boxes = [axis.svg for axis in axes], [(0.0, 0.0, width, height), *(axis.box for axis in axes)]
    clip = f"{name}-clip"
    for each in layers:
        layer = placed(each, plot)
        drawn.append(layer_svg(layer, clip))
        boxes += extent(layer)
    if any(each["mark"].get("clip") for each in layers):
        box = f'<rect width="{px(width)}" height="{px(height)}"/>'
        drawn.append(f'<clipPath id="{quoted(clip)}">{box}</clipPath>')
    return Drawing("".join(drawn), _around(boxes))


def below_each_other(drawings: Sequence[Drawing], spacing: float) -> Drawing:
    """Drawings as one, their plots on one line at the left."""
    moved, boxes, down = list[str](), list[Box](), 0.0
    for drawing in drawings:
        left, top, right, bottom = drawing.box
        moved.append(f'<g transform="translate(0 {px(down - top)})">{drawing.svg}</g>')
        boxes.append((left, down, right, down + bottom - top))
        down += bottom - top + spacing
    return Drawing("".join(moved), _around(boxes))


def page_svg(spec: Spec, theme: Theme, name: str) -> str:
    """For a page, which gives it its size and its font."""
    drawing = drawing_of(spec, theme, name)
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


def _axes(layers: list[Spec], plot: Plot, theme: Theme) -> list[Axis]:
    below, beside = axis_of(layers, "x"), axis_of(layers, "y")
    return [
        *([x_axis(below, plot, theme)] if below else []),
        *([y_axis(beside, plot, theme)] if beside else []),
    ]


def _around(boxes: Sequence[Box]) -> Box:
    left, top, right, bottom = zip(*boxes, strict=True)
    return min(left), min(top), max(right), max(bottom)


def _padded(box: Box) -> Box:
    left, top, right, bottom = box
    return left - PADDING, top - PADDING, right + PADDING, bottom + PADDING


def _view(box: Box) -> str:
    left, top, right, bottom = _padded(box)
    return f'viewBox="{px(left)} {px(top)} {px(right - left)} {px(bottom - top)}"'
