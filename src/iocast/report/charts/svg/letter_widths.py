"""How wide words are in Helvetica, Arial and Liberation Sans, which share their widths, and a little more: a reader may
have another font."""

from __future__ import annotations

# In thousandths of the font size.
_LETTERS = (
    (191, "'"), (222, "ijl‘’"), (260, "|"), (278, " !,./:;I[\\]ft·"), (333, "()-`r“”"), (334, "{}"),
    (355, '"'), (389, "*"), (469, "^"), (500, "Jcksvxyz"), (556, "#$0123456789?L_abdeghnopqu–"), (576, "µ"),
    (584, "+<=>~×÷−±"), (611, "FTZ"), (667, "&ABEKPSVXY"), (722, "CDHNRUw"), (778, "GOQ"), (833, "Mm"),
    (889, "%"), (944, "W"), (1000, "—…"), (1015, "@"),
)  # fmt: skip
_WIDTH_OF = {letter: width for width, letters in _LETTERS for letter in letters}
_OTHER = 600  # a letter that is not among them
ROOM = 1.08  # other fonts are wider
BOLD = 1.07  # how much wider the same words are in bold


def width_px(words: str, size_px: float, *, bold: bool = False) -> float:
    """The width of one line of words."""
    wide = sum(_WIDTH_OF.get(letter, _OTHER) for letter in words) * size_px / 1000
    return wide * ROOM * (BOLD if bold else 1.0)
