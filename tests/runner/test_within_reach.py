"""Rates are run after the closed rows, as far as these show that the storage can do them."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers.ladder_runs import pool
from makers.left_out import long_after
from makers.recording import Recording

from iocast import archive
from iocast.forecast.answer import Question
from iocast.forecast.measured_ladder import RequestedLoad
from iocast.sessions.forecasting.load_runs import Limits, measure_ladder


@pytest.mark.parametrize(("rate_per_s", "rates"), long_after(1, [(2000, (2000, 2400)), (3500, (3500,)), (9000, ())]))
def test_rates_beyond_what_was_demonstrated_are_left_out(
    tmp_path: Path, rate_per_s: float, rates: tuple[int, ...]
) -> None:
    asked = Question(rate_per_s=rate_per_s, load=RequestedLoad(size_bytes=8192), q=0.99, limit_s=0.1)
    folder = measure_ladder(pool(4), asked, Limits(3.0, None, 1, str(tmp_path)), Recording())
    assert folder is not None
    names = [record.phase.name for record in archive.load(folder).measured]
    assert names[8:] == [f"randread 8k {rate}/s" for rate in rates]
    assert len(names) == 8 + len(rates)
