"""Renders a report for a terminal: aligned columns, quiet colours, plain signs where nothing else shows."""

from __future__ import annotations

from typing import TextIO

from iocast import text
from iocast.model.report import Cell, Column, Kind, Report, Row, Table
from iocast.report.cells import as_good, cell_text, numbers
from iocast.report.renderers.grid import GAP, Grid, GridRow, lay_out, wrap

PROSE_WIDTH = 100  # longer lines are hard to read, however wide the screen

# Where the output cannot show a sign, another says the same.
PLAIN = str.maketrans({"µ": "u", "×": "x", "·": "-", "—": "-", "–": "-", "±": "~", "↳": ">", "…": "."})

BOLD, DIM, STRUCK, RED, GREEN, YELLOW = "1", "2", "9", "31", "32", "33"
LETTERS = {"A": GREEN, "B": "", "C": YELLOW, "D": RED, "F": f"{BOLD};{RED}"}
GRAVITY = {"void": f"{BOLD};{RED}", "severe": RED, "warn": YELLOW}

MEASURED: frozenset[Kind] = frozenset({"bytes_per_s", "rate", "duration", "strip", "decimal", "share", "relative"})


def render(report: Report, out: TextIO, *, colour: bool, width: int) -> None:
    """Writes the report, at most `width` columns wide, with ANSI colours only when `colour` is set."""
    _Page(out, colour=colour, width=width).write(report)


class _Page:
    """A report being written: what the output can show, and how wide it is."""

    def __init__(self, out: TextIO, *, colour: bool, width: int) -> None:
        self.out, self.colour, self.width = out, colour, width
        self.signs = _shows_signs(out)

    def write(self, report: Report) -> None:
        prose = min(self.width, PROSE_WIDTH)
        self._line(self._paint(self._plain(report.title), BOLD))
        self._line()
        self._paragraph(report.verdict, prose)
        for section in report.sections:
            self._line()
            self._line(self._paint(self._plain(section.title), BOLD))
            for paragraph in section.paragraphs:
                self._paragraph(paragraph, prose)
            for index, table in enumerate(section.tables):
                if index or section.paragraphs:
                    self._line()
                self._table(table)
        if report.next_steps:
            self._line()
            self._line(self._paint("Next", BOLD))
            for step in report.next_steps:
                self._paragraph(step, prose)

    def _table(self, table: Table) -> None:
        if not table.rows:
            return
        if table.title:
            self._line(self._plain(table.title))
        grid = lay_out(table, self._show, self.width)
        for titles in grid.header:
            self._line(self._paint((" " * GAP).join(titles).rstrip(), DIM))
        for row in grid.rows:
            for line in row.lines:
                self._line(self._row_line(grid, row, line))
            self._note(row.row)
        for index, note in enumerate((*_left_out(grid), *table.notes)):
            if not index and table.notes:
                self._line()
            for words in wrap(self._plain(note), min(self.width, PROSE_WIDTH)):
                self._line(self._paint(words, DIM))

    def _row_line(self, grid: Grid, row: GridRow, line: tuple[str, ...]) -> str:
        cells = (self._cell(column, cell, row.row) for column, cell in zip(grid.columns, line, strict=True))
        return (" " * GAP).join(cells).rstrip()

    def _cell(self, column: Column, padded: str, row: Row) -> str:
        """A padded cell with its colour; in a void row, measured figures are struck out."""
        shown = padded.strip()
        if row.void and column.kind in MEASURED and shown:
            if not self.colour:
                return padded.replace(shown, "-" * len(shown))
            return padded.replace(shown, self._paint(shown, f"{DIM};{STRUCK}"))
        if column.kind == "grade":
            return padded.replace(shown, self._paint(shown, LETTERS.get(shown[:1], ""))) if shown else padded
        if as_good(column.kind, row.cells.get(column.key)) and shown:
            return padded.replace(shown, self._paint(shown, GREEN))
        return self._paint(padded, GRAVITY.get(shown, "")) if column.key == "severity" else padded

    def _note(self, row: Row) -> None:
        if not row.note:
            return
        mark = "void: " if row.void else ""
        for words in wrap(self._plain(f"  ↳ {mark}{row.note}"), min(self.width, PROSE_WIDTH), indent="    "):
            self._line(self._paint(words, RED if row.void else DIM))

    def _show(self, column: Column, cell: Cell) -> str:
        if column.kind == "strip" and not self.signs:
            return text.strip_ascii(numbers(cell))
        return self._plain(cell_text(column.kind, cell))

    def _paragraph(self, paragraph: str, width: int) -> None:
        for line in wrap(self._plain(paragraph), width):
            self._line(line)

    def _plain(self, words: str) -> str:
        if self.signs:
            return words
        encoding = getattr(self.out, "encoding", None) or "ascii"
        return words.translate(PLAIN).encode(encoding, "replace").decode(encoding)

    def _paint(self, words: str, style: str) -> str:
        return f"\x1b[{style}m{words}\x1b[0m" if self.colour and style and words else words

    def _line(self, line: str = "") -> None:
        self.out.write(line.rstrip() + "\n")


def _left_out(grid: Grid) -> tuple[str, ...]:
    titles = ", ".join(" ".join(column.title.split("\n")) for column in grid.left_out)
    return (f"Hidden at this width: {titles}.",) if titles else ()


def _shows_signs(out: TextIO) -> bool:
    """True when the output's encoding has every sign that a report uses."""
    encoding = getattr(out, "encoding", None)
    if not encoding:
        return True  # text kept in memory
    try:
        "".join(map(chr, PLAIN)).join(text.STRIP_LEVELS).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
