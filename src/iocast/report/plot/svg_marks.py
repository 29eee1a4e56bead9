"""Marks as SVG: one group a mark, which has the look that all of it shares."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from iocast.report.plot.marks import (
    Areas,
    Bars,
    Boxes,
    Dots,
    Drawn,
    Levels,
    Lines,
    Mark,
    Picture,
    Rings,
    Rules,
    Ticks,
    Uprights,
    Value,
    Words,
)
from iocast.report.plot.svg_paths import (
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
from iocast.report.plot.words import FONT_SIZE, width_px

Rectangle = tuple[float, float, float, float]  # left, top, right, bottom in pixels
Placing = Callable[[float], float]
Looks = dict[str, object]
SEEN_THROUGH = 0.7  # of small marks
RIM, BOLD = 3, 600  # pixels of a rim; the weight from which letters are wider


class Frame(Struct, frozen=True):
    """What marks are placed on: the size of the plot, and where its values stand on it."""

    width: float
    height: float
    x: Placing
    y: Placing
    ink: str  # the colour of words


def mark_svg(mark: Mark, frame: Frame, clip: str) -> str:
    """A mark as a group; `clip` is the name of what cuts off those that ask for it."""
    match mark:
        case Lines() | Areas():
            return _group(_line_look(mark, frame), _runs(mark, frame), clip if mark.clip else "")
        case Rules() | Uprights() | Levels():
            return _group(_stroke(mark, frame), _pieces(mark, _straight(mark, frame)))
        case Boxes() | Bars():
            return _group(_fill(mark, frame), _rectangles(mark, frame))
        case Dots():
            return _group(_fill(mark, frame), _circles(mark, mark.dots, frame))
        case Rings():
            return _group(_stroke(mark, frame), _circles(mark, mark.rings, frame))
        case Ticks():
            wide, high = mark.thickness / 2, mark.height / 2
            strokes = (
                (at, box_path(x - wide, y - high, x + wide, y + high)) for at, x, y in _points(mark.ticks, frame)
            )
            return _group(_fill(mark, frame), _pieces(mark, strokes))
        case Words():
            rim = _group(_rim(mark, frame), _words(mark, frame, own=False)) if mark.rim else ""
            return rim + _group(_letters(mark, frame), _words(mark, frame))
        case Picture():
            return _group({"pointer-events": "none"}, [_picture(mark)])


def extent(mark: Mark, frame: Frame) -> Iterator[Rectangle]:
    """What may stand beyond the plot: words and pictures."""
    if isinstance(mark, Words):
        size, bold = mark.size or FONT_SIZE, (mark.weight or 0) >= BOLD
        for _, word, x, y, align in _placed_words(mark, frame):
            wide = width_px(word, size, bold=bold)
            left = x - {"left": 0.0, "center": wide / 2, "right": wide}[align]
            yield left, y - size, left + wide, y + 0.25 * size
    elif isinstance(mark, Picture):
        yield mark.x, mark.y, mark.x + mark.width, mark.y + mark.height


def _group(look: Looks, drawn: Iterable[str], clip: str = "") -> str:
    marks = "".join(drawn)
    cut = f' clip-path="url(#{quoted(clip)})"' if clip else ""
    return f"<g{attributes(look)}{cut}>{marks}</g>" if marks else ""


def _unseen(mark: Drawn) -> Looks:
    """What says nothing lets the pointer through."""
    return {"pointer-events": None if mark.tips else "none"}


def _opacity(mark: Drawn) -> float | None:
    return SEEN_THROUGH if mark.opacity is None and isinstance(mark, Dots | Rings | Ticks) else mark.opacity


def _fill(mark: Areas | Boxes | Bars | Dots | Ticks | Words, frame: Frame) -> Looks:
    return _unseen(mark) | {"fill": mark.colour or frame.ink, "fill-opacity": _opacity(mark)}


def _stroke(mark: Lines | Rules | Uprights | Levels | Rings, frame: Frame) -> Looks:
    dash = () if isinstance(mark, Rings) else mark.dash
    return _unseen(mark) | {
        "fill": "none",
        "stroke": mark.colour or frame.ink,
        "stroke-width": mark.width,
        "stroke-dasharray": " ".join(map(str, dash)) if dash else None,
        "stroke-opacity": _opacity(mark),
    }


def _line_look(mark: Lines | Areas, frame: Frame) -> Looks:
    return _stroke(mark, frame) if isinstance(mark, Lines) else _fill(mark, frame)


def _letters(mark: Words, frame: Frame) -> Looks:
    return _fill(mark, frame) | {"font-size": mark.size, "font-weight": mark.weight}


def _rim(mark: Words, frame: Frame) -> Looks:
    """The same words behind them, with a line around each letter."""
    behind = _letters(replace(mark, colour="", opacity=mark.rim_opacity, tips=()), frame)
    line = {"stroke": mark.rim, "stroke-width": RIM, "stroke-opacity": mark.rim_opacity, "stroke-linejoin": "round"}
    return behind | line


def _own(mark: Drawn, at: int) -> str:
    """What one of a mark has for itself: its colour, and what it says under the pointer."""
    name = "stroke" if isinstance(mark, Lines | Rules | Uprights | Levels | Rings) else "fill"
    colour = f' {name}="{quoted(mark.colours[at])}"' if mark.colours else ""
    return f'{colour} aria-label="{quoted(mark.tips[at])}"' if mark.tips else colour


def _pieces(mark: Drawn, paths: Iterable[tuple[int, str]]) -> Iterator[str]:
    """Each path as an element, or all as one where none has anything for itself."""
    if mark.tips or mark.colours:
        for at, path in paths:
            yield f'<path{_own(mark, at)} d="{path}"/>'
    elif whole := "".join(path for _, path in paths):
        yield f'<path d="{whole}"/>'


def _pixel(value: Value, place: Placing) -> float | None:
    """None for what is unknown, and for what has no place on its axis."""
    if value is None or math.isnan(value):
        return None
    pixel = place(value)
    return pixel if math.isfinite(pixel) else None


def _points(points: Sequence[tuple[Value, Value]], frame: Frame) -> Iterator[tuple[int, float, float]]:
    """The number and the place of those that have one."""
    for at, (x, y) in enumerate(points):
        left, top = _pixel(x, frame.x), _pixel(y, frame.y)
        if left is not None and top is not None:
            yield at, left, top


def _runs(mark: Lines | Areas, frame: Frame) -> Iterator[str]:
    """Each line from one unknown value to the next."""
    runs: list[tuple[int, str]] = []
    steps = isinstance(mark, Lines) and mark.steps
    for at, line in enumerate(mark.lines if isinstance(mark, Lines) else mark.areas):
        placed = [(_pixel(x, frame.x), *(_pixel(y, frame.y) for y in ends)) for x, *ends in line]
        for whole, run in groupby((each for each in placed if each[0] is not None), key=lambda each: None not in each):
            if whole and isinstance(mark, Lines):
                runs.append((at, line_path(run, steps=steps)))  # type: ignore[arg-type]
            elif whole:
                runs.append((at, area_path([*run])))  # type: ignore[list-item]
    return _pieces(mark, runs)


def _straight(mark: Rules | Uprights | Levels, frame: Frame) -> Iterator[tuple[int, str]]:
    if isinstance(mark, Rules):
        for at, (x, y, x2, y2) in enumerate(mark.rules):
            ends = _pixel(x, frame.x), _pixel(y, frame.y), _pixel(x2, frame.x), _pixel(y2, frame.y)
            if None not in ends:
                yield at, line_path((ends[:2], ends[2:]))  # type: ignore[arg-type]
        return
    for at, value in enumerate(mark.at):
        if isinstance(mark, Uprights):
            if (left := _pixel(value, frame.x)) is not None:
                yield at, line_path(((left, 0.0), (left, frame.height)))
        elif (top := _pixel(value, frame.y)) is not None:
            yield at, line_path(((0.0, top), (frame.width, top)))


def _rectangles(mark: Boxes | Bars, frame: Frame) -> Iterator[str]:
    rectangles = [*_corners(mark, frame)]
    if isinstance(mark, Boxes) or mark.radius is None:
        yield from _pieces(mark, ((at, box_path(*corners)) for at, corners in rectangles))
        return
    for at, (x, y, x2, y2) in rectangles:
        place = f'x="{px(min(x, x2))}" y="{px(min(y, y2))}" width="{px(abs(x2 - x))}" height="{px(abs(y2 - y))}"'
        yield f'<rect{_own(mark, at)} {place} rx="{quoted(mark.radius)}"/>'


def _corners(mark: Boxes | Bars, frame: Frame) -> Iterator[tuple[int, Rectangle]]:
    """The number of each rectangle that has a place, and the pixels of two of its corners."""
    if isinstance(mark, Bars):
        half = mark.height / 2
        for at, (x, x2, y) in enumerate(mark.bars):
            left, right, middle = _pixel(x, frame.x), _pixel(x2, frame.x), _pixel(y, frame.y)
            if left is not None and right is not None and middle is not None:
                yield at, (left, middle - half, right, middle + half)
        return
    place = float if mark.y_in_px else frame.y
    for at, (x, y, x2, y2) in enumerate(mark.boxes):
        corners = _pixel(x, frame.x), _pixel(y, place), _pixel(x2, frame.x), _pixel(y2, place)
        if None not in corners:
            yield at, corners  # type: ignore[misc]


def _circles(mark: Dots | Rings, points: Sequence[tuple[Value, Value]], frame: Frame) -> Iterator[str]:
    radius = px(radius_of(mark.size))
    for at, x, y in _points(points, frame):
        yield f'<circle{_own(mark, at)} cx="{px(x)}" cy="{px(y)}" r="{radius}"/>'


def _words(mark: Words, frame: Frame, *, own: bool = True) -> Iterator[str]:
    for at, word, x, y, align in _placed_words(mark, frame):
        yield words_svg(word, x, y, align, _own(mark, at) if own else "")


def _placed_words(mark: Words, frame: Frame) -> Iterator[tuple[int, str, float, float, str]]:
    """Number, words, where they begin, or end, and to which side they go."""
    below = BASELINES[mark.baseline] * (mark.size or FONT_SIZE)
    across, down = float if mark.x_in_px else frame.x, float if mark.y_in_px else frame.y
    for at, word in enumerate(mark.words):
        x, y = _pixel(word.x, across), _pixel(word.y, down)
        if word.text and x is not None and y is not None:
            yield at, word.text, x + mark.dx + word.dx, y + mark.dy + word.dy + below, word.align or mark.align


def _picture(mark: Picture) -> str:
    top = mark.y - mark.height / 2 if mark.middle else mark.y
    return (
        f'<image x="{px(mark.x)}" y="{px(top)}" width="{px(mark.width)}" height="{px(mark.height)}" '
        f'preserveAspectRatio="none" style="image-rendering:pixelated" href="{quoted(mark.url)}"/>'
    )
