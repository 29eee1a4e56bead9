"""A cap: its rate is that of the rows without stalls, and a level is told of its own rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers import planted


@pytest.mark.long
def test_a_cap_is_seen_between_stalls(tmp_path: Path) -> None:
    """The rows that stalled went at 5,200 IOPS, and these were said to be at a cap; or none was seen."""
    found = planted.suspected(planted.survey("sim:nvme,iops=6000/s,stall=400ms/5s", tmp_path))
    assert "throttle" in found
    assert found["throttle"].evidence["rate_per_s"] == pytest.approx(6000, rel=0.003)


def test_the_cap_of_a_ladder_is_that_of_its_rows_without_stalls(tmp_path: Path) -> None:
    found = planted.suspected(planted.card("sim:nvme,iops=6000/s,stall=400ms/5s", tmp_path))
    assert found["throttle"].evidence["rate_per_s"] == pytest.approx(6000, rel=0.003)


@pytest.mark.long
def test_a_level_is_told_of_its_own_rows(tmp_path: Path) -> None:
    """It said "8 outstanding I/Os reached 525 IOPS, 1 reached 503" (550 and 528 MB/s) on a list of rows that began with
    66,000 IOPS.
    """
    run = planted.survey("sim:sata-ssd", tmp_path, "card-quick")
    found = planted.suspected(run)["throttle"]
    assert found.says.startswith("8 outstanding I/Os reached 550 MB/s on read 1M 8x1, 1 reached 528 MB/s;")


@pytest.mark.long
def test_a_limit_in_bytes_is_not_rejected_by_large_ios_at_half_the_rate(tmp_path: Path) -> None:
    """It said "Not rate-limited: the storage itself takes that long", where 8k, 128k and 1M all stop at 40 MB/s."""
    run = planted.survey("sim:hdd,servers=8,service=constant:500us,bandwidth=40MB/s", tmp_path, "card-standard", seed=5)
    assert planted.suspected(run)["throttle"].says.startswith("8 outstanding I/Os reached 40 MB/s")
    after, diagnosis = planted.inquired(run, tmp_path)
    assert after["throttle"].state == "suggested"
    assert after["throttle"].learned.endswith(
        "40 MB/s is a limit in bytes: a link, a cap that lets bytes out one after the other, and the device's own"
        " bandwidth look the same from here."
    )
    assert len(diagnosis.steps) == 1
