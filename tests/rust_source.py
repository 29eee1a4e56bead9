"""Rust source without comments, texts and test modules: its functions, their lengths, what it prints."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TEXT = re.compile(
    r"""//[^\n]*
      | /\*.*?\*/
      | (?<!\w)[bc]?r(\#*)".*?"\1
      | (?<!\w)[bc]?"(?:\\.|[^"\\])*"
      | '(?:\\[^\n]*?|[^'\\])'
    """,
    re.DOTALL | re.VERBOSE,
)
_TEST_MODULE = re.compile(r"#\[cfg\(test\)\]\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+\w+\s*\{")
_FUNCTION = re.compile(r"\bfn\s+(\w+)")
_SPEECH = re.compile(r"\b(e?println!|e?print!|dbg!|process::exit)")


def _blank(text: str) -> str:
    """Spaces of the same shape."""
    return re.sub(r"[^\n]", " ", text)


def _closing(code: str, opening: int) -> int:
    """The place right after the brace that closes the one at `opening`."""
    depth = 0
    for place in range(opening, len(code)):
        depth += {"{": 1, "}": -1}.get(code[place], 0)
        if depth == 0:
            return place + 1
    return len(code)


def code(text: str) -> str:
    """Code alone, every line where it was."""
    bare = _TEXT.sub(lambda found: _blank(found[0]), text)
    for found in reversed(list(_TEST_MODULE.finditer(bare))):
        end = _closing(bare, found.end() - 1)
        bare = bare[: found.start()] + _blank(bare[found.start() : end]) + bare[end:]
    return bare


def line_count(text: str) -> int:
    """Lines of a file without its test modules (comments count)."""
    bare = _TEXT.sub(lambda found: _blank(found[0]), text)
    inside = 0
    for found in _TEST_MODULE.finditer(bare):
        inside += bare.count("\n", found.start(), _closing(bare, found.end() - 1)) + 1
    return len(text.splitlines()) - inside


def functions(text: str) -> Iterator[tuple[str, int]]:
    """Name and lines, signature included, of every function that has a body."""
    bare = code(text)
    for found in _FUNCTION.finditer(bare):
        depth = 0
        for place in range(found.end(), len(bare)):
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(bare[place], 0)
            if depth == 0 and bare[place] in ";{":
                break
        else:
            continue
        if bare[place] == "{":
            yield found[1], bare.count("\n", found.start(), _closing(bare, place)) + 1


def speech(text: str) -> Iterator[tuple[int, str]]:
    """Line and word of everything that prints or ends the process."""
    bare = code(text)
    for found in _SPEECH.finditer(bare):
        yield bare.count("\n", 0, found.start()) + 1, found[1]
