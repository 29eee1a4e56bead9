"""Lines of a live screen: text in pieces, each with the code of a style; terminals, pages and pipes colour them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from iocast.text import harmless_line

Style = Literal["plain", "head", "dim", "strong", "warn", "heat1", "heat2", "heat3", "heat4", "heat5", "heat6"]
HEATS: tuple[Style, ...] = ("plain", "heat1", "heat2", "heat3", "heat4", "heat5", "heat6")


class Piece(Struct, frozen=True):
    """Text of one style."""

    text: str
    style: Style = "plain"


Line = tuple[Piece, ...]


def line(text: str, style: Style = "plain") -> Line:
    """A line of one style."""
    return (Piece(text, style),)


def plain(lines: Iterable[Line]) -> str:
    """Without styles, for pipes and logs; nothing at the ends of lines."""
    return "\n".join("".join(harmless_line(piece.text) for piece in each).rstrip() for each in lines)


def cut(text_line: Line, width: int) -> Line:
    """What fits into a width; the last character of a line that does not says so."""
    if sum(len(piece.text) for piece in text_line) <= width:
        return text_line
    kept: list[Piece] = []
    left = width - 1
    for piece in text_line:
        kept.append(Piece(piece.text[:left], piece.style))
        left -= len(kept[-1].text)
        if left <= 0:
            break
    return (*kept, Piece("…", "dim"))


# 256-colour backgrounds from cold to hot, as a heat map has them.
_ANSI: dict[Style, str] = {
    "head": "1",
    "dim": "2",
    "strong": "1",
    "warn": "1;33",
    "heat1": "30;48;5;226",
    "heat2": "30;48;5;220",
    "heat3": "30;48;5;214",
    "heat4": "30;48;5;208",
    "heat5": "30;48;5;202",
    "heat6": "30;48;5;196",
}


def ansi(lines: Iterable[Line]) -> str:
    """For a terminal."""
    return "\n".join("".join(_ansi(piece) for piece in each) for each in lines)


def _ansi(piece: Piece) -> str:
    code, words = _ANSI.get(piece.style), harmless_line(piece.text)
    return f"\x1b[{code}m{words}\x1b[0m" if code else words
