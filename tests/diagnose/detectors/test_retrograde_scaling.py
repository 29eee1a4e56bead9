"""A rate that falls under more load, and a device that only ages."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers import planted


@pytest.mark.xfail(strict=True, reason="nobody says that it ages: a slow drift over a ladder looks like its loads")
def test_a_device_that_ages_does_not_fall_by_load(tmp_path: Path) -> None:
    """Half as slow again after 30 s: "IOPS fell beyond the peak", "keep at most 8 outstanding I/Os"."""
    assert "retrograde_scaling" not in planted.suspected(
        planted.survey("sim:hdd,drift=1.5:30s", tmp_path, "card-quick")
    )
