"""Devices that do not start on a block of what lies below them are named; others are not."""

from __future__ import annotations

import pytest
from makers import card_runs
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.interference import misaligned


@pytest.mark.parametrize(
    ("start", "physical", "said"),
    [
        (32_256, 512, "vda1 starts at 31.5 KiB, which is not a multiple of 4.0 KiB"),
        (1 << 20, 4096, ""),
        (20 << 10, 16 << 10, "vda1 starts at 20.0 KiB, which is not a multiple of 16.0 KiB"),
        (None, 4096, ""),
    ],
)
def test_a_start_beside_a_block_is_told(start: int | None, physical: int, said: str) -> None:
    layers = (
        replace(card_runs.VDA1, start_bytes=start, physical_block_bytes=physical),
        replace(card_runs.VDA, physical_block_bytes=physical),
    )
    run = card_runs.run(card_runs.reads(), target=replace(card_runs.TARGET, layers=layers))
    found = [each.says for each in misaligned.detect(Facts(run))]
    assert len(found) == bool(said)
    assert all(each.startswith(said) for each in found)
