"""ORION's planner: which data points each -run and -matrix has (source-systems C8), and what is refused."""

from __future__ import annotations

import shlex

import pytest

from iocast.errors import SpecError
from iocast.tools.orion.command_line import as_job, from_job, parse
from iocast.tools.orion.data_points import columns, data_points


def points(line: str) -> list[tuple[int, int]]:
    return [(point.small, point.large) for point in data_points(parse(shlex.split(line)))]


@pytest.mark.parametrize(
    ("disks", "count"),
    # 8, 15, 43 (public outputs: 9, 16 and 44 minutes), 29 (a public summary).
    [(1, 8), (2, 15), (4, 29), (6, 43)],
)
def test_simple_has_seven_points_a_disk_and_the_origin(disks: int, count: int) -> None:
    assert len(points(f"-run simple -num_disks {disks}")) == count == 7 * disks + 1


ROW0 = [(small, 0) for small in range(6)]
COLUMN0 = [(0, 1), (0, 2)]
GRID = [(small, large) for large in range(3) for small in range(6)]


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("-run simple", ROW0 + COLUMN0),
        ("-run normal", GRID),  # 18: a public output says 19 minutes
        ("-run oltp", [(small, 0) for small in range(21)]),  # 21 in a public summary
        ("-run oltp -num_disks 4", [(small, 0) for small in range(0, 81, 4)]),
        ("-run dss", [(0, large) for large in range(16)]),
        ("-run advanced", ROW0 + COLUMN0),
        ("-run advanced -matrix basic", ROW0 + COLUMN0),
        ("-run advanced -matrix detailed", GRID),
        ("-run advanced -matrix point -num_small 3 -num_large 4", [(3, 4)]),
        ("-run advanced -matrix col -num_small 3", [(3, 0), (3, 1), (3, 2)]),
        ("-run advanced -matrix row -num_large 7", [(small, 7) for small in range(6)]),
        ("-run advanced -matrix max -num_small 2 -num_large 1", [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)]),
    ],
)
def test_each_run_has_the_cells_that_orion_lists(line: str, cells: list[tuple[int, int]]) -> None:
    assert points(line) == cells


@pytest.mark.parametrize(
    ("line", "small", "large"),
    [
        ("-run simple", (0,), (0, 1, 2)),  # as in the summaries of ORION 11.1
        ("-run oltp", tuple(range(1, 21)), (0,)),
        ("-run dss", (0,), tuple(range(1, 16))),
        ("-run normal", tuple(range(6)), (0, 1, 2)),
    ],
)
def test_columns_of_the_summary(line: str, small: tuple[int, ...], large: tuple[int, ...]) -> None:
    assert columns(parse(shlex.split(line))) == (small, large)


def test_a_command_line_comes_back_from_the_job_of_a_run() -> None:
    line = "-run advanced -testname t -num_disks 3 -size_small 4 -stripe 2048 -write 20 -cache_size 0 -duration 5"
    settings = parse(shlex.split(f"{line} -simulate raid0 -type seq -matrix col -num_small 2 -num_streamIO 6 -verbose"))
    assert from_job(as_job(settings)) == settings
    assert (settings.stripe_kb, settings.stream_ios, settings.disks) == (2048, 6, 3)
    for other in ('name = "card"', "orion -run simpel", "orion -run simple 'x"):
        assert from_job(other) is None


def test_defaults_are_orions() -> None:
    settings = parse(["-run", "simple"])
    assert (settings.size_small, settings.size_large, settings.type, settings.stream_ios) == (8, 1024, "rand", 4)
    assert (settings.simulate, settings.write, settings.duration, settings.testname) == ("concat", 0, 60, "orion")
    assert as_job(settings) == "orion -run simple"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("", "-run is missing"),
        ("-run simpel", "not one of simple"),
        ("-run simple -num_disk 4", "did you mean -num_disks"),
        ("-run simple -matrix row", "-matrix needs -run advanced"),
        ("-run oltp -type seq", "-type seq needs -run advanced"),
        ("-run advanced -matrix row", "-matrix row needs -num_large"),
        ("-run advanced -matrix row -num_large 1 -num_small 2", "-num_small does nothing with -matrix row"),
        ("-run advanced -matrix point -num_small 0 -num_large 0", "has no I/O"),
        ("-run advanced -num_streamIO 4", "-num_streamIO is for sequential streams"),
        ("-run advanced -stripe 64", "-stripe is for a simulated RAID 0"),
        ("-run advanced -simulate raid0 -stripe 64", "1024 KB does not divide it"),
        ("-run simple -write 101", "must be from 0 to 100"),
        ("-run simple -duration x", "not a whole number"),
        ("-run simple -run oltp", "given twice"),
        ("-run simple -storax asmlib", "Oracle's own I/O library"),
        ("-run simple -testname a/b", "beginning of a file name"),
        ("-run simple -duration", "needs a value"),
        ("-run normal -num_disks 1024", "10,492,929 data points"),
        ("-run advanced -matrix max -num_small 60000 -num_large 60000", "3,600,120,001 data points"),
    ],
)
def test_what_orion_would_not_do_is_refused(line: str, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        parse(shlex.split(line))


def test_options_of_oracle_that_change_nothing_here_are_accepted() -> None:
    line = "-run advanced -matrix point -num_small 1 -num_large 0 -hugenotneeded -storax skgfr"
    assert points(line) == [(1, 0)]
