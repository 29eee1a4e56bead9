"""The marks of a chart as SVG: one group a layer, which has the colours that all of its marks share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

from msgspec import Struct

from iocast.report.charts.drawing.parts import FONT_SIZE, Spec
from iocast.report.charts.svg.letter_widths import width_px
from iocast.report.charts.svg.svg_paths import (
    BASELINES,
    area_path,
    attributes,
    box_path,
    line_path,
    px,
    quoted,
    radius_of,
    words_svg,
)
from iocast.report.charts.svg.svg_scales import Scale

Row = dict[str, Any]
Places = tuple[Any, ...]  # pixels, one for each channel that was asked for
Box = tuple[float, float, float, float]  # left, top, right, bottom in pixels
STROKED = ("line", "rule", "point")
POINT_SIZE = 30  # square pixels
SEEN_THROUGH = 0.7  # of small marks, so that one on another is seen


class Plot(Struct, frozen=True):
    """What marks are placed on: the size of the plot, and the scales of its axes."""

    width: float
    height: float
    x: Scale
    y: Scale
    ink: str  # the colour of words


class Layer(Struct, frozen=True):
    """One layer, with its places in pixels: a list for each of its channels, None where a value is unknown."""

    mark: Spec
    rows: list[Row]
    encoding: Spec
    at: dict[str, list[float | None]]
    plot: Plot

    def each(self, *channels: str) -> Iterator[tuple[Row, Places]]:
        """The rows of which all these places are known."""
        for row, *places in zip(self.rows, *(self.at[name] for name in channels), strict=True):
            if None not in places:
                yield row, tuple(places)


def layer_svg(layer: Layer, clip: str) -> str:
    """A layer as a group; `clip` is the name of what cuts off marks that ask for it."""
    mark = layer.mark
    marks = "".join(_MARKS[mark["type"]](layer))
    cut = f' clip-path="url(#{quoted(clip)})"' if mark.get("clip") else ""
    return f"<g{_look(mark, layer.plot)}{cut}>{marks}</g>" if marks else ""


def placed(spec: Spec, plot: Plot) -> Layer:
    """A layer with the pixels of its rows."""
    rows, encoding = spec["rows"], spec["encoding"]
    at = {}
    for channel in ("x", "x2", "y", "y2"):
        about = encoding.get(channel)
        if about is None:
            continue
        if "value" in about:
            at[channel] = [about["value"]] * len(rows)
            continue
        field, place = about["field"], _placing(encoding, channel, plot)
        at[channel] = [None if row.get(field) is None else _finite(place(row[field])) for row in rows]
    return Layer(spec["mark"], rows, encoding, at, plot)


def _finite(pixel: float) -> float | None:
    return pixel if math.isfinite(pixel) else None


def _placing(encoding: Spec, channel: str, plot: Plot) -> Callable[[float], float]:
    first = encoding[channel[0]]
    if first.get("scale", first) is None:
        return float  # already pixels
    return (plot.x if channel[0] == "x" else plot.y).placing()


def _look(mark: Spec, plot: Plot) -> str:
    """What all marks of a layer share."""
    kind, colour = mark["type"], mark.get("color")
    opacity = mark.get("opacity", SEEN_THROUGH if kind in ("circle", "point", "tick") else None)
    look: dict[str, object] = {"pointer-events": None if mark.get("tips") else "none"}
    if kind in STROKED:
        look |= {
            "fill": "none",
            "stroke": colour or plot.ink,
            "stroke-width": mark.get("strokeWidth", _thickness(kind)),
        }
        dash = mark.get("strokeDash")
        look |= {"stroke-dasharray": " ".join(map(str, dash)) if dash else None, "stroke-opacity": opacity}
    elif kind != "image":
        look |= {"fill": colour or plot.ink, "fill-opacity": opacity}
    if kind == "text":
        look |= {"font-size": mark.get("fontSize"), "font-weight": mark.get("fontWeight")}
        if "stroke" in mark:
            look |= {"stroke": mark["stroke"], "stroke-width": mark["strokeWidth"], "stroke-opacity": opacity}
            look |= {"stroke-linejoin": mark.get("strokeJoin")}
    return attributes(look)


def _thickness(kind: str) -> float | None:
    return 2 if kind in ("line", "point") else None


def _own(layer: Layer, row: Row) -> str:
    """What a mark has for itself: its colour, how dense it is, and what it says under the pointer."""
    own = ""
    for channel, name in (("color", "stroke" if layer.mark["type"] in STROKED else "fill"), ("fill", "fill")):
        if channel in layer.encoding:
            own += f' {name}="{quoted(row[layer.encoding[channel]["field"]])}"'
    if layer.mark.get("tips"):
        own += f' aria-label="{quoted(row["tip"])}"'
    return own


def _has_own(layer: Layer) -> bool:
    return bool(layer.mark.get("tips")) or "color" in layer.encoding or "fill" in layer.encoding


def _pieces(layer: Layer, paths: Iterator[tuple[Row, str]]) -> Iterator[str]:
    """Each path as an element, or all as one where none has anything for itself."""
    if _has_own(layer):
        for row, path in paths:
            yield f'<path{_own(layer, row)} d="{path}"/>'
    elif whole := "".join(path for _, path in paths):
        yield f'<path d="{whole}"/>'


def _runs(layer: Layer, *channels: str) -> Iterator[list[tuple[Row, Places]]]:
    """The rows of each line in their order, from one unknown value to the next."""
    apart = [layer.encoding[name]["field"] for name in ("detail", "color", "fill") if name in layer.encoding]
    order = layer.encoding.get("order", {}).get("field")
    lines: dict[object, list[tuple[Row, Places]]] = {}
    for row, *places in zip(layer.rows, *(layer.at[name] for name in channels), strict=True):
        lines.setdefault(tuple(row[field] for field in apart), []).append((row, tuple(places)))
    for line in lines.values():
        placed = [each for each in line if each[1][0] is not None]
        placed.sort(key=lambda each: each[0][order] if order else each[1][0])
        for whole, run in groupby(placed, key=lambda each: None not in each[1]):
            if whole:
                yield [*run]


def _lines(layer: Layer) -> Iterator[str]:
    steps = layer.mark.get("interpolate") == "step-after"
    return _pieces(
        layer, ((run[0][0], line_path((at for _, at in run), steps=steps)) for run in _runs(layer, "x", "y"))
    )


def _areas(layer: Layer) -> Iterator[str]:
    if "y2" not in layer.at:
        layer.at["y2"] = [layer.plot.y.placing()(0.0)] * len(layer.rows)
    runs = _runs(layer, "x", "y", "y2")
    return _pieces(layer, ((run[0][0], area_path([at for _, at in run])) for run in runs))


def _rects(layer: Layer) -> Iterator[str]:
    plot = layer.plot
    count = len(layer.rows)
    ends = {"x": 0.0, "x2": plot.width, "y": 0.0, "y2": plot.height}
    if layer.mark["type"] == "bar":  # from 0, and as high as it says, about its place
        layer.at.setdefault("x2", [plot.x.placing()(0.0)] * count)
        half, middle = layer.mark["height"] / 2, layer.at["y"]
        layer.at["y"], layer.at["y2"] = ([y + by if y is not None else None for y in middle] for by in (-half, half))
    for channel, end in ends.items():
        layer.at.setdefault(channel, [end] * count)
    boxes = layer.each("x", "y", "x2", "y2")
    density = layer.encoding.get("fillOpacity", {}).get("value")
    radius = layer.mark.get("cornerRadius")
    if radius is None and density is None:
        yield from _pieces(layer, ((row, box_path(*at)) for row, at in boxes))
        return
    more = attributes({"rx": radius, "fill-opacity": density})
    for row, (x, y, x2, y2) in boxes:
        place = f'x="{px(min(x, x2))}" y="{px(min(y, y2))}" width="{px(abs(x2 - x))}" height="{px(abs(y2 - y))}"'
        yield f"<rect{_own(layer, row)} {place}{more}/>"


def _rules(layer: Layer) -> Iterator[str]:
    """Across the whole plot where only one end of one axis is said, else from one end to the other."""
    plot, count = layer.plot, len(layer.rows)
    if "y" not in layer.at:
        layer.at["y"], layer.at["y2"] = [0.0] * count, [plot.height] * count
    elif "x" not in layer.at:
        layer.at["x"], layer.at["x2"] = [0.0] * count, [plot.width] * count
    x2, y2 = (name if name in layer.at else name[0] for name in ("x2", "y2"))
    return _pieces(layer, ((row, line_path((at[:2], at[2:]))) for row, at in layer.each("x", "y", x2, y2)))


def _ticks(layer: Layer) -> Iterator[str]:
    wide, high = layer.mark["thickness"] / 2, layer.mark["height"] / 2
    return _pieces(
        layer, ((row, box_path(x - wide, y - high, x + wide, y + high)) for row, (x, y) in layer.each("x", "y"))
    )


def _circles(layer: Layer) -> Iterator[str]:
    radius = px(radius_of(layer.mark.get("size", POINT_SIZE)))
    for row, (x, y) in layer.each("x", "y"):
        yield f'<circle{_own(layer, row)} cx="{px(x)}" cy="{px(y)}" r="{radius}"/>'


def _texts(layer: Layer) -> Iterator[str]:
    field = layer.encoding["text"]["field"]
    for row, at in layer.each("x", "y"):
        if row.get(field):
            x, y, align = _beside(layer.mark, row, *at)
            yield words_svg(str(row[field]), x, y, align, _own(layer, row))


def _beside(mark: Spec, row: Row, x: float, y: float) -> tuple[float, float, str]:
    """Where words begin, or end: a row may say for itself what its mark leaves open."""
    about = {**mark, **row}
    below = BASELINES[mark.get("baseline", "alphabetic")] * mark.get("fontSize", FONT_SIZE)
    return x + about.get("dx", 0), y + about.get("dy", 0) + below, about.get("align", "center")


def _images(layer: Layer) -> Iterator[str]:
    mark = layer.mark
    for row, (x, y) in layer.each("x", "y"):
        top = y - mark["height"] / 2 if mark["baseline"] == "middle" else y
        yield (
            f'<image x="{px(x)}" y="{px(top)}" width="{px(mark["width"])}" height="{px(mark["height"])}" '
            f'preserveAspectRatio="none" style="image-rendering:pixelated" href="{quoted(row["url"])}"/>'
        )


_MARKS: dict[str, Callable[[Layer], Iterator[str]]] = {
    "line": _lines,
    "area": _areas,
    "rect": _rects,
    "bar": _rects,
    "rule": _rules,
    "tick": _ticks,
    "circle": _circles,
    "point": _circles,
    "text": _texts,
    "image": _images,
}


def extent(layer: Layer) -> Iterator[Box]:
    """What may stand beyond the plot: words and pictures."""
    mark = layer.mark
    if mark["type"] == "text":
        field, size = layer.encoding["text"]["field"], mark.get("fontSize", FONT_SIZE)
        for row, at in layer.each("x", "y"):
            if row.get(field):
                x, y, align = _beside(mark, row, *at)
                wide = width_px(str(row[field]), size, bold=mark.get("fontWeight", 400) >= 600)
                left = x - {"left": 0.0, "center": wide / 2, "right": wide}[align]
                yield left, y - size, left + wide, y + 0.25 * size
    elif mark["type"] == "image":
        for _, (x, y) in layer.each("x", "y"):
            yield x, y, x + mark["width"], y + mark["height"]
