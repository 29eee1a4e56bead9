"""A lock over all I/O is suspected where nothing else keeps rows at one I/O at a time."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers import planted
from makers.left_out import long_after

from iocast.diagnose.examination import examine


def test_a_lock_over_all_io_is_suspected(tmp_path: Path) -> None:
    """Device-bound on every row, and "none found", although 64 servers are behind the lock."""
    found = examine(planted.card("sim:nvme,serialised=all", tmp_path, seconds=1))
    locked = [each for each in found.findings if each.code == "serialised_direct_io"]
    assert {each.phase for each in locked} == {"randread 8k 32x1", "commit 8k 4x1"}
    assert "one lock over all I/O, or a device that serves one at a time" in locked[0].says
    assert found.bounds["randread 8k 8x1"].says.startswith("Bound by the device or a lock above it (suspected, 50%)")


@pytest.mark.parametrize(
    "target", long_after(1, ["sim:nvme", "sim:hdd", "sim:nvme,iops=5000/s", "sim:sata-ssd,servers=2"])
)
def test_no_lock_is_suspected_of_others(target: str, tmp_path: Path) -> None:
    assert "serialised_direct_io" not in planted.suspected(planted.card(target, tmp_path, seconds=1))


@pytest.mark.parametrize("each", long_after(1, ["constant:1ms", "exponential:2ms"]))
def test_writes_one_at_a_time_are_seen_in_a_quick_card(each: str, tmp_path: Path) -> None:
    """Only a rate limit was suspected, and rejected, although reads gained four times, more than one disk arm can."""
    run = planted.survey(f"sim:nvme,servers=4,service={each},serialised=writes", tmp_path, "card-quick", seed=5)
    assert "serialised_direct_io" in planted.confirmed(run, tmp_path)


@pytest.mark.parametrize(
    "target", long_after(1, ["sim:hdd", "sim:hdd,servers=4,service=exponential:5ms", "sim:hdd,stripe=8:64KiB"])
)
def test_several_servers_or_arms_lock_nothing(target: str, tmp_path: Path) -> None:
    run = planted.survey(target, tmp_path, "card-quick", seed=5)
    assert "serialised_direct_io" not in planted.suspected(run)
