"""Renders a report as Markdown: headings, paragraphs and tables for a wiki, an issue or a pull request."""

from __future__ import annotations

import re
from typing import TextIO

from iocast.model.report import WORDS, Chart, Column, Report, Row, Table
from iocast.report.cells import cell_text, figure_text
from iocast.report.renderers.safe_words import safe
from iocast.report.result_tables import chart_table
from iocast.report.subjects import measured_when

CHART_ROWS = 40  # of a chart's figures; longer tables are for other forms


def render(report: Report, out: TextIO, *, colour: bool = False, width: int = 0) -> None:
    """Writes the report. `colour` and `width` mean nothing here."""
    report = safe(report)
    out.write(f"# {_plain(report.title)}\n\n{_paragraph(report.verdict)}\n")
    if about := measured_when(report):
        out.write(f"\n{_plain(about)}\n")
    heads = [
        f"- **{_plain(badge.title)}: {badge.letter or '–'}** {_plain(badge.says)}".rstrip() for badge in report.badges
    ]
    heads += [
        f"- **{_plain(each.title)}: {_plain(figure_text(each))}** {_plain(each.says)}".rstrip()
        for each in report.figures
    ]
    heads += [f"- **{_plain(each.title)}:** {_plain(each.says)}" for each in report.conclusions]
    if heads:
        out.write("\n" + "\n".join(heads) + "\n")
    for section in report.sections:
        # A comparison is pasted into change requests: its details open on demand, and its charts repeat its tables.
        folded = report.kind == "comparison" and section.code not in ("results", "differences")
        heading = _plain(section.title)
        summary = f"\n<details>\n<summary>{heading}</summary>\n"
        out.write(summary if folded else f"\n## {heading}\n")
        for paragraph in section.paragraphs:
            out.write(f"\n{_paragraph(paragraph)}\n")
        for table in section.tables:
            _table(table, out)
        for chart in section.charts if report.kind != "comparison" else ():
            _chart(chart, out)
        out.write("\n</details>\n" if folded else "")
    if report.next_steps:
        out.write("\n## Next\n\n" + "".join(f"- {_paragraph(step)}\n" for step in report.next_steps))


def _table(table: Table, out: TextIO) -> None:
    if not table.rows:
        return
    if table.title:
        out.write(f"\n**{_plain(table.title)}**\n")
    sides = " | ".join("---" if column.kind in WORDS else "--:" for column in table.columns)
    titles = " | ".join(_cell(" ".join(column.title.split("\n"))) for column in table.columns)
    out.write(f"\n| {titles} |\n| {sides} |\n")
    for row in table.rows:
        out.write("| " + " | ".join(_shown(column, table, row) for column in table.columns) + " |\n")
    for note in (*_row_notes(table), *table.notes):
        out.write(f"\n{_paragraph(note)}\n")


def _shown(column: Column, table: Table, row: Row) -> str:
    shown = _cell(cell_text(column.kind, row.cells.get(column.key)))
    if row.part and column is table.columns[0]:
        return f"↳ {shown}"
    measured = row.void and column.kind not in WORDS | {"load", "bytes"}
    return f"~~{shown}~~" if measured and shown else shown


def _row_notes(table: Table) -> list[str]:
    """Markdown's tables have no room for notes under a row: those of void rows stand below the table."""
    notes: dict[str, list[str]] = {}
    for row in table.rows:
        if row.note and row.void:
            name = getattr(row.record, "phase", "") or row.cells.get(table.columns[0].key)
            notes.setdefault(row.note, []).append(str(name))
    return [f"Void: {', '.join(names)}. {note}" for note, names in notes.items()]


def _chart(chart: Chart, out: TextIO) -> None:
    out.write(f"\n### {_plain(chart.title)}\n\n{_paragraph(chart.summary)}\n")
    table = chart_table(chart)
    if len(table.rows) <= CHART_ROWS:
        _table(table, out)


def _cell(words: str) -> str:
    return _plain(words).replace("|", "\\|").replace("\n", " ")


def _paragraph(words: str) -> str:
    """The same for what begins a line: it is no heading, list, quote nor rule."""
    return re.sub(r"^(\s*\d{0,9})([#>+=.)|-])", r"\1\\\2", _plain(words))


def _plain(words: str) -> str:
    """Signs that Markdown would take for its own, as signs."""
    for sign in "\\`*_<~[]":
        words = words.replace(sign, f"\\{sign}" if sign != "<" else "&lt;")
    return words
