"""Levels of the rate that a cap makes behind a delay, and that a device makes that serves a few I/Os at a time."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
from makers import planted
from makers.left_out import long_after

from iocast.diagnose.detectors.limits import throttle
from iocast.diagnose.examination import examine
from iocast.model.finding import Examination, Finding
from iocast.model.run import Run
from iocast.report.card.findings_section import alike

# What a card measures, in fewer rows: small reads, commits, writes and mixes, and large I/Os.
KINDS = """\
name = "kinds"
interval = "500ms"
[files]
size = "4GiB"
[defaults]
time = "3s"
size = "8k"
pattern = "random"
direct = true
[[phase]]
test = "randread"
users = [1, 2, 4, 8, 16, 32, 64]
[[phase]]
test = "commit"
write = 100
pattern = "sequential"
sync = "dsync"
users = [1, 2, 4, 16]
[[phase]]
test = "randwrite"
write = 100
users = [1, 8, 32]
[[phase]]
test = "mixed"
read = 70
write = 30
users = [1, 8, 32]
[[phase]]
test = "read"
size = "1M"
pattern = "sequential"
users = [1, 4, 8]
[[phase]]
test = "scan"
size = "128k"
pattern = "sequential"
users = [1, 8]
[[phase]]
test = "write"
write = 100
size = "1M"
pattern = "sequential"
users = [1, 4]
"""


@cache
def measured(target: str) -> tuple[Run, Examination]:
    run = planted.measured(target, KINDS, Path(mkdtemp()))
    return run, examine(run)


def suspicions(target: str) -> list[Finding]:
    return [each for each in measured(target)[1].findings if each.code == throttle.CODE]


@pytest.mark.parametrize(
    "target", long_after(1, ["sim:nvme,link=300MB/s:1ms,iops=9000/s", "sim:nvme,link=1GB/s:300us,iops=9000/s"])
)
def test_a_cap_is_seen_through_a_delay(target: str) -> None:
    found = {each.phase: each for each in suspicions(target) if each.severity == "warn"}
    full = ("randread 8k 16x1", "randread 8k 64x1", "randwrite 8k 32x1", "mixed 8k 32x1")
    assert set(full) <= set(found)
    assert all(each.evidence["rate_per_s"] == pytest.approx(9000, rel=0.01) for each in found.values())
    bounds = measured(target)[1].bounds
    assert bounds["randread 8k 16x1"].by == "device_or_limit"
    assert "a rate limit in front of it (suspected, 70%)" in bounds["randread 8k 16x1"].says


@pytest.mark.parametrize(
    "target",
    long_after(
        1,
        [
            "sim:nvme,link=300MB/s:1ms",
            "sim:nvme,servers=8,write=same,link=1GB/s:1ms",  # as full, and no kind alone takes another time
            "sim:nvme,servers=2",
            "sim:sata-ssd",
            "sim:hdd,stripe=4:256KiB",
            "sim:nfs-filer",
            "sim:cached-array",
        ],
    ),
)
def test_a_full_device_behind_a_delay_is_not_suspected(target: str) -> None:
    assert not [each for each in suspicions(target) if each.severity == "warn"]


def test_rows_at_the_end_of_their_curve_are_as_full_as_others() -> None:
    """The link is full of scans and writes, the cap of commits and mixes: none of them gains by a higher load."""
    bounds = measured("sim:nvme,link=300MB/s:1ms,iops=9000/s")[1].bounds
    assert {bounds[name].by for name in ("scan 128k 8x1", "write 1M 4x1", "commit 8k 16x1")} == {"device_or_limit"}
    assert bounds["scan 128k 8x1"].says == (
        "Bound by the device or a limit in front of it at 8x1: it moves 300 MB/s, as read 1M 4x1 does, where a"
        " doubling of the load gains less than 10%."
    )
    assert not [name for name, bound in bounds.items() if "a higher load may give more" in bound.says]


def test_a_row_that_nothing_held_back_is_not_full_because_it_is_as_fast() -> None:
    bounds = measured("sim:nvme,link=300MB/s:1ms")[1].bounds
    assert bounds["commit 8k 16x1"].says.endswith("a higher load may give more.")


@pytest.mark.long
def test_what_a_few_servers_explain_is_no_sign_of_a_cap() -> None:
    target = "sim:hdd,size=500GiB,service=constant:5ms,servers=3,bandwidth=none,fsync=0ms"
    found = suspicions(target)
    assert found
    assert {each.severity for each in found} == {"note"}
    small = next(each for each in found if each.phase == "randread 8k 8x1")
    assert small.evidence["servers"] == 3
    assert small.confidence == 0.3
    assert "or as of a device that serves 3 at a time, each in 5 ms" in small.says


def test_a_lone_row_whose_rate_fell_is_no_measure_of_a_level(tmp_path: Path) -> None:
    """A disk became slower within it: beside that mixture any deeper row is even."""
    run = planted.measured("sim:hdd,slow=27s..60s:2", planted.ladder(40), tmp_path)
    found = examine(run)
    assert "randread 8k 1x1" in found.excluded
    assert not [each for each in found.findings if each.code == throttle.CODE and each.severity == "warn"]


@pytest.mark.parametrize(("cap", "told"), long_after(1, [("iops=9000/s", 1), ("throughput=300MB/s", 2)]))
def test_one_cap_is_one_finding(cap: str, told: int) -> None:
    """Ladders of several kinds are level behind it: they are rows of one finding, told in one sentence. Where it may be
    the bandwidth of the device, those that one I/O at a time fills and can be tested stand apart."""
    found = [each for each in alike(measured(f"sim:nvme,{cap}")[1].findings) if each.finding.code == throttle.CODE]
    assert len(found) == told, [each.finding.says for each in found]
    assert len(found[-1].phases) > 2
