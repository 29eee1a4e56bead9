"""Table: the figures of one interval by column, as JSON and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from iocast.text import harmless_json, harmless_line, no_formula

Cell = str | float | int | None


class Table(Struct, frozen=True):
    """Rows of one interval under named columns; None is unknown, and blank wherever it is printed."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


def json_lines(table: Table, ended_unix_ns: int) -> Iterator[str]:
    """One object a row, with the time at which the interval ended; unknown figures are left out."""
    for row in table.rows:
        known = {name: cell for name, cell in zip(table.columns, row, strict=True) if cell is not None}
        yield harmless_json(msgspec.json.encode({"time_ns": ended_unix_ns, **known}).decode())


def csv_lines(table: Table, ended_unix_ns: int, head: bool) -> Iterator[str]:
    """The rows, after the names of the columns where they are the first."""
    if head:
        yield _csv(("time_ns", *table.columns))
    for row in table.rows:
        yield _csv((ended_unix_ns, *("" if cell is None else cell for cell in row)))


def _csv(cells: tuple[Cell, ...]) -> str:
    out = io.StringIO()
    words = (no_formula(harmless_line(cell)) if isinstance(cell, str) else cell for cell in cells)
    csv.writer(out, lineterminator="").writerow(words)
    return out.getvalue()
