"""Tables of results: the columns are fields of a Struct that say how they are shown, the rows are its instances."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from msgspec import Meta, Struct
from msgspec.structs import replace

from iocast import text
from iocast.model.report import Cell, Chart, Column, Kind, Row, Table
from iocast.model.results.shown import Shown
from iocast.report.cells import cell_text

Headings = Mapping[str, str | Sequence[str]]
WHOLE: frozenset[Kind] = frozenset({"strip", "names", "duration"})  # of which several values are one cell
Words = Mapping[str, Callable[[Any], str | tuple[str, ...]]]


def result_table(
    kind: type[Struct],
    records: Sequence[Struct],
    *,
    key: str,
    title: str = "",
    headings: Headings | None = None,
    words: Words | None = None,
    notes: tuple[str, ...] = (),
    leave: tuple[str, ...] = (),
) -> Table:
    """The table of those records.

    `headings` names columns after what they hold here, such as a side: one name, or one for each value of a list.
    `words` says the cells of a column in words that the report has; of a column that is no field, which comes last
    under its heading; or, by the name "", what stands under a row. `leave` names columns, or fields with all their
    columns, that tell nothing here.
    A record whose field `part` is true says more of the row above it; one with a `void` is struck out, with its parts.
    """
    columns = [each for each in _columns(kind, headings or {}, words or {}, leave) if each.key not in leave]
    rows, before = list[Row](), None
    for record in records:
        cells = dict(_cells(record, words or {}))
        first = cells.get(columns[0].key)
        part = getattr(record, "part", _is_once(kind, columns[0].key) and before is not None and first == before)
        before = first
        if part:
            cells |= {name: "" for name, how in shown_fields(kind).items() if how.once}
        why = getattr(record, "void", None)
        void = bool(why) or (part and bool(rows) and rows[-1].void and _subject(rows[-1].record) == _subject(record))
        rows.append(Row(cells, why or _below(record, words or {}), void, part, record))
    return Table(title, tuple(columns), tuple(rows), key=key, notes=notes)


def chart_table(chart: Chart) -> Table:
    """The figures of a chart: its first points."""
    key, points = next(iter(chart.point_lists.items()))
    return result_table(type(points[0]), points, key=key, leave=chart.leave) if points else Table("", (), (), key=key)


def tip(point: Struct, first: str = "", leave: Sequence[str] = ()) -> str:
    """What a point says under the pointer, its `first` column in front: "4x16: p50 1.3ms, p99 9.0ms"."""
    said, head = [], ""
    for name, how in shown_fields(type(point)).items():
        value = getattr(point, name)
        shown = cell_text(how.kind, (value, getattr(point, how.pair)) if how.pair else value)
        if name == first:
            head = f"{shown}: " if shown else ""
        elif shown and not how.below and name not in leave:
            said.append(f"{' '.join(how.heading.split())} {shown}")
    return head + ", ".join(said)


def _subject(record: Struct | None) -> object:
    """What a record is about: its first field. The sum of several rows is about more than the row above it."""
    return getattr(record, record.__struct_fields__[0]) if record is not None else None


def filled(table: Table) -> Table:
    """The same without columns in which all cells are blank."""
    columns = (each for each in table.columns if any(row.cells.get(each.key) not in (None, "") for row in table.rows))
    return replace(table, columns=tuple(columns))


def with_rows(*tables: Table) -> tuple[Table, ...]:
    """Those that have any."""
    return tuple(table for table in tables if table.rows)


@cache
def shown_fields(kind: type[Struct]) -> dict[str, Shown]:
    """The fields that people are shown, in their order."""
    hints = get_type_hints(kind, include_extras=True)
    known = {name: _shown(hints[name]) for name in kind.__struct_fields__}
    return {name: how for name, how in known.items() if how is not None}


def _shown(hint: object) -> Shown | None:
    if get_origin(hint) is not Annotated:
        return None
    metas = (each.extra for each in get_args(hint)[1:] if isinstance(each, Meta) and each.extra)
    return next((extra["shown"] for extra in metas if "shown" in extra), None)


def _columns(kind: type[Struct], headings: Headings, said: Words, leave: tuple[str, ...]) -> Iterator[Column]:
    names = set[str]()
    for name, how in shown_fields(kind).items():
        key = how.column or name
        if how.below or key in names:
            continue
        names.add(key)
        if key in leave:
            continue
        called = headings.get(key, how.heading)
        worded = key in said and how.kind != "names"
        form: Kind = "text" if how.column or how.interval or worded else how.kind
        if isinstance(called, str):
            yield Column(key, called, form, how.explain, how.spare)
        else:
            for at, each in enumerate(called, 1):
                yield Column(f"{key}{at}", each, form, how.explain, how.spare)
    yield from (Column(key, str(headings[key])) for key in said if key and key not in names)


def _is_once(kind: type[Struct], name: str) -> bool:
    how = shown_fields(kind).get(name)
    return how is not None and how.once


def _cells(record: Struct, words: Words) -> Iterator[tuple[str, Cell]]:
    yield from ((key, said(record)) for key, said in words.items() if key)
    for name, how in shown_fields(type(record)).items():
        value = getattr(record, name)
        key = how.column or name
        if key in words:
            continue
        if how.interval is not None:
            low, high = (getattr(record, each) for each in how.interval)
            yield name, "" if value is None else text.ratio(value, low, high)
        elif how.column:
            if value is not None:
                yield how.column, _with_unit(how.kind, value)
        elif how.pair:
            yield name, None if value is None else (value, getattr(record, how.pair))
        elif isinstance(value, dict):
            yield from ((f"{name}{at}", each) for at, each in enumerate(value.values(), 1))
        elif isinstance(value, tuple) and how.kind not in WHOLE:
            yield from ((f"{name}{at}", each) for at, each in enumerate(value, 1))
        else:
            yield name, value


def _with_unit(kind: Kind, value: float) -> str:
    """A figure of a column that has several units."""
    if kind == "duration":
        return text.duration(value)
    unit = {"rate": " IOPS", "bytes_per_s": " MB/s"}.get(kind, "")
    return cell_text(kind, value) + unit


def _below(record: Struct, words: Words) -> str:
    notes = [getattr(record, name) for name, how in shown_fields(type(record)).items() if how.below]
    notes += [words[""](record)] if "" in words else []
    return " ".join(filter(None, notes))
