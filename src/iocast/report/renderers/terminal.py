"""Renders a report for a terminal: aligned columns, quiet colours, plain signs where nothing else shows."""

from __future__ import annotations

import shlex
from typing import TextIO

from msgspec.structs import replace

from iocast import text
from iocast.model.report import Cell, Column, Kind, Report, Row, Section, Table
from iocast.report.cells import as_good, cell_text, figure_text, numbers
from iocast.report.renderers.grid import GAP, SENTENCE_WIDTH, Grid, GridRow, lay_out, wrap
from iocast.report.renderers.safe_words import safe
from iocast.report.subjects import measured_when

ON_SCREEN = ("beside_database", "tested")  # sections that were asked for stand on the screen of a card too
MOST_ROWS_ON_SCREEN = 8  # [J]
COLUMNS_ON_SCREEN = (
    "test",
    "users",
    "size_bytes",
    "throughput_bytes_per_s",
    "response_p50_ns",
    "response_p99_ns",
    "rate_per_s",
    "trust",
)
PROSE_WIDTH = 100  # longer lines are hard to read, however wide the screen

# Where the output cannot show a sign, another says the same.
PLAIN = str.maketrans({"µ": "u", "×": "x", "·": "-", "—": "-", "–": "-", "±": "~", "↳": ">", "…": "."})

BOLD, DIM, STRUCK, RED, GREEN, YELLOW = "1", "2", "9", "31", "32", "33"
LETTERS = {"A": GREEN, "B": "", "C": YELLOW, "D": RED, "F": f"{BOLD};{RED}"}
GRAVITY = {"void": f"{BOLD};{RED}", "severe": RED, "warn": YELLOW}

MEASURED: frozenset[Kind] = frozenset(
    {
        "bytes_per_s",
        "rate",
        "duration",
        "milliseconds",
        "strip",
        "decimal",
        "figures",
        "ratio",
        "share",
        "exact_share",
        "relative",
    }
)


def render(report: Report, out: TextIO, *, colour: bool, width: int) -> None:
    """Writes the report, at most `width` columns wide, with ANSI colours only when `colour` is set."""
    Page(out, colour=colour, width=width).write(report)


class Page:
    """A report being written: what the output can show, and how wide it is."""

    def __init__(self, out: TextIO, *, colour: bool, width: int) -> None:
        self.out, self.colour, self.width = out, colour, width
        self.signs = _shows_signs(out)

    def write(self, report: Report) -> None:
        """All of it, its outcome once more at the end, where a terminal stands when it is done."""
        report = safe(replace(report, result=None))  # of which nothing is shown that is no table
        self._head(report)
        for section in report.sections:
            self._section(section)
        self._next(report)
        self._outcome(report)

    def _section(self, section: Section) -> None:
        self._line()
        self._line(self._paint(self._plain(section.title), BOLD))
        for paragraph in section.paragraphs:
            self._paragraph(paragraph, min(self.width, PROSE_WIDTH))
        for index, table in enumerate(section.tables):
            if index or section.paragraphs:
                self._line()
            self._table(table)

    def write_screen(self, report: Report, *, rows: bool = False) -> None:
        """No more than a screen: verdict, next steps, where the rest is, outcome; `rows`: their figures too."""
        report = safe(report)
        self._head(report)
        for each in report.sections:
            if each.code in ON_SCREEN:
                self._section(each)
            elif each.code == "results" and rows:
                self._short_results(each)
            elif each.code == "replay" and rows:  # the first of its tables has the times of the trace, and those here
                self._line()
                self._table(each.tables[0])
        folder = report.subjects[0].folder if report.kind == "card" and report.subjects else ""
        more = (f"To see all figures: iocast report {shlex.quote(folder)}",) if folder else ()
        self._next(replace(report, next_steps=(*report.next_steps, *more)))
        self._outcome(report)

    def _short_results(self, results: Section) -> None:
        """The figures of a few rows, which fit on a screen; of more the outcome tells those that matter."""
        for table in results.tables:
            if 0 < sum(bool(row.cells.get("trust")) for row in table.rows) <= MOST_ROWS_ON_SCREEN:
                columns = tuple(each for each in table.columns if each.key in COLUMNS_ON_SCREEN)
                self._line()
                self._table(replace(table, columns=columns, notes=()))

    def _head(self, report: Report) -> None:
        self._line(self._paint(self._plain(report.title), BOLD))
        if about := measured_when(report):
            self._line(self._paint(self._plain(about), DIM))
        self._line()
        self._paragraph(report.verdict, min(self.width, PROSE_WIDTH))

    def _next(self, report: Report) -> None:
        if not report.next_steps:
            return
        self._line()
        self._line(self._paint("Next", BOLD))
        for step in report.next_steps:
            self._step(step, min(self.width, PROSE_WIDTH))

    def _step(self, step: str, width: int) -> None:
        """A command that does not fit has a line of its own and is never cut: what is pasted must be all of it."""
        said, colon, command = step.partition(": iocast ")
        if len(step) <= width or not colon:
            self._paragraph(step, width)
            return
        self._paragraph(f"{said}:", width)
        self._line(self._plain(f"  iocast {command}"))

    def _outcome(self, report: Report) -> None:
        """A line each: letters, figures, conclusions; what is longer goes on under itself."""
        lines = outcome_lines(report)
        if not lines or report.kind != "card":
            return
        self._line()
        names, values = (
            max(len(self._plain(each)) for each in column) for column in list(zip(*lines, strict=True))[:2]
        )
        for name, value, says in lines:
            start = f"{self._plain(name):<{names}}  "
            shown = f"{self._plain(value):<{values}}" if value else ""
            room = min(self.width, PROSE_WIDTH) - len(start) - (len(shown) + GAP if shown else 0)
            first, *more = wrap(self._plain(says), max(SENTENCE_WIDTH, room)) or [""]
            painted = self._paint(shown, LETTERS.get(value[:1], "")) if len(value) <= 2 else shown
            self._line(self._paint(start, DIM) + painted + (" " * GAP if shown else "") + first)
            for line in more:
                self._line(" " * (len(start) + (len(shown) + GAP if shown else 0)) + line)

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
        for index, note in enumerate((*_excluded(grid), *table.notes)):
            if not index:
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


def outcome_lines(report: Report) -> list[tuple[str, str, str]]:
    """What a report comes to: a name, a letter or a figure, words."""
    letters = [(badge.title, badge.letter or "–", badge.says) for badge in report.badges]
    figures = [(figure.title, figure_text(figure), figure.says) for figure in report.figures]
    return [*letters, *figures, *((each.title, "", each.says) for each in report.conclusions)]


def _excluded(grid: Grid) -> tuple[str, ...]:
    titles = ", ".join(" ".join(column.title.split("\n")) for column in grid.excluded)
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
