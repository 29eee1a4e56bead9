"""watch filestat: centiseconds, the worst file first, and means of the interval."""

from __future__ import annotations

import pytest
from makers.command_line import compare
from makers.oracle_spools import FIRST_S, intervals_of, look

from iocast.model.live.moment import Interval
from iocast.report.live.database_modes import filestat_lines

Row = tuple[object, ...]


def _file(number: int, reads: int, read_cs: int, longest_cs: int, writes: int = 0, longest_write_cs: int = 0) -> Row:
    return (1, number, reads, writes, read_cs, writes, longest_cs, longest_write_cs)


def _interval() -> Interval:
    """In ten seconds file 4 reads 100 times, 2 cs each; 7 has the longest read, the other the longest write."""
    before = {
        "filestat": (_file(4, 1000, 500, 12), _file(7, 10, 90, 60)),
        "tempstat": (_file(1, 0, 0, 0, 50, 40),),
    }
    after = {
        "filestat": (_file(4, 1100, 700, 12), _file(7, 10, 90, 60)),
        "tempstat": (_file(1, 0, 0, 0, 70, 40),),
    }
    (found,) = intervals_of(look(FIRST_S, rows=before), look(FIRST_S + 10, rows=after))
    return found


def test_two_looks_print_as_their_golden_file() -> None:
    compare("watch_filestat.txt", "\n".join((*filestat_lines.lines(_interval()), "")))


def test_centiseconds_become_ms_and_the_worst_is_first() -> None:
    """source-systems.md A8: 12 is 120 ms; their own order had the worst last."""
    found = filestat_lines.table(_interval())
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    assert [(row["FILES"], row["FILE#"], row["Max ms/Read"]) for row in rows] == [
        ("data", "7", 600),
        ("data", "4", 120),
        ("temporary", "1", 0),
    ]
    assert (rows[1]["Reads/s"], rows[1]["ms/Read"]) == (10, pytest.approx(20.0))
    assert rows[0]["ms/Read"] is None, "no read in the interval, no mean"
    assert (rows[2]["Max ms/Write"], rows[2]["ms/Write"]) == (400, pytest.approx(10.0))


def test_without_samples_it_says_so() -> None:
    (interval,) = intervals_of(look(FIRST_S), look(FIRST_S + 10))
    assert list(filestat_lines.lines(interval)) == ["(no sample of Oracle's files in this interval)"]
