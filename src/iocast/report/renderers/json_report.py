"""Renders a report as JSON: a document of a published schema (docs/reference/report.schema.json), raw values, each
with its unit in the name of its key.
"""

from __future__ import annotations

import math
from typing import Any, TextIO

import msgspec
from msgspec.structs import asdict

from iocast.model.report import Cell, Chart, Kind, Report, Row, Subject, Table
from iocast.report.renderers import documents as doc
from iocast.text import harmless_json, iso

UNITS: dict[Kind, str] = {
    "bytes": "_bytes",
    "bytes_per_s": "_bytes_per_s",
    "rate": "_per_s",
    "duration": "_ns",
    "milliseconds": "_ns",
    "strip": "_shares",
    "share": "_share",
    "exact_share": "_share",
}

Json = dict[str, object]


def render(report: Report, out: TextIO, *, colour: bool = False, width: int = 0) -> None:
    """Writes one JSON object. `colour` and `width` mean nothing here; not-a-number and blank become null."""
    text = msgspec.json.encode(document(report))
    out.write(harmless_json(msgspec.json.format(text, indent=2).decode()) + "\n")


def document(report: Report) -> Any:
    """The report as a document of the schema: its head, the runs that it speaks of, and its result."""
    kind = doc.DOCUMENTS[report.kind]
    found: Json = {"kind": report.kind, **_head(report), **_result(report)}
    if "job" in kind.__struct_fields__:
        found |= _only_subject(report)
    if "subjects" in kind.__struct_fields__:
        found["subjects"] = [_subject(each) for each in report.subjects]
    if "letters" in kind.__struct_fields__:
        found["letters"] = {badge.code: badge.letter or None for badge in report.badges}
    return msgspec.convert(found, kind)


def _head(report: Report) -> Json:
    text: dict[str, list[str]] = {}
    for section in report.sections:
        if section.paragraphs:
            text.setdefault(section.code, []).extend(section.paragraphs)
    return {
        "schema_version": doc.VERSION,
        "title": report.title,
        "verdict": report.verdict,
        "notes": [note for section in report.sections for table in section.tables for note in table.notes],
        "next_steps": list(report.next_steps),
        "text": text,
        "charts": {chart.key: _chart(chart) for chart in report.charts},
    }


def _only_subject(report: Report) -> Json:
    if not report.subjects:
        return {"job": "", "target": ""}
    return {key: value for key, value in _subject(report.subjects[0]).items() if key != "side"}


def _subject(about: Subject) -> Json:
    known = {key: value if value not in ("", 0) else None for key, value in asdict(about).items() if key != "seed"}
    known |= {"job": about.job, "target": about.target, "seed": about.seed}
    return {**known, "started": iso(about.started_unix_ns)}


def _result(report: Report) -> Json:
    """The result that a report tells of is its document."""
    found: Json = {} if report.result is None else msgspec.to_builtins(report.result)
    return found


def _chart(chart: Chart) -> Json:
    """What a chart tells, for those who draw it themselves."""
    tables: Json = {table.key: _rows(table) for table in chart.tables}
    tables |= {name: [msgspec.to_builtins(each) for each in points] for name, points in chart.points.items()}
    return {"kind": chart.kind, "title": chart.title, "summary": chart.summary, "tables": tables}


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
    if table.key == "rows":
        found["part"] = row.part
    if row.void:
        found["void"] = row.note
    return found


def _cell(key: str, kind: Kind, cell: Cell) -> Json:
    if kind == "load" and isinstance(cell, tuple):
        return {"users": cell[0], "depth": cell[1]}
    return {key + UNITS.get(kind, ""): _known(cell)}


def _known(cell: Cell) -> object:
    """What JSON can say: not-a-number and infinity are null."""
    if isinstance(cell, tuple):
        return [_known(each) for each in cell]
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell
