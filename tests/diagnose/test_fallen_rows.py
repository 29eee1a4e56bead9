"""A row in which the rate fell for good met the storage in two states: it is in no ladder, nor are both its sides."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers import planted

from iocast.analyse.facts import Facts
from iocast.diagnose.examination import examine
from iocast.diagnose.fallen_rows import fallen
from iocast.diagnose.grades import grade

# Credits of bytes that run out within the third row: 600 MB/s and more for a while, then 200 MB/s.
BYTE_CREDITS = "sim:qlc-ssd,slc=3GiB:90MB/s:30MB/s,byte_credits=200MB/s:4GiB,max_io=128KiB,read_ahead=none,size=1TB"
ROWS = """\
name = "rows"
[files]
size = "64GiB"
[defaults]
size = "8k"
pattern = "random"
time = "3s"
[[phase]]
test = "randread"
users = [1, 8, 32]
[[phase]]
test = "randread"
users = 4
depth = 16
[[phase]]
test = "mixed"
write = 30
users = 8
"""


def test_a_row_in_which_credits_ran_out_makes_no_knee(tmp_path: Path) -> None:
    run = planted.measured(BYTE_CREDITS, ROWS, tmp_path)
    facts = Facts(run)
    fell, *_ = [row for row in facts.rows if row.measurement.asked_depth == 32]
    assert fell.rates_per_s[0] > 4 * fell.rates_per_s[-1]
    found = examine(run)
    brief = {name: each.brief for name, each in found.left_out.items()}
    assert brief == {
        "randread 8k 32x1": "the rate fell within it",
        "randread 8k 4x16": "after randread 8k 32x1",
        "mixed 8k 8x1": "after randread 8k 32x1",
    }
    assert [found.bounds[name].by for name in ("randread 8k 32x1", "randread 8k 4x16")] == ["unknown", "unknown"]
    assert "two states in one row" in found.bounds["randread 8k 32x1"].says
    assert not any("Device-bound" in each.says for each in found.bounds.values())
    mixed = next(part for part in grade(run, found).parts if part.code == "write_interference")
    assert mixed.letter is None, "reads on credits and a mix after them"


@pytest.mark.parametrize("target", ["sim:nvme", "sim:hdd", "sim:sata-ssd,iops=2000/s", "sim:nvme,stall=120ms/5s"])
def test_rates_that_hold_are_no_fall(target: str, tmp_path: Path) -> None:
    assert fallen(Facts(planted.measured(target, ROWS, tmp_path))) == {}


def test_of_more_rows_after_the_fall_those_before_are_left_out(tmp_path: Path) -> None:
    """Credits run out within the first row: the ladder that is left is that of the rate that lasts."""
    run = planted.measured("sim:sata-ssd,credits=2000/s:5000", ROWS, tmp_path)
    brief = {name: each.brief for name, each in fallen(Facts(run)).items()}
    assert brief == {"randread 8k 1x1": "the rate fell within it"}
