"""Renders the results of a report as CSV: one line a row, raw values, the unit in the name of each column."""

from __future__ import annotations

import csv
import math
from typing import TextIO

from msgspec import Struct

from iocast.model.report import LATENCY_EDGES_NS, WORDS, Cell, Kind, Report, Table
from iocast.report.renderers.json_report import UNITS
from iocast.report.renderers.safe_words import safe
from iocast.report.result_tables import shown_fields
from iocast.text import no_formula

TABLES = ("rows", "devices")  # what was measured; what iostat, sar, dstat or collectl saw of each device
STRIP = [*(f"share_up_to_{edge}_ns" for edge in LATENCY_EDGES_NS), "share_above"]
CURVE = "curve"  # of a calibration, which has no table of rows


def render(report: Report, out: TextIO, *, colour: bool = False, width: int = 0) -> None:
    """Writes the table of rows, or of devices (and no other); of a calibration its curve; of a report without them,
    such as a list of runs or a comparison, its first table. `colour` and `width` mean nothing here."""
    report = safe(report)
    tables = [table for section in report.sections for table in section.tables if table.rows]
    curve = [table for table in tables if table.key == CURVE]
    for table in [table for table in tables if table.key in TABLES] or curve or tables[:1]:
        records = [row.record for row in table.rows if row.record is not None]
        if records:
            _write_records(records, out)
        else:
            _write(table, out)


def _write_records(records: list[Struct], out: TextIO) -> None:
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


def _write(table: Table, out: TextIO) -> None:
    first = [key for key in ("phase", "op", "test") if any(key in row.cells for row in table.rows)]
    kinds: dict[str, Kind] = dict.fromkeys(first, "text")
    kinds |= {each.key: each.kind for each in table.columns if each.key != "name"}  # as phase and test say it
    for row in table.rows:
        for key in (each for each in row.cells if each != "name"):
            kinds.setdefault(key, "text")
    names = [name for key, kind in kinds.items() for name in _names(key, kind)]
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*names, "part", "void"])
    for row in table.rows:
        cells = [value for key, kind in kinds.items() for value in _values(kind, row.cells.get(key))]
        writer.writerow([*map(no_formula, cells), int(row.part), no_formula(row.note) if row.void else ""])


def _names(key: str, kind: Kind) -> list[str]:
    if kind == "load":
        return ["users", "depth"]
    if kind == "strip":
        return STRIP
    return [key + UNITS.get(kind, "")]


def _values(kind: Kind, cell: Cell) -> list[str]:
    count = {"load": 2, "strip": len(LATENCY_EDGES_NS) + 1}.get(kind, 1)
    if cell is None:
        return [""] * count
    if kind == "duration" and isinstance(cell, tuple):  # two edges between which it lies: one cell
        return ["..".join(_number(float(each)) for each in cell)]
    if isinstance(cell, tuple):
        return [_number(each) if isinstance(each, int | float) else str(each) for each in cell]
    return [_number(cell) if isinstance(cell, int | float) else cell]


def _number(value: float) -> str:
    if math.isnan(value):
        return ""
    return str(int(value)) if float(value).is_integer() else repr(value)
