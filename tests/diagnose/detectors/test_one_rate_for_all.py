"""A cap that is met with one outstanding I/O by unlike rows, where no ladder is level."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers import planted
from makers.left_out import long_after

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.limits import throttle
from iocast.diagnose.examination import examine

ROWS = """\
name = "rows"
[files]
size = "4GiB"
[defaults]
time = "3s"
[[phase]]
test = "randread"
size = "8k"
pattern = "random"
users = [1, 8, 32]
[[phase]]
test = "read"
size = "1M"
pattern = "sequential"
users = [1, 8]
[[phase]]
test = "scan"
size = "128k"
pattern = "sequential"
[[phase]]
test = "load"
write = 100
size = "1M"
pattern = "sequential"
"""


def test_unlike_rows_at_one_rate_are_behind_a_cap(tmp_path: Path) -> None:
    """A disk behind 90 IOPS: scans of two sizes and writes each take 11.1 ms, random reads a little longer."""
    run = planted.measured("sim:hdd,iops=90/s,size=2TB", ROWS, tmp_path)
    found = list(throttle.detect(Facts(run)))
    assert {each.phase for each in found} == {"read 1M 1x1", "scan 128k 1x1", "load 1M 1x1"}
    assert found[0].says.startswith("3 rows of unlike I/Os reached 89.9 IOPS, one outstanding, each I/O in 11 ms")
    assert found[0].state == "suggested"
    bound = examine(run).bounds["read 1M 1x1"]
    assert "rate limit" in bound.says


@pytest.mark.parametrize(
    "target",
    long_after(
        1,
        [
            "sim:hdd",
            "sim:nvme",
            "sim:sata-ssd",
            "sim:nvme,service=constant:1ms",
            "sim:nvme,tick=100us",
            "sim:cloud-volume",
        ],
    ),
)
def test_storage_without_a_cap_of_iops_is_not_suspected(target: str, tmp_path: Path) -> None:
    found = throttle.detect(Facts(planted.measured(target, ROWS, tmp_path)))
    assert not [each for each in found if "of unlike I/Os" in each.says]
