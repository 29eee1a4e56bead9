"""Distributions name their modes."""

from __future__ import annotations

import pytest
from makers import card_runs
from makers.card_pages import chart_of
from makers.card_runs import histogram, reads

from iocast.report.charts import distribution


def test_the_modes_are_named() -> None:
    cached = histogram((300_000, 64_000), *((4.6e6 * (0.5 + at / 100), 360) for at in range(100)))
    run = card_runs.run(reads(times=cached))
    found = chart_of(run, distribution)
    assert found.summary.startswith("On randread 8k response times have 2 peaks: 64% around 302 µs, 36% around ")
    assert [mode.share for mode in found.modes] == [pytest.approx(0.64, abs=0.01), pytest.approx(0.36, abs=0.01)]
