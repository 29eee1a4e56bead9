"""SVG as PNG, by resvg with the fonts of this machine."""

from __future__ import annotations

import functools

from iocast.errors import DrawingError

ZOOM = 2  # pixels of a picture for one of a drawing, for screens of today
# The first of these that a machine has; those before DejaVu Sans are as wide as drawings expect.
FAMILIES = (
    *("Liberation Sans", "Arial", "Helvetica", "Nimbus Sans", "FreeSans"),
    *("Noto Sans", "Open Sans", "Cantarell", "Ubuntu", "DejaVu Sans"),
)
WORD = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">{}</svg>'


def png_of(svg: str) -> bytes:
    """A drawing as PNG. Raises DrawingError where this machine has no font: words would be missing without a trace."""
    family = font_family()
    if not family:
        raise DrawingError(
            "No sans-serif font is installed, so a PNG would have no words",
            "install one, for example fonts-liberation, or write the charts as SVG: -o card.svg",
        )
    return _rendered(svg, family)


@functools.cache
def font_family() -> str:
    """The first family that leaves anything in a picture, "" where none does."""
    nothing = _rendered(WORD.format(""), FAMILIES[0])
    word = WORD.format('<text x="2" y="16" font-family="sans-serif">I</text>')
    return next((family for family in FAMILIES if _rendered(word, family) != nothing), "")


def _rendered(svg: str, family: str) -> bytes:
    from resvg_py import svg_to_bytes

    return bytes(svg_to_bytes(svg_string=svg, zoom=ZOOM, sans_serif_family=family))
