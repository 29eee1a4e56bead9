"""The table of a result: columns are the fields that say how they are shown, cells the values of the records."""

from __future__ import annotations

import csv
import io
from typing import Annotated

from msgspec import Struct

from iocast.model.report import Chart, Column, Report, Section
from iocast.model.results.shown import Number, shown, shown_below
from iocast.report.renderers import csv_table
from iocast.report.result_tables import chart_table, result_table, tip


class Line(Struct, frozen=True, kw_only=True):
    phase: Annotated[str, shown("row", once=True)]
    level_per_s: Annotated[Number | None, shown("level", "rate", column="level")] = None
    level_ns: Annotated[Number | None, shown("level", "duration", column="level")] = None
    ratio: Annotated[Number | None, shown("ratio", interval=("low", "high"), explain="over the first")] = None
    low: Number | None = None
    high: Number | None = None
    kept: Annotated[tuple[Number | None, ...], shown("kept", "relative")] = ()
    runs: Annotated[int, shown("runs", "count", spare=1)] = 3
    why_not: Annotated[str | None, shown_below()] = None


LINES = (
    Line(phase="read", level_per_s=19_500.0, ratio=1.134, low=1.04, high=1.23, kept=(0.97, None)),
    Line(phase="read", level_ns=43_000, ratio=0.5),
    Line(phase="=write", why_not="other sizes"),
)


def test_columns_are_the_shown_fields_in_their_order() -> None:
    table = result_table(Line, LINES, key="lines", headings={"level": "here", "kept": ("a", "b")}, leave=("runs",))
    assert table.columns == (
        Column("phase", "row"),
        Column("level", "here"),
        Column("ratio", "ratio", explain="over the first"),
        Column("kept1", "a", "relative"),
        Column("kept2", "b", "relative"),
    )


def test_alternatives_have_their_unit_and_ratios_their_interval() -> None:
    first, second, third = result_table(Line, LINES, key="lines").rows
    assert (first.cells["level"], second.cells["level"]) == ("19.5k IOPS", "43.0 µs")
    assert (first.cells["ratio"], second.cells["ratio"]) == ("1.13 (1.04..1.23)", "0.50")
    assert (first.cells["kept1"], first.cells["kept2"]) == (0.97, None)
    assert third.cells.get("level") is None
    assert third.cells["ratio"] == ""


def test_a_part_repeats_nothing_and_a_reason_stands_below() -> None:
    rows = result_table(Line, LINES, key="lines").rows
    assert [(row.part, row.cells["phase"], row.note) for row in rows] == [
        (False, "read", ""),
        (True, "", ""),
        (False, "=write", "other sizes"),
    ]


def test_words_of_the_report_stand_for_a_column() -> None:
    table = result_table(Line, LINES, key="lines", words={"runs": lambda line: f"{line.runs} of 5"})
    assert {row.cells["runs"] for row in table.rows} == {"3 of 5"}


def test_words_of_no_field_are_the_last_column_or_stand_below() -> None:
    words = {"means": lambda line: f"at {line.phase}", "": lambda line: "" if line.ratio else "no ratio"}
    table = result_table(Line, LINES, key="lines", headings={"means": "what it is"}, words=words)
    assert table.columns[-1] == Column("means", "what it is")
    assert [row.cells["means"] for row in table.rows] == ["at read", "at read", "at =write"]
    assert [row.note for row in table.rows] == ["", "", "other sizes no ratio"]


def test_a_pair_is_one_cell() -> None:
    class Loaded(Struct, frozen=True, kw_only=True):
        users: Annotated[int | None, shown("load", "load", pair="depth")] = None
        depth: int | None = None

    table = result_table(Loaded, (Loaded(users=4, depth=16), Loaded()), key="loads")
    assert table.columns == (Column("users", "load", "load"),)
    assert [row.cells["users"] for row in table.rows] == [(4, 16), None]


def test_what_is_keyed_has_a_column_a_value_and_fields_are_left_out_with_all_columns() -> None:
    class Cell(Struct, frozen=True, kw_only=True):
        values: Annotated[dict[str, str], shown("axes")]
        moved_bytes_per_s: Annotated[Number | None, shown("moved", "bytes_per_s", column="moved")] = None
        kept: Annotated[tuple[Number | None, ...], shown("kept", "relative")] = ()

    cells = (Cell(values={"data": "cached", "op": "read"}, moved_bytes_per_s=5e8, kept=(1.0, 0.5)),)
    headings = {"values": ("data", "op"), "kept": ("a", "b")}
    table = result_table(Cell, cells, key="cells", headings=headings, leave=("values1", "kept"))
    assert table.columns == (Column("values2", "op"), Column("moved", "moved"))
    assert (table.rows[0].cells["values2"], table.rows[0].cells["moved"]) == ("read", "500 MB/s")
    out = io.StringIO()
    csv_table.render(Report("", "", (Section("results", "", tables=(table,)),)), out)
    assert out.getvalue().splitlines()[1] == "cached read,500000000,1 0.5"


def test_parts_are_struck_out_with_their_row_and_the_sum_of_several_is_not() -> None:
    class Measured(Struct, frozen=True, kw_only=True):
        phase: str
        test: Annotated[str, shown("row")]
        part: bool = False
        void: str | None = None

    records = (
        Measured(phase="a 8k", test="a", void="served by a cache"),
        Measured(phase="a 8k", test="read", part=True),
        Measured(phase="a 8k + b 8k", test="combined", part=True),
    )
    rows = result_table(Measured, records, key="rows").rows
    assert [(row.void, row.note) for row in rows] == [(True, "served by a cache"), (True, ""), (False, "")]


def test_csv_has_every_field_by_its_name_and_no_formula() -> None:
    out = io.StringIO()
    table = result_table(Line, LINES, key="rows")
    csv_table.render(Report("", "", (Section("results", "", tables=(table,)),)), out)
    head, first, second, third = csv.reader(io.StringIO(out.getvalue()))
    assert tuple(head) == Line.__struct_fields__
    assert first == ["read", "19500", "", "1.134", "1.04", "1.23", "0.97 ", "3", ""]
    assert second[:4] == ["read", "", "43000", "0.5"]
    assert third[0] == "'=write"


class Curve(Chart, frozen=True, kw_only=True):
    kind: str = "curve"
    points: tuple[Line, ...]
    others: tuple[Line, ...] = ()


def curve_of(*points: Line) -> Curve:
    return Curve(key="k", title="t", summary="s", points=points, leave=("runs",))


def test_the_table_of_a_chart_is_its_first_list_of_points_without_what_it_leaves() -> None:
    table = chart_table(curve_of(LINES[0]))
    assert (table.key, [row.record for row in table.rows]) == ("points", [LINES[0]])
    assert "runs" not in [column.key for column in table.columns]
    assert chart_table(curve_of()).rows == (), "nothing is foretold at all: a picture, and no figure"


def test_a_tip_says_what_is_shown_and_known() -> None:
    class Load(Struct, frozen=True):
        users: Annotated[int, shown("load", "load", pair="depth")]
        depth: int
        p50_ns: Annotated[float | None, shown("p50", "duration")]
        p99_ns: Annotated[float | None, shown("in\ntwo lines", "duration")]
        note: Annotated[str, shown_below()]

    load = Load(4, 16, None, 9_000_000.0, "too few")
    assert tip(load, "users") == "4x16: in two lines 9.00ms"
    assert tip(load, leave=("p99_ns",)) == "load 4x16"
