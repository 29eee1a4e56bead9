"""Renders the results of a report as CSV: one line a row, raw values, the unit in the name of each column."""

from __future__ import annotations

import csv
import math
from typing import TextIO

from msgspec import Struct

from iocast.model.report import LATENCY_EDGES_NS, WORDS, Kind, Report
from iocast.report.renderers.safe_words import safe
from iocast.report.result_tables import shown_fields
from iocast.text import no_formula

# What was measured; what iostat, sar, dstat or collectl saw of each device; the hosts of a fleet.
TABLES = ("rows", "devices", "hosts")
STRIP = [*(f"share_up_to_{edge}_ns" for edge in LATENCY_EDGES_NS), "share_above"]
CURVE = "curve"  # of a calibration, which has no table of rows


def render(report: Report, out: TextIO, *, colour: bool = False, width: int = 0) -> None:
    """Writes the table of rows, of devices, or of hosts (and no other); of a calibration its curve; of a report without
    them, such as a list of runs or a comparison, its first table. `colour` and `width` mean nothing here."""
    report = safe(report)
    tables = [table for section in report.sections for table in section.tables if table.rows]
    curve = [table for table in tables if table.key == CURVE]
    for table in [table for table in tables if table.key in TABLES] or curve or tables[:1]:
        _write([row.record for row in table.rows if row.record is not None], out)


def _write(records: list[Struct], out: TextIO) -> None:
    """The fields of a result, by the names that they have in JSON; a histogram has a column for each share, figures
    that are keyed one for each key."""
    kinds = {name: how.kind for name, how in shown_fields(type(records[0])).items()}
    fields = [(name, kinds.get(name, "text")) for name in records[0].__struct_fields__]
    keys = {name: _keys(records, name) for name, kind in fields if kind not in WORDS}
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([each for name, kind in fields for each in _heads(kind, name, keys.get(name, []))])
    for record in records:
        cells = [each for name, kind in fields for each in _fields(kind, getattr(record, name), keys.get(name, []))]
        writer.writerow([no_formula(each) for each in cells])


def _keys(records: list[Struct], name: str) -> list[str]:
    values = [getattr(record, name) for record in records]
    return list(dict.fromkeys(key for value in values if isinstance(value, dict) for key in value))


def _heads(kind: Kind, name: str, keys: list[str]) -> list[str]:
    return STRIP if kind == "strip" else [f"{name}.{key}" for key in keys] or [name]


def _fields(kind: Kind, value: object, keys: list[str]) -> list[str]:
    if keys:
        return [_field(value.get(key) if isinstance(value, dict) else None) for key in keys]
    if kind == "strip":
        return [_field(each) for each in value] if isinstance(value, tuple) else [""] * len(STRIP)
    if kind == "duration" and isinstance(value, tuple):  # two edges between which it lies
        return ["..".join(map(_field, value))]
    return [_field(value)]


def _field(value: object) -> str:
    if isinstance(value, tuple | dict):
        return " ".join(map(_field, value.values() if isinstance(value, dict) else value))
    if value is None:
        return ""
    return _number(value) if isinstance(value, int | float) else str(value)


def _number(value: float) -> str:
    if math.isnan(value):
        return ""
    return str(int(value)) if float(value).is_integer() else repr(value)
