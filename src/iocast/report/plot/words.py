"""Words on a plot: how wide they are, and moved apart so that none lies on another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

# Fonts of the same widths first, so that a picture is the same where one of them is.
FONT = "'Liberation Sans', Arial, Helvetica, sans-serif"
FONT_SIZE = 12
# In thousandths of the font size, in Helvetica, Arial and Liberation Sans, which share their widths.
_LETTERS = (
    (191, "'"), (222, "ijl‘’"), (260, "|"), (278, " !,./:;I[\\]ft·"), (333, "()-`r“”"), (334, "{}"),
    (355, '"'), (389, "*"), (469, "^"), (500, "Jcksvxyz"), (556, "#$0123456789?L_abdeghnopqu–"), (576, "µ"),
    (584, "+<=>~×÷−±"), (611, "FTZ"), (667, "&ABEKPSVXY"), (722, "CDHNRUw"), (778, "GOQ"), (833, "Mm"),
    (889, "%"), (944, "W"), (1000, "—…"), (1015, "@"),
)  # fmt: skip
_WIDTH_OF = {letter: width for width, letters in _LETTERS for letter in letters}
_OTHER = 600  # a letter that is not among them
ROOM = 1.08  # other fonts, which a reader may have, are wider
BOLD = 1.07  # how much wider the same words are in bold


def width_px(words: str, size_px: float, *, bold: bool = False) -> float:
    """The width of one line of words."""
    wide = sum(_WIDTH_OF.get(letter, _OTHER) for letter in words) * size_px / 1000
    return wide * ROOM * (BOLD if bold else 1.0)


def apart(wanted: Sequence[float], distance: float, highest: float = math.inf) -> list[float]:
    """The same positions moved so that neighbours are at least `distance` apart, as little as that takes, and none
    is above `highest`."""
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    placed = list(wanted)
    for _ in range(50):
        moved = False
        for one, other in pairwise(order):
            gap = placed[other] - placed[one]
            if gap < distance - 1e-9:
                placed[one] -= (distance - gap) / 2
                placed[other] += (distance - gap) / 2
                moved = True
        if not moved:
            break
    for at in reversed(order):
        placed[at] = min(placed[at], highest)
        highest = placed[at] - distance
    return placed
