"""Renders a report as JSON: raw values, each with its unit in the name of its key."""

from __future__ import annotations

from typing import TextIO

import msgspec

from iocast.model.report import Cell, Chart, Kind, Report, Row, Table

SCHEMA = 1

UNITS: dict[Kind, str] = {
    "bytes": "_bytes",
    "bytes_per_s": "_bytes_per_s",
    "rate": "_per_s",
    "duration": "_ns",
    "strip": "_shares",
    "share": "_share",
}

Json = dict[str, object]


def render(report: Report, out: TextIO, *, colour: bool = False, width: int = 0) -> None:
    """Writes one JSON object. `colour` and `width` mean nothing here; not-a-number and blank become null."""
    document: Json = {
        "schema": SCHEMA,
        "title": report.title,
        "verdict": report.verdict,
        "rows": [],
        "trust": [],
        "findings": [],
    }
    if report.answer:
        document["answer"] = report.answer
    notes: list[str] = []
    for section in report.sections:
        for table in section.tables:
            document[table.key or section.title] = _rows(table)
            notes += table.notes
        if section.paragraphs:
            document[_key(section.title)] = list(section.paragraphs)
    document |= {"notes": notes, "next_steps": list(report.next_steps)}
    document["letters"] = {badge.key: badge.letter for badge in report.badges}
    if report.charts:
        document["charts"] = {chart.key: _chart(chart) for chart in report.charts}
    out.write(msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n")


def _chart(chart: Chart) -> Json:
    """What a chart tells, for those who draw it themselves."""
    found: Json = {"kind": chart.kind, "title": chart.title, "summary": chart.summary}
    return found | {table.key: _rows(table) for table in chart.tables}


def _rows(table: Table) -> list[Json]:
    """The rows of a table; a part row is to be trusted as the row that it is part of."""
    graded = [column.key for column in table.columns if column.kind == "grade"]
    found: list[Json] = []
    for row in table.rows:
        whole = {key: found[-1].get(key) for key in graded} if row.part and found else {}
        found.append({**_row(table, row), **whole})
    return found


def _row(table: Table, row: Row) -> Json:
    """All cells of a row, those that no column shows as well."""
    kinds = {column.key: column.kind for column in table.columns}
    found: Json = {}
    for key, cell in row.cells.items():
        found |= _cell(key, kinds.get(key, "text"), cell)
    if row.void:
        found["void"] = row.note
    return found


def _cell(key: str, kind: Kind, cell: Cell) -> Json:
    if kind == "load" and isinstance(cell, tuple):
        return {"users": cell[0], "depth": cell[1]}
    return {key + UNITS.get(kind, ""): cell}


def _key(title: str) -> str:
    return title.lower().replace(" ", "_")
