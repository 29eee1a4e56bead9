"""Renders a report as JSON: a document of a published schema (docs/reference/report.schema.json), raw values, each
with its unit in the name of its key.
"""

from __future__ import annotations

from typing import Any, TextIO

import msgspec
from msgspec.structs import asdict

from iocast.model.report import Chart, Report, Subject
from iocast.report.renderers import documents as doc
from iocast.text import harmless_json, iso

Json = dict[str, object]


def render(report: Report, out: TextIO, *, colour: bool = False, width: int = 0) -> None:
    """Writes one JSON object. `colour` and `width` mean nothing here; not-a-number and blank become null."""
    text = msgspec.json.encode(document(report))
    out.write(harmless_json(msgspec.json.format(text, indent=2).decode()) + "\n")


def document(report: Report) -> Any:
    """The report as a document of the schema: its head, the runs that it speaks of, and its result."""
    kind = doc.DOCUMENTS[report.kind]
    record: Json = {"kind": report.kind, **_head(report), **_result(report)}
    if "job" in kind.__struct_fields__:
        record |= _only_subject(report)
    if "subjects" in kind.__struct_fields__:
        record["subjects"] = [_subject(each) for each in report.subjects]
    if "letters" in kind.__struct_fields__:
        record["letters"] = {badge.code: badge.letter or None for badge in report.badges}
    return msgspec.convert(record, kind)


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
    record: Json = {} if report.result is None else msgspec.to_builtins(report.result)
    return record


def _chart(chart: Chart) -> Json:
    """What a chart tells, for those who draw it themselves."""
    tables = {name: [msgspec.to_builtins(each) for each in points] for name, points in chart.point_lists.items()}
    return {"kind": chart.kind, "title": chart.title, "summary": chart.summary, "tables": tables}
