"""Finds the line of every key in a TOML text, so that a refusal can say where."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

Path = tuple[str | int, ...]  # ("phase", 1, "users"): the field users of the second [[phase]]

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"""+'
    r"|'''.*?'''+"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*"
    r"|[\[\]{}\n]"
    r"|[^\"'\#\[\]{}\n]+"
    r"|.",
    re.DOTALL,
)
_KEY_PART = re.compile(r"""\s*(?:"((?:\\.|[^"\\])*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*(\.?)""")


def key_lines(text: str) -> dict[Path, int]:
    """The line (from 1) of every table header and key of `text`, which is valid TOML; of an array, its first.

    Keys inside an inline table have no entry: `line_of` gives the line of the key that holds them.
    """
    lines: dict[Path, int] = {(): 1}
    last: dict[Path, int] = {}  # array of tables -> index of its newest table
    table: Path = ()
    for line, statement in _statements(text):
        if statement.startswith("[["):
            array = _resolve(_keys(statement[2:]), last)
            last[array] = last.get(array, -1) + 1
            table = place = (*array, last[array])
        elif statement.startswith("["):
            table = place = _resolve(_keys(statement[1:]), last)
        else:
            place = (*table, *_keys(statement))
        for depth in range(1, len(place) + 1):  # region.size = "4k" is the line of region too
            lines.setdefault(place[:depth], line)
    return lines


def line_of(lines: Mapping[Path, int], path: Path) -> int:
    """The line of `path`, or of the nearest table around it."""
    while path not in lines:
        path = path[:-1]
    return lines[path]


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Table headers and key-value pairs, each with the line it starts on."""
    line, start_line, depth, parts = 1, 1, 0, list[str]()
    for match in _TOKEN.finditer(text + "\n"):
        token = match[0]
        if token == "\n" and depth == 0:
            statement = "".join(parts).strip()
            if statement:
                yield start_line, statement
            parts, start_line = [], line + 1
        elif not token.startswith("#"):
            depth += (token in ("[", "{")) - (token in ("]", "}"))
            parts.append(token)
        line += token.count("\n")


def _keys(text: str) -> tuple[str, ...]:
    """The parts of a dotted key at the start of `text`."""
    parts: list[str] = []
    at = 0
    while match := _KEY_PART.match(text, at):
        parts.append(match[1] or match[2] or match[3] or "")
        at = match.end()
        if not match[4]:
            break
    return tuple(parts)


def _resolve(keys: tuple[str, ...], last: Mapping[Path, int]) -> Path:
    """`keys` with the index of the newest table put after every array of tables on the way."""
    path: Path = ()
    for position, key in enumerate(keys):
        path = (*path, key)
        if position + 1 < len(keys) and path in last:
            path = (*path, last[path])
    return path
