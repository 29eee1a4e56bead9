"""Sections on files in text reports of AWR and Statspack: each file is a line of its own, its figures are on the next.

Both lines have a rule of dashes: the first cuts the tablespace from the file, the second the figures, whose heads stand
on one or two lines above it. A tablespace is printed once for all its files; every page repeats the heads.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from iocast.tools.oracle.report_tables import Table, cut

NAMES: Final = ("Tablespace", "Filename")
_DASHES = re.compile(r"-{2,}")
_RULE = re.compile(r"^-[- ]{9,}$")
_END = re.compile(r" {4,}-{20,}$")
_FIGURE = re.compile(r"[\d,.#]*")


class _Section(Struct):
    """A section being read. `heads`: its lines since the last rule."""

    table: Table
    names: list[tuple[int, int]] = []
    spans: list[tuple[int, int]] = []
    heads: list[str] = []
    tablespace: str = ""
    file: str = ""


def file_sections(text: str, titles: tuple[str, ...]) -> list[Table]:
    """The tables with one of these titles, each with `NAMES` before its own columns; in their order."""
    found: dict[str, _Section] = {}
    section: _Section | None = None
    lines = text.splitlines()
    if lines and not text.endswith(("\n", "\r")):
        lines.pop()  # it may have lost digits
    for at, line in enumerate(lines, 1):
        if title := _title(line, titles):
            section = found.setdefault(title, _Section(Table(title, at, "", [], [], ended=False)))
            section.names, section.spans, section.heads, section.file = [], [], [], ""
        elif section and _END.match(line):
            section.table.ended, section = True, None
        elif section and "DB/Inst: " in line:
            section = None  # the next one, whose own end is missing
        elif section and line.strip() and not line.startswith("->"):
            _take(at, line, section)
    return [each.table for each in found.values() if each.table.head]


def _title(line: str, titles: tuple[str, ...]) -> str | None:
    """The title of a section that begins with this line: "File IO Stats  DB/Inst: ..." or "... for DB: ..."."""
    if "Snaps: " not in line and "DB/Inst: " not in line:
        return None
    return next((each for each in titles if line.startswith((f"{each} for", f"{each}  "))), None)


def _take(at: int, line: str, section: _Section) -> None:
    """One line that is not blank: of the heads, a rule, a name or figures."""
    if not section.spans:
        if not _RULE.match(line):
            section.heads.append(line)
            return
        spans = [each.span() for each in _DASHES.finditer(line)]
        if not section.names:
            section.names = spans
        else:
            section.spans = spans
            section.table.head = [*NAMES, *_heads(section.heads, spans)]
        section.heads = []
        return
    cells = cut(line, section.spans)
    if section.file and all(_FIGURE.fullmatch(each) for each in cells):
        section.table.rows.append((at, [section.tablespace, section.file, *cells]))
        section.file = ""
        return
    tablespace, _, file = line[: section.names[0][1]].strip(), "", line[section.names[0][1] :].strip()
    section.tablespace = tablespace or section.tablespace
    section.file += file  # one that is longer than its column goes on below


def _heads(lines: list[str], spans: list[tuple[int, int]]) -> list[str]:
    """The heads of columns whose words stand one above the other: "Av", "Rd", "(ms)" is "Av Rd(ms)"."""
    words = zip(*(cut(line, spans) for line in lines), strict=True)
    return [" ".join(word for word in each if word).replace(" (", "(") for each in words]
