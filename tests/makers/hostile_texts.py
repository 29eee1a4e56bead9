"""Long texts made for a pattern out of the pattern itself: its beginning, then a part of it again and again."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from itertools import groupby
from typing import Any

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import sre_constants as code
    import sre_parse

Node = tuple[Any, Any]
LIKELY = ' a0,\n=:.;-(\t[{<"/|%'
MOST_PARTS = 5  # of a pattern, taken together as what comes again
WAYS = 4
_SPANS = {
    "CATEGORY_DIGIT": str.isdigit,
    "CATEGORY_SPACE": str.isspace,
    "CATEGORY_WORD": lambda char: char.isalnum() or char == "_",
}


def hostile_texts(pattern: re.Pattern[str], length: int) -> Iterator[str]:
    """Texts of about this length, on which a pattern that goes back over what it has read takes the square of it."""
    nodes = _flat(sre_parse.parse(pattern.pattern, pattern.flags))
    parts = [list(own) for _, own in groupby(nodes, key=lambda node: node[0] is code.LITERAL or id(node))]
    made = set()
    for way in range(WAYS):
        words = ["".join(_example(node, way) for node in part) for part in parts]
        for first in range(len(words)):
            for last in range(first + 1, min(len(words), first + MOST_PARTS) + 1):
                made.add(("".join(words[:first]), "".join(words[first:last])))
                made.add(("", "".join(words[first:last])))
    made |= {("", blank) for blank in ("\n", " \n", "\t")}
    for before, again in sorted(made):
        if again:
            yield before + again * (length // len(again)) + "!"


def _flat(nodes: Any) -> list[Node]:
    """The nodes of a pattern in a row: those of groups and of repeats of several, the first of alternatives."""
    found: list[Node] = []
    for kind, about in nodes:
        if kind is code.SUBPATTERN:
            found += _flat(about[3])
        elif kind is code.BRANCH:
            found += _flat(about[1][0])
        elif kind in (code.MAX_REPEAT, code.MIN_REPEAT) and len(about[2]) > 1:
            found += _flat(about[2])
        else:
            found.append((kind, about))
    return found


def _example(node: Node, way: int) -> str:
    """A short text that a node matches; what may be left out is, in half of the ways."""
    kind, about = node
    if kind is code.LITERAL:
        return chr(about)
    if kind is code.NOT_LITERAL:
        return next(char for char in LIKELY if char != chr(about))
    if kind is code.ANY:
        return " a"[way % 2]
    if kind is code.IN:
        found = [char for char in LIKELY if _within(char, about)] or [
            chr(own if kind is code.LITERAL else own[0]) for kind, own in about[:1]
        ]
        return found[way % len(found)]
    if kind in (code.MAX_REPEAT, code.MIN_REPEAT):
        least, _, own = about
        return "".join(_example(each, way) for each in own) * (max(1, least) if way < WAYS // 2 else least)
    if kind is code.SUBPATTERN:
        return "".join(_example(each, way) for each in about[3])
    if kind is code.BRANCH:
        return "".join(_example(each, way) for each in about[1][0])
    return ""


def _within(char: str, spans: list[Node]) -> bool:
    inverse, hit = False, False
    for kind, about in spans:
        if kind is code.NEGATE:
            inverse = True
        elif kind is code.LITERAL:
            hit |= ord(char) == about
        elif kind is code.RANGE:
            hit |= about[0] <= ord(char) <= about[1]
        else:
            name = str(about)
            hit |= _SPANS[name.replace("_NOT_", "_")](char) != ("_NOT_" in name)
    return hit != inverse
