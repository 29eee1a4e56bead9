"""First writes that cost more: told of writes in order and of a second pass, and not of a stripe or of stalls."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers import planted

from iocast.analyse.facts import Facts
from iocast.diagnose.evidence import has_an_arm
from iocast.model.run import Run


@pytest.fixture(scope="module")
def fresh_flash(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Flash on which the first write of each 64 KiB takes 2 ms more."""
    return planted.card("sim:nvme,first_write=2ms", tmp_path_factory.mktemp("first"))


def test_first_writes_of_every_other_io_are_no_stalls(fresh_flash: Run) -> None:
    """It said "13 stalls of 32 ms … They recur every 32 ms" of writes of 1 MiB, each sixteen units."""
    assert "stalls" not in planted.suspected(fresh_flash)


def test_one_in_eight_writes_in_order_is_slow_where_units_are_allocated(fresh_flash: Run, tmp_path: Path) -> None:
    found = planted.suspected(fresh_flash)["first_write_penalty"]
    assert found.says == (
        "One in 8 of the writes in order took about 2 ms, the others 41 µs, and random writes took as long each: as"
        " where each 64.0 KiB is allocated at its first write."
    )
    assert "first_write_penalty" in planted.confirmed(fresh_flash, tmp_path)


def test_peaks_of_a_stripe_are_no_first_writes(tmp_path: Path) -> None:
    """One write in eight goes to another disk: the same shape, and random writes take as long as it."""
    assert "first_write_penalty" not in planted.suspected(planted.card("sim:hdd,stripe=8:64KiB", tmp_path, seconds=1))


@pytest.mark.long
def test_a_second_pass_that_came_further_is_not_all_second_writes(tmp_path: Path) -> None:
    """Of 252 writes of the quicker row 145 were repeats; and writes to blocks that were never written are no sign of
    compression."""
    found = planted.suspected(planted.survey("sim:hdd,first_write=15ms", tmp_path))
    assert found["first_write_penalty"].says == (
        "First writes were at least 2.43 times as slow: p50 21 ms, against 8.6 ms in a second row over the same blocks,"
        " of which 58% were written again, others first."
    )
    assert "compression_or_deduplication" not in found


@pytest.mark.long
def test_a_large_read_that_takes_long_is_no_arm(tmp_path: Path) -> None:
    """A read of 1 MiB takes 2 ms on a SATA SSD: it was taken for a disk, whose peaks say nothing of first writes."""
    run = planted.survey("sim:sata-ssd,first_write=6ms", tmp_path, "card-quick", seed=5)
    assert not has_an_arm(Facts(run))
    assert "first_write_penalty" in planted.confirmed(run, tmp_path)
    assert has_an_arm(Facts(planted.card("sim:hdd", tmp_path, seconds=1)))
