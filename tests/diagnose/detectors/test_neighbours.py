"""Neighbours on the same drives: what they do to a row is no stall, no first write, no cliff, no cap and no fall."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers import planted

from iocast.diagnose.examination import examine
from iocast.model.run import Run

QUICK = """\
name = "quick"
[defaults]
time = "3s"
size = "8k"
pattern = "random"
[[phase]]
test = "randread"
users = [1, 8, 32]
[[phase]]
test = "randread"
users = 4
depth = 16
[[phase]]
test = "mixed"
read = 70
write = 30
users = 8
"""


@pytest.fixture(scope="module")
def beside_others(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A disk that serves 60 IOPS of somebody else, all the time."""
    return planted.survey("sim:hdd,noise=60/s", tmp_path_factory.mktemp("noise"))


def test_one_read_that_waits_behind_a_neighbour_is_no_stall(beside_others: Run) -> None:
    """It said "I/O stalled" of single reads, each of which is all that is outstanding."""
    assert "stalls" not in planted.suspected(beside_others)


@pytest.mark.long
@pytest.mark.xfail(strict=True, reason="nobody says that there are neighbours: causes have to compete")
def test_waits_behind_a_neighbour_are_no_first_writes_and_no_fall(tmp_path: Path) -> None:
    """It said "First writes were at least 1.56 times as slow" of 31 and 21 ms in a queue of others' I/O, and "IOPS fell
    from 46.7 to 31 … and stayed there" of a hundred reads."""
    run = planted.survey("sim:hdd,stripe=4:64KiB,noise=200/s", tmp_path, seed=2)
    found = examine(run)
    assert {each.code for each in found.findings} == {"shared_drives"}
    assert not [each for each in found.excluded.values() if each.fell]


def test_a_disk_is_no_rate_limit_because_its_single_reads_met_others(tmp_path: Path) -> None:
    """It said "64 outstanding I/Os reached 80.1 IOPS … as behind a rate limit" of an arm that does 80: the reads at 1x1
    scattered in a neighbour's burst, and those of a queue less."""
    run = planted.measured("sim:hdd,noise=40/s:3s/13s", QUICK, tmp_path, 21)
    assert "throttle" not in {each.code for each in examine(run).findings}


def test_no_level_is_left_by_a_cliff_beside_neighbours(beside_others: Run) -> None:
    """Writes at 33 and then 14 MB/s, 4 of them in an interval: the neighbour's share, not a full cache."""
    assert "write_cliff" not in planted.suspected(beside_others)


@pytest.mark.long
def test_bursts_that_last_are_seen_where_the_quick_intervals_scatter(tmp_path: Path) -> None:
    """20 I/Os in an interval scatter by 11%, and bursts of a second take a third: just not three times as much. The
    burst at the end of the writes was a fall for good, and a full write cache."""
    found = planted.suspected(planted.survey("sim:hdd,noise=58.55/s:1s/4s", tmp_path, seed=9003))
    assert ("shared_drives" in found, "write_cliff" in found) == (True, False)
