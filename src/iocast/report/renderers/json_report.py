"""Renders a report as JSON: a document of a published schema (docs/reference/report.schema.json), raw values, each
with its unit in the name of its key.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TextIO

import msgspec
from msgspec.structs import asdict, replace

from iocast.model.codes import FindingCode
from iocast.model.finding import Finding
from iocast.model.report import Cell, Chart, Kind, Report, Row, Subject, Table
from iocast.model.results.calibration import CalibrationResult
from iocast.report.database.database_documents import DATABASE_TABLES
from iocast.report.layers.layer_documents import LAYER_TABLES
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

# The tables of a card by their keys, and what their rows are.
TABLES: dict[str, type[msgspec.Struct]] = {
    "rows": doc.MeasuredRow,
    "data_points": doc.DataPointRow,
    "trust": doc.TrustReason,
    "grades": doc.GradeRow,
    "bounds": doc.BoundRow,
    "layers": doc.LayerRow,
    "whereabouts": doc.TimeRow,
    "devices": doc.DeviceRow,
    "tested": doc.TestedRow,
    "blocks": doc.BlockRow,
    "places": doc.PlaceRow,
    "errors": doc.ErrorRow,
    "slowest": doc.SlowRow,
    **DATABASE_TABLES,
    **LAYER_TABLES,
}

Json = dict[str, object]


def render(report: Report, out: TextIO, *, colour: bool = False, width: int = 0) -> None:
    """Writes one JSON object. `colour` and `width` mean nothing here; not-a-number and blank become null."""
    text = msgspec.json.encode(document(report))
    out.write(harmless_json(msgspec.json.format(text, indent=2).decode()) + "\n")


def document(report: Report) -> doc.Document:
    """The report as a document of the schema."""
    found: Json = {"kind": report.kind, **_head(report)}
    match report.kind:
        case "listing" | "trend" | "size" | "copy" | "study" | "tape" | "profile":
            found |= _result(report)
        case "repeats" | "comparison":
            found |= {"subjects": _subjects(report), **_result(report)}
        case "model":
            found["tables"] = [_law_table(table) for section in report.sections for table in section.tables]
        case "forecast":
            found |= {**_only_subject(report), **_result(report)}
        case "experiment":
            found |= {**_only_subject(report), "subjects": _subjects(report), **_experiment(report)}
        case "calibration":
            found |= {**_only_subject(report), **_result(report)}
            found["letters"] = {badge.code: badge.letter or None for badge in report.badges}
        case "verification":
            found |= {**_only_subject(report), **_of_a_card(report, ("blocks", "places"))}
        case _:
            found |= {**_only_subject(report), **_of_a_card(report, TABLES), **_experiment(report)}
            found |= _recorded(report, CalibrationResult)
            found["letters"] = {badge.code: badge.letter or None for badge in report.badges}
            found["findings"] = list(_findings(report.findings, report.untestable))
            found["failed_detectors"] = [asdict(each) for each in report.failed]
    made: doc.Document = msgspec.convert(found, doc.Document)
    return made


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


def _subjects(report: Report) -> list[Json]:
    return [_subject(each) for each in report.subjects]


def _subject(about: Subject) -> Json:
    known = {key: value if value not in ("", 0) else None for key, value in asdict(about).items() if key != "seed"}
    known |= {"job": about.job, "target": about.target, "seed": about.seed}
    return {**known, "started": iso(about.started_unix_ns)}


def _tables(report: Report, key: str) -> Iterator[Table]:
    return (table for section in report.sections for table in section.tables if table.key == key)


def _of_a_card(report: Report, keys: Iterable[str]) -> Json:
    return {key: [row for table in _tables(report, key) for row in _records(table, TABLES[key])] for key in keys}


def _records(table: Table, kind: type[msgspec.Struct]) -> Iterator[Json]:
    """The rows of a table as its document has them: their records, where they were made of any."""
    for row, cells in zip(table.rows, _rows(table), strict=True):
        yield msgspec.to_builtins(row.record) if row.record is not None else _fields(cells, kind)


def _recorded(report: Report, kind: type[msgspec.Struct]) -> Json:
    """The records of the tables of a result that heads a card."""
    found = {
        name: [row.record for each in _tables(report, name) for row in each.rows] for name in kind.__struct_fields__
    }
    known: Json = msgspec.to_builtins(found)
    return known


def _fields(row: Json, kind: type[msgspec.Struct]) -> Json:
    """What of a row is for programs: labels, and cells that are text for people, are left out."""
    found = {name: _field(row, name) for name in kind.__struct_fields__}
    return {name: value for name, value in found.items() if value not in (None, "")}


def _field(row: Json, name: str) -> object:
    """The cell of a field; a column that is not shown has not said the unit of its cells."""
    return row.get(name, row.get(bare(name)))


def bare(name: str) -> str:
    """The name of a field without its unit: the key of the cell."""
    # The longest first: "bytes_per_s" ends in "per_s", too.
    units = sorted(UNITS.values(), key=len, reverse=True)
    return next((name.removesuffix(unit) for unit in units if name.endswith(unit)), name)


def _experiment(report: Report) -> Json:
    rows = [row for table in _tables(report, "experiment") for row in _rows(table)]
    return {"answer": report.answer, "experiment": rows}


def _findings(findings: Iterable[Finding], untestable: frozenset[FindingCode]) -> Iterator[Json]:
    """Each finding once, with all the phases in which it is the same to the figure."""
    groups: list[tuple[Finding, list[str]]] = []
    for each in findings:
        alike = replace(each, phase="")
        phases = next((phases for found, phases in groups if found == alike), None)
        if phases is None:
            groups.append((alike, phases := []))
        phases += [each.phase] if each.phase else []
    for found, phases in groups:
        told = {key: value for key, value in asdict(found).items() if key in doc.FoundDocument.__struct_fields__}
        blank = {key for key, value in told.items() if value == ""}
        yield {
            **{key: value for key, value in told.items() if key not in blank},
            "phases": phases,
            "testable": found.state == "suggested" and found.code not in untestable,
            "evidence": {name: _known(value) for name, value in found.evidence.items()},
            "spans": [asdict(span) for span in found.spans],
        }


def _law_table(table: Table) -> Json:
    """A table of a law, with what no column shows as well."""
    return {"key": table.key, "title": table.title, "cells": _rows(table), "notes": list(table.notes)}


def _result(report: Report) -> Json:
    """The result that a report tells of is its document."""
    found: Json = msgspec.to_builtins(report.result)
    return found


def _chart(chart: Chart) -> Json:
    """What a chart tells, for those who draw it themselves."""
    tables = {table.key: _rows(table) for table in chart.tables}
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
