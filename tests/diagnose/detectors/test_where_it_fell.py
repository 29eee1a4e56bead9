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


SHORT = """
name = "short"
[files]
size = "4GiB"
[defaults]
time = "3s"
[[phase]]
test = "randread"
size = "8k"
pattern = "random"
users = 1
[[phase]]
test = "write"
write = 100
size = "1M"
pattern = "sequential"
"""
SHORT_READS = """
name = "reads"
[files]
size = "4GiB"
[[phase]]
test = "randread"
size = "8k"
pattern = "random"
users = [1, 2, 4, 8, 16]
time = "3s"
"""


def test_a_cliff_within_three_seconds_is_suspected(tmp_path: Path) -> None:
    """A quick card of flash with 1 GiB of fast area named none: three intervals are too few for a change."""
    found = planted.suspected(planted.measured("sim:qlc-ssd,slc=1GiB:160MB/s:100MB/s", SHORT, tmp_path))
    assert found["write_cliff"].evidence["volume_bytes"] == pytest.approx(1 << 30, rel=0.3)
    assert found["write_cliff"].evidence["after_bytes_per_s"] == pytest.approx(160e6, rel=0.1)
    level = planted.suspected(planted.measured("sim:qlc-ssd", SHORT, tmp_path / "level"))
    assert "write_cliff" not in level


def test_a_neighbour_in_short_rows_is_no_cliff(tmp_path: Path) -> None:
    found = planted.suspected(planted.measured("sim:hdd,noise=60/s:1500ms/5s", SHORT, tmp_path))
    assert "write_cliff" not in found


def test_a_slow_time_over_rows_of_three_seconds_is_suspected(tmp_path: Path) -> None:
    """Of 10 to 25 s in a quick card nothing was said: no row has intervals enough for a change."""
    run = planted.measured("sim:sata-ssd,slow=4s..14s:3", SHORT_READS, tmp_path)
    found = planted.suspected(run)["maintenance"]
    assert found.says.startswith("The rate was at least 6")
    assert (
        "lower for about 10 s, from about t=1 s of randread 8k 2x1 until about t=2 s of randread 8k 16x1" in found.says
    )
