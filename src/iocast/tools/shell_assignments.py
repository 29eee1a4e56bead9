"""Files that a shell sources for their assignments, such as slob.conf: names and values with their lines, never run.

A subset of bash: `NAME=value`, several a line or apart by `;`, behind `export`; quotes, backslashes, comments. What a
shell would have to compute (`$NAME`, `$(...)`) or run is a fault: a file of settings is read, not obeyed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

Fault = Callable[[int, str, str], None]  # is told the line, what is wrong, and the way out

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_COMMAND = re.compile(r"[ \t]+[^ \t;#=]+(?:[ \t;]|$)")  # behind "NAME=", and not an assignment itself
_BLANKS = " \t"
_ENDS = " \t;"
_COMPUTED = "write the value itself: iocast reads the file and runs nothing"
_ONLY = "only NAME=value is read, one a line"
# Signs that mean something else to a shell where they stand outside quotes.
_OPERATORS = "&|<>()"


class Assignment(NamedTuple):
    """One `NAME=value`; the value as the shell would have it, without quotes."""

    name: str
    value: str
    line: int


class _Stop(Exception):
    """The rest of the line cannot be read: what is wrong, and the way out."""


def read_assignments(text: str, fault: Fault) -> list[Assignment]:
    """All assignments in order; a line that is anything else is a fault, and the next line is read."""
    found: list[Assignment] = []
    for line, said in _logical_lines(text):
        if said.endswith("\r"):
            fault(line, "the line ends as in Windows: to the shell a part of the value", "run dos2unix")
            said = said[:-1]
        try:
            found += (Assignment(name, value, line) for name, value in _in_line(said))
        except _Stop as stop:
            fault(line, *stop.args)
    return found


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers; one that ends with a backslash is joined with the next, unless it is a comment."""
    began, whole = 0, ""
    for number, line in enumerate(text.split("\n"), 1):
        began = began or number
        comment = (whole + line).lstrip().startswith("#")
        if not comment and (len(line) - len(line.rstrip("\\"))) % 2:
            whole += line[:-1]
            continue
        yield began, whole + line
        began, whole = 0, ""
    if whole:
        yield began, whole


def _in_line(line: str) -> Iterator[tuple[str, str]]:
    """The assignments of one line. Raises _Stop."""
    at, exported = 0, False
    while True:
        while at < len(line) and line[at] in _ENDS:
            exported = exported and line[at] != ";"
            at += 1
        if at == len(line) or line[at] == "#":
            return
        name = _NAME.match(line, at)
        after = name.end() if name else at
        if name and line.startswith("=", after):
            if line.startswith("=(", after):
                raise _Stop(f"{name[0]} is a list", _ONLY)
            if not exported and _COMMAND.match(line, after + 1):
                raise _Stop(f'{name[0]}: a blank after "=": the shell takes what follows for a command', _ONLY)
            at, value = _value(line, after + 1)
            yield name[0], value
        elif name and name[0] in ("export", "declare", "typeset") and line[after : after + 1] in (*_BLANKS, ""):
            at, exported = after, True
        elif name and exported and line[after : after + 1] in (*_ENDS, ""):
            at = after  # it exports what was assigned before
        else:
            raise _other(line[at:], name)


def _other(rest: str, name: re.Match[str] | None) -> _Stop:
    """What a line that is not an assignment is, as far as it can be told."""
    word = rest.split(maxsplit=1)[0][:40]
    if name and rest[len(name[0]) :].lstrip(_BLANKS).startswith("="):
        return _Stop(f'{name[0]}: a blank before "=": the shell takes {name[0]} for a command', _ONLY)
    if name and rest.startswith("+=", len(name[0])):
        return _Stop(f"{name[0]} is added to by +=", _COMPUTED)
    return _Stop(f'"{word}" is not an assignment', _ONLY)


def _value(line: str, at: int) -> tuple[int, str]:
    """Where a value ends, and what it is. Raises _Stop."""
    value = ""
    while at < len(line) and line[at] not in _ENDS:
        sign = line[at]
        if sign == "'":
            end = _end_of_quote(line, at)
            value += line[at + 1 : end]
            at = end + 1
        elif sign == '"':
            at, inside = _in_double_quotes(line, at)
            value += inside
        elif sign == "\\":
            value += line[at + 1 : at + 2]
            at += 2
        elif sign in "$`":
            raise _Stop("the value is computed by the shell", _COMPUTED)
        elif sign in _OPERATORS:
            raise _Stop(f'"{sign}" runs something in a shell', _ONLY)
        else:
            value += sign
            at += 1
    return min(at, len(line)), value


def _end_of_quote(line: str, at: int) -> int:
    end = line.find(line[at], at + 1)
    if end < 0:
        raise _Stop(f"the quote {line[at]} does not end on its line", "end it")
    return end


def _in_double_quotes(line: str, at: int) -> tuple[int, str]:
    """Where the text behind the end of a double quote begins, and what is inside: backslashes escape four signs."""
    value, here = "", at + 1
    while here < len(line):
        sign = line[here]
        if sign == '"':
            return here + 1, value
        if sign in "$`":
            raise _Stop("the value is computed by the shell", _COMPUTED)
        if sign == "\\" and line[here + 1 : here + 2] in ('"', "\\", "$", "`"):
            here += 1
            sign = line[here]
        value += sign
        here += 1
    _end_of_quote(line, at)
    raise _Stop('the quote " does not end on its line', "end it")
