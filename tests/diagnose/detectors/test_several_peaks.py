"""Several peaks: of two times within the row, or of a cache, side by side."""

from __future__ import annotations

from pathlib import Path

from makers import planted


def test_peaks_of_two_times_are_no_hits_and_misses(tmp_path: Path) -> None:
    job = planted.long(6, users=8)
    found = planted.suspected(planted.measured("sim:sata-ssd,slow=3s..9s:3", job, tmp_path))["several_peaks"]
    assert ", one after the other: the storage changed within the row." in found.says
    assert "cache" not in found.remedy


def test_peaks_of_a_cache_lie_side_by_side(tmp_path: Path) -> None:
    job = planted.long(4, users=8)
    found = planted.suspected(planted.measured("sim:sata-ssd,hit=50%:10us,service=constant:1ms", job, tmp_path))
    assert "one after the other" not in found["several_peaks"].says
