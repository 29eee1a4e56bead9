"""Numbers, words and lines as SVG has them: as short as can be."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

Point = tuple[float, float]
# Where words stand to their place, in font sizes below it.
BASELINES = {"alphabetic": 0.0, "middle": 0.3, "top": 0.79, "bottom": -0.21}
ANCHORS = {"left": "", "center": ' text-anchor="middle"', "right": ' text-anchor="end"'}


def px(value: float) -> str:
    """A length or a place to a tenth of a pixel."""
    written = f"{value:.1f}"
    return written[:-2] if written.endswith(".0") else written


def line_path(points: Iterable[Point], *, steps: bool = False) -> str:
    """A line through points; `steps` go along first and then up or down."""
    if not steps:
        return "M" + "L".join(f"{px(x)} {px(y)}" for x, y in points)
    (x, y), *others = points
    return f"M{px(x)} {px(y)}" + "".join(f"H{px(x)}V{px(y)}" for x, y in others)


def area_path(points: Sequence[tuple[float, float, float]]) -> str:
    """What lies between two lines: points of x and both ends."""
    there = line_path((x, y) for x, y, _ in points)
    return f"{there}L{line_path((x, y2) for x, _, y2 in reversed(points))[1:]}Z"


def box_path(x: float, y: float, x2: float, y2: float) -> str:
    """A rectangle as a piece of a path."""
    left, top = min(x, x2), min(y, y2)
    return f"M{px(left)} {px(top)}h{px(abs(x2 - x))}v{px(abs(y2 - y))}h{px(-abs(x2 - x))}z"


def radius_of(size: float) -> float:
    """Of a circle of so many square pixels."""
    return math.sqrt(size / math.pi)


def attributes(values: dict[str, object]) -> str:
    """Attributes of an element, those without a value left out."""
    return "".join(f' {name}="{quoted(value)}"' for name, value in values.items() if value is not None)


def quoted(value: object) -> str:
    """A value of an attribute."""
    return escape(f"{value:.4g}" if isinstance(value, float) else str(value), quote=True)


def words_svg(words: str, x: float, y: float, align: str = "left", more: str = "") -> str:
    """One line of words at a place."""
    return f'<text x="{px(x)}" y="{px(y)}"{ANCHORS[align]}{more}>{escape(words, quote=False)}</text>'
