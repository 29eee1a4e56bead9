"""Burst credits that writes spend are told by I/Os of other sizes at the same rate; a slow time spends none."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers import planted

ROWS = """\
name = "rows"
[files]
size = "1GiB"
[defaults]
size = "8k"
time = "3s"
direct = true
[[phase]]
test = "randread"
pattern = "random"
users = [1, 8]
[[phase]]
test = "read"
size = "1M"
pattern = "sequential"
[[phase]]
test = "commit"
write = 100
sync = "dsync"
pattern = "sequential"
users = [1, 4]
[[phase]]
test = "randwrite"
write = 100
pattern = "random"
users = 8
[[phase]]
test = "mixed"
read = 70
write = 30
pattern = "random"
users = 8
[[phase]]
test = "write"
write = 100
size = "1M"
pattern = "sequential"
"""
DEVICE = "sim:nvme,service=lognormal:400us:0.5,servers=32,write=same"


@pytest.mark.parametrize(
    ("bucket", "row", "begins"),
    [
        (24_500, "randwrite 8k 8x1", "At t=1"),
        (27_600, "mixed 8k 8x1", "By t=1 s IOPS had fallen from at least "),
    ],
)
def test_credits_that_writes_spend(bucket: int, row: str, begins: str, tmp_path: Path) -> None:
    run = planted.measured(f"{DEVICE},iops=1800/s,credits=200/s:{bucket}", ROWS, tmp_path)
    (found,) = planted.told(run, "burst_credits")
    assert found.phase == row
    assert found.says.startswith(begins)
    assert "write 1M 1x1 of other sizes goes at the same IOPS" in found.says
    assert found.evidence["baseline_per_s"] == pytest.approx(200, rel=0.01)
    assert found.evidence["credits"] == pytest.approx(bucket, rel=0.03)
    assert ("lasts at most" in found.says) == begins.startswith("By")
    assert not planted.told(run, "write_cliff")
    assert not planted.told(run, "rate_step")


def test_credits_that_writes_spend_are_confirmed(tmp_path: Path) -> None:
    run = planted.measured(f"{DEVICE},iops=1800/s,credits=200/s:24500", ROWS, tmp_path)
    found, _ = planted.inquired(run, tmp_path)
    assert found["burst_credits"].state == "confirmed"


def test_a_full_write_cache_spends_no_credits(tmp_path: Path) -> None:
    run = planted.measured("sim:qlc-ssd,slc=1GiB:40MB/s:20MB/s,service=lognormal:2ms:0.3", ROWS, tmp_path)
    assert not planted.told(run, "burst_credits")
    assert planted.told(run, "write_cliff")


@pytest.mark.parametrize("slow", ["2.9s..12s:1.7", "3.2s..14s:2.5"])
def test_a_slow_time_has_spent_no_credits(slow: str, tmp_path: Path) -> None:
    """Later rows do more than a bucket that was empty so soon could save up."""
    more = ROWS.replace("users = [1, 8]", "users = [1, 8, 32, 64]")
    run = planted.measured(
        f"sim:sata-ssd,service=lognormal:1500us:1.0,servers=8,write=same,slow={slow}", more, tmp_path
    )
    assert not planted.told(run, "burst_credits")
