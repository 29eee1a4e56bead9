"""What a fall of the rate, or an arm, makes of a run is not told again as a lock, a retreat, a cliff or a stall."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers import card_runs, planted

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.interference import stalls
from iocast.diagnose.detectors.shortcuts import storage_cache
from iocast.diagnose.examination import examine
from iocast.jobs import parse_target
from iocast.model.workload import MixItem, Workload

LADDERS = """\
name = "ladders"
[files]
size = "4GiB"
[defaults]
time = "{seconds}s"
size = "8k"
pattern = "random"
[[phase]]
test = "randread"
users = [1, 2, 4, 8, 16, 32]
[[phase]]
test = "randwrite"
write = 100
users = [1, 8, 32]
[[phase]]
test = "write"
write = 100
size = "1M"
pattern = "sequential"
depth = 4
"""

SCANS = """\
name = "scans"
[files]
size = "4GiB"
[[phase]]
test = "scan"
size = "128k"
pattern = "sequential"
users = 8
time = "60s"
"""


def test_credits_that_ran_out_are_no_lock_no_retreat_and_no_cliff(tmp_path: Path) -> None:
    """Reads had credits, writes and deeper reads had none: what lasts is 600 IOPS at any load."""
    run = planted.measured("sim:cloud-volume,credits=600/s:60k", LADDERS.format(seconds=20), tmp_path)
    found = planted.suspected(run)
    assert "burst_credits" in found
    assert not {"serialised_direct_io", "retrograde_scaling", "write_cliff", "throttle"} & found.keys()


@pytest.mark.long
def test_writes_at_the_speed_of_full_flash_are_held_by_no_lock(tmp_path: Path) -> None:
    """160 MB/s with 1, 8 and 32 outstanding writes of 8 KiB, and with writes of 1 MiB."""
    run = planted.measured("sim:qlc-ssd,slc=64MiB:160MB/s:1MB/s", LADDERS.format(seconds=5), tmp_path)
    rates = [row.measurement.bytes_per_s for row in Facts(run).rows if row.name.startswith("randwrite")]
    assert max(rates) < 1.2 * min(rates)
    assert "serialised_direct_io" not in planted.suspected(run)


@pytest.mark.long
def test_a_lock_over_writes_is_still_one(tmp_path: Path) -> None:
    run = planted.measured("sim:nvme,serialised=writes", LADDERS.format(seconds=2), tmp_path)
    assert "serialised_direct_io" in planted.suspected(run)


READERS = """\
name = "readers"
[defaults]
size = "8k"
time = "3s"
users = [2, 8]
[[phase]]
test = "randread"
pattern = "random"
[[phase]]
test = "scan"
pattern = "sequential"
"""


@pytest.mark.parametrize(
    ("target", "suspected"),
    [
        # 55 us in order, 15 ms at random: each arm has one reader.
        ("sim:hdd,stripe=4:64KiB,noise=200/s:1s/10s", False),
        pytest.param(
            "sim:hdd,stripe=4:64KiB",
            False,
            marks=pytest.mark.xfail(strict=True, reason="nobody says how many arms there are"),
        ),
        ("sim:hdd,stripe=4:64KiB,read_ahead=1MiB:100us", True),
        ("sim:hdd,noise=10/s:1s/10s", False),
    ],
)
def test_fewer_readers_than_arms_need_no_read_ahead(target: str, suspected: bool, tmp_path: Path) -> None:
    found = planted.suspected(planted.measured(target, READERS, tmp_path))
    assert ("read_ahead" in found) == suspected


@pytest.mark.parametrize("target", ["sim:hdd,stripe=8:1MiB", "sim:hdd,stripe=4:256KiB,read_ahead=1MiB:150us"])
def test_streams_that_share_arms_do_not_stall(target: str, tmp_path: Path) -> None:
    """The slowest reads overlap one another for longer than any of them lasts: nothing stood still."""
    run = planted.measured(target, SCANS, tmp_path)
    assert [each.says for each in stalls.detect(Facts(run))] == []


def test_a_stall_of_streams_that_share_arms_is_one(tmp_path: Path) -> None:
    run = planted.measured("sim:hdd,stripe=8:1MiB,stall=3s/20s", SCANS, tmp_path)
    (found,) = stalls.detect(Facts(run))
    assert found.evidence["longest_ns"] == pytest.approx(3e9, rel=0.1)


@pytest.mark.long
def test_every_row_in_which_writes_fell_is_told(tmp_path: Path) -> None:
    job = LADDERS.partition("[[phase]]")[0].format(seconds=40) + (
        '[[phase]]\ntest = "randwrite"\nwrite = 100\nusers = 8\n'
        '[[phase]]\ntest = "randread"\nusers = 1\ntime = "60s"\n'
        '[[phase]]\ntest = "write"\nwrite = 100\nsize = "1M"\npattern = "sequential"\ndepth = 4\n'
    )
    run = planted.measured("sim:sata-ssd,slc=3GiB:100MB/s:60MB/s,write=constant:50us", job, tmp_path)
    cliffs = [each.phase for each in examine(run).findings if each.code == "write_cliff"]
    assert cliffs == ["randwrite 8k 8x1", "write 1M 1x4"]


def test_a_share_of_reads_is_a_share_of_reads() -> None:
    """Writes beside them, all quick, are no reads that a cache answered."""
    reads = card_runs.part("read", 8192, card_runs.histogram((0.15e6, 3000), (8e6, 7000)))
    writes = card_runs.part("write", 8192, card_runs.histogram((0.15e6, 5000)))
    mixed = Workload(mix=(MixItem("read", 8192, 67), MixItem("write", 8192, 33)))
    record = card_runs.record("mixed 8k", mixed, card_runs.measurement((reads, writes)))
    alone = card_runs.reads("alone", users=1, times=card_runs.histogram((8e6, 1000)))  # as long as an arm takes
    run = card_runs.run(alone, record, target=parse_target("sim:hdd"))
    (found,) = (each for each in storage_cache.detect(Facts(run)) if each.phase == "mixed 8k")
    assert found.evidence["quick_share"] == pytest.approx(0.3, abs=0.01)
    assert found.says.startswith("30% of the reads took about ")
