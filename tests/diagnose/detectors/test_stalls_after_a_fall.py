"""Where the write rate has fallen for good, each I/O takes longer than before: that is no stall, a stall then is."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers import planted
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.interference import stalls
from iocast.diagnose.detectors.limits import write_cliff
from iocast.model.measurement import SlowIo
from iocast.model.run import Run

LOAD = """
name = "load"
interval = "250ms"
[files]
size = "1GiB"
[[phase]]
test = "load"
write = 100
size = "1M"
pattern = "sequential"
depth = 8
time = "12s"
"""


def _codes(run: Run) -> set[str]:
    facts = Facts(run)
    return {each.code for detector in (stalls, write_cliff) for each in detector.detect(facts)}


@pytest.mark.parametrize("rate", [60, 120, 140, 160, 250])
def test_writes_beyond_a_cliff_do_not_stall(rate: int, tmp_path: Path) -> None:
    """Eight MiB at 140 MB/s take 60 ms, twenty times as long as at 3 GB/s, and one follows the other like a clock."""
    run = planted.measured(f"sim:qlc-ssd,slc=4GB:{rate}MB/s:50MB/s", LOAD, tmp_path)
    assert _codes(run) == {write_cliff.CODE}


def test_a_stall_beyond_a_cliff_is_one(tmp_path: Path) -> None:
    run = planted.measured("sim:qlc-ssd,slc=4GB:140MB/s:50MB/s", LOAD, tmp_path)
    (record,) = run.measured
    did = record.measurement
    slow = SlowIo(
        op="write", file=0, offset_bytes=0, size_bytes=1 << 20, time_ns=8 * 10**9, response_ns=2 * 10**9,
        service_ns=2 * 10**9,
    )  # fmt: skip
    stalled = replace(record, measurement=replace(did, slow=(slow, *did.slow)))
    (found,) = stalls.detect(Facts(replace(run, phases=(stalled,))))
    assert found.evidence["longest_ns"] == 2e9


def test_a_stall_that_goes_on_to_the_end_is_no_new_level(tmp_path: Path) -> None:
    run = planted.measured("sim:sata-ssd,stall=5s/11s", LOAD, tmp_path)
    assert stalls.CODE in _codes(run)
