"""A table laid out as text for a given width: which columns stay, how wide they are, what wraps.

The rule: a table keeps all its columns when they fit. If not, the column with the highest `spare` goes, and
so on; the last column, when it holds sentences, takes the room that is left and wraps under itself, and so
do lists of names. What is still too wide wraps its titles, then its columns of words, the first one last.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable

from msgspec import Struct

from iocast.model.report import WORDS, Cell, Column, Kind, Row, Table

GAP = 2
INDENT = "  "  # of a part row
NAMES_WIDTH = 24
WORDS_WIDTH = 12  # no column of words is wrapped to less
SENTENCE_WIDTH = 30  # a column of sentences is never narrower, unless the page is

WRAPPED: frozenset[Kind] = frozenset({"text", "code", "names"})

_UNIT = re.compile(r"(?<=\d) (?=(?:ns|µs|us|ms|s|kB|MB|GB|TB|KiB|MiB|GiB|TiB|bytes|I/Os?|users?|CPUs?)\b)")

# A command that people paste, to its end: half of one may do something else.
_TOKEN = r"""(?:'[^']*'|"[^"]*"|[^\s'"])+"""
_COMMAND = re.compile(rf"`[^`]+`|(?:(?<=: )|^)iocast(?: {_TOKEN}(?<![.,;:]))*(?: {_TOKEN})?")


class GridRow(Struct, frozen=True):
    """A row as lines of padded cells, and the row it came from."""

    lines: tuple[tuple[str, ...], ...]
    row: Row


class Grid(Struct, frozen=True):
    """A table as padded text."""

    columns: tuple[Column, ...]
    header: tuple[tuple[str, ...], ...]
    rows: tuple[GridRow, ...]
    excluded: tuple[Column, ...] = ()  # there was no room


def wrap(paragraph: str, width: int, indent: str = "", *, hard: bool = False) -> list[str]:
    """A paragraph broken into lines; a figure is never parted from its unit, nor a command in two. `hard`: what is
    longer than a line is."""
    glued = _COMMAND.sub(lambda match: match[0].replace(" ", "\u00a0"), _UNIT.sub("\u00a0", paragraph))
    lines = textwrap.wrap(glued, width, subsequent_indent=indent, break_long_words=hard, break_on_hyphens=False)
    return [line.replace("\u00a0", " ") for line in lines]


def lay_out(table: Table, show: Callable[[Column, Cell], str], width: int) -> Grid:
    """The table as padded text, at most `width` wide where its columns allow."""
    columns = list(table.columns)
    text = {column.key: [_indented(column, columns[0], row, show) for row in table.rows] for column in columns}
    natural = {column.key: _natural(column, text[column.key]) for column in columns}
    while (taken := _least(columns, natural)) > width:
        spare = max(columns, key=lambda column: column.spare)
        if not spare.spare:
            break
        columns.remove(spare)
    widths = [natural[column.key] for column in columns]
    if columns and columns[-1].kind in ("text", "code"):
        others = sum(widths[:-1]) + GAP * (len(columns) - 1)
        widths[-1] = min(widths[-1], max(width - others, min(SENTENCE_WIDTH, taken)))
    _narrow(columns, widths, text, width)
    titles = [
        [part for line in column.title.split("\n") for part in _broken(column, line, size, title=True)]
        for column, size in zip(columns, widths, strict=True)
    ]
    header = _stacked(titles, columns, widths, at_bottom=True)
    rows = []
    for index, row in enumerate(table.rows):
        cells = [_broken(column, text[column.key][index], size) for column, size in zip(columns, widths, strict=True)]
        rows.append(GridRow(_stacked(cells, columns, widths, at_bottom=False), row))
    excluded = tuple(column for column in table.columns if column not in columns)
    return Grid(tuple(columns), header, tuple(rows), excluded)


def _indented(column: Column, first: Column, row: Row, show: Callable[[Column, Cell], str]) -> str:
    shown = show(column, row.cells.get(column.key))
    return INDENT + shown if row.part and column is first else shown


def _natural(column: Column, cells: list[str]) -> int:
    longest = max((len(cell) for cell in cells), default=0)
    if column.kind == "names":
        longest = min(longest, NAMES_WIDTH)
    return max(longest, *(len(line) for line in column.title.split("\n")))


def _least(columns: list[Column], natural: dict[str, int]) -> int:
    """The width that these columns need when the sentences are wrapped as far as they may be."""
    widths = [natural[column.key] for column in columns]
    if columns[-1].kind in ("text", "code"):
        widths[-1] = min(widths[-1], SENTENCE_WIDTH)
    return sum(widths) + GAP * (len(columns) - 1)


def _narrow(columns: list[Column], widths: list[int], text: dict[str, list[str]], width: int) -> None:
    """Takes from the widest columns what is more than the page: from their titles, then from their words."""
    for at, column in enumerate(columns):
        if (over := _over(widths, width)) > 0:
            least = max(map(len, [*text[column.key], *column.title.split()]), default=0)
            widths[at] = min(widths[at], max(least, widths[at] - over))
    inner = [at for at, column in enumerate(columns) if at and column.kind in WRAPPED]
    for some in (inner, [0] if columns and columns[0].kind in WRAPPED else []):
        while (over := _over(widths, width)) > 0 and some:
            widest = max(some, key=widths.__getitem__)
            next_ = max((widths[at] for at in some if widths[at] < widths[widest]), default=0)
            if widths[widest] <= WORDS_WIDTH:
                break
            widths[widest] -= max(1, min(over, widths[widest] - max(next_, WORDS_WIDTH)))


def _over(widths: list[int], width: int) -> int:
    return sum(widths) + GAP * (len(widths) - 1) - width


def _broken(column: Column, text: str, width: int, *, title: bool = False) -> list[str]:
    if (title or column.kind in WRAPPED) and len(text) > width:
        return wrap(text, width, hard=True)
    return [text]


def _stacked(
    cells: list[list[str]], columns: list[Column], widths: list[int], *, at_bottom: bool
) -> tuple[tuple[str, ...], ...]:
    """Cells of several lines as full lines, each padded to its column."""
    height = max((len(cell) for cell in cells), default=0)
    lines = []
    for line in range(height):
        padded = []
        for cell, column, width in zip(cells, columns, widths, strict=True):
            at = line - (height - len(cell)) if at_bottom else line
            text = cell[at] if 0 <= at < len(cell) else ""
            padded.append(text.ljust(width) if column.kind in WORDS else text.rjust(width))
        lines.append(tuple(padded))
    return tuple(lines)
