"""When, after how much and from what a rate fell: as planted, also where few intervals lie before it."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers import planted

from iocast.diagnose.detectors.limits import credits, write_cliff

WRITES = """
name = "writes"
[files]
size = "1GiB"
[[phase]]
test = "writes"
write = 100
size = "1M"
pattern = "sequential"
time = "20s"
direct = true
"""
READS = """
name = "reads"
[files]
size = "1GiB"
[[phase]]
test = "reads"
size = "8k"
pattern = "random"
users = 16
time = "20s"
direct = true
"""


def test_writes_that_fill_an_slc_area_within_seconds(tmp_path: Path) -> None:
    """2 GiB are full within three or four seconds; a change is looked for from the fifth on."""
    found = planted.suspected(
        planted.measured("sim:sata-ssd,slc=2GiB:120MB/s:20MB/s,write=constant:300us", WRITES, tmp_path)
    )[write_cliff.CODE]
    before = found.evidence["before_bytes_per_s"]
    at_s = (2 << 30) / before
    assert found.evidence["at_ns"] / 1e9 == pytest.approx(at_s, abs=0.1)
    assert found.evidence["volume_bytes"] == pytest.approx(at_s * before, rel=0.05)
    assert found.evidence["after_bytes_per_s"] == pytest.approx(120e6, rel=0.01)
    assert found.says.startswith("At t=")


def test_writes_that_fill_it_in_the_first_second(tmp_path: Path) -> None:
    run = planted.measured("sim:qlc-ssd,slc=1GiB:160MB/s:50MB/s", WRITES, tmp_path)
    found = planted.suspected(run)[write_cliff.CODE]
    first = run.measured[0].series.bytes[0]
    assert found.evidence["before_bytes_per_s"] == pytest.approx(first, rel=1e-3)
    assert found.evidence["at_ns"] == pytest.approx(1e9, rel=0.01)
    assert found.says.startswith("By t=1 s, after at most 1.1 GiB, the write rate had fallen from at least 1.")
    assert found.says.endswith(" to 160 MB/s.")


@pytest.mark.parametrize(("bucket", "lasts_s"), [("9k", 3.75), ("13200", 5.5)])
def test_how_long_a_bucket_of_credits_lasts(bucket: str, lasts_s: float, tmp_path: Path) -> None:
    """3,000 a second spend 2,400 more than come back. The second in which they ran out counts for neither rate."""
    run = planted.measured(f"sim:nvme,iops=3000/s,credits=600/s:{bucket}", READS, tmp_path)
    found = planted.suspected(run)[credits.CODE]
    assert found.evidence["lasts_s"] == pytest.approx(lasts_s, rel=0.02)
    assert found.evidence["burst_per_s"] == pytest.approx(3000, rel=0.01)
    assert found.evidence["at_ns"] / 1e9 == pytest.approx(lasts_s, rel=0.02)
