"""Reads the text of a vdbench parameter file: its definitions in order, each parameter with its line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

KINDS = ("hd", "rg", "sd", "fsd", "wd", "fwd", "rd")
GENERAL = "general"
DEFAULT = "default"
_COMMENT = ("*", "#", "/")
_BEGINS = re.compile(
    r"(?:sd|fsd|wd|fwd|rd|hd)[ \t]{0,80}=[ \t]{0,80}[^\s,=\[\]\"]{1,200}[ \t]{0,80}(?:,|$)", re.IGNORECASE
)


class Parameter(NamedTuple):
    """A keyword with its values: one, or those in parentheses."""

    key: str
    values: tuple[str, ...]
    line: int

    @property
    def text(self) -> str:
        """As it is written."""
        return self.values[0] if len(self.values) == 1 else f"({','.join(self.values)})"


class Definition(NamedTuple):
    """A storage, workload or run definition; general parameters are one each, without a name."""

    kind: str
    name: str
    line: int
    parameters: dict[str, Parameter]


Fault = Callable[[int, str, str], None]  # is told the line, what is wrong, and the way out


def looks_like_vdbench(text: str) -> bool:
    """True when the first line that is no comment begins a definition, or one below it does and no line is a table."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(_COMMENT)]
    if any(line.lstrip().startswith("[") for line in lines):
        return False
    return any(_BEGINS.match(line.strip()) for line in lines)


def read_definitions(text: str, fault: Fault) -> list[Definition]:
    """The definitions in order. What a `default` says is in all of its kind below it."""
    definitions: list[Definition] = []
    defaults: dict[str, dict[str, Parameter]] = {}
    for line, said in _logical_lines(text):
        parameters = [each for each in (_parameter(line, item, fault) for item in _items(said)) if each is not None]
        if not parameters:
            continue
        first = parameters[0]
        if first.key not in KINDS:
            if any(each.kind in ("sd", "wd", "rd") for each in definitions):
                fault(line, f"{first.key}={first.text}: a general parameter below a definition", _CONTINUE)
            definitions += [Definition(GENERAL, each.key, line, {each.key: each}) for each in parameters]
            continue
        own = {each.key: each for each in parameters[1:]}
        for key in {each.key for each in parameters if [one.key for one in parameters].count(each.key) > 1}:
            fault(line, f"{key} is given twice", "give it once")
        if first.text == DEFAULT:
            defaults[first.key] = {**defaults.get(first.key, {}), **own}
            continue
        definitions.append(Definition(first.key, first.text, line, {**defaults.get(first.key, {}), **own}))
    return definitions


_CONTINUE = "put it above all definitions; a line that goes on ends with a comma"


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines without comments, those that end with a comma joined with the next one."""
    began, whole = 0, ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith(_COMMENT):
            continue
        if line.lower() == "eof":
            break  # what follows is not read
        began = began or number
        whole += line
        if not line.endswith(","):
            yield began, whole
            began, whole = 0, ""
    if whole:
        yield began, whole.rstrip(",")


def _items(line: str) -> Iterator[str]:
    """What stands between the commas outside parentheses and quotes."""
    depth, quoted, item = 0, False, ""
    for sign in line:
        if sign == '"':
            quoted = not quoted
            continue
        if not quoted:
            depth += (sign == "(") - (sign == ")")
            if sign == "," and depth == 0:
                yield item
                item = ""
                continue
        item += sign
    yield item


def _parameter(line: int, item: str, fault: Fault) -> Parameter | None:
    said = item.strip()
    key, equals, value = said.partition("=")
    key, value = key.strip().lower(), value.strip()
    if not said:
        return None
    if not equals or not key or not value:
        fault(line, f'"{said}" is not keyword=value', "write keyword=value,keyword=(value,value)")
        return None
    if value.startswith("("):
        inside, closed, rest = value[1:].partition(")")
        if not closed or rest.strip():
            fault(line, f"{said}: the parentheses do not match", "write keyword=(value,value)")
            return None
        return Parameter(key, tuple(each.strip() for each in inside.split(",")), line)
    value, _, rest = value.partition(" ")
    if "=" in rest:
        fault(line, f'"{said}": a comma is missing', "separate parameters by commas")
        return None
    return Parameter(key, (value,), line)  # what follows a blank is a comment
