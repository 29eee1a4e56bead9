"""watch asm: rates of two looks, group means that are weighted, names and numbers of disks."""

from __future__ import annotations

import pytest
from makers.command_line import compare
from makers.oracle_spools import FIRST_S, intervals_of, look

from iocast.model.live.moment import Interval
from iocast.report.live.database_modes import asm_lines

Rows = tuple[tuple[object, ...], ...]
NAMES: dict[str, Rows] = {
    "asm_disk_stat": (
        (1, 1, 0, "DATA_0000", "SHELF1", 1000, 500),
        (1, 1, 1, "DATA_0001", "SHELF2", 1000, 500),
    ),
    "asm_diskgroup_stat": ((1, 1, "DATA", 2000, 1000),),
}


def _disk(group: int, disk: int, reads: int, read_s: float, writes: int = 0, write_s: float = 0) -> tuple[object, ...]:
    """Reads of 8 kB, writes of 64 kB."""
    return (1, "orcl1", "ORCL", group, disk, reads, writes, read_s, write_s, 8192 * reads, 65536 * writes, 0, 0)


def _interval(before: Rows, after: Rows, names: dict[str, Rows] | None = None) -> Interval:
    """Ten seconds."""
    (found,) = intervals_of(
        look(FIRST_S, rows={"asm_disk_iostat": before, **(names or {})}),
        look(FIRST_S + 10, rows={"asm_disk_iostat": after, **(names or {})}),
    )
    return found


BEFORE = (_disk(1, 0, 1000, 10.0, 5, 0.1), _disk(1, 1, 500, 1.0, 5, 0.1), _disk(2, 0, 7, 0.1))
AFTER = (_disk(1, 0, 1900, 10.9, 25, 0.2), _disk(1, 1, 600, 2.1, 5, 0.1), _disk(2, 0, 7, 0.1))


def _row(interval: Interval, group: str, disk: str | None) -> dict[str, object]:
    found = asm_lines.table(interval)
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    (row,) = [row for row in rows if (row["DG"], row["DSK"]) == (group, disk)]
    return row


def test_two_fixed_looks_print_as_their_golden_file() -> None:
    compare("watch_asm.txt", "\n".join((*asm_lines.lines(_interval(BEFORE, AFTER, NAMES)), "")))


def test_the_mean_of_a_group_is_of_its_ios() -> None:
    """source-systems.md C13: sum(time)/sum(ops), not the mean of means: 2.0 s of 1000 reads, not (1 + 11) / 2 ms."""
    interval = _interval(BEFORE, AFTER, NAMES)
    assert _row(interval, "DATA", "DATA_0000")["ms/Read"] == pytest.approx(1.0)
    assert _row(interval, "DATA", "DATA_0001")["ms/Read"] == pytest.approx(11.0)
    whole = _row(interval, "DATA", None)
    assert (whole["ms/Read"], whole["Reads/s"]) == (pytest.approx(2.0), 100)
    assert (whole["KbyRead/s"], whole["By/Read"]) == (800, 8192)
    assert (whole["Writes/s"], whole["ms/Write"], whole["By/Write"]) == (2, pytest.approx(5.0), 65536)


def test_without_names_there_are_numbers_and_without_io_no_mean() -> None:
    row = _row(_interval(BEFORE, AFTER), "2", "0")
    assert (row["FG"], row["Reads/s"], row["ms/Read"], row["By/Read"]) == (None, 0, None, None)


def test_a_disk_whose_times_are_not_taken_leaves_the_mean_of_its_group_unknown() -> None:
    before, after = ((_disk(1, 0, n, n / 1000), _disk(1, 1, n, 0)) for n in (10, 20))
    row = _row(_interval(before, after), "1", None)
    assert (row["Reads/s"], row["ms/Read"]) == (2, None)


def test_a_disk_that_is_new_counts_from_nought() -> None:
    row = _row(_interval(BEFORE[:1], AFTER[:2]), "1", "1")
    assert row["Reads/s"] == 60


def test_a_disk_whose_number_no_counter_has_is_a_row_too() -> None:
    """Python makes no number of more than 4,300 digits."""
    before, after = (((*_disk(1, 0, reads, 1.0)[:4], "9" * 4_400, *_disk(1, 0, reads, 1.0)[5:]),) for reads in (0, 100))
    assert _row(_interval(before, after), "1", "9" * 4_400)["Reads/s"] == 10
