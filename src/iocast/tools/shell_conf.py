"""Files that a shell sources for their assignments, such as slob.conf: names and values with their lines, never run.

A subset of bash: `NAME=value`, several a line or apart by `;`, behind `export`; quotes, backslashes, comments. What a
shell would have to compute (`$NAME`, `$(...)`) or run is a fault: a file of settings is read, not obeyed. Values are
checked against a tool's own limits.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from iocast.tools.foreign_numbers import number_of, whole_of

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
    assignments: list[Assignment] = []
    for line, said in _logical_lines(text):
        if said.endswith("\r"):
            fault(line, "the line ends as in Windows: to the shell a part of the value", "run dos2unix")
            said = said[:-1]
        try:
            assignments += (Assignment(name, value, line) for name, value in _in_line(said))
        except _Stop as stop:
            fault(line, *stop.args)
    return assignments


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


_WHOLE = re.compile(r"\d{1,15}", re.ASCII)
_SECONDS = re.compile(r"\d{0,9}\.?\d{1,9}|\d{1,9}\.", re.ASCII)
_SIZE = re.compile(r"(\d{1,12}) *([MGT]?)", re.ASCII)
_UNITS = {"M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_OCTAL = "write it without the leading 0: a shell reads 010 as 8"


class ConfValues:
    """The last assignment of each name, as in a shell; a name that is not assigned, or is empty, has the default."""

    def __init__(self, assignments: Sequence[Assignment], fault: Fault) -> None:
        self._last = {each.name: each for each in assignments}
        self._fault = fault

    @property
    def lines(self) -> dict[str, int]:
        """The names that are assigned something, in their order, each with its line."""
        return {name: each.line for name, each in self._last.items() if each.value}

    def line(self, name: str) -> int:
        """Where a name is assigned; 1 where it is not."""
        return self._last[name].line if name in self._last else 1

    def fault(self, name: str, message: str, way_out: str) -> None:
        """Notes a fault of a name, which the message begins with."""
        self._fault(self.line(name), f"{name}={self.text(name, '')}: {message}", way_out)

    def text(self, name: str, default: str) -> str:
        """As it stands."""
        return (self._last[name].value if name in self._last else "") or default

    def whole(self, name: str, default: int, *, least: int = 0, most: int | None = None) -> int:
        """A whole number within its limits; the default after a fault."""
        text = self.text(name, str(default)).strip()
        value = whole_of(text) or 0
        if not _WHOLE.fullmatch(text):
            self.fault(name, "not a whole number", f"write {name}={default}")
        elif len(text) > 1 and text.startswith("0"):
            self.fault(name, "a number of base 8 to the shell", _OCTAL)
        elif value < least:
            self.fault(name, f"the least is {least:,}", f"write {name}={max(least, default)}")
        elif most is not None and value > most:
            self.fault(name, f"the most is {most:,}", f"write {name}={min(most, default)}")
        else:
            return value
        return default

    def share(self, name: str, default: int) -> int:
        """Per cents as SLOB and pgio take them: 0 to 50, or 100."""
        percent = self.whole(name, default, most=100)
        if 50 < percent < 100:
            way_out = f"0 to 50, or 100; iocast itself takes every share: --{name.lower().replace('_', '-')} {percent}"
            self.fault(name, "51 to 99 are refused by SLOB and pgio, whose loop cannot hold them", way_out)
            return default
        return percent

    def blocks(self, name: str, default: str, *, block_bytes: int, least: int) -> int:
        """A number of blocks, stated as such or as a size in M, G or T (1024 each); the least after a fault."""
        match = _SIZE.fullmatch(self.text(name, default).strip())
        if not match:
            self.fault(name, "not a number of blocks, nor one with M, G or T", f"write {name}={default}")
            return least
        stated = whole_of(match[1]) or 0
        blocks = stated * _UNITS[match[2]] // block_bytes if match[2] else stated
        if blocks < least:
            size = f" of {block_bytes:,} bytes" if match[2] else ""
            said = f"{blocks:,} blocks{size}; the least is {least:,}"
            self.fault(name, said, f"write {name}={least}")
            return least
        return blocks

    def seconds_ns(self, name: str, default: str) -> int:
        """Seconds with a fraction, in nanoseconds."""
        text = self.text(name, default).strip()
        if not _SECONDS.fullmatch(text):
            self.fault(name, "not a number of seconds", f"write {name}={default}")
            text = default
        return round((number_of(text) or 0.0) * 1e9)

    def flag(self, name: str, default: bool) -> bool:
        """TRUE or FALSE, in capitals: the tools compare the text, so that "true" would be off."""
        return self.choice(name, "TRUE" if default else "FALSE", ("TRUE", "FALSE")) == "TRUE"

    def choice(self, name: str, default: str, allowed: tuple[str, ...]) -> str:
        """One of some words, exactly as they are."""
        word = self.text(name, default)
        if word in allowed:
            return word
        self.fault(name, "not a value that it has", f"write {' or '.join(allowed)}, exactly so")
        return default

    def only(self, known: Iterable[str], tool: str, gone: Mapping[str, str] | None = None) -> None:
        """A fault for each name that the tool does not have; `gone`: what to do about those that it had once."""
        names = {each.lower(): each for each in known}
        for name, each in self._last.items():
            if name.lower() in names and name == names[name.lower()]:
                continue
            way_out = (gone or {}).get(name, "")
            close = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.6)
            meant = f'; did you mean "{names[close[0]]}"?' if close and not way_out else ""
            self._fault(each.line, f"{name} is not a parameter of {tool}{meant}", way_out or "remove the line")
