"""Tables laid out for a width: what goes first, what wraps, and that nothing else does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iocast.model.report import Cell, Column, Row, Table
from iocast.report.renderers.grid import lay_out, wrap


def _show(_: Column, cell: Cell) -> str:
    return "" if cell is None else ", ".join(cell) if isinstance(cell, tuple) else str(cell)  # type: ignore[arg-type]


def _table(*columns: Column, **cells: Cell) -> Table:
    return Table("", columns, (Row(cells),))


FOUR = _table(
    Column("a", "a"),
    Column("b", "b", "count", spare=2),
    Column("c", "c", "count", spare=9),
    Column("d", "d", "grade"),
    a="randread",
    b="1234",
    c="5678",
    d="B",
)


def test_everything_stays_where_there_is_room() -> None:
    grid = lay_out(FOUR, _show, 23)
    assert [column.key for column in grid.columns] == ["a", "b", "c", "d"]
    assert grid.rows[0].lines == (("randread", "1234", "5678", "B"),)


def test_what_is_still_too_wide_wraps_titles_then_words_and_no_name_of_a_row() -> None:
    table = _table(
        Column("a", "run"),
        Column("b", "slower than the first part", "count"),
        Column("c", "target"),
        Column("d", "status"),
        a="2026-11-23T023621-survey",
        b="233%",
        c="sim:sata-ssd,serialised=writes,cache=1GiB",
        d="done",
    )
    grid = lay_out(table, _show, 60)
    lines = ["  ".join(line) for line in (*grid.header, *grid.rows[0].lines)]
    assert max(map(len, lines)) <= 60
    assert "2026-11-23T023621-survey" in lines[len(grid.header)]
    assert "".join(line[2].strip() for line in grid.rows[0].lines) == "sim:sata-ssd,serialised=writes,cache=1GiB"
    assert " ".join(line[1].strip() for line in grid.header).split() == ["slower", "than", "the", "first", "part"]


def test_the_most_spare_column_goes_first() -> None:
    assert [column.key for column in lay_out(FOUR, _show, 22).columns] == ["a", "b", "d"]
    assert [column.key for column in lay_out(FOUR, _show, 16).columns] == ["a", "d"]


def test_what_was_left_out_is_known() -> None:
    assert lay_out(FOUR, _show, 23).excluded == ()
    assert [column.key for column in lay_out(FOUR, _show, 16).excluded] == ["b", "c"]


def test_columns_that_must_stay_do_so_on_the_narrowest_page() -> None:
    assert [column.key for column in lay_out(FOUR, _show, 3).columns] == ["a", "d"]


def test_sentences_wrap_in_the_last_column() -> None:
    table = _table(Column("a", "a"), Column("b", "why"), a="x", b="one two three " * 8)
    grid = lay_out(table, _show, 40)
    assert len(grid.rows[0].lines) > 1
    assert all(sum(map(len, line)) + 2 <= 40 for line in grid.rows[0].lines)
    assert [line[0].strip() for line in grid.rows[0].lines] == ["x"] + [""] * (len(grid.rows[0].lines) - 1)


def test_titles_of_two_lines_stand_at_the_bottom() -> None:
    table = _table(Column("a", "a"), Column("b", "device\nsize", "count"), a="x", b="8k")
    assert lay_out(table, _show, 40).header == ((" ", "device"), ("a", "  size"))


def test_a_part_row_is_indented() -> None:
    table = Table("", (Column("a", "a"),), (Row({"a": "x"}), Row({"a": "y"}, part=True)))
    assert [row.lines[0][0] for row in lay_out(table, _show, 40).rows] == ["x  ", "  y"]


def test_a_figure_is_never_parted_from_its_unit() -> None:
    assert wrap("it took 240 µs to come back", 12) == ["it took", "240 µs to", "come back"]


@given(st.text(alphabet="ab ", max_size=200), st.integers(20, 60))
def test_wrapping_loses_no_word(paragraph: str, width: int) -> None:
    assert " ".join(wrap(paragraph, width)).split() == paragraph.split()


@given(st.lists(st.text(alphabet="xyz", max_size=12), min_size=1, max_size=6), st.integers(30, 80))
def test_every_line_of_a_table_is_equally_wide(cells: list[str], width: int) -> None:
    columns = tuple(Column(str(index), "t", "count", spare=index) for index in range(len(cells)))
    rows = (Row({str(index): cell for index, cell in enumerate(cells)}), Row({}))
    grid = lay_out(Table("", columns, rows), _show, width)
    widths = {tuple(map(len, line)) for row in grid.rows for line in row.lines}
    assert len(widths) == 1


@pytest.mark.parametrize("width", [20, 40, 60])
@pytest.mark.parametrize(
    ("words", "command"),
    [
        ("It is kept (64.0 MiB). To remove it: iocast clean /mnt/db", "iocast clean /mnt/db"),
        ("To remove it: iocast clean '/mnt/my data. x/db'", "iocast clean '/mnt/my data. x/db'"),
        ("To see one: iocast show RUN --in r. To compare: iocast compare RUN RUN.", "iocast show RUN --in r."),
        ("Give space, or `cp --sparse=never a b` of it", "`cp --sparse=never a b`"),
    ],
)
def test_a_command_stays_on_one_line(width: int, words: str, command: str) -> None:
    """Half of `iocast clean PATH`, pasted, would clean the current directory."""
    lines = wrap(words, width)
    assert [line for line in lines if command in line]
    assert " ".join(lines) == words
